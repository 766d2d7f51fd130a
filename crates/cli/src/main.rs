//! The intervalid command line: glue over the libraries.
//!
//! Arguments as typed ([`args`]) become requests of the libraries ([`request`]); a command prints through [`output`] and fails with
//! [`error::Failure`], which knows the exit code.

mod args;
mod commands;
mod error;
mod format;
mod interrupt;
mod output;
mod path_text;
mod plot;
mod progress;
mod request;
mod summary;
mod write;

use std::process::ExitCode;

use clap::Parser;
use intervalid_interval::SimdLevel;

use args::Cli;
use error::Failure;
use output::Output;

fn main() -> ExitCode {
    interrupt::report_large_files();
    let cli = Cli::parse();
    let output = Output::new(&cli.global);
    let result = SimdLevel::from_environment()
        .map_err(Failure::input)
        .and_then(|_| commands::run(&cli, &output))
        .and_then(|()| Ok(output.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as with `intervalid data list | head -1`.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}
