//! The Python package: built as a wheel, installed into fresh environments and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::step::{Outcome, cargo, execute};
use crate::{root, venv};

/// Builds the wheel with settings of the Rust tests, so that what they compiled is used again. (`test` itself would make a test
/// program of the library.)
const PROFILE: &str = "dev";

/// Everything: wheel, an environment with nothing else, and one with all that the tests need.
pub(crate) fn python() -> anyhow::Result<Outcome> {
    let Some(interpreter) = venv::interpreter() else {
        return Ok(Outcome::Skipped(
            "the Python package is not tested: install Python 3.10 or later with venv, or set PYTHON to it".into(),
        ));
    };
    let folder = venv::target().join("python");
    let tests = root().join("crates/py/tests");
    let steps: [&dyn Fn() -> anyhow::Result<Outcome>; 4] = [
        &|| build(&interpreter, &folder, &tests),
        &|| bare(&interpreter, &folder, &tests),
        &|| types(&interpreter, &folder, &tests),
        &|| pytest(&folder),
    ];
    for step in steps {
        let outcome = step()?;
        if !matches!(outcome, Outcome::Passed) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}

fn build(interpreter: &Path, folder: &Path, tests: &Path) -> anyhow::Result<Outcome> {
    let tools = folder.join("tools");
    if !venv::program(&tools, "maturin").is_file() {
        let made = venv::make(interpreter, &tools, &[&tests.join("build-requirements.txt")])?;
        if !matches!(made, Outcome::Passed) {
            return Ok(made);
        }
    }
    let wheels = folder.join("wheels");
    if wheels.is_dir() {
        std::fs::remove_dir_all(&wheels).context("could not remove older wheels")?;
    }
    let mut command = Command::new(venv::program(&tools, "maturin"));
    command
        // Without debug information, which would be most of the wheel.
        .args([
            "build",
            "--locked",
            "--strip",
            "--features",
            "like-tests",
            "--profile",
            PROFILE,
            "--out",
        ])
        .arg(&wheels)
        .arg("--interpreter")
        .arg(venv::program(&tools, "python"))
        .current_dir(root());
    execute(&mut command)
}

/// The wheel that was built; that it works with every later Python is in its name.
fn wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let files = std::fs::read_dir(folder.join("wheels")).context("no wheel was built")?;
    let wheels: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    match wheels.as_slice() {
        [wheel] if wheel.to_string_lossy().contains("-cp310-abi3-") => Ok(wheel.clone()),
        other => anyhow::bail!("expected one wheel for cp310-abi3, found {other:?}"),
    }
}

/// Nothing but the wheel and what it asks for.
fn bare(interpreter: &Path, folder: &Path, tests: &Path) -> anyhow::Result<Outcome> {
    let place = folder.join("bare");
    let made = venv::make(interpreter, &place, &[&wheel(folder)?])?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    // From elsewhere, so that the package comes from the environment and not from the sources.
    execute(
        Command::new(venv::program(&place, "python"))
            .arg(tests.join("bare.py"))
            .current_dir(folder),
    )
}

fn types(interpreter: &Path, folder: &Path, tests: &Path) -> anyhow::Result<Outcome> {
    let place = folder.join("full");
    let made = venv::make(interpreter, &place, &[&tests.join("requirements.txt"), &wheel(folder)?])?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    let mut mypy = Command::new(venv::program(&place, "mypy"));
    mypy.args(["--cache-dir"])
        .arg(folder.join("mypy"))
        .args(["crates/py/python/intervalid", "crates/py/tests"])
        .current_dir(root());
    execute(&mut mypy)
}

fn pytest(folder: &Path) -> anyhow::Result<Outcome> {
    // The program that the tests of the command line build for themselves.
    let built = execute(&mut cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--no-run",
        "--test",
        "cli",
    ]))?;
    if !matches!(built, Outcome::Passed) {
        return Ok(built);
    }
    let mut command = Command::new(venv::program(&folder.join("full"), "python"));
    command
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"])
        .env("INTERVALID_PROGRAM", venv::target().join("debug/intervalid"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(root());
    execute(&mut command)
}
