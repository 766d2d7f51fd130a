//! Arguments of the commands for a model in use.

use std::path::PathBuf;

use clap::Args;

use super::{DataArgs, samples_ahead};

const MONITOR_EXAMPLES: &str = "\
Examples:
  intervalid monitor dryer monday.csv tuesday.csv         does the band still hold? exit code 3 if not
  intervalid monitor dryer today.csv --state dryer.state  goes on where the last call ended
  intervalid monitor dryer log.csv --follow --state dryer.state --out trend.html
  intervalid monitor dryer new.csv --horizon 1            predictions from the last measurement: drifts show sooner
  intervalid monitor dryer new.csv --json

States: ok, watch (something may have changed), refit (the promise is broken: exit code 3, after everything was printed and written).
The false-alarm rate holds for the whole life of the monitor, however often it is looked at. Recordings, or beginnings of them, that the
state file has counted before are not counted again.";

const RECALIBRATE_EXAMPLES: &str = "\
Examples:
  intervalid recalibrate dryer monday.csv tuesday.csv --out dryer-week.safetensors
  intervalid recalibrate dryer new.csv --weight 0.5 --out dryer-half.safetensors   half old, half new
  intervalid recalibrate dryer new.csv --out dryer-new.safetensors --json

The networks and the point predictions stay; only the band is scaled anew. MODEL itself is not changed.";

const CARD_EXAMPLES: &str = "\
Examples:
  intervalid card dryer                                    Markdown on standard output
  intervalid card dryer --out card.html --data-licence CC-BY-4.0
  intervalid card dryer --json";

/// Arguments of `recalibrate`.
#[derive(Args, Debug)]
#[command(after_help = RECALIBRATE_EXAMPLES)]
pub(crate) struct RecalibrateArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Weight of the new recordings, above 0; the rest is that of the scale the band has
    #[arg(long, value_name = "W", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) weight: f64,
    /// File for the model with the new band
    #[arg(long, value_name = "FILE.safetensors")]
    pub(crate) out: PathBuf,
}

const UPDATE_EXAMPLES: &str = "\
Examples:
  intervalid update dryer new.csv --with old.csv --out dryer-updated
  intervalid update dryer monday.csv tuesday.csv --with old.csv --out dryer-week --json

The same kind of model with the same structure, fitted from where it is to old and new data: of new recordings 60 % train, 10 % choose, and the
last 30 % judge both models. If the updated one is worse there, nothing is written (exit code 3). MODEL itself is not changed.";

/// Arguments of `update`.
#[derive(Args, Debug)]
#[command(after_help = UPDATE_EXAMPLES)]
pub(crate) struct UpdateArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Old recordings, which the model must go on to describe; may be given several times
    #[arg(long, value_name = "DATA", required = true)]
    pub(crate) with: Vec<String>,
    /// Folder for the updated model and a page that compares both; made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Arguments of `card`.
#[derive(Args, Debug)]
#[command(after_help = CARD_EXAMPLES)]
pub(crate) struct CardArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Licence of the data, which no file knows
    #[arg(long, value_name = "TEXT")]
    pub(crate) data_licence: Option<String>,
    /// File for the card, .md or .html [default: Markdown on standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `monitor`.
#[derive(Args, Debug)]
#[command(after_help = MONITOR_EXAMPLES)]
pub(crate) struct MonitorArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Watch predictions K samples ahead, each made from the measured outputs up to then [default: free runs]
    #[arg(long, value_name = "K", value_parser = samples_ahead)]
    pub(crate) horizon: Option<usize>,
    /// Probability that a model which keeps its promise is ever told to be refitted
    #[arg(long, value_name = "P", default_value_t = 0.01, allow_negative_numbers = true)]
    pub(crate) false_alarm: f64,
    /// Samples per step of the tests [default: several correlation times of the first 200 residuals]
    #[arg(long, value_name = "N")]
    pub(crate) block: Option<usize>,
    /// File that remembers everything between calls; made if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Go on reading a text file that grows, until Ctrl-C or until a refit is called for
    #[arg(long)]
    pub(crate) follow: bool,
    /// Page with the trend
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}
