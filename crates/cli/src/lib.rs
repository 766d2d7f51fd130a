//! The intervalid command line: glue over the libraries.
//!
//! Arguments as typed (`args`) become requests of the libraries (`request`); a command prints through `output` and fails with
//! `error::Failure`, which knows the exit code.

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
mod state;
mod summary;
mod write;

use std::ffi::OsString;

use clap::Parser;
use intervalid_data::display_name;
use intervalid_interval::SimdLevel;

use args::Cli;
use error::Failure;
use output::Output;

pub use commands::export_model;
pub use error::ExportError;

/// Runs the program with these arguments, its own name first, and gives its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::report_large_files();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let typed = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let typed: Vec<String> = std::iter::once("intervalid".to_owned()).chain(typed).collect();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(mut cli) => {
            cli.global.typed = typed;
            cli
        }
        // Help and version are such errors, too. Where nobody reads them there is nobody to tell.
        Err(error) => {
            // The message repeats what was typed, or what a shell made of the name of a file.
            let escaped = typed.iter().map(|word| display_name(word).into_owned());
            let again = Cli::try_parse_from(escaped).err();
            let shown = again.filter(|again| again.kind() == error.kind()).unwrap_or(error);
            let _ = shown.print();
            return u8::try_from(shown.exit_code()).unwrap_or(2);
        }
    };
    let output = Output::new(&cli.global);
    let result = SimdLevel::from_environment()
        .map_err(Failure::input)
        .and_then(|_| commands::run(&cli, &output))
        .and_then(|()| Ok(output.flush()?));
    match result {
        Ok(()) => 0,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}
