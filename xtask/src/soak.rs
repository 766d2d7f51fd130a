//! `cargo xtask soak`: kills the program at random moments, runs the same command again, and compares what is there with what a run
//! that nobody killed leaves, to the bit. Then networks are drawn at random,
//! which must lie inside the band, and whole models, which must give the same numbers in Rust, C and ONNX.

mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use self::work::{DIFFER, SEARCH, STUDY, WORK, recording};
use crate::step::{Outcome, cargo, execute, has_cargo_tool};
use crate::{UsageError, deploy, venv};

/// Samples of the recording that is fitted, and of the one that comes later.
const SAMPLES: [std::ops::Range<usize>; 2] = [0..400, 400..700];

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Options {
    kills: usize,
    draws: usize,
    models: usize,
    seed: u64,
    only: Vec<String>,
    program: Option<PathBuf>,
}

fn parse(options: &[String]) -> anyhow::Result<Options> {
    let mut found = Options {
        kills: 60,
        draws: 0,
        models: 0,
        seed: 1,
        only: Vec::new(),
        program: None,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options
            .next()
            .ok_or_else(|| UsageError(format!("{option} needs a value")))?;
        let number = || {
            let number = value.parse::<u64>();
            number.map_err(|_| UsageError(format!("{option} {value}: expected a whole number")))
        };
        match option.as_str() {
            "--kills" => found.kills = usize::try_from(number()?)?,
            "--draws" => found.draws = usize::try_from(number()?)?,
            "--models" => found.models = usize::try_from(number()?)?,
            "--seed" => found.seed = number()?,
            "--only" if WORK.iter().any(|work| work.name == value) => found.only.push(value.clone()),
            "--only" => {
                let names: Vec<&str> = WORK.iter().map(|work| work.name).collect();
                return Err(UsageError(format!("--only {value}: expected one of {}", names.join(", "))).into());
            }
            "--program" => found.program = Some(std::path::absolute(value)?),
            other => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    Ok(found)
}

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let options = parse(options)?;
    if options.kills > 0 && !kill(&options)? {
        return Ok(false);
    }
    // Networks between the bounds of their parameters, and models that C and ONNX run as well.
    let inside = (
        "intervalid-model",
        "sampled_networks_lie_inside_and_the_float_band_agrees",
    );
    let agreeing = ("intervalid-deploy", "rust_c_and_onnx_agree_on_random_models");
    Ok(repeat(inside, "INTERVALID_DRAWS", options.draws)?
        && repeat(agreeing, "INTERVALID_RANDOM_MODELS", options.models)?)
}

/// Runs a test of a package with more repetitions than the suite does.
fn repeat((package, test): (&str, &str), variable: &str, count: usize) -> anyhow::Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let mut command = match has_cargo_tool("nextest") {
        true => cargo(&[
            "nextest",
            "run",
            "--package",
            package,
            "--no-capture",
            "-E",
            &format!("test({test})"),
        ]),
        false => cargo(&[
            "test",
            "--package",
            package,
            "--lib",
            "--tests",
            test,
            "--",
            "--nocapture",
        ]),
    };
    command.env(variable, count.to_string());
    let outcome = execute(command.env(deploy::PYTHON_VARIABLE, deploy::python()))?;
    Ok(matches!(outcome, Outcome::Passed))
}

fn kill(options: &Options) -> anyhow::Result<bool> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => {
            let built = execute(&mut cargo(&["build", "--package", "intervalid-cli"]))?;
            if !matches!(built, Outcome::Passed) {
                return Ok(false);
            }
            // Commands run in folders of their own.
            std::path::absolute(venv::target().join("debug/intervalid"))?
        }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    // Of this process, so that two soaks do not meet.
    let root = venv::target().join(format!("soak-{}", std::process::id()));
    let chosen = WORK
        .iter()
        .filter(|work| options.only.is_empty() || options.only.iter().any(|name| name == work.name));
    let chosen: Vec<_> = chosen.collect();
    println!("{:<24} {:>6} {:>8} {:>9}", "command", "kills", "in time", "repeated");
    let (mut all, mut all_in_time) = (0, 0);
    for (index, work) in chosen.iter().enumerate() {
        // What is left over goes to the first commands.
        let share = options.kills / chosen.len() + usize::from(index < options.kills % chosen.len());
        let arguments: Vec<&str> = work.arguments.split(' ').collect();
        let (reference, duration) = reference(&program, &root.join(format!("{index}-reference")), &arguments)?;
        let (mut kills, mut in_time, mut pieces) = (0, 0, 0);
        while kills < share {
            let folder = root.join(format!("{index}-{pieces}"));
            prepare(&program, &folder)?;
            // Up to four kills of one piece of work: the second may meet what the first has left.
            for _ in 0..rng.random_range(1..=4).min(share - kills) {
                let mut child = start(&program, &folder, &arguments)?;
                std::thread::sleep(duration.mul_f64(rng.random_range(0.0..1.05)));
                in_time += usize::from(child.try_wait()?.is_none());
                child.kill()?;
                child.wait()?;
                kills += 1;
            }
            pieces += 1;
            let status = start(&program, &folder, &arguments)?.wait()?;
            ensure!(
                is_done(status),
                "{}, kill {kills}: the repeated command ended with {status}",
                work.name
            );
            let found = results(&program, &folder)?;
            if let Some(problem) = difference(&reference, &found) {
                println!("FAILED {}: {problem} in {}", work.name, folder.display());
                return Ok(false);
            }
            std::fs::remove_dir_all(&folder)?;
        }
        println!("{:<24} {kills:>6} {in_time:>8} {pieces:>9}", work.name);
        (all, all_in_time) = (all + kills, all_in_time + in_time);
    }
    std::fs::remove_dir_all(&root)?;
    println!(
        "\n{all} kills, {all_in_time} in time, seed {}: results identical, nothing left behind",
        options.seed
    );
    Ok(true)
}

