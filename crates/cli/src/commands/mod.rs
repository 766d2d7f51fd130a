//! One file per verb.

mod ahead;
mod analyse;
mod bench;
mod card;
mod comparable;
mod compare;
mod completions;
mod data;
mod demo;
mod evaluate;
mod explain;
mod export;
mod fit;
mod levels;
mod linearise;
mod load;
mod man;
mod monitor;
mod online_state;
mod predict;
mod recalibrate;
mod report;
mod seen;
mod studio;
mod study;
mod update;

pub use export::export_model;

use crate::args::{Cli, Command, DataCommand};
use crate::error::Failure;
use crate::output::Output;
use crate::request::{data_dir, record};

/// Resolves the arguments and runs the verb.
pub(crate) fn run(cli: &Cli, output: &Output) -> Result<(), Failure> {
    let global = &cli.global;
    match &cli.command {
        Command::Demo(args) => demo::run(&args.out, args.epochs.map(|epochs| epochs as usize), output),
        Command::Data(DataCommand::List) => data::list::run(data_dir(global).as_deref(), output),
        Command::Data(DataCommand::Show(args)) => {
            let request = record(&args.data, global).with_preparation(args.prepare.preparation());
            data::show::run(&request, args.prepare.detrend.as_deref(), output)
        }
        Command::Fit(args) => fit::run(args, global, output),
        Command::Predict(args) => predict::run(args, global, output),
        Command::Evaluate(args) => evaluate::run(args, global, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Compare(args) => compare::run(args, global, output),
        Command::Export(args) => export::run(args, output),
        Command::Report(args) => report::run(args, output),
        Command::Monitor(args) => monitor::run(args, global, output),
        Command::Recalibrate(args) => recalibrate::run(args, global, output),
        Command::Card(args) => card::run(args, output),
        Command::Update(args) => update::run(args, global, output),
        Command::Linearise(args) => linearise::run(args, output),
        Command::Analyse(args) => analyse::run(args, global, output),
        Command::Studio(args) => studio::run(args, global, output),
        Command::Completions(args) => completions::run(args, output),
        Command::Man(args) => man::run(args, output),
        Command::Bench(command) => bench::run(command, data_dir(global).as_deref(), output),
        Command::Study(command) => study::run(command, data_dir(global).as_deref(), output),
    }
}
