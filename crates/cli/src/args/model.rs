//! Arguments of the commands that use a fitted model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataArgs;

const PREDICT_EXAMPLES: &str = "\
Examples:
  intervalid predict dryer hair-dryer --part test --plot band.svg
  intervalid predict dryer/model.safetensors new.csv --out prediction.csv
  intervalid predict dryer new.csv --online               with the adaptive band beside the fixed one
  intervalid predict dryer new.csv --json

The model knows the first output of every experiment (or what --initial said in its fit); the rest is simulated.";

const EVALUATE_EXAMPLES: &str = "\
Examples:
  intervalid evaluate dryer new.csv
  intervalid evaluate dryer new.csv --online
  intervalid evaluate dryer hair-dryer --part test --json";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  intervalid explain dryer
  intervalid explain dryer --out elasticity     tables and heat maps";

const COMPARE_EXAMPLES: &str = "\
Examples:
  intervalid compare dryer-arx dryer-cascade dryer-joint
  intervalid compare dryer-cascade dryer-joint --out comparison.html

A linear model is always among them: where no fit is linear, the one that `fit` made beside its model.";

/// A part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartName {
    /// The whole record.
    All,
    /// The part models are fitted on.
    Train,
    /// The part epochs are chosen on.
    Validation,
    /// The part nothing was chosen on.
    Test,
}

/// Arguments of `predict`.
#[derive(Args, Debug)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Part of the record to simulate
    #[arg(long, value_name = "PART", default_value = "all", value_enum)]
    pub(crate) part: PartName,
    /// Add the band whose scale follows the measured outputs, sample by sample; plots show it
    #[arg(long)]
    pub(crate) online: bool,
    /// Predict K samples ahead, each time from the measured outputs up to then, instead of simulating freely
    #[arg(long, value_name = "K", conflicts_with = "online")]
    pub(crate) horizon: Option<usize>,
    /// Accept a simulation that diverges; without it that is a failure (exit code 1), with what was predicted before written all the same
    #[arg(long)]
    pub(crate) allow_divergence: bool,
    /// CSV file for the simulation [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Picture of the simulation and its band, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

/// Arguments of `evaluate`.
#[derive(Args, Debug)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Part of the record to evaluate on
    #[arg(long, value_name = "PART", default_value = "all", value_enum)]
    pub(crate) part: PartName,
    /// Evaluate the band whose scale follows the measured outputs; point predictions are the same
    #[arg(long)]
    pub(crate) online: bool,
    /// Evaluate predictions K samples ahead, each made from the measured outputs up to then
    #[arg(long, value_name = "K", conflicts_with = "online")]
    pub(crate) horizon: Option<usize>,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Folder for tables (CSV) and heat maps (SVG, PNG) [default: print the channels only]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Folders that `fit` wrote
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Page with the models side by side [default: print the table only]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}
