//! One file per verb.

mod data;
mod demo;

use crate::args::{Cli, Command, DataCommand};
use crate::error::Failure;
use crate::output::Output;
use crate::request::{DataRequest, data_dir};

/// Resolves the arguments and runs the verb.
pub(crate) fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    match &cli.command {
        Command::Demo(args) => demo::run(&args.out, args.epochs as usize, output),
        Command::Data(DataCommand::List) => data::list::run(data_dir(&cli.global).as_deref(), output),
        Command::Data(DataCommand::Show(args)) => data::show::run(&DataRequest::new(&args.data, &cli.global), output),
    }
}
