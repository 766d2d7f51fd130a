//! libFuzzer: the targets are built with counters at every branch, and inputs that reach new ones are kept and mutated further.
//! The stable compiler can do that; a nightly one adds AddressSanitizer.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::Options;
use crate::step::{Outcome, capture, cargo, execute};
use crate::{UsageError, venv};

/// As cargo-fuzz has them: counters at every edge, a table of their places, and what comparisons compare.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];
const PROGRAM: &str = "intervalid-fuzz-guided";
/// An input that takes longer, in seconds of the clock, or more memory, in megabytes, is a finding.
const SLOWEST: u32 = 10;
/// The same of targets whose inputs are one part of a larger work: a journal is that of a search, which is carried out.
const SLOWEST_OF_WORK: (&str, u32) = ("journal", 120);
const LARGEST: u32 = 2048;
/// Bytes of an input; as the other fuzzer has it.
const LONGEST: u32 = 1 << 17;

/// Allocations that may fail are allowed to; what is never freed is not what is looked for; equal constants of SQLite that the
/// compiler makes one are no violation.
const SANITIZER: (&str, &str) = (
    "ASAN_OPTIONS",
    "detect_leaks=0:allocator_may_return_null=1:detect_odr_violation=0",
);

/// Builds the program; the inner error says why it cannot be built here.
pub(super) fn build() -> anyhow::Result<Result<PathBuf, String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("it is set up for Linux only".to_owned()));
    }
    if !works(Command::new("c++").arg("--version")) {
        return Ok(Err("it needs a C++ compiler, `c++`".to_owned()));
    }
    let host = crate::dist::host()?;
    let folder = venv::target().join("guided");
    let has_nightly = works(Command::new("rustup").args(["run", "nightly", "rustc", "--version"]));
    let mut flags = COVERAGE.to_vec();
    let mut command = match has_nightly {
        true => {
            println!("libFuzzer with AddressSanitizer, by the nightly compiler");
            flags.push("-Zsanitizer=address");
            let mut command = Command::new("rustup");
            command.args(["run", "nightly", "cargo"]).current_dir(crate::root());
            command
        }
        false => {
            println!("libFuzzer by the stable compiler; with a nightly one there would be AddressSanitizer as well");
            cargo(&[])
        }
    };
    command
        .args([
            "build",
            "--locked",
            "--package",
            "intervalid-fuzz",
            "--features",
            "guided",
        ])
        // With a target, scripts that run while building are not instrumented.
        .args(["--bin", PROGRAM, "--target", &host])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", flags.join(" "));
    Ok(match execute(&mut command)? {
        Outcome::Passed => Ok(folder.join(host).join("debug").join(PROGRAM)),
        _ => Err("it does not build".to_owned()),
    })
}

fn works(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Gives every target its share of the time, and says what was tried, today and so far.
pub(super) fn run(program: &Path, options: &Options) -> anyhow::Result<bool> {
    let mut list = Command::new(program);
    list.env("INTERVALID_FUZZ_TARGET", "list").env(SANITIZER.0, SANITIZER.1);
    let known = capture(&mut list)?;
    let known: Vec<&str> = known.lines().collect();
    if let Some(name) = options.targets.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(UsageError(format!("--target {name}: expected {}", known.join(", "))).into());
    }
    let chosen: Vec<&str> = match options.targets.is_empty() {
        true => known,
        false => options.targets.iter().map(String::as_str).collect(),
    };
    let share = Duration::from_secs_f64(60.0 * options.minutes / chosen.len() as f64);
    let folder = venv::target().join("fuzz");
    let mut findings = Vec::new();
    println!(
        "{:<12} {:>12} {:>10} {:>10}",
        "target", "executions", "branches", "CPU s"
    );
    for target in chosen {
        let tried = fuzz(program, &folder, target, share, &options.seed)?;
        println!(
            "{target:<12} {:>12} {:>10} {:>10.1}",
            tried.executions, tried.branches, tried.cpu_seconds
        );
        note(&folder, target, &tried)?;
        findings.extend(tried.finding);
    }
    let (executions, minutes) = so_far(&folder)?;
    println!(
        "\nso far, by {}: {executions} executions in {minutes:.1} CPU-minutes",
        totals(&folder).display()
    );
    for finding in &findings {
        println!("\nFOUND {finding}");
    }
    if findings.is_empty() {
        println!("nothing found");
    }
    Ok(findings.is_empty())
}

/// What one run of a target came to.
#[derive(Debug, Default, PartialEq)]
struct Tried {
    executions: u64,
    branches: u64,
    cpu_seconds: f64,
    finding: Option<String>,
}

