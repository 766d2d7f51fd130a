//! Notes the commit that a release of the program is built from, where it is built from a repository, so that results can say it.
//!
//! Development builds do not ask: results worth keeping come from releases, and every change of a source would build this crate again.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit, and whether sources were changed since.
fn from_repository() -> Option<String> {
    println!("cargo:rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".."])?;
    Some(match changed.is_empty() {
        true => commit,
        false => format!("{commit} with changes"),
    })
}

fn main() {
    println!("cargo:rerun-if-env-changed=INTERVALID_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let given = std::env::var("INTERVALID_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = match (given, is_release) {
        (Some(commit), _) => Some(commit),
        (None, true) => from_repository(),
        (None, false) => None,
    };
    println!("cargo:rustc-env=INTERVALID_BUILT_FROM={}", commit.unwrap_or_default());
}
