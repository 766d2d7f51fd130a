//! Python environments under `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::root;
use crate::step::{Outcome, execute};

/// Oldest interpreter that the package supports, and a program that is content with it.
const SUPPORTED: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/// The interpreter that environments are made with: `PYTHON`, or `python3`, if it will do.
pub(crate) fn interpreter() -> Option<PathBuf> {
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

/// Where cargo builds, and environments lie.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The program of an environment.
pub(crate) fn program(environment: &Path, name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    environment.join(folder).join(name)
}

/// A new environment in place of an older one, with these packages: wheels, or files (`.txt`) that name them.
pub(crate) fn make(interpreter: &Path, place: &Path, packages: &[&Path]) -> anyhow::Result<Outcome> {
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
