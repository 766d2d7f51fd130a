//! The program `intervalid` inside the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line with these arguments, without the program's name, and gives its exit code.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let program = std::iter::once(OsString::from("intervalid"));
    py.detach(|| intervalid_cli::run(program.chain(arguments)))
}
