//! `intervalid completions`.

use clap::CommandFactory;
use serde::Serialize;

use crate::args::{Cli, CompletionsArgs};
use crate::error::Failure;
use crate::output::Output;

/// The JSON object.
#[derive(Serialize)]
struct Report {
    shell: String,
    script: String,
}

/// Prints the completion script of a shell.
pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "intervalid", &mut script);
    let script = String::from_utf8(script).map_err(Failure::run)?;
    if output.is_json() {
        let shell = args.shell.to_string();
        return output.json(&Report { shell, script });
    }
    Ok(output.content(script.trim_end())?)
}
