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
        threads: 2,
        command: |setup, threads| setup.ours(threads),
    },
    Program {
        peer: OURS,
        threads: 1,
        command: |setup, threads| setup.ours(threads),
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
    /// Arrays and settings that our program wrote for all.
    problems: PathBuf,
}

impl Setup {
    fn ours(&self, threads: usize) -> Command {
        let (threads, seconds) = (threads.to_string(), self.seconds.to_string());
        iteration_bench(&["--json", "--threads", &threads, "--seconds", &seconds])
    }

    fn script(&self, name: &str, threads: usize, more: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(peers_dir().join(name)).current_dir(root());
        command.arg("--problems").arg(&self.problems);
        command.args(["--threads", &threads.to_string()]);
        command.args(["--seconds", &self.seconds.to_string()]).args(more);
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
    /// Of the arrays the program has worked on.
    checksum: String,
    /// Of the first and the last iteration of a pass: L_MSE, and in joint training L_RQR-W.
    losses: [Vec<f64>; 2],
    /// Share of weights whose bounds lie on both sides of zero, before and after a pass; absent without bounds.
    straddling: Option<[f64; 2]>,
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
        problems: venv::target().join("peers-problems"),
    };
    let problems = path_text(&setup.problems)?;
    passed(execute(&mut iteration_bench(&["--problems", &problems]))?)?;
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
    ensure_same_work(&lines)?;
    println!("\n{}\n{}", table(&lines), work_table(&lines));
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

fn iteration_bench(arguments: &[&str]) -> Command {
    let fixed = [
        "bench",
        "--quiet",
        "-p",
        "intervalid-model",
        "--bench",
        "iteration",
        "--",
    ];
    cargo(&[&fixed, arguments].concat())
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

/// Largest relative difference of the losses of a first iteration: single precision, sums in another order.
const SAME_LOSS: f64 = 1e-4;

/// All programs must have had the same arrays, and must have computed the same losses from them.
fn ensure_same_work(lines: &[Line]) -> anyhow::Result<()> {
    for line in lines {
        let Some(first) = lines.iter().find(|other| other.case == line.case) else {
            continue;
        };
        ensure!(
            line.checksum == first.checksum,
            "{}: {} worked on other arrays ({}) than {} ({})",
            line.case,
            line.peer,
            line.checksum,
            first.peer,
            first.checksum
        );
        let [found, expected] = [&line.losses[0], &first.losses[0]];
        let is_close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= SAME_LOSS * expected.abs();
        ensure!(
            found.len() == expected.len() && found.iter().zip(expected).all(is_close),
            "{}: the first losses of {} are {found:?}, those of {} {expected:?}",
            line.case,
            line.peer,
            first.peer
        );
    }
    Ok(())
}

/// Markdown: what each program did, from the first to the last iteration of a pass.
fn work_table(lines: &[Line]) -> String {
    let mut text =
        "The work: losses (L_MSE, L_RQR-W) and share of weights on bounds that straddle zero, first → last iteration of a pass.\n\n\
         | case | program | arrays | losses | straddling |\n|---|---|---|---|---|\n"
            .to_owned();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for line in lines {
        // Threads and rounds change nothing but rounding.
        if seen.contains(&(&line.case, &line.peer)) {
            continue;
        }
        seen.push((&line.case, &line.peer));
        let losses = line.losses.each_ref().map(|losses| {
            let digits: Vec<String> = losses.iter().map(|loss| format!("{loss:.4}")).collect();
            digits.join(", ")
        });
        let shares = line.straddling.map_or("–".to_owned(), |shares| {
            shares.map(|share| format!("{:.0} %", 100.0 * share)).join(" → ")
        });
        text += &format!(
            "| {} | {} | {} | {} | {shares} |\n",
            line.case,
            line.peer,
            line.checksum,
            losses.join(" → ")
        );
    }
    text
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
        "Milliseconds per training iteration (median of the rounds' medians, and the smallest to the largest; ×N: threads).\n\n| case | {} | jax ×2 / {OURS} ×2 | jax compile, s |\n",
        titles.join(" | ")
    );
    text += &format!("|---|{}---:|---:|\n", "---:|".repeat(columns.len()));
    for case in cases {
        let of = |column| times.get(&(case, column)).map(|values| median(values));
        let cells: Vec<String> = columns
            .iter()
            .map(|column| times.get(&(case, *column)).map_or("–".into(), |values| cell(values)))
            .collect();
        let ratio = of(JAX)
            .zip(of((OURS, JAX.1)))
            .map_or("–".into(), |(jax, ours)| format!("{:.1}", jax / ours));
        let compile = compile.get(case).map_or("–".into(), |seconds| format!("{seconds:.1}"));
        text += &format!("| {case} | {} | {ratio} | {compile} |\n", cells.join(" | "));
    }
    text
}

const JAX: (&str, usize) = ("jax", 2);

/// The median of the rounds with their spread.
fn cell(rounds: &[f64]) -> String {
    let (least, most) = rounds.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &ms| {
        (least.min(ms), most.max(ms))
    });
    format!("{:.3} ({least:.3}–{most:.3})", median(rounds))
}

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

    const OUTPUT: &str = r#"note
{"peer":"intervalid","case":"crisp-node","median_ms":0.5,"threads":2,"checksum":"ab","losses":[[1.0],[0.5]],"straddling":null}
{"peer":"jax","case":"crisp-node","median_ms":2.0,"threads":2,"compile_s":1.25,"checksum":"ab","losses":[[1.00001],[0.51]],"straddling":null}
{"peer":"jax","case":"crisp-node","median_ms":9.0,"threads":2,"compile_s":1.25,"checksum":"ab","losses":[[1.00001],[0.51]],"straddling":null}
{"peer":"jax","case":"crisp-node","median_ms":1.0,"threads":2,"compile_s":1.25,"checksum":"ab","losses":[[1.00001],[0.51]],"straddling":null}
{"peer":"jax","case":"joint-inode","median_ms":1.0,"threads":2,"compile_s":1.25,"checksum":"cd","losses":[[1.0,3.0],[0.5,2.0]],"straddling":[0.0,0.254]}"#;

    #[test]
    fn rounds_are_merged_by_their_median_with_their_spread() {
        let table = table(&parse_lines(OUTPUT).unwrap());
        assert!(
            table.contains("| case | intervalid ×2 | jax ×2 | jax ×2 / intervalid ×2 | jax compile, s |"),
            "{table}"
        );
        assert!(
            table.contains("| crisp-node | 0.500 (0.500–0.500) | 2.000 (1.000–9.000) | 4.0 | 1.2 |\n"),
            "{table}"
        );
    }

    #[test]
    fn the_work_of_each_program_is_shown_once() {
        let table = work_table(&parse_lines(OUTPUT).unwrap());
        assert!(
            table.contains("| crisp-node | jax | ab | 1.0000 → 0.5100 | – |\n"),
            "{table}"
        );
        assert!(
            table.ends_with("| joint-inode | jax | cd | 1.0000, 3.0000 → 0.5000, 2.0000 | 0 % → 25 % |\n"),
            "{table}"
        );
        assert_eq!(table.matches("| crisp-node |").count(), 2, "{table}");
    }

    #[test]
    fn other_arrays_and_other_losses_are_errors() {
        assert!(ensure_same_work(&parse_lines(OUTPUT).unwrap()).is_ok());
        let other = OUTPUT.replacen(
            "\"checksum\":\"ab\",\"losses\":[[1.00001]",
            "\"checksum\":\"ac\",\"losses\":[[1.00001]",
            1,
        );
        let message = ensure_same_work(&parse_lines(&other).unwrap()).unwrap_err().to_string();
        assert_eq!(
            message,
            "crisp-node: jax worked on other arrays (ac) than intervalid (ab)"
        );
        let other = OUTPUT.replacen("[[1.00001]", "[[1.01]", 1);
        let message = ensure_same_work(&parse_lines(&other).unwrap()).unwrap_err().to_string();
        assert_eq!(
            message,
            "crisp-node: the first losses of jax are [1.01], those of intervalid [1.0]"
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
