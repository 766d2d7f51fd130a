//! Tools that exported models are tried with: compilers from the system, Python packages under `target/`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::step::Outcome;
use crate::{root, venv};

/// Compilers and their Debian packages.
const COMPILERS: [(&str, &str); 3] = [
    ("gcc", "gcc"),
    ("clang", "clang"),
    ("arm-none-eabi-gcc", "gcc-arm-none-eabi libnewlib-arm-none-eabi"),
];

/// Variable by which the tests find the interpreter.
pub(crate) const PYTHON_VARIABLE: &str = "INTERVALID_DEPLOY_PYTHON";

fn folder() -> PathBuf {
    venv::target().join("deploy-venv")
}

/// The interpreter of the environment, whether it is there or not.
pub(crate) fn python() -> PathBuf {
    venv::program(&folder(), "python")
}

/// Makes the Python environment with the pinned packages, and reports tools without which tests check nothing.
pub(crate) fn tools() -> anyhow::Result<Outcome> {
    let runs = |name: &str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let absent: Vec<String> = COMPILERS
        .iter()
        .filter(|(name, _)| !runs(name))
        .map(|(name, package)| format!("{name} (Debian: {package})"))
        .collect();
    if let Outcome::Failed(reason) = environment() {
        return Ok(Outcome::Skipped(format!(
            "FMU and ONNX exports are not tried, no Python environment: {reason}"
        )));
    }
    Ok(match absent.is_empty() {
        true => Outcome::Passed,
        false => Outcome::Skipped(format!("exports are not tried with {}", absent.join(", "))),
    })
}

/// Installs what the requirements name, unless that was done before.
fn environment() -> Outcome {
    let requirements = root().join("crates/deploy/tests/requirements.txt");
    venv::up_to_date(&folder(), &[&requirements]).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
}
