//! Every command that the user guide and the README show is run as it stands there, page by page, in a fresh folder that
//! holds the records the pages speak of.
//!
//! A block marked `sh` is run line by line. A block marked `text output` after it is what its last command prints, word
//! for word; a line `...` in it stands for any lines. Blocks marked `python onnxruntime` and `python fmpy` are run too. Other
//! blocks are not compared: what a network prints depends on how long it was trained.
//!
//! Training is cut short, or the guide would take minutes: a script named `intervalid` stands in front of the program
//! and adds `--epochs 3` to `demo` and to fits with the paper's settings where the page names no epochs, `--budget 2s` to
//! searches and benchmarks, and runs a tiny study in place of the paper's. Everything else is passed on as typed.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use intervalid_data::{Dataset, LinearSystem, TwoTank};

use crate::support::Folder;

/// Lines that build and install programs and packages, which tests have done already.
const INSTALLATION: [&str; 3] = ["cargo ", "git clone ", "pip "];

/// How the Python interpreter with onnxruntime and fmpy that `cargo xtask test` prepares is started.
const PYTHON: &str = "\"$INTERVALID_DEPLOY_PYTHON\"";

const SMALL_STUDY: &str = "name = 'paper'\ndatasets = ['hair-dryer']\nmodels = ['inode', 'arx']\nstrategies = ['cascade']\n\
                           margins = ['abs']\ncoverages = [0.9]\nseeds = [1, 2]\n[settings]\nepochs = 2\nhidden = [5]\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page, and what it should print if the page says so.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    output: Option<String>,
}

/// The commands of a page in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(mark) = line.strip_prefix("```").filter(|mark| !mark.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match mark {
            "sh" => {
                // A backslash at the end of a line continues it.
                let text = block.join("\n").replace("\\\n", " ");
                let commands = text
                    .lines()
                    .map(|line| line.split(" # ").next().unwrap_or_default().trim());
                let commands = commands.filter(|line| !line.is_empty() && !line.starts_with('#'));
                steps.extend(commands.map(|command| Step {
                    command: command.to_owned(),
                    output: None,
                }));
            }
            "python onnxruntime" | "python fmpy" => {
                let program = block.join("\n");
                assert!(!program.contains('\''), "quotes of the shell: {program}");
                steps.push(Step {
                    command: format!("{PYTHON} -c '{program}'"),
                    output: None,
                });
            }
            "text output" => {
                let step = steps.last_mut().expect("output follows a command");
                assert_eq!(step.output, None, "one output per command");
                step.output = Some(block.join("\n"));
            }
            _ => {}
        }
    }
    steps
}

/// Whether `found` is `shown`, in which a line `...` stands for any lines.
fn matches(shown: &str, found: &str) -> bool {
    let mut rest = format!("\n{}\n", found.trim_end());
    for (index, piece) in format!("\n{shown}\n").split("\n...\n").enumerate() {
        if piece.trim_matches('\n').is_empty() {
            continue;
        }
        // Pieces keep the line break that the dots have taken.
        let piece = format!("\n{}\n", piece.trim_matches('\n'));
        match rest.find(&piece) {
            Some(start) if index > 0 || start == 0 => rest = rest.split_off(start + piece.len() - 1),
            _ => return false,
        }
    }
    rest == "\n" || shown.ends_with("\n...")
}

fn table(dataset: &Dataset, names: [&str; 2]) -> String {
    let experiment = &dataset.experiments()[0];
    let mut text = format!("{}\n", names.join(","));
    for (u, y) in experiment.input(0).iter().zip(experiment.output(0)) {
        let _ = writeln!(text, "{u:.4},{y:.4}");
    }
    text
}

