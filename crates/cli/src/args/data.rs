//! Which data a command reads, and how.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use intervalid_data::{Decimal, MissingPolicy, SplitFractions};

/// Which data a command reads, and how.
#[derive(Args, Clone, Debug)]
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
    /// Most values that the chosen columns of a binary file may hold [default: 200 million, fewer for small files that expand]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Data options")]
    pub(crate) max_samples: Option<u64>,
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
    use super::*;

    #[test]
    fn delimiters() {
        assert_eq!(delimiter(";"), Ok(';'));
        assert_eq!(delimiter("tab"), Ok('\t'));
        for bad in ["", ";;", "a", "·"] {
            assert!(delimiter(bad).is_err(), "{bad}");
        }
    }
}
