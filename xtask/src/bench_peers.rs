//! `cargo xtask bench-peers`: the same training iteration here, in JAX and in PyTorch, in one run on the same cores.
//!
//! Every program prints one JSON line per case; `bench/peers/README.md` describes the work and the format.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::{
    UsageError, root,
    step::{Outcome, capture, cargo, execute},
    venv,
};

/// One program with one thread count: a column of the table.
struct Program {
    peer: &'static str,
    threads: usize,
    command: fn(&Setup, usize) -> Command,
}

/// In the order they run within a round.
const PROGRAMS: &[Program] = &[
    Program {
        peer: OURS,
        threads: 1,
        command: |_, _| iteration_bench(),
    },
    Program {
        peer: "jax",
        threads: 2,
        command: |setup, threads| setup.script("peer_jax.py", threads, &[]),
    },
    Program {
        peer: "jax",
        threads: 1,
        command: |setup, threads| setup.script("peer_jax.py", threads, &[]),
    },
    Program {
        peer: "jax-plain",
        threads: 2,
        command: |setup, threads| setup.script("peer_jax.py", threads, &["--plain"]),
    },
    Program {
        peer: "torch",
        threads: 2,
        command: |setup, threads| setup.script("peer_torch.py", threads, &[]),
    },
    Program {
        peer: "torch",
        threads: 1,
        command: |setup, threads| setup.script("peer_torch.py", threads, &[]),
    },
];
const OURS: &str = "intervalid";
const REQUIREMENTS: [&str; 2] = ["requirements-jax.txt", "requirements-torch.txt"];

struct Setup {
    python: PathBuf,
    seconds: f64,
}

impl Setup {
    fn script(&self, name: &str, threads: usize, more: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(peers_dir().join(name)).current_dir(root());
        command
            .args([
                "--threads",
                &threads.to_string(),
                "--seconds",
                &self.seconds.to_string(),
            ])
            .args(more);
        command
    }
}

/// What a program prints per case; other fields are for the reader of the log.
#[derive(Deserialize)]
struct Line {
    peer: String,
    case: String,
    median_ms: f64,
    threads: usize,
    #[serde(default)]
    compile_s: f64,
}

struct Options {
    rounds: usize,
    seconds: f64,
    torch_index: Option<String>,
    peers_only: bool,
}

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let options = parse(options)?;
    let python = environment(options.torch_index.as_deref())?;
    let setup = Setup {
        python,
        seconds: options.seconds,
    };
    for script in ["peer_jax.py", "peer_torch.py"] {
        for precision in ["f64", "f32"] {
            let outcome = execute(&mut setup.script(script, 1, &["--check", "--precision", precision]))?;
            ensure!(
                matches!(outcome, Outcome::Passed),
                "{script} does not reproduce the golden values in {precision}"
            );
        }
    }
    let programs: Vec<&Program> = PROGRAMS
        .iter()
        .filter(|program| !(options.peers_only && program.peer == OURS))
        .collect();
    let mut lines = Vec::new();
    for round in 1..=options.rounds {
        for program in &programs {
            println!(
                "round {round} of {}: {}, threads: {}",
                options.rounds, program.peer, program.threads
            );
            let output = capture(&mut (program.command)(&setup, program.threads))?;
            lines.extend(parse_lines(&output).with_context(|| format!("output of {}", program.peer))?);
        }
    }
    println!("\n{}", table(&lines));
    Ok(true)
}

fn parse(options: &[String]) -> anyhow::Result<Options> {
    let mut parsed = Options {
        rounds: 3,
        seconds: 3.0,
        torch_index: None,
        peers_only: false,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if option == "--peers-only" {
            parsed.peers_only = true;
            continue;
        }
        let value = options
            .next()
            .ok_or_else(|| UsageError(format!("`{option}` is unknown or needs a value")))?;
        let wrong = || UsageError(format!("`{option}` cannot be `{value}`"));
        match option.as_str() {
            "--rounds" => parsed.rounds = value.parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?,
            "--seconds" => parsed.seconds = value.parse().ok().filter(|&s: &f64| s > 0.0).ok_or_else(wrong)?,
            "--torch-index" => parsed.torch_index = Some(value.clone()),
            _ => return Err(UsageError(format!("unknown option `{option}`")).into()),
        }
    }
    Ok(parsed)
}

fn peers_dir() -> PathBuf {
    root().join("bench/peers")
}

fn iteration_bench() -> Command {
    cargo(&[
        "bench",
        "--quiet",
        "-p",
        "intervalid-model",
        "--bench",
        "iteration",
        "--",
        "--json",
    ])
}