/// The records that the guide speaks of: simulated tanks, so that anybody may have them.
fn prepare(folder: &Folder) {
    let tank = |samples, seed| {
        TwoTank::default()
            .generate(samples, seed)
            .expect("a record")
            .into_dataset()
    };
    for (name, samples, seed) in [
        ("my", 500, 1),
        ("new", 200, 2),
        ("run1", 250, 3),
        ("run2", 250, 4),
        ("week", 1500, 12),
    ] {
        folder.write(&format!("{name}.csv"), table(&tank(samples, seed), ["valve", "level"]));
    }
    folder.write("record.csv", table(&tank(300, 10), ["u", "y"]));
    folder.write("tanks.csv", table(&tank(600, 11), ["u", "y"]));
    let german = table(&tank(300, 5), ["valve", "level"])
        .replace(',', ";")
        .replace('.', ",");
    folder.write("german.csv", german);
    let mut gap = table(&tank(300, 6), ["valve", "level"]);
    gap += "1.0,NaN\n";
    gap += table(&tank(200, 7), ["valve", "level"])
        .split_once('\n')
        .expect("a header")
        .1;
    folder.write("gap.csv", gap);
    // Two pumps, two levels: the first pump also fills the second tank, through a slow linear system.
    let [left, right] = [8, 9].map(|seed| tank(400, seed));
    let coupling = LinearSystem::default().respond(left.experiments()[0].input(0));
    let mut plant = String::from("run,pump1,pump2,level1,level2\n");
    for (k, coupled) in coupling.iter().enumerate() {
        let [a, b] = [&left, &right].map(|tank| &tank.experiments()[0]);
        let (run, level2) = (k / 200 + 1, b.output(0)[k] + 0.2 * coupled);
        let _ = writeln!(
            plant,
            "{run},{:.4},{:.4},{:.4},{level2:.4}",
            a.input(0)[k],
            b.input(0)[k],
            a.output(0)[k]
        );
    }
    folder.write("plant.csv", plant);
    for name in ["historian.csv", "plan.csv"] {
        folder.write(name, fs::read(root().join("examples").join(name)).expect(name));
    }
    for part in ["train", "test"] {
        // The official parts have 1024 samples each.
        let seed = if part == "train" { 12 } else { 13 };
        let name = format!("benchmarks/cascaded_tanks_{part}.csv");
        folder.write(&name, table(&tank(1024, seed), ["u", "y"]));
    }
    folder.write("small-study.toml", SMALL_STUDY);
    fs::create_dir(folder.path().join("records")).expect("a folder");
    let script = format!(
        r#"#!/bin/sh
case "$1 $2 $3" in
    "study run paper"*) case "$*" in *--print*) ;; *) shift 3; set -- study run "$SMALL_STUDY" "$@" ;; esac ;;
    "bench run"*) case "$*" in *"--model arx"*) ;; *) set -- "$@" --budget 2s ;; esac ;;
    "fit "* | "demo "*) case "$*" in
        *--epochs* | *--print-config* | *--budget* | *"--model arx"*) ;;
        demo* | *"--preset paper"* | *--strategy*) set -- "$@" --epochs 3 ;;
        *--hidden* | *--margin* | *"--config linear.toml"* | *"--model b"* | *"--model dropout"* | *"--model ensemble"*) ;;
        *) set -- "$@" --budget 2s ;;
    esac ;;
esac
exec '{}' "$@"
"#,
        env!("CARGO_BIN_EXE_intervalid")
    );
    let program = folder.write("bin/intervalid", script);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("made executable");
}

