//! Programs that the tests drive. Where one is absent the test is skipped with a loud line; under `CI=true` it fails.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command if it runs, or `None` after a loud line.
pub(crate) fn tool(name: &str, package: &str) -> Option<String> {
    let runs = Command::new(name)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !runs {
        skip(&format!("`{name}` not found; install the Debian package {package}"));
    }
    runs.then(|| name.to_owned())
}

/// The Python interpreter with fmpy, onnx and onnxruntime that `cargo xtask test` prepares.
pub(crate) fn python() -> Option<PathBuf> {
    let named = env::var_os("INTERVALID_DEPLOY_PYTHON").map(PathBuf::from);
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/deploy-venv/bin/python");
    let python = Some(named.unwrap_or(made)).filter(|python| python.is_file());
    if python.is_none() {
        skip(
            "no Python with fmpy, onnx and onnxruntime; `cargo xtask test --only deploy-tools` makes one, INTERVALID_DEPLOY_PYTHON names it",
        );
    }
    python
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skip(message: &str) {
    assert!(env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("SKIPPED: {message}");
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Writes a file of a test's folder.
pub(crate) fn write(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}
