//! Arguments of `bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use intervalid_model::ModelKind;
use intervalid_workflow::Preset;

use super::coverage::share;
use super::fit::{duration, preset};

pub(super) const EXAMPLES: &str = "\
Examples:
  intervalid bench list
  intervalid bench run silverbox --data-dir files --out results
  intervalid bench table results";

const LIST_EXAMPLES: &str = "\
Examples:
  intervalid bench list
  intervalid bench list --data-dir files    which of them have their files there
  intervalid bench list --json";

const RUN_EXAMPLES: &str = "\
Examples:
  intervalid bench run silverbox emps --data-dir files --out results
  intervalid bench run silverbox --data-dir files --seed 1,2,3
  intervalid bench run emps --data-dir files --model arx --budget 30s
  intervalid bench run cascaded-tanks --data-dir files --config fit.toml

Files are looked for in the folder of --data-dir and in folders inside it, as they come or as CSV.
What is in the folder of --out already is not run again; Ctrl-C keeps what is done.";

const TABLE_EXAMPLES: &str = "\
Examples:
  intervalid bench table results > benchmarks.md
  intervalid bench table results --format csv
  intervalid bench table results --json";

/// The verbs of `bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// List the benchmarks: what they are, where their files are to be had
    #[command(after_help = LIST_EXAMPLES)]
    List,
    /// Fit to the official training data, judge on the official tests, keep the result
    Run(Box<BenchRunArgs>),
    /// Results beside published figures
    Table(BenchTableArgs),
}

/// Arguments of `bench run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct BenchRunArgs {
    /// Names of benchmarks, see `bench list`
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Folder for the results, one file each; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "./intervalid-bench")]
    pub(crate) out: PathBuf,
    /// Run again what the folder holds already
    #[arg(long)]
    pub(crate) again: bool,
    /// Seeds, a run each [default: 1]
    #[arg(long, value_name = "SEED,...", value_delimiter = ',', help_heading = "Fit options")]
    pub(crate) seed: Option<Vec<u64>>,
    /// Model [default: the best that the preset auto finds]
    #[arg(
        long,
        value_name = "MODEL",
        value_parser = PossibleValuesParser::new(ModelKind::ALL.map(ModelKind::name)).try_map(|name| name.parse::<ModelKind>()),
        help_heading = "Fit options"
    )]
    pub(crate) model: Option<ModelKind>,
    /// How unspecified settings are chosen, as in `fit`
    #[arg(
        long,
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(["auto", "paper"]).map(|name| preset(&name)),
        help_heading = "Fit options"
    )]
    pub(crate) preset: Option<Preset>,
    /// Most time that auto may search, such as 30s, 2m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Fit options")]
    pub(crate) budget: Option<Duration>,
    /// Share of the samples that the band should hold, such as 0.9
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = share,
        allow_negative_numbers = true,
        help_heading = "Fit options"
    )]
    pub(crate) coverage: Option<f64>,
    /// Epochs of each stage of training
    #[arg(long, value_name = "N", help_heading = "Fit options")]
    pub(crate) epochs: Option<usize>,
    /// Most threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Fit options")]
    pub(crate) threads: Option<u16>,
    /// All other settings of `fit` from a file; flags win over it
    #[arg(long, value_name = "FILE.toml", help_heading = "Fit options")]
    pub(crate) config: Option<PathBuf>,
}

/// Forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchTableForm {
    /// Markdown.
    Md,
    /// One row per method and test.
    Csv,
    /// JSON.
    Json,
}

/// Arguments of `bench table`.
#[derive(Args, Debug)]
#[command(after_help = TABLE_EXAMPLES)]
pub(crate) struct BenchTableArgs {
    /// Folder of the results
    #[arg(value_name = "DIR", default_value = "./intervalid-bench")]
    pub(crate) folder: PathBuf,
    /// Form of the tables
    #[arg(long, value_name = "FORMAT", default_value = "md", value_enum)]
    pub(crate) format: BenchTableForm,
}