fn fuzz(program: &Path, folder: &Path, target: &str, share: Duration, seed: &str) -> anyhow::Result<Tried> {
    let place = |name: &str| -> anyhow::Result<PathBuf> {
        let place = folder.join(name).join(target);
        fs::create_dir_all(&place).with_context(|| format!("could not make {}", place.display()))?;
        Ok(place)
    };
    let (corpus, seeds, found, log) = (
        place("corpus")?,
        place("seeds")?,
        place("found")?,
        place("log")?.join("log"),
    );
    let slowest = match target == SLOWEST_OF_WORK.0 {
        true => SLOWEST_OF_WORK.1,
        false => SLOWEST,
    };
    let mut command = Command::new(program);
    command
        .arg(format!("-max_total_time={}", share.as_secs().max(1)))
        .arg(format!("-timeout={slowest}"))
        .arg(format!("-rss_limit_mb={LARGEST}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-seed={seed}"))
        .arg("-print_final_stats=1")
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args([&corpus, &seeds])
        .env("INTERVALID_FUZZ_TARGET", target)
        .env("INTERVALID_FUZZ_SEEDS", &seeds)
        .env(SANITIZER.0, SANITIZER.1)
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).with_context(|| format!("could not write {}", log.display()))?);
    let (cpu, started) = (children_cpu_seconds(), Instant::now());
    let status = command.status().context("could not start the fuzzer")?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let mut tried = statistics(&text);
    tried.cpu_seconds = match (cpu, children_cpu_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    };
    if !status.success() {
        tried.finding = Some(format!("{target}: {}\n  log: {}", what(&text), log.display()));
    }
    Ok(tried)
}

/// Executions and branches, from what libFuzzer prints.
fn statistics(log: &str) -> Tried {
    let number_after = |line: &str, name: &str| -> Option<u64> {
        let (_, rest) = line.split_once(name)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let last = |name: &str| log.lines().rev().find_map(|line| number_after(line, name));
    // A run that ends with a finding prints no sum; its last line of progress starts with `#executions`.
    let progress = log.lines().rev().find_map(|line| number_after(line, "#"));
    Tried {
        executions: last("stat::number_of_executed_units:").or(progress).unwrap_or(0),
        branches: last(" cov:").unwrap_or(0),
        ..Tried::default()
    }
}

/// The lines of a log that say what happened and which input made it happen.
fn what(log: &str) -> String {
    let tells = |line: &&str| {
        ["panicked at", "ERROR:", "SUMMARY:", "Test unit written to", "error:"]
            .iter()
            .any(|words| line.contains(words))
    };
    let lines: Vec<&str> = log.lines().filter(tells).collect();
    lines.join("\n  ")
}

/// User and system time of all processes that were waited for; none where the system does not tell.
fn children_cpu_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything, but ends with the last bracket; Linux counts in hundredths here.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

fn totals(folder: &Path) -> PathBuf {
    folder.join("totals.csv")
}

fn note(folder: &Path, target: &str, tried: &Tried) -> anyhow::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(totals(folder))?;
    writeln!(file, "{target},{},{:.1}", tried.executions, tried.cpu_seconds)?;
    Ok(())
}

/// Executions and CPU-minutes of all runs that were noted.
fn so_far(folder: &Path) -> anyhow::Result<(u64, f64)> {
    let text = fs::read_to_string(totals(folder)).context("could not read the totals")?;
    let rows = text.lines().filter_map(|line| {
        let mut fields = line.split(',').skip(1);
        Some((fields.next()?.parse::<u64>().ok()?, fields.next()?.parse::<f64>().ok()?))
    });
    let sum = rows.fold((0, 0.0), |(executions, seconds), row| {
        (executions + row.0, seconds + row.1)
    });
    Ok((sum.0, sum.1 / 60.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_understood() {
        let log = "#2\tINITED cov: 812 ft: 813 corp: 1/1b\n#65536\tpulse  cov: 2034 ft: 5501 corp: 300/12Kb\n\
                   #70000\tDONE   cov: 2100 ft: 5600 corp: 310/12Kb\nstat::number_of_executed_units: 70001\n";
        let tried = statistics(log);
        assert_eq!((tried.executions, tried.branches), (70_001, 2100));
        let log = "#65536\tpulse  cov: 2034 ft: 5501\nthread '<unnamed>' panicked at crates/a.rs:1:2:\noops\n\
                   ==1== ERROR: libFuzzer: deadly signal\nTest unit written to found/crash-1\n";
        assert_eq!(statistics(log).executions, 65_536);
        assert!(what(log).contains("panicked at crates/a.rs") && what(log).contains("found/crash-1"));
    }

    #[test]
    fn runs_add_up() {
        let folder = tempfile::tempdir().unwrap();
        for executions in [5, 7] {
            let tried = Tried {
                executions,
                cpu_seconds: 30.0,
                ..Tried::default()
            };
            note(folder.path(), "csv", &tried).unwrap();
        }
        let (executions, minutes) = so_far(folder.path()).unwrap();
        assert_eq!(executions, 12);
        assert!((minutes - 1.0).abs() < 1e-9);
    }

    #[test]
    fn children_are_timed_where_the_system_tells() {
        assert_eq!(children_cpu_seconds().is_some(), cfg!(target_os = "linux"));
    }
}
