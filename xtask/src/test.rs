//! `cargo xtask test`: everything CI runs.

use std::{path::PathBuf, process::Command};

use intervalid_interval::SimdLevel;

use crate::{
    UsageError, deploy, python, repository, root,
    step::{Outcome, Step, cargo, execute, has_cargo_tool, run_all},
    supply,
};

/// In the order they run: cheap ones first, so that a slip shows early.
const STEPS: &[Step] = &[
    Step {
        name: "format",
        run: || execute(&mut cargo(&["fmt", "--all", "--check"])),
    },
    Step {
        name: "lock-file",
        run: lock_file,
    },
    Step {
        name: "versions",
        run: repository::versions,
    },
    Step {
        name: "data-files",
        run: repository::data_files,
    },
    Step {
        name: "data-sets",
        run: data_sets,
    },
    Step {
        name: "browser",
        run: browser,
    },
    Step {
        name: "deploy-tools",
        run: deploy::tools,
    },
    Step {
        name: "licences",
        run: repository::licences,
    },
    Step {
        name: "sources",
        run: supply::sources,
    },
    Step {
        name: "rust-version",
        run: repository::rust_version,
    },
    Step {
        name: "advisories",
        run: supply::advisories,
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "tests",
        run: tests,
    },
    Step {
        name: "simd-levels",
        run: simd_levels,
    },
    Step {
        name: "python",
        run: python::python,
    },
    Step {
        name: "doc-tests",
        run: || execute(&mut cargo(&["test", "--workspace", "--doc", "--locked"])),
    },
    Step {
        name: "docs",
        run: docs,
    },
    Step {
        name: "benches",
        // Only what measures something: linking every program in the release profile as well takes minutes.
        run: || {
            execute(&mut cargo(&[
                "bench",
                "--workspace",
                "--bench",
                "*",
                "--no-run",
                "--locked",
            ]))
        },
    },
];

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let mut only = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "--list" => {
                STEPS.iter().for_each(|step| println!("{}", step.name));
                return Ok(true);
            }
            "--only" => {
                let name = options
                    .next()
                    .ok_or_else(|| UsageError("--only needs the name of a step".into()))?;
                if !STEPS.iter().any(|step| step.name == name) {
                    return Err(UsageError(format!("no step is named `{name}`")).into());
                }
                only.push(name.as_str());
            }
            other => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let chosen = STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name));
    Ok(run_all(chosen, in_ci))
}

fn lock_file() -> anyhow::Result<Outcome> {
    let mut command = cargo(&["metadata", "--locked", "--format-version", "1"]);
    println!("$ cargo metadata --locked");
    let status = command.stdout(std::process::Stdio::null()).status()?;
    Ok(if status.success() {
        Outcome::Passed
    } else {
        Outcome::Failed("Cargo.lock is not up to date".into())
    })
}

/// Tests that read data sets which may not be redistributed pass without them, and test runners hide what a passing test
/// prints; so their absence is reported here.
fn data_sets() -> anyhow::Result<Outcome> {
    let folder = match std::env::var_os("INTERVALID_DATA") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => root().join("../shared/data"),
    };
    let present = |name: &str| {
        let stems = [name.to_owned(), name.replace('-', "_")];
        stems.iter().any(|stem| folder.join(format!("{stem}.csv")).is_file())
    };
    let missing: Vec<&str> = repository::NOT_REDISTRIBUTABLE
        .iter()
        .copied()
        .filter(|name| !present(name))
        .collect();
    Ok(if missing.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!(
            "tests on {} check nothing: set INTERVALID_DATA to their folder",
            missing.join(", ")
        ))
    })
}

/// Tests of reports open them in Chromium and pass without one; as [`data_sets`], its absence is reported here.
fn browser() -> anyhow::Result<Outcome> {
    let named = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty());
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let found = std::env::split_paths(&paths).any(|folder| names.iter().any(|name| folder.join(name).is_file()));
    Ok(if named.is_some() || found {
        Outcome::Passed
    } else {
        Outcome::Skipped("no report is opened: install Chromium, or set CHROMIUM to its program".into())
    })
}

fn clippy() -> anyhow::Result<Outcome> {
    execute(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))
}

fn tests() -> anyhow::Result<Outcome> {
    let mut command = if has_cargo_tool("nextest") {
        cargo(&[
            "nextest",
            "run",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--no-tests",
            "pass",
        ])
    } else {
        println!("cargo-nextest is not installed: using cargo test, which runs the same tests");
        cargo(&[
            "test",
            "--workspace",
            "--lib",
            "--bins",
            "--tests",
            "--locked",
            "--no-fail-fast",
        ])
    };
    execute(command.env(deploy::PYTHON_VARIABLE, deploy::python()))
}

/// Modules of the interval and model crates whose tests run at every SIMD level: the kernels, what is written in them
/// (networks and their golden values, training, simulation step by step and whole), and the promises to the bit. Left out
/// are tests that run no kernel, and the search and recovery of known systems, which take minutes and see the kernels only
/// through the modules above.
const LEVEL_MODULES: [&str; 6] = ["kernel", "network", "train", "simulate", "training", "reproducibility"];

/// The step `tests` runs the best level that this processor has; this one, the levels below.
fn simd_levels() -> anyhow::Result<Outcome> {
    let levels = SimdLevel::available();
    let below = &levels[..levels.len().saturating_sub(1)];
    for level in below {
        println!("{} = {level}", SimdLevel::VARIABLE);
        let mut command = if has_cargo_tool("nextest") {
            // The whole workspace, as in `tests`: another choice of packages can mean other features, and a build of its own.
            let chosen = format!(
                "(package(intervalid-interval) | package(intervalid-model)) & test(/^({})::/)",
                LEVEL_MODULES.join("|")
            );
            let mut command = cargo(&["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "-E"]);
            command.arg(chosen);
            command
        } else {
            let mut command = cargo(&["test", "--locked", "--no-fail-fast", "--lib", "--tests"]);
            command.args(["-p", "intervalid-interval", "-p", "intervalid-model", "--"]);
            command.args(LEVEL_MODULES.map(|module| format!("{module}::")));
            command
        };
        let outcome = execute(command.env(SimdLevel::VARIABLE, level.to_string()))?;
        if !matches!(outcome, Outcome::Passed) {
            return Ok(Outcome::Failed(format!(
                "tests fail with {}={level}",
                SimdLevel::VARIABLE
            )));
        }
    }
    let names = |levels: &[SimdLevel]| levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match below {
        [] => println!(
            "this processor has one level, {}, which the step `tests` runs",
            names(levels)
        ),
        _ => println!("levels run: {}; of {} on this processor", names(below), names(levels)),
    }
    Ok(Outcome::Passed)
}

fn docs() -> anyhow::Result<Outcome> {
    let mut command: Command = cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    execute(command.env("RUSTDOCFLAGS", "-D warnings"))
}
