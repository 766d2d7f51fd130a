//! What is shipped, installed where nothing else is and used once.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::LICENCES;
use crate::step::{Outcome, capture, execute};
use crate::venv;

/// Tries an archive or a wheel in a folder of its own.
pub(super) fn of(file: &Path) -> anyhow::Result<Outcome> {
    let place = venv::target().join("dist-trial");
    if place.is_dir() {
        fs::remove_dir_all(&place).context("could not remove an older trial")?;
    }
    fs::create_dir_all(&place).with_context(|| format!("could not make {}", place.display()))?;
    match file.extension().is_some_and(|extension| extension == "whl") {
        true => wheel(file, &place),
        false => archive(file, &place),
    }
}

fn archive(file: &Path, place: &Path) -> anyhow::Result<Outcome> {
    let unpacked = execute(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(place))?;
    if !matches!(unpacked, Outcome::Passed) {
        return Ok(unpacked);
    }
    let folder = fs::read_dir(place)?.flatten().map(|entry| entry.path()).next();
    let folder = folder.context("the archive is empty")?;
    for part in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        LICENCES,
        "completions/intervalid.bash",
        "man/intervalid.1",
    ] {
        if !folder.join(part).is_file() {
            return Ok(Outcome::Failed(format!("the archive has no {part}")));
        }
    }
    use_program(
        &folder.join(format!("intervalid{}", std::env::consts::EXE_SUFFIX)),
        place,
    )
}

fn wheel(file: &Path, place: &Path) -> anyhow::Result<Outcome> {
    let Some(interpreter) = venv::interpreter() else {
        return Ok(Outcome::Failed(
            "no Python 3.10 or later with venv; set PYTHON to one".into(),
        ));
    };
    let environment = place.join("environment");
    let made = venv::make(&interpreter, &environment, &[file])?;
    if !matches!(made, Outcome::Passed) {
        return Ok(made);
    }
    let python = venv::program(&environment, "python");
    let metadata = "import importlib.metadata as m\n\
                    files = [str(f) for f in m.files('intervalid') if '.dist-info/' in str(f)]\n\
                    assert all(any(f.endswith(n) for f in files) for n in ('LICENSE-MIT', 'LICENSE-APACHE')), files\n\
                    import intervalid\n\
                    assert intervalid.ARX(lags=(1, 2, 2)).fit(intervalid.load_data('hair-dryer')).model_.kind == 'arx'\n";
    let used = execute(Command::new(&python).arg("-c").arg(metadata).current_dir(place))?;
    match used {
        Outcome::Passed => use_program(&venv::program(&environment, "intervalid"), place),
        other => Ok(other),
    }
}

/// A fit from start to end and the demo, by an installed program.
fn use_program(program: &Path, place: &Path) -> anyhow::Result<Outcome> {
    let version = capture(Command::new(program).arg("--version").current_dir(place))?;
    let expected = format!("intervalid {}", env!("CARGO_PKG_VERSION"));
    if version.trim() != expected {
        return Ok(Outcome::Failed(format!(
            "the program says '{}', expected '{expected}'",
            version.trim()
        )));
    }
    let fit = [
        "fit",
        "hair-dryer",
        "--preset",
        "paper",
        "--model",
        "arx",
        "--out",
        "fit",
        "--quiet",
    ];
    let fitted = execute(Command::new(program).args(fit).current_dir(place))?;
    if !matches!(fitted, Outcome::Passed) {
        return Ok(fitted);
    }
    let shown = execute(Command::new(program).args(["demo", "--quiet"]).current_dir(place))?;
    if !matches!(shown, Outcome::Passed) {
        return Ok(shown);
    }
    if !place.join("intervalid-demo/report.html").is_file() {
        return Ok(Outcome::Failed("the demo wrote no report".into()));
    }
    let evaluate = ["evaluate", "fit", "hair-dryer", "--part", "test", "--json"];
    let text = capture(Command::new(program).args(evaluate).current_dir(place))?;
    let found: serde_json::Value = serde_json::from_str(&text).context("evaluate printed no JSON")?;
    match found["n"].as_u64() {
        Some(499) => Ok(Outcome::Passed),
        _ => Ok(Outcome::Failed(format!(
            "the test part has 499 samples, evaluate says {}",
            found["n"]
        ))),
    }
}
