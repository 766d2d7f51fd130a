//! The program `intervalid`: all of it is in the library of this crate, which the Python package runs too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(intervalid_cli::run(std::env::args_os()))
}
