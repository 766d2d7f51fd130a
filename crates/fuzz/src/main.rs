//! `intervalid-fuzz MINUTES SEED [TARGET]…`: mutates files for a while and says what was tried. `cargo xtask fuzz` calls it.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use intervalid_fuzz::{Fuzzer, Target};

/// Inputs of one target before the next has its turn.
const TURN: Duration = Duration::from_millis(500);

/// A week and more: what is longer is a slip.
const LONGEST: f64 = 20_000.0;

#[derive(Debug, PartialEq)]
struct Options {
    minutes: f64,
    seed: u64,
    targets: Vec<Target>,
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let (minutes, seed) = (arguments.first(), arguments.get(1));
    let found = minutes.map_or(Ok(1.0), |text| text.parse::<f64>());
    let minutes = found
        .ok()
        .filter(|minutes| (0.0..=LONGEST).contains(minutes))
        .with_context(|| {
            format!(
                "MINUTES {}: expected 0 to {LONGEST}",
                minutes.map_or("", String::as_str)
            )
        })?;
    let found = seed.map_or(Ok(1), |text| text.parse());
    let seed = found.with_context(|| {
        format!(
            "SEED {}: expected a whole number from 0 to {}",
            seed.map_or("", String::as_str),
            u64::MAX
        )
    })?;
    let target = |name: &String| {
        let found = Target::ALL.into_iter().find(|target| target.name() == name);
        found.with_context(|| format!("TARGET {name}: expected {}", Target::ALL.map(Target::name).join(", ")))
    };
    let targets: Vec<Target> = arguments.iter().skip(2).map(target).collect::<Result<_, _>>()?;
    Ok(Options {
        minutes,
        seed,
        targets: match targets.is_empty() {
            true => Target::ALL.to_vec(),
            false => targets,
        },
    })
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Options { minutes, seed, targets } = parse(&arguments)?;
    let mut fuzzers = Vec::new();
    for target in targets {
        fuzzers.push((target, Fuzzer::new(target, seed)?));
    }
    // From here on a panic is one of a target: it is caught and reported once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout();
    let end = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    let mut is_first = true;
    while Instant::now() < end || is_first {
        for (target, fuzzer) in &mut fuzzers {
            let turn = Instant::now() + TURN;
            let mut result = if is_first { fuzzer.run_seeds() } else { Ok(()) };
            while result.is_ok() && Instant::now() < turn {
                result = fuzzer.run_many(10);
            }
            if let Err(finding) = result {
                let folder = Path::new("target/fuzz");
                std::fs::create_dir_all(folder)?;
                let path = folder.join(format!("{}-{}", target.name(), fuzzer.statistics().executions));
                std::fs::write(&path, &finding.input)?;
                writeln!(out, "{}: {}\n  input: {}", target.name(), finding.what, path.display())?;
                return Ok(ExitCode::FAILURE);
            }
        }
        is_first = false;
    }
    writeln!(
        out,
        "{:<12} {:>12} {:>12} {:>8}",
        "target", "executions", "accepted", "answers"
    )?;
    let mut all = 0;
    for (target, fuzzer) in &fuzzers {
        let statistics = fuzzer.statistics();
        all += statistics.executions;
        writeln!(
            out,
            "{:<12} {:>12} {:>12} {:>8}",
            target.name(),
            statistics.executions,
            statistics.accepted,
            statistics.answers
        )?;
    }
    writeln!(out, "\n{all} executions in {minutes} min, seed {seed}: nothing found")?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> anyhow::Result<Options> {
        parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_read() {
        let options = parsed(&[]).unwrap();
        assert_eq!((options.seed, options.targets.len()), (1, Target::ALL.len()));
        // More digits than an f64 holds.
        let options = parsed(&["0.5", "9007199254740993", "txt", "xlsx"]).unwrap();
        let expected = Options {
            minutes: 0.5,
            seed: 9_007_199_254_740_993,
            targets: vec![Target::Txt, Target::Xlsx],
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn wrong_arguments_are_refused_with_what_is_expected() {
        for (words, message) in [
            (&["-1"][..], "MINUTES -1: expected 0 to 20000"),
            (&["nan"], "MINUTES nan: expected 0 to 20000"),
            (&["1e300"], "MINUTES 1e300: expected 0 to 20000"),
            (
                &["1", "-3"],
                "SEED -3: expected a whole number from 0 to 18446744073709551615",
            ),
            (
                &["1", "1", "csv", "docx"],
                "TARGET docx: expected csv, tsv, txt, xlsx, mat",
            ),
        ] {
            let error = parsed(words).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
