//! `cargo xtask soak`: kills the program at random moments, runs the same command again, and compares what is there with what a run
//! that nobody killed leaves, to the bit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::step::{Outcome, cargo, execute};
use crate::{UsageError, venv};

/// What is killed. Every command writes into `out`, from which its results are collected.
const COMMANDS: &[(&str, &[&str])] = &[
    (
        "fit of a cascade",
        &[
            "fit",
            "hair-dryer",
            "--model",
            "inode",
            "--epochs",
            "40",
            "--hidden",
            "8",
            "--out",
            "out",
        ],
    ),
    (
        "fit of an ensemble",
        &[
            "fit",
            "hair-dryer",
            "--model",
            "ensemble-node",
            "--epochs",
            "12",
            "--hidden",
            "6",
            "--out",
            "out",
        ],
    ),
    ("fit of ARX", &["fit", "hair-dryer", "--model", "arx", "--out", "out"]),
    ("study", &["study", "run", "study.toml", "--out", "out", "--jobs", "2"]),
    (
        "export",
        &["export", "fit", "--to", "c", "--out", "out/model.c", "--force"],
    ),
    ("report", &["report", "fit", "--out", "out/page.html"]),
];

const STUDY: &str = "name = 'soak'\ndatasets = ['hair-dryer']\nmodels = ['inode', 'arx']\nstrategies = ['cascade', 'joint']\n\
     margins = ['abs']\ncoverages = [0.9]\nseeds = [1, 2]\n[settings]\nepochs = 6\nhidden = [6]\n";

/// These say how long it took and what was written when; everything else must be equal.
const DIFFER: [&str; 6] = [
    "candidates.csv",
    "metrics.json",
    "report.json",
    "report.html",
    "manifest.json",
    "study.sqlite",
];

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let (mut kills, mut seed, mut program) = (60_usize, 1_u64, None);
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
            "--kills" => kills = usize::try_from(number()?)?,
            "--seed" => seed = number()?,
            "--program" => program = Some(std::path::absolute(value)?),
            other => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    let program = match program {
        Some(program) => program,
        None => {
            let built = execute(&mut cargo(&["build", "--package", "intervalid-cli"]))?;
            if !matches!(built, Outcome::Passed) {
                return Ok(false);
            }
            // Commands run in folders of their own.
            std::path::absolute(venv::target().join("debug/intervalid"))?
        }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let root = crate::root().join("target/soak");
    let _ = std::fs::remove_dir_all(&root);
    println!("{:<20} {:>6} {:>8} {:>9}", "command", "kills", "in time", "repeated");
    let mut all = 0;
    for (index, (name, arguments)) in COMMANDS.iter().enumerate() {
        // What is left over goes to the first commands.
        let share = kills / COMMANDS.len() + usize::from(index < kills % COMMANDS.len());
        let (reference, duration) = reference(&program, &root.join(format!("{index}-reference")), arguments)?;
        let (mut in_time, mut repeats) = (0, 0);
        for kill in 0..share {
            let folder = root.join(format!("{index}-{kill}"));
            prepare(&program, &folder)?;
            // Up to four kills of one piece of work: the second may meet what the first has left.
            for _ in 0..rng.random_range(1..=4) {
                let mut child = start(&program, &folder, arguments)?;
                std::thread::sleep(duration.mul_f64(rng.random_range(0.0..1.05)));
                in_time += usize::from(child.try_wait()?.is_none());
                child.kill()?;
                child.wait()?;
                all += 1;
                repeats += 1;
            }
            let status = start(&program, &folder, arguments)?.wait()?;
            ensure!(
                status.success(),
                "{name}, kill {kill}: the repeated command ended with {status}"
            );
            let found = results(&program, &folder)?;
            let differing = reference
                .iter()
                .find(|(file, content)| found.get(*file) != Some(content));
            if let Some((file, _)) = differing {
                println!("FAILED {name}: {} differs in {}", file.display(), folder.display());
                return Ok(false);
            }
            let stray = found.keys().find(|file| !reference.contains_key(*file));
            ensure!(
                stray.is_none(),
                "{name}, kill {kill}: {stray:?} is left in {}",
                folder.display()
            );
            std::fs::remove_dir_all(&folder)?;
        }
        println!("{name:<20} {repeats:>6} {in_time:>8} {share:>9}");
    }
    println!("\n{all} kills, seed {seed}: results identical, nothing left behind");
    Ok(true)
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
        status.success(),
        "`intervalid {}` ended with {status}",
        arguments.join(" ")
    );
    Ok((results(program, folder)?, started.elapsed()))
}

/// A folder with what the commands read.
fn prepare(program: &Path, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join("out"))?;
    std::fs::write(folder.join("study.toml"), STUDY)?;
    let fit = folder.parent().context("a folder for all")?.join("fit");
    if !fit.exists() {
        let place = fit.display().to_string();
        let arguments = ["fit", "hair-dryer", "--model", "arx", "--out", &place];
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
