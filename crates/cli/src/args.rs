//! Arguments as typed. [`crate::request`] turns them into what commands work with.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use intervalid_data::{DATA_DIR_VARIABLE, Decimal, MissingPolicy, SplitFractions};

const EXAMPLES: &str = "\
Examples:
  intervalid demo                            a first look, with built-in data
  intervalid data list                       data sets that have a name
  intervalid data show my.csv                what is in a record, which lags it suggests
  intervalid data show my.csv --input valve,pump --output level

Exit code 0: done. 1: the run failed. 2: bad usage or bad input, nothing written.";

const SHOW_EXAMPLES: &str = "\
Examples:
  intervalid data show hair-dryer
  intervalid data show run1.csv run2.csv --input u1,u2 --output y
  intervalid data show log.mat --output temperature --sample-time 0.1
  intervalid data show export.csv --delimiter ';' --missing split
  intervalid data show german.csv --decimal ','
  intervalid data show hair-dryer --json";

/// The length of the reference runs of the paper's protocol; not tuned on the test part.
const DEMO_EPOCHS: u32 = 250;

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
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Identify the built-in hair dryer and show what the result means
    Demo(DemoArgs),
    /// List data sets, or describe one
    #[command(subcommand)]
    Data(DataCommand),
}

/// The verbs of `data`.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the data sets that have a name
    List,
    /// Describe a record: columns, statistics, warnings, dead time, suggested lags
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
}

/// Arguments of `data show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Folder for the results; made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "./intervalid-demo")]
    pub(crate) out: PathBuf,
    /// Epochs of each stage of training: fewer are faster and usually give worse models
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEMO_EPOCHS,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) epochs: u32,
}

/// Which data a command reads, and how.
#[derive(Args, Debug)]
pub(crate) struct DataArgs {
    /// Files (.csv, .tsv, .mat, .npz, .npy, .parquet) or names (see `data list`); several are several experiments
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<String>,
    /// Input columns; '' for none [default: columns u, u1, u2, ...]
    #[arg(long, value_name = "COL,...", value_delimiter = ',', help_heading = "Data options")]
    pub(crate) input: Option<Vec<String>>,
    /// Output columns [default: columns y, y1, y2, ...]
    #[arg(long, value_name = "COL,...", value_delimiter = ',', help_heading = "Data options")]
    pub(crate) output: Option<Vec<String>>,
    /// Column whose value changes where a new experiment starts
    #[arg(long, value_name = "COL", help_heading = "Data options")]
    pub(crate) experiment: Option<String>,
    /// Seconds between samples, for labels only
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = sample_time,
        allow_negative_numbers = true,
        help_heading = "Data options"
    )]
    pub(crate) sample_time: Option<f64>,
    /// Shares for training, validation and test [default: the paper's for known names, else 0.4,0.1,0.5]
    #[arg(
        long,
        value_name = "TRAIN,VALIDATION,TEST",
        value_parser = |text: &str| text.parse::<SplitFractions>(),
        allow_hyphen_values = true,
        help_heading = "Data options"
    )]
    pub(crate) split: Option<SplitFractions>,
    /// Character between the cells of text files, or `tab` [default: comma, tab for .tsv]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Data options")]
    pub(crate) delimiter: Option<char>,
    /// Decimal character of text files; with ',' cells of .csv files are separated by ';' [default: .]
    #[arg(
        long,
        value_name = "CHAR",
        default_value = ".",
        hide_default_value = true,
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new([".", ","]).map(|text| decimal(&text)),
        help_heading = "Data options"
    )]
    pub(crate) decimal: Decimal,
    /// Where a sample is missing: refuse the file, or start a new experiment after it
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "error",
        value_parser = PossibleValuesParser::new(["error", "split"]).try_map(|text| text.parse::<MissingPolicy>()),
        help_heading = "Data options"
    )]
    pub(crate) missing: MissingPolicy,
}

fn sample_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => Err("expected a positive number of seconds such as 0.1".to_owned()),
    }
}

fn decimal(text: &str) -> Decimal {
    if text == "," { Decimal::Comma } else { Decimal::Point }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(character), None) if character.is_ascii() && !character.is_ascii_alphanumeric() => Ok(character),
        _ => Err("expected one character such as ';', or tab".to_owned()),
    }
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
    fn delimiters() {
        assert_eq!(delimiter(";"), Ok(';'));
        assert_eq!(delimiter("tab"), Ok('\t'));
        for bad in ["", ";;", "a", "·"] {
            assert!(delimiter(bad).is_err(), "{bad}");
        }
    }
}