/// The virtual environment with both peers, made on first use and again when the requirements change.
fn environment(torch_index: Option<&str>) -> anyhow::Result<PathBuf> {
    let folder = venv::target().join("peers-venv");
    let python = venv::program(&folder, "python");
    let [jax, torch] = REQUIREMENTS.map(|file| peers_dir().join(file));
    if venv::is_made_from(&folder, &[&jax, &torch])? {
        return Ok(python);
    }
    println!("installing JAX and PyTorch into {}", folder.display());
    let interpreter = venv::interpreter().context("no Python 3.10 or later with venv; set PYTHON to one")?;
    passed(venv::make(&interpreter, &folder, &[&jax])?)?;
    match torch_index {
        Some(index) => pip(&python, &["torch", "--index-url", index])?,
        // The list is complete, and the wheel's own requirements name far more than a processor needs.
        None => pip(&python, &["--no-deps", "-r", &path_text(&torch)?])?,
    }
    venv::set_made_from(&folder, &[&jax, &torch])?;
    Ok(python)
}

fn pip(python: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let fixed = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    passed(execute(Command::new(python).args(fixed).args(arguments))?)
}

fn path_text(path: &Path) -> anyhow::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .with_context(|| format!("{} is not UTF-8", path.display()))
}

fn passed(outcome: Outcome) -> anyhow::Result<()> {
    match outcome {
        Outcome::Passed => Ok(()),
        Outcome::Failed(reason) | Outcome::Skipped(reason) | Outcome::Unavailable(reason) => anyhow::bail!(reason),
    }
}

fn parse_lines(output: &str) -> anyhow::Result<Vec<Line>> {
    let json = output.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Line> = json
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
        .collect::<Result<_, _>>()?;
    ensure!(!lines.is_empty(), "no result was printed");
    Ok(lines)
}

/// Markdown: one row per case, one column per program, then how many times faster ours is than JAX on two threads.
fn table(lines: &[Line]) -> String {
    // Columns and rows in order of first appearance.
    let (mut columns, mut cases) = (Vec::new(), Vec::new());
    let mut times: BTreeMap<(&str, (&str, usize)), Vec<f64>> = BTreeMap::new();
    let mut compile: BTreeMap<&str, f64> = BTreeMap::new();
    for line in lines {
        let column = (line.peer.as_str(), line.threads);
        if !columns.contains(&column) {
            columns.push(column);
        }
        if !cases.contains(&line.case.as_str()) {
            cases.push(&line.case);
        }
        times.entry((&line.case, column)).or_default().push(line.median_ms);
        if column == JAX {
            compile.insert(&line.case, line.compile_s);
        }
    }
    let titles: Vec<String> = columns
        .iter()
        .map(|(peer, threads)| format!("{peer} ×{threads}"))
        .collect();
    let mut text = format!(
        "Milliseconds per training iteration (median of rounds; ×N: threads).\n\n| case | {} | jax ×2 / {OURS} | jax compile, s |\n",
        titles.join(" | ")
    );
    text += &format!("|---|{}---:|---:|\n", "---:|".repeat(columns.len()));
    for case in cases {
        let of = |column| times.get(&(case, column)).map(|values| median(values));
        let cells: Vec<String> = columns
            .iter()
            .map(|&column| of(column).map_or("–".into(), |ms| format!("{ms:.3}")))
            .collect();
        let ours = columns
            .iter()
            .find(|(peer, _)| *peer == OURS)
            .and_then(|&column| of(column));
        let ratio = of(JAX)
            .zip(ours)
            .map_or("–".into(), |(jax, ours)| format!("{:.1}", jax / ours));
        let compile = compile.get(case).map_or("–".into(), |seconds| format!("{seconds:.1}"));
        text += &format!("| {case} | {} | {ratio} | {compile} |\n", cells.join(" | "));
    }
    text
}

const JAX: (&str, usize) = ("jax", 2);

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_merged_by_their_median() {
        let output = r#"note
{"peer":"intervalid","case":"crisp-node","median_ms":0.5,"threads":1}
{"peer":"jax","case":"crisp-node","median_ms":2.0,"threads":2,"compile_s":1.25}
{"peer":"jax","case":"crisp-node","median_ms":9.0,"threads":2,"compile_s":1.25}
{"peer":"jax","case":"crisp-node","median_ms":1.0,"threads":2,"compile_s":1.25}"#;
        let table = table(&parse_lines(output).unwrap());
        assert!(
            table.contains("| case | intervalid ×1 | jax ×2 | jax ×2 / intervalid | jax compile, s |"),
            "{table}"
        );
        assert!(
            table.ends_with("| crisp-node | 0.500 | 2.000 | 4.0 | 1.2 |\n"),
            "{table}"
        );
    }

    #[test]
    fn an_empty_output_is_an_error() {
        assert!(parse_lines("warning: nothing").is_err());
        assert!(parse_lines("{broken").is_err());
    }

    #[test]
    fn options_are_checked() {
        let parse = |words: &[&str]| parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&["--rounds", "2"]).unwrap().rounds, 2);
        for bad in [
            &["--rounds", "0"][..],
            &["--seconds", "-1"],
            &["--rounds"],
            &["--fast", "1"],
        ] {
            assert!(parse(bad).is_err_and(|error| error.is::<UsageError>()), "{bad:?}");
        }
    }
}
