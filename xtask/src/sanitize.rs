//! `cargo xtask sanitize`: code that the compiler cannot check, and code that reads and writes files, under Miri and AddressSanitizer. Both
//! need a nightly compiler; AddressSanitizer runs every SIMD level of this processor, Miri the portable kernels and those of AVX2.

use std::process::{Command, Stdio};

use crate::step::{Outcome, Step, execute, run_all};
use crate::{UsageError, dist, venv};

const STEPS: &[Step] = &[
    Step {
        name: "miri",
        run: miri,
    },
    Step {
        name: "address",
        run: address,
    },
];

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let only = match options {
        [] => None,
        [option, name] if option == "--only" && STEPS.iter().any(|step| step.name == name) => Some(name.as_str()),
        _ => return Err(UsageError("sanitize takes --only miri or --only address".to_owned()).into()),
    };
    let chosen = STEPS.iter().filter(|step| only.is_none_or(|name| step.name == name));
    Ok(run_all(chosen, false))
}

/// Runs of Miri: what they are for, a package, its tests, flags of the compiler.
const MIRI: [(&str, &[&str], &str); 3] = [
    (
        "portable kernels",
        &["--package", "intervalid-interval", "--test", "main", "kernel::"],
        "",
    ),
    (
        "kernels of AVX2",
        &["--package", "intervalid-interval", "--test", "main", "kernel::"],
        "-Ctarget-feature=+avx2,+fma",
    ),
    ("files", &["--package", "intervalid-files", "--lib"], ""),
];

fn miri() -> anyhow::Result<Outcome> {
    if !works(nightly(&["miri", "--version"])) {
        return Ok(Outcome::Skipped(
            "Miri is missing: `rustup toolchain install nightly --component miri --component rust-src`".to_owned(),
        ));
    }
    for (what, tests, flags) in MIRI {
        println!("Miri: {what}");
        let mut command = nightly(&["miri", "test", "--locked"]);
        command
            .args(tests)
            .env("RUSTFLAGS", flags)
            // Tests make files; two cases of each property are what the time allows.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .env("PROPTEST_CASES", "2")
            .env("CARGO_TARGET_DIR", venv::target().join("miri"));
        let outcome = execute(&mut command)?;
        if !matches!(outcome, Outcome::Passed) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}

/// Packages with unsafe code, or that read and write files, with the tests that reach it.
const ADDRESS: [&[&str]; 2] = [
    &["--package", "intervalid-interval", "--lib", "--test", "main"],
    &["--package", "intervalid-files", "--lib"],
];

fn address() -> anyhow::Result<Outcome> {
    if !works(nightly(&["--version"])) {
        return Ok(Outcome::Skipped(
            "a nightly compiler is missing: `rustup toolchain install nightly`".to_owned(),
        ));
    }
    let host = dist::host()?;
    for tests in ADDRESS {
        let mut command = nightly(&["test", "--locked", "--target", &host]);
        command
            .args(tests)
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env("CARGO_TARGET_DIR", venv::target().join("address"));
        let outcome = execute(&mut command)?;
        if !matches!(outcome, Outcome::Passed) {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}

fn nightly(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo"])
        .args(arguments)
        .current_dir(crate::root());
    command
}

fn works(mut command: Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
