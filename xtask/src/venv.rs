//! Python environments under `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

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

/// A new environment in place of an older one, with these packages: wheels, or files (`.txt`) that name them with their hashes, which
/// come first: beside hashes, pip takes nothing without one.
pub(crate) fn make(interpreter: &Path, place: &Path, packages: &[&Path]) -> anyhow::Result<Outcome> {
    let made = execute(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(place))?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    let is_file = |package: &&&Path| package.extension().is_some_and(|extension| extension == "txt");
    let (files, wheels): (Vec<&&Path>, Vec<&&Path>) = packages.iter().partition(is_file);
    for (packages, are_files) in [(files, true), (wheels, false)] {
        if packages.is_empty() {
            continue;
        }
        let mut install = Command::new(program(place, "python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        for package in packages {
            if are_files {
                install.arg("-r");
            }
            install.arg(package);
        }
        let installed = execute(&mut install)?;
        if !matches!(installed, Outcome::Passed) {
            return Ok(installed);
        }
    }
    Ok(Outcome::Passed)
}

/// File in an environment with the requirements that it was made from.
const STAMP: &str = "installed.txt";

/// Makes an environment with what files of requirements name, unless it was made from the same before.
pub(crate) fn up_to_date(place: &Path, requirements: &[&Path]) -> anyhow::Result<Outcome> {
    if is_made_from(place, requirements)? {
        return Ok(Outcome::Passed);
    }
    let Some(interpreter) = interpreter() else {
        return Ok(Outcome::Failed(
            "no Python 3.10 or later with venv; set PYTHON to one".into(),
        ));
    };
    println!("installing Python packages into {}", place.display());
    let made = make(&interpreter, place, requirements)?;
    if matches!(made, Outcome::Passed) {
        set_made_from(place, requirements)?;
    }
    Ok(made)
}

/// Whether an environment is there and was made from these files of requirements as they are now.
pub(crate) fn is_made_from(place: &Path, requirements: &[&Path]) -> anyhow::Result<bool> {
    let wanted = text_of(requirements)?;
    let found = std::fs::read_to_string(place.join(STAMP));
    Ok(program(place, "python").is_file() && found.is_ok_and(|found| found == wanted))
}

/// Notes that an environment is complete.
pub(crate) fn set_made_from(place: &Path, requirements: &[&Path]) -> anyhow::Result<()> {
    let stamp = place.join(STAMP);
    std::fs::write(&stamp, text_of(requirements)?).with_context(|| format!("could not write {}", stamp.display()))
}

fn text_of(requirements: &[&Path]) -> anyhow::Result<String> {
    let read =
        |path: &&Path| std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()));
    requirements.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_made_again_when_a_requirement_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (place, file) = (folder.path().join("venv"), folder.path().join("requirements.txt"));
        let python = program(&place, "python");
        std::fs::create_dir_all(python.parent().unwrap()).unwrap();
        std::fs::write(&file, "numpy==1\n").unwrap();
        assert!(!is_made_from(&place, &[&file]).unwrap());
        set_made_from(&place, &[&file]).unwrap();
        assert!(!is_made_from(&place, &[&file]).unwrap(), "no interpreter");
        std::fs::write(&python, "").unwrap();
        assert!(is_made_from(&place, &[&file]).unwrap());
        std::fs::write(&file, "numpy==2\n").unwrap();
        assert!(!is_made_from(&place, &[&file]).unwrap());
        assert!(is_made_from(&place, &[&folder.path().join("none.txt")]).is_err());
    }
}
