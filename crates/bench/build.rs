//! Notes the commit that the program is built from, where it is built from a repository, so that results can say it.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn main() {
    println!("cargo:rerun-if-env-changed=INTERVALID_COMMIT");
    // Any source may have been changed since the commit.
    println!("cargo:rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let given = std::env::var("INTERVALID_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| {
        let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
        let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".."])?;
        Some(match changed.is_empty() {
            true => commit,
            false => format!("{commit} with changes"),
        })
    });
    println!("cargo:rustc-env=INTERVALID_BUILT_FROM={}", commit.unwrap_or_default());
}
