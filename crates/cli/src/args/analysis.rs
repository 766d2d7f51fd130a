//! Arguments of the commands that look at a model.

use std::path::PathBuf;

use clap::Args;

use super::{DataOptions, PartName};

pub(super) const LINEARISE_EXAMPLES: &str = "\
Examples:
  intervalid linearise dryer                             around the steady state at the training mean
  intervalid linearise dryer --at u=5.5                  around the steady state at this input
  intervalid linearise tank --at valve=0.4,level=1.2     here, steady or not
  intervalid linearise dryer --out dryer.py              code for the Python package control
  intervalid linearise dryer --out dryer.mat             A, B, C, D, Ts for MATLAB and Octave
  intervalid linearise dryer --json

Matrices are in the units of the record; states are deviations from the point.";

const ANALYSE_EXAMPLES: &str = "\
Examples:
  intervalid analyse dryer --out dryer.html              Bode, steps, static curve: one page
  intervalid analyse dryer --data hair-dryer --part test --out dryer.html   with errors, and what the data show
  intervalid analyse dryer --at u=5.5 --amplitude 0.5,1
  intervalid analyse dryer --data hair-dryer --excite next.csv --limit u=3:7   what to measure next
  intervalid analyse dryer --json

Interval networks, state-space models, their averages and ARX can be analysed.";

/// Arguments of `linearise`.
#[derive(Args, Debug)]
#[command(after_help = LINEARISE_EXAMPLES)]
pub(crate) struct LineariseArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Inputs of the point, others stay at their training mean; with all outputs too, that point, else the steady state
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value_of, value_delimiter = ',')]
    pub(crate) at: Vec<(String, f64)>,
    /// File for the system: .json, .mat or .py [default: print it only]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `analyse`.
#[derive(Args, Debug)]
#[command(after_help = ANALYSE_EXAMPLES)]
pub(crate) struct AnalyseArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Inputs of the operating point; others stay at their training mean
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = value_of, value_delimiter = ',')]
    pub(crate) at: Vec<(String, f64)>,
    /// Sizes of steps and pulses in the input's unit [default: -1, 0.5, 1 and 2 standard deviations]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) amplitude: Vec<f64>,
    /// A recording: errors of the model on it, and what it shows without a model
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// Part of the recording
    #[arg(long, value_name = "PART", default_value = "all", value_enum, requires = "data")]
    pub(crate) part: PartName,
    /// CSV file for a proposed excitation, a column per input: steps, then sines
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) excite: Option<PathBuf>,
    /// Samples of the excitation [default: as many as the slowest time constant needs]
    #[arg(long, value_name = "N", requires = "excite")]
    pub(crate) excite_samples: Option<usize>,
    /// Limits of inputs [default: the range of the recording, or the training mean ± 2 standard deviations]
    #[arg(long, value_name = "NAME=LOW:HIGH,...", value_parser = limits_of, value_delimiter = ',')]
    pub(crate) limit: Vec<(String, [f64; 2])>,
    /// Folder for every chart as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// Page with all views [default: print the figures only]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}

/// NAME=LOW:HIGH.
fn limits_of(text: &str) -> Result<(String, [f64; 2]), String> {
    let expected = || "expected NAME=LOW:HIGH such as valve=0:1".to_owned();
    let (name, range) = text.rsplit_once('=').ok_or_else(expected)?;
    let (low, high) = range.split_once(':').ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| expected());
    match name.trim() {
        "" => Err(expected()),
        name => Ok((name.to_owned(), [number(low)?, number(high)?])),
    }
}

/// NAME=VALUE; the name may hold equal signs.
fn value_of(text: &str) -> Result<(String, f64), String> {
    let expected = || "expected NAME=VALUE such as valve=0.4".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(expected)?;
    let value = value.trim().parse::<f64>().map_err(|_| expected())?;
    match name.trim() {
        "" => Err(expected()),
        name => Ok((name.to_owned(), value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_names() {
        assert_eq!(value_of("valve = 0.4"), Ok(("valve".to_owned(), 0.4)));
        assert_eq!(value_of("a=b=-1e3"), Ok(("a=b".to_owned(), -1e3)));
        assert_eq!(limits_of("valve=-1:2.5"), Ok(("valve".to_owned(), [-1.0, 2.5])));
        assert!(limits_of("valve=1").is_err() && limits_of("valve=a:b").is_err());
        for bad in ["valve", "=1", "valve=", "valve=high"] {
            assert!(value_of(bad).is_err(), "{bad}");
        }
    }
}
