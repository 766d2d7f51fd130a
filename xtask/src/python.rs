//! The Python package: built as a wheel, installed into fresh environments and tested there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::root;
use crate::step::{Outcome, cargo, execute};

/// Oldest interpreter that the package supports, and a program that is content with it.
const SUPPORTED: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/// Builds the wheel with settings of the Rust tests, so that what they compiled is used again. (`test` itself would make a test
/// program of the library.)
const PROFILE: &str = "dev";

/// Everything: wheel, an environment with nothing else, and one with all that the tests need.
pub(crate) fn python() -> anyhow::Result<Outcome> {
    let Some(interpreter) = interpreter() else {
        return Ok(Outcome::Skipped(
            "the Python package is not tested: install Python 3.10 or later with venv, or set PYTHON to it".into(),
        ));
    };
    let folder = target().join("python");
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

fn interpreter() -> Option<PathBuf> {
    let named = std::env::var_os("PYTHON").filter(|name| !name.is_empty());
    let name = PathBuf::from(named.unwrap_or_else(|| "python3".into()));
    let works = Command::new(&name)
        .args(["-c", SUPPORTED])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    works.then_some(name)
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The program of an environment.
fn program(environment: &Path, name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    environment.join(folder).join(name)
}

/// A new environment in place of an older one, with these packages.
fn environment(interpreter: &Path, place: &Path, packages: &[&Path]) -> anyhow::Result<Outcome> {
    let made = execute(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(place))?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    let mut install = Command::new(program(place, "python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    for package in packages {
        if package.extension().is_some_and(|extension| extension == "txt") {
            install.arg("-r");
        }
        install.arg(package);
    }
    execute(&mut install)
}

fn build(interpreter: &Path, folder: &Path, tests: &Path) -> anyhow::Result<Outcome> {
    let tools = folder.join("tools");
    if !program(&tools, "maturin").is_file() {
        let made = environment(interpreter, &tools, &[&tests.join("build-requirements.txt")])?;
        if !matches!(made, Outcome::Passed) {
            return Ok(made);
        }
    }
    let wheels = folder.join("wheels");
    if wheels.is_dir() {
        std::fs::remove_dir_all(&wheels).context("could not remove older wheels")?;
    }
    let mut command = Command::new(program(&tools, "maturin"));
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
        .arg(program(&tools, "python"))
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
    let made = environment(interpreter, &place, &[&wheel(folder)?])?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    // From elsewhere, so that the package comes from the environment and not from the sources.
    execute(
        Command::new(program(&place, "python"))
            .arg(tests.join("bare.py"))
            .current_dir(folder),
    )
}

fn types(interpreter: &Path, folder: &Path, tests: &Path) -> anyhow::Result<Outcome> {
    let place = folder.join("full");
    let made = environment(interpreter, &place, &[&tests.join("requirements.txt"), &wheel(folder)?])?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    let mut mypy = Command::new(program(&place, "mypy"));
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
    let mut command = Command::new(program(&folder.join("full"), "python"));
    command
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5"])
        .env("INTERVALID_PROGRAM", target().join("debug/intervalid"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(root());
    execute(&mut command)
}
