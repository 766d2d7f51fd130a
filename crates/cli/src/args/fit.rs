//! Arguments of `fit`: settings are keys of the configuration file as well. A budget is not, since time repeats nothing.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use intervalid_data::{InitialState, Lags};
use intervalid_model::{MarginActivation, ModelKind, OutputRange, Precision, Strategy};

use intervalid_workflow::{Preset, parse_range};

use super::coverage::Coverages;
use super::{DataArgs, PrepareArgs};

const EXAMPLES: &str = "\
Examples:
  intervalid fit my.csv                                   the best model for this record, checked and calibrated
  intervalid fit my.csv --budget 30s --threads 2          the same within half a minute of search
  intervalid fit hair-dryer --preset paper --out dryer    the paper's settings
  intervalid fit my.csv --input valve --output level --coverage 0.95
  intervalid fit my.csv --coverage 0.5,0.9,0.99           three bands, one inside the other
  intervalid fit my.csv --output level --output-range level=0:10   a tank is never fuller than full
  intervalid fit my.csv --model arx                       a linear model: is a network worth it?
  intervalid fit my.csv --model ilstm --strategy joint --epochs 400 --seed 2
  intervalid fit my.csv --config fit.toml --print-config  what would be done
  intervalid fit run1.csv run2.csv --initial measured     two experiments
  intervalid fit monday.csv --test friday.csv             a recording of its own for the test
  intervalid fit my.csv --fill-gaps 3 --clip-spikes 6 --decimate 10   cleaned and thinned out first

A fit that was interrupted goes on when the same command is run again.";

