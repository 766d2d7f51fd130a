//! `intervalid-fuzz MINUTES SEED [TARGET]…`: mutates files for a while and says what was tried. `cargo xtask fuzz` calls it.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use intervalid_fuzz::{Fuzzer, Target};

/// Inputs of one target before the next has its turn.
const TURN: Duration = Duration::from_millis(500);

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| {
        let text = arguments.get(index);
        text.map_or(Ok(default), |text| text.parse())
            .context("MINUTES and SEED are numbers")
    };
    let (minutes, seed) = (number(0, 1.0)?, number(1, 1.0)? as u64);
    let wanted = arguments.get(2..).unwrap_or_default();
    let is_wanted = |target: &Target| wanted.is_empty() || wanted.iter().any(|name| name == target.name());
    // A panic is caught and reported once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let mut fuzzers = Vec::new();
    for target in Target::ALL.into_iter().filter(is_wanted) {
        fuzzers.push((target, Fuzzer::new(target, seed)?));
    }
    anyhow::ensure!(!fuzzers.is_empty(), "no such target");
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