/// The interpreter of `cargo xtask test --only deploy-tools`, or the one that is named.
fn python() -> PathBuf {
    let named = std::env::var_os("INTERVALID_DEPLOY_PYTHON").filter(|path| !path.is_empty());
    named.map_or_else(|| root().join("target/deploy-venv/bin/python"), PathBuf::from)
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skipped(message: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("SKIPPED: {message}");
}

fn run(page: &str, text: &str) {
    let folder = Folder::new();
    prepare(&folder);
    let steps = steps(text);
    assert!(!steps.is_empty(), "{page} shows no command");
    let path = format!(
        "{}:{}",
        folder.path().join("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    for Step { command, output } in steps {
        if INSTALLATION.iter().any(|start| command.starts_with(start)) {
            continue;
        }
        let python = python();
        if command.starts_with(PYTHON) && !python.is_file() {
            skipped(&format!(
                "{page}: no Python with onnxruntime and fmpy at {}",
                python.display()
            ));
            continue;
        }
        let done = Command::new("sh")
            .args(["-euc", &command])
            .env("INTERVALID_DEPLOY_PYTHON", &python)
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("SMALL_STUDY", folder.path().join("small-study.toml"))
            .env_remove("INTERVALID_DATA")
            .output()
            .expect("a shell");
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{page}: {command}\n{error}");
        if let Some(shown) = output {
            let found = String::from_utf8_lossy(&done.stdout);
            assert!(
                matches(&shown, &found),
                "{page}: {command}\nshown:\n{shown}\nfound:\n{found}"
            );
        }
    }
}

/// A test per page, so that they run side by side; the last test finds a page without one.
macro_rules! pages {
    ($($name:ident: $file:literal,)*) => {
        $(#[test]
        fn $name() {
            let text = fs::read_to_string(root().join("docs/guide").join($file)).expect($file);
            run($file, &text);
        })*

        #[test]
        fn every_page_of_the_guide_is_run_and_in_the_index() {
            let folder = fs::read_dir(root().join("docs/guide")).expect("the guide");
            let index = fs::read_to_string(root().join("docs/guide/README.md")).expect("an index");
            for entry in folder {
                let name = entry.expect("a page").file_name().to_string_lossy().into_owned();
                if name != "README.md" {
                    assert!([$($file),*].contains(&name.as_str()), "{name} is not run");
                    assert!(index.contains(&format!("({name})")), "{name} is not in the index");
                }
            }
        }
    };
}

pages! {
    your_own_csv: "your-own-csv.md",
    from_your_historian: "from-your-historian.md",
    choosing_lags: "choosing-lags.md",
    which_model: "which-model.md",
    cascade_or_joint: "cascade-or-joint.md",
    reading_the_report: "reading-the-report.md",
    what_coverage_means: "what-coverage-means.md",
    when_arx_is_enough: "when-arx-is-enough.md",
    several_channels_and_experiments: "several-channels-and-experiments.md",
    from_python: "python.md",
    reproducing_the_paper: "reproducing-the-paper.md",
    deploy: "deploy.md",
    keeping_alive: "keeping-alive.md",
    cluster: "cluster.md",
    benchmarks: "benchmarks.md",
    good_enough: "good-enough.md",
    studio: "studio.md",
}

#[test]
fn the_readme_leads_from_a_recording_to_a_result() {
    let text = fs::read_to_string(root().join("README.md")).expect("a README");
    let start = text.find("## Your own recording").expect("the section");
    let section = &text[start..];
    let end = section[3..].find("\n## ").map_or(section.len(), |end| end + 3);
    run("README.md", &section[..end]);
}

#[test]
fn pages_are_read_as_described() {
    let page = "```sh\n# why\na --x \\\n  1   # because\nb c\n```\nwords\n```text output\none\n...\nlast\n```\n```toml\nz = 1\n```\n";
    let found = steps(page);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].command, "a --x    1");
    assert_eq!(found[1].output.as_deref(), Some("one\n...\nlast"));
    assert!(matches("one\n...\nlast", "one\n2\n3\nlast\n") && matches("a\nb", "a\nb\n") && matches("a\n...", "a\nb\n"));
    assert!(!matches("one\n...\nlast", "one\n2\n") && !matches("a", "a\nb\n") && !matches("a\nb", "a b\n"));
    assert!(matches("...\nb\n...", "a\nb\nc") && !matches("...\nb", "a\nb\nc"));
}
