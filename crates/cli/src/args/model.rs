//! Arguments of the commands that use a fitted model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::coverage::Coverages;
use super::{DataArgs, DataOptions, samples_ahead};

const PREDICT_EXAMPLES: &str = "\
Examples:
  intervalid predict dryer hair-dryer --part test --plot band.svg
  intervalid predict dryer/model.safetensors new.csv --out prediction.csv
  intervalid predict dryer new.csv --online               with the adaptive band beside the fixed one
  intervalid predict dryer new.csv --coverage 0.5,0.9,0.99     bands inside one another, from a calibrated model
  intervalid predict dryer new.csv --online --state dryer.online   goes on from what earlier calls have learnt
  intervalid predict dryer new.csv --json
  intervalid predict dryer plan.csv --initial-output 3.2       inputs alone, from this output on
  intervalid predict dryer plan.csv --start-from today.csv     inputs alone, after this recording

The model knows the first output of every experiment (or what --initial said in its fit); the rest is simulated.";

const EVALUATE_EXAMPLES: &str = "\
Examples:
  intervalid evaluate dryer new.csv
  intervalid evaluate dryer new.csv --online
  intervalid evaluate dryer new.csv --coverage 0.8        the band of another coverage, from a calibrated model
  intervalid evaluate dryer new.csv --band light          what `export --band light` would have done
  intervalid evaluate dryer monday.csv friday.csv         a row for each, and both together
  intervalid evaluate dryer new.csv --require-coverage 0.85   exit code 3 if fewer samples are inside
  intervalid evaluate dryer new.csv --out samples.csv     every sample, and whether it is inside
  intervalid evaluate dryer hair-dryer --part test --json

A simulation that diverges is a failure (exit code 1), after everything was printed and written.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  intervalid explain dryer
  intervalid explain dryer --out elasticity     tables and heat maps";

const COMPARE_EXAMPLES: &str = "\
Examples:
  intervalid compare dryer-arx dryer-cascade dryer-joint
  intervalid compare dryer-cascade dryer-joint --out comparison.html
  intervalid compare dryer-cascade dryer-joint --data new.csv    all of them on one recording
  intervalid compare dryer-cascade dryer-joint --data historian.csv --skip-rows 3 --resample 30s

With --data, a simulation that diverges is a failure (exit code 1), after the table was printed.
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

/// Which band of a model is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum BandName {
    /// All members, and wider where they disagree.
    #[default]
    Full,
    /// One member of each recipe, with a band that was sized for these.
    Light,
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
    /// Share of the samples that the band should hold instead of the fit's, from what a calibrated model stores; several, such as
    /// 0.5,0.9,0.99, add columns (y_lower_50 ...)
    #[arg(long, value_name = "SHARE,...", value_parser = Coverages::parse, allow_negative_numbers = true)]
    pub(crate) coverage: Option<Coverages>,
    /// Band of a mean of several models: all of them, or the few of a light export
    #[arg(long, value_name = "BAND", value_enum, default_value = "full")]
    pub(crate) band: BandName,
    /// File that remembers what the band of --online has learnt, for the next call; made if it does not exist
    // What conflicts with `online` waives that it is required.
    #[arg(long, value_name = "FILE", requires = "online", conflicts_with_all = ["horizon", "initial_output", "start_from"])]
    pub(crate) state: Option<PathBuf>,
    /// Predict K samples ahead, each time from the measured outputs up to then, instead of simulating freely
    #[arg(long, value_name = "K", value_parser = samples_ahead, conflicts_with = "online")]
    pub(crate) horizon: Option<usize>,
    /// Outputs at the first row, one per output: DATA then needs inputs only
    #[arg(long, value_name = "VALUE,...", value_delimiter = ',', allow_hyphen_values = true, conflicts_with_all = ["online", "horizon", "plot", "part"])]
    pub(crate) initial_output: Vec<f64>,
    /// A recording that DATA goes on from where it ends: DATA then needs inputs only
    #[arg(long, value_name = "FILE", conflicts_with_all = ["online", "horizon", "plot", "part", "initial_output"])]
    pub(crate) start_from: Option<String>,
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
    /// Share of the samples that the band should hold instead of the fit's, from what a calibrated model stores; several are
    /// evaluated one by one
    #[arg(long, value_name = "SHARE,...", value_parser = Coverages::parse, allow_negative_numbers = true)]
    pub(crate) coverage: Option<Coverages>,
    /// Evaluate predictions K samples ahead, each made from the measured outputs up to then
    #[arg(long, value_name = "K", value_parser = samples_ahead, conflicts_with = "online")]
    pub(crate) horizon: Option<usize>,
    /// Band of a mean of several models: all of them, or the few of a light export
    #[arg(long, value_name = "BAND", value_enum, default_value = "full")]
    pub(crate) band: BandName,
    /// Least share of samples inside the band, for every file and output; less is exit code 3
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub(crate) require_coverage: Option<f64>,
    /// FILE.html for a page like that of a fit, or FILE.csv for the samples: measured, predicted, bounds, and whether each lies inside
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a share between 0 and 1 such as 0.85".to_owned()),
    }
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
    /// Evaluate every model again on all of these files, in place of what their fits found
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// Page with the models side by side [default: print the table only]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}
