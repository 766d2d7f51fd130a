//! Arguments as typed. [`crate::request`] turns them into what commands work with.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use intervalid_data::DATA_DIR_VARIABLE;
use intervalid_report::folder::command_line;

mod analysis;
mod bench;
mod coverage;
mod data;
mod export;
mod fit;
mod life;
mod model;
mod prepare;
mod report;
mod shell;
mod studio;
mod study;

pub(crate) use analysis::{AnalyseArgs, LineariseArgs};
pub(crate) use bench::{BenchCommand, BenchRunArgs, BenchTableArgs, BenchTableForm};
pub(crate) use coverage::Coverages;
pub(crate) use data::{DataArgs, DataOptions, column_names};
pub(crate) use export::{ExportArgs, ExportPrecision, Fmi, Target};
pub(crate) use fit::FitArgs;
pub(crate) use life::{CardArgs, MonitorArgs, RecalibrateArgs, UpdateArgs};
pub(crate) use model::{BandName, CompareArgs, EvaluateArgs, ExplainArgs, PartName, PredictArgs};
pub(crate) use prepare::PrepareArgs;
pub(crate) use report::ReportArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use studio::StudioArgs;
pub(crate) use study::{FiguresArgs, MergeArgs, RunArgs, StudyCommand, TableArgs, TableForm};

const EXAMPLES: &str = "\
Examples:
  intervalid demo                            a first look, with built-in data
  intervalid data list                       data sets that have a name
  intervalid data show my.csv                what is in a record, which lags it suggests
  intervalid data show my.csv --input valve,pump --output level
  intervalid fit my.csv --out pump           identify a model with prediction intervals
  intervalid report pump                     the page of the fit, in a browser
  intervalid predict pump new.csv            simulate new inputs with it
  intervalid export pump --to c --out p.c    its step for a controller
  intervalid monitor pump new.csv            does its band still hold?
  intervalid studio plant                    all of it in a browser
  intervalid study run paper --out paper     reproduce the tables of the paper

Exit code 0: done. 1: the run failed. 2: bad usage or bad input, nothing written. 3: a requirement of yours was not met.";

const DEMO_EXAMPLES: &str = "\
Examples:
  intervalid demo                            fit, compare, say what it means
  intervalid demo --out first --epochs 20    faster and worse
  intervalid demo --quiet                    the table only";

const DATA_EXAMPLES: &str = "\
Examples:
  intervalid data list
  intervalid data show my.csv --input valve --output level";

const LIST_EXAMPLES: &str = "\
Examples:
  intervalid data list
  intervalid data list --data-dir records    names of your own: NAME stands for records/NAME.csv
  intervalid data list --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  intervalid data show hair-dryer
  intervalid data show run1.csv run2.csv --input u1,u2 --output y
  intervalid data show log.mat --output temperature --sample-time 0.1
  intervalid data show export.csv --delimiter ';' --missing split
  intervalid data show german.csv --decimal ','
  intervalid data show historian.csv --skip-rows 3 --resample 30s --missing split
  intervalid data show plant.xlsx --input valve --output level --unit level=m
  intervalid data show hair-dryer --json";

/// Identify dynamic systems from recorded inputs and outputs, with prediction intervals.
#[derive(Debug, Parser)]
#[command(name = "intervalid", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Print one JSON object on standard output and nothing else there
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Tell on standard error what is being done
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Folder of further data sets: NAME stands for NAME.csv in it
    // Not a PathBuf: clap would refuse a variable that is set but empty.
    #[arg(long, global = true, value_name = "DIR", env = DATA_DIR_VARIABLE)]
    pub(crate) data_dir: Option<OsString>,
    /// All that was typed, the name of the program first.
    #[arg(skip)]
    pub(crate) typed: Vec<String>,
}

impl GlobalArgs {
    /// The command as it may be typed once more.
    pub(crate) fn command(&self) -> String {
        command_line(&self.typed)
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Identify the built-in hair dryer and show what the result means
    Demo(DemoArgs),
    /// List data sets, or describe one
    #[command(subcommand, after_help = DATA_EXAMPLES)]
    Data(DataCommand),
    /// Identify a model of a record, evaluate it on the test part, write it to a folder
    Fit(Box<FitArgs>),
    /// Simulate a record in free run, with prediction intervals
    Predict(PredictArgs),
    /// Metrics of a model on a record
    Evaluate(EvaluateArgs),
    /// Look inside: elasticity of an interval network, difference equation and poles of a linear model
    Explain(ExplainArgs),
    /// One table of several fitted models
    Compare(CompareArgs),
    /// Turn a model into a step for a controller or a simulator: C99, FMU or ONNX
    Export(ExportArgs),
    /// One page to look at, of a fit or a study
    Report(ReportArgs),
    /// Watch over a model in use: does its band still hold, and what has changed?
    Monitor(MonitorArgs),
    /// Scale the band of a model anew with recordings made after its fit
    Recalibrate(RecalibrateArgs),
    /// What a model is, where it comes from and where it ends, on one page
    Card(CardArgs),
    /// Fit a model once more, from where it is, to old and new recordings
    Update(UpdateArgs),
    /// Many fits at once: run a study, look at it
    #[command(subcommand, after_help = study::EXAMPLES)]
    Study(StudyCommand),
    /// Published benchmarks under their official rules, beside published figures
    #[command(subcommand, after_help = bench::EXAMPLES)]
    Bench(BenchCommand),
    /// A model around a point as a linear system: A, B, C, D, poles, zeros, gains
    Linearise(LineariseArgs),
    /// Bode, steps, static curve and errors of a model, on one page
    Analyse(Box<AnalyseArgs>),
    /// Recordings, fits and simulations in a browser, served on this machine
    Studio(StudioArgs),
    /// Print a shell's completion script
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// The verbs of `data`.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the data sets that have a name
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Describe a record: columns, statistics, warnings, dead time, suggested lags
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Box<ShowArgs>),
}

/// Arguments of `data show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
#[command(after_help = DEMO_EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Folder for the results; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "./intervalid-demo")]
    pub(crate) out: PathBuf,
    /// Epochs of each stage of training: fewer are faster and usually give worse models [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epochs: Option<u32>,
}

/// How far ahead predictions are made.
fn samples_ahead(text: &str) -> Result<usize, String> {
    let samples = text.parse().ok().filter(|&samples| samples > 0);
    samples.ok_or_else(|| "expected at least 1 sample ahead".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples_that_are_its_own_and_parse() {
        fn check(command: &clap::Command, name: &str) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = help.lines().filter_map(|line| line.strip_prefix("  intervalid "));
            let mut own = 0;
            for example in examples {
                own += usize::from(format!("{example} ").starts_with(&format!("{name} ")) || name.is_empty());
                // What follows two blanks explains; what follows a pipe or an arrow is the shell's.
                let typed = example.split("  ").next().unwrap_or_default();
                let typed = typed.split(['|', '>']).next().unwrap_or_default();
                let words = typed.split_whitespace().map(|word| word.trim_matches('\''));
                let parsed = Cli::try_parse_from(["intervalid"].into_iter().chain(words));
                assert!(
                    parsed.is_ok(),
                    "{example}: {}",
                    parsed.err().map_or_else(String::new, |e| e.to_string())
                );
            }
            assert!(own > 0, "`intervalid {name} --help` has no example of its own");
            for subcommand in command.get_subcommands() {
                check(subcommand, format!("{name} {}", subcommand.get_name()).trim_start());
            }
        }
        check(&Cli::command(), "");
    }
}