/// What is not as a run that nobody killed leaves it.
fn difference(reference: &BTreeMap<PathBuf, Vec<u8>>, found: &BTreeMap<PathBuf, Vec<u8>>) -> Option<String> {
    let differing = reference
        .iter()
        .find(|(file, content)| found.get(*file) != Some(content));
    let differing = differing.map(|(file, _)| format!("{} differs", file.display()));
    differing.or_else(|| {
        let stray = found.keys().find(|file| !reference.contains_key(*file));
        stray.map(|file| format!("{} is left", file.display()))
    })
}

/// A monitor that has something to say ends with 3.
fn is_done(status: std::process::ExitStatus) -> bool {
    matches!(status.code(), Some(0 | 3))
}

/// Results of a run that nobody kills, and how long it takes.
fn reference(
    program: &Path,
    folder: &Path,
    arguments: &[&str],
) -> anyhow::Result<(BTreeMap<PathBuf, Vec<u8>>, Duration)> {
    prepare(program, folder)?;
    let started = Instant::now();
    let status = start(program, folder, arguments)?.wait()?;
    ensure!(
        is_done(status),
        "`intervalid {}` ended with {status}",
        arguments.join(" ")
    );
    Ok((results(program, folder)?, started.elapsed()))
}

/// A folder with what the commands read.
fn prepare(program: &Path, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join("out"))?;
    let [data, new] = SAMPLES.map(recording);
    for (name, content) in [
        ("study.toml", STUDY),
        ("search.toml", SEARCH),
        ("data.csv", &data),
        ("new.csv", &new),
    ] {
        std::fs::write(folder.join(name), content)?;
    }
    let fit = folder.parent().context("a folder for all")?.join("fit");
    if !fit.exists() {
        let place = fit.display().to_string();
        let arguments = ["fit", "data.csv", "--model", "arx", "--out", &place];
        let status = start(program, folder, &arguments)?.wait()?;
        ensure!(status.success(), "the fit to export ended with {status}");
    }
    std::fs::create_dir_all(folder.join("fit"))?;
    for entry in fit.read_dir()? {
        let path = entry?.path();
        std::fs::copy(&path, folder.join("fit").join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

fn start(program: &Path, folder: &Path, arguments: &[&str]) -> anyhow::Result<Child> {
    let child = command(program, folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.context("the program cannot be started")
}

fn command(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("INTERVALID_DATA");
    command
}

/// Every file below `out` with what must be equal of it.
fn results(program: &Path, folder: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.join("out")];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir()? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap_or_default();
            let differs = DIFFER.iter().any(|file| name == *file);
            let content = if differs { Vec::new() } else { std::fs::read(&path)? };
            found.insert(path.strip_prefix(folder)?.to_owned(), content);
        }
    }
    if folder.join("out/study.sqlite").exists() {
        found.insert(PathBuf::from("table of the study"), table_of(program, folder)?);
    }
    Ok(found)
}

/// The table of a study, which holds all numbers of its runs.
fn table_of(program: &Path, folder: &Path) -> anyhow::Result<Vec<u8>> {
    let output = command(program, folder, &["study", "table", "out", "--format", "csv"]).output()?;
    ensure!(
        output.status.success(),
        "the study has no table: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_understood() {
        let given = |words: &[&str]| parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        let found = given(&["--kills", "7", "--draws", "1000", "--models", "5", "--only", "monitor"]).unwrap();
        assert_eq!((found.kills, found.draws, found.models, found.seed), (7, 1000, 5, 1));
        assert_eq!(found.only, ["monitor"]);
        for bad in [
            &["--kills"][..],
            &["--kills", "-1"],
            &["--only", "lunch"],
            &["--fast", "1"],
        ] {
            assert!(given(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_differs_and_what_is_left_are_told() {
        let files = |list: &[(&str, &str)]| -> BTreeMap<PathBuf, Vec<u8>> {
            list.iter()
                .map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec()))
                .collect()
        };
        let reference = files(&[("a", "1"), ("b", "2")]);
        assert_eq!(difference(&reference, &reference), None);
        assert_eq!(difference(&reference, &files(&[("a", "1")])).unwrap(), "b differs");
        let more = files(&[("a", "1"), ("b", "2"), (".intervalid-x", "")]);
        assert_eq!(difference(&reference, &more).unwrap(), ".intervalid-x is left");
    }
}