/// Arguments of `fit`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Files that are the test part as a whole; DATA is then for training and validation alone
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Data options",
        conflicts_with = "experiment"
    )]
    pub(crate) test: Vec<String>,
    /// Fit once more to everything, the test part included, and write it as model-all.safetensors: for use, not for judging
    #[arg(long, help_heading = "Fit options")]
    pub(crate) refit_all: bool,
    /// Folder for the results; made if it does not exist, a fit in it is replaced
    #[arg(long, value_name = "DIR", default_value = "./intervalid-fit")]
    pub(crate) out: PathBuf,
    /// Replace files in the folder even if no fit wrote them, or if they were changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// How unspecified settings are chosen. auto: by a search on held-out blocks, which also calibrates the band; paper: as in
    /// the paper, or their equivalents for other records [default: auto, or paper if an option says how one network is
    /// trained]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(["auto", "paper"]).map(|name| preset(&name)),
        help_heading = "Fit options"
    )]
    pub(crate) preset: Option<Preset>,
    /// Most time that auto may search, such as 30s, 2m or 1h30m; the result says if it was reached
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Fit options")]
    pub(crate) budget: Option<Duration>,
    /// Scale the band on stretches that the model is fitted without, which takes seven more fits; auto always does
    #[arg(long, help_heading = "Fit options")]
    pub(crate) calibrate: bool,
    /// Model
    #[arg(
        long,
        value_name = "MODEL",
        value_parser = PossibleValuesParser::new(ModelKind::ALL.map(ModelKind::name)).try_map(|name| name.parse::<ModelKind>()),
        help_heading = "Fit options"
    )]
    pub(crate) model: Option<ModelKind>,
    /// How an interval network is trained: weights first and margins after, or both at once
    #[arg(
        long,
        value_name = "STRATEGY",
        value_parser = PossibleValuesParser::new(["cascade", "joint"]).map(|name| strategy(&name)),
        help_heading = "Fit options"
    )]
    pub(crate) strategy: Option<Strategy>,
    /// How margins are kept non-negative
    #[arg(
        long,
        value_name = "MARGIN",
        value_parser = PossibleValuesParser::new(["abs", "relu"]).map(|name| margin(&name)),
        help_heading = "Fit options"
    )]
    pub(crate) margin: Option<MarginActivation>,
    /// Share of the samples that the band should hold, such as 0.9; several, such as 0.5,0.9,0.99, give bands inside one another,
    /// of which 0.9 (or the first) is what the model is trained for and judged by
    #[arg(
        long,
        value_name = "SHARE,...",
        value_parser = Coverages::parse,
        allow_negative_numbers = true,
        help_heading = "Fit options"
    )]
    pub(crate) coverage: Option<Coverages>,
    /// The coverage is that of all outputs together: a sample is inside if every output is; the bands of all outputs widen for that
    #[arg(long, help_heading = "Fit options")]
    pub(crate) together: bool,
    /// Physical limits of an output, such as level=0:10, level=0: or level=:10, which predictions and bands do not leave; once per output
    #[arg(
        long,
        value_name = "NAME=LO:HI",
        value_parser = output_range,
        allow_hyphen_values = true,
        help_heading = "Fit options"
    )]
    pub(crate) output_range: Vec<(String, OutputRange)>,
    /// Input taps beyond the first, dead time, output lags [default: searched; with --preset paper the paper's for known names]
    #[arg(
        long,
        value_name = "NX,ND,NY",
        value_parser = |text: &str| text.parse::<Lags>(),
        allow_hyphen_values = true,
        help_heading = "Fit options"
    )]
    pub(crate) lags: Option<Lags>,
    /// Widths of the hidden layers; of iss the units of its state map and its output map, 0 for none
    #[arg(long, value_name = "WIDTH,...", value_delimiter = ',', help_heading = "Fit options")]
    pub(crate) hidden: Option<Vec<usize>>,
    /// States of a state-space model (iss); a search then tries no others
    #[arg(long, value_name = "N", help_heading = "Fit options")]
    pub(crate) states: Option<usize>,
    /// What is known of the outputs when a simulation starts: zero, measured, warmup:N or history:N
    #[arg(
        long,
        value_name = "STATE",
        value_parser = |text: &str| text.parse::<InitialState>(),
        help_heading = "Fit options"
    )]
    pub(crate) initial: Option<InitialState>,
    /// Epochs of each stage of training
    #[arg(long, value_name = "N", help_heading = "Fit options")]
    pub(crate) epochs: Option<usize>,
    /// Windows per mini-batch
    #[arg(long, value_name = "N", help_heading = "Fit options")]
    pub(crate) batch: Option<usize>,
    /// Learning rate
    #[arg(
        long,
        value_name = "RATE",
        allow_negative_numbers = true,
        help_heading = "Fit options"
    )]
    pub(crate) lr: Option<f64>,
    /// Seed of everything random
    #[arg(long, value_name = "SEED", help_heading = "Fit options")]
    pub(crate) seed: Option<u64>,
    /// Type of the numbers in training
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = PossibleValuesParser::new(["f32", "f64"]).map(|name| precision(&name)),
        help_heading = "Fit options"
    )]
    pub(crate) precision: Option<Precision>,
    /// Most threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Fit options")]
    pub(crate) threads: Option<u16>,
    /// Settings from a file; flags win over it
    #[arg(long, value_name = "FILE.toml", help_heading = "Fit options")]
    pub(crate) config: Option<PathBuf>,
    /// Print the resolved settings and stop
    #[arg(long, help_heading = "Fit options")]
    pub(crate) print_config: bool,
}

impl FitArgs {
    /// An output with more than one range, of which the last would count silently.
    pub(crate) fn range_given_twice(&self) -> Option<&str> {
        let names = || self.output_range.iter().map(|(name, _)| name.as_str());
        let is_again = |(place, name): &(usize, &str)| names().take(*place).any(|earlier| earlier == *name);
        names().enumerate().find(is_again).map(|(_, name)| name)
    }
}

/// A name may hold an equals sign, a range does not.
fn output_range(text: &str) -> Result<(String, OutputRange), String> {
    match text.rsplit_once('=').map(|(name, range)| (name.trim(), range)) {
        Some((name, range)) if !name.is_empty() => Ok((name.to_owned(), parse_range(range)?)),
        _ => Err("expected a name and its range, such as level=0:10".to_owned()),
    }
}

/// The time that a search may take.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    intervalid_data::parse_seconds(text)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a positive time such as 30s, 2m or 1h30m".to_owned())
}

pub(super) fn preset(name: &str) -> Preset {
    if name == "paper" { Preset::Paper } else { Preset::Auto }
}

fn strategy(name: &str) -> Strategy {
    if name == "joint" {
        Strategy::Joint
    } else {
        Strategy::Cascade
    }
}

fn margin(name: &str) -> MarginActivation {
    if name == "relu" {
        MarginActivation::Relu
    } else {
        MarginActivation::Abs
    }
}

fn precision(name: &str) -> Precision {
    if name == "f64" { Precision::F64 } else { Precision::F32 }
}
