//! Where dependencies come from, and what is known against them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lock_file::{Locked, locked_packages};
use crate::root;
use crate::step::{Outcome, cargo, execute, has_cargo_tool};
use crate::venv;

/// The only place that packages come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Advisories, as cargo-deny reads them.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";
/// A database that does not answer for so long cannot be had.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every package comes from the registry, with the hash of its file, or is one of ours. As `[sources]` of `deny.toml` says, without
/// cargo-deny.
pub(crate) fn sources() -> anyhow::Result<Outcome> {
    let problems = strangers(locked_packages()?);
    for problem in &problems {
        println!("{problem}");
    }
    Ok(match problems.len() {
        0 => Outcome::Passed,
        count => Outcome::Failed(format!("{count} packages of unknown origin")),
    })
}

fn strangers(packages: Vec<Locked>) -> Vec<String> {
    let problem = |package: Locked| {
        let Locked {
            name,
            version,
            source,
            checksum,
        } = package;
        match (source.as_deref(), checksum) {
            (None, _) if name.starts_with("intervalid") || name == "xtask" => None,
            (None, _) => Some(format!("{name} {version} is a folder outside of the workspace")),
            (Some(REGISTRY), Some(_)) => None,
            (Some(REGISTRY), None) => Some(format!("{name} {version} has no checksum")),
            (Some(source), _) => Some(format!("{name} {version} comes from {source}")),
        }
    };
    packages.into_iter().filter_map(problem).collect()
}

/// Known vulnerabilities and unmaintained packages, by cargo-deny. Its database is a git repository elsewhere, which a closed machine
/// cannot reach: that is reported and not counted as a failure. Where it can be reached CI does check, and installs cargo-deny to do so.
pub(crate) fn advisories() -> anyhow::Result<Outcome> {
    if !can_be_reached(DATABASE) {
        return Ok(Outcome::Unavailable("the advisory database cannot be reached".into()));
    }
    let checks = ["check", "advisories", "bans", "sources"];
    if has_cargo_tool("deny") {
        return execute(cargo(&["deny"]).args(checks));
    }
    if std::env::var("CI").is_ok_and(|value| value == "true") {
        let tools = venv::target().join("tools");
        let mut install = cargo(&["install", "cargo-deny", "--locked", "--root"]);
        let installed = execute(install.arg(&tools))?;
        return match installed {
            Outcome::Passed => {
                let mut command = Command::new(tools.join("bin/cargo-deny"));
                execute(command.args(checks).current_dir(root()))
            }
            other => Ok(other),
        };
    }
    Ok(Outcome::Skipped("`cargo install cargo-deny --locked` to check".into()))
}

/// Whether a git repository answers in time.
fn can_be_reached(repository: &str) -> bool {
    let asked = Command::new("git")
        .args(["ls-remote", "--quiet", repository, "HEAD"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = asked else { return false };
    let end = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(50)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock_file::parse;

    #[test]
    fn strangers_are_named() {
        let lock = format!(
            "[[package]]\nname = 'intervalid-data'\nversion = '0.1.0'\n\
             [[package]]\nname = 'serde'\nversion = '1.0.0'\nsource = '{REGISTRY}'\nchecksum = 'ab'\n\
             [[package]]\nname = 'bare'\nversion = '1.0.0'\nsource = '{REGISTRY}'\n\
             [[package]]\nname = 'fork'\nversion = '2.0.0'\nsource = 'git+https://example.org/fork#1'\n\
             [[package]]\nname = 'folder'\nversion = '3.0.0'\n"
        );
        let found = strangers(parse(&lock).unwrap());
        assert_eq!(
            found,
            [
                "bare 1.0.0 has no checksum",
                "fork 2.0.0 comes from git+https://example.org/fork#1",
                "folder 3.0.0 is a folder outside of the workspace",
            ]
        );
    }

    #[test]
    fn a_repository_is_there_or_not() {
        assert!(can_be_reached(&root().display().to_string()));
        assert!(!can_be_reached("/nowhere/at/all"));
    }
}
