//! Developer tasks, started as `cargo xtask TASK`. Nothing is installed system-wide and nothing outside `target/` is written.

mod bench_accuracy;
mod bench_peers;
mod deploy;
mod dist;
mod fuzz;
mod lock_file;
mod python;
mod repository;
mod sanitize;
mod soak;
mod step;
mod supply;
mod test;
mod validity;
mod venv;

use std::{path::PathBuf, process::ExitCode};

const HELP: &str = "\
usage: cargo xtask TASK [options]

  test [--only NAME]…    everything CI runs; --only picks steps (see --list)
  test --list            names of the steps
  bench-peers [--rounds N] [--seconds S] [--torch-index URL] [--peers-only]
                         one training iteration here, in JAX and in PyTorch, as a Markdown table
  bench-accuracy --data DIR [--record NAME]… [--budget TIME] [--peers arx,frols,jax|none]
                         default fits of a folder's records beside peers, over their test parts, as a Markdown table
  dist [--out DIR] [--only archive|wheel]
                         what a release ships (program, wheel, bill of materials, licences, checksums), made and tried
  fuzz [--minutes N] [--seed S] [--target NAME]… [--plain]
                         hostile files for everything that reads files: by libFuzzer, which counts branches, where it can be
                         built, with AddressSanitizer where there is a nightly compiler; --plain needs neither
  soak [--kills N] [--draws N] [--models N] [--only NAME]… [--seed S] [--program PATH]
                         kills the program at random moments and compares what repeated commands leave; draws networks, which
                         must lie inside the band, and models, which must give the same numbers in Rust, C and ONNX
  sanitize [--only miri|address]
                         kernels and file code under Miri and AddressSanitizer; needs a nightly compiler
  validity [--records N] [--samples N] [--threads N] [--model arx]
                         coverage of bands on synthetic records that stay or drift, as a Markdown table

`test` prints what ran, passed, failed or was skipped. A missing optional tool skips a step; with CI=true a skip is a
failure, except for the advisory check where its database cannot be reached.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, options) = match arguments.split_first() {
        Some((task, options)) => (task.as_str(), options),
        None => ("--help", &[][..]),
    };
    if options.iter().any(|option| option == "--help" || option == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let result = match task {
        "test" => test::run(options),
        "bench-accuracy" => bench_accuracy::run(options),
        "bench-peers" => bench_peers::run(options),
        "dist" => dist::run(options),
        "fuzz" => fuzz::run(options),
        "sanitize" => sanitize::run(options),
        "soak" => soak::run(options),
        "validity" => validity::run(options),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => Err(anyhow::Error::new(UsageError(format!("unknown task `{other}`")))),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<UsageError>() {
                eprintln!("\n{HELP}");
                return ExitCode::from(2);
            }
            ExitCode::FAILURE
        }
    }
}

/// The command line was wrong; nothing ran.
#[derive(Debug)]
struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Root of the workspace.
fn root() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
