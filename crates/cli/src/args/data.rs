//! Which data a command reads, and how.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use intervalid_data::{Decimal, MissingPolicy, SplitFractions};

/// Which data a command reads, and how.
#[derive(Args, Clone, Debug)]
pub(crate) struct DataArgs {
    /// Files (.csv, .tsv, .txt, .xlsx, .mat, .npz, .npy, .parquet) or names (see `data list`); several are several experiments
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
}

/// How data are read and split.
// Without data they say nothing, which matters where data are an option themselves.
#[derive(Args, Clone, Debug)]
#[group(requires = "data")]
pub(crate) struct DataOptions {
    /// Input columns, '' for none; a name with a comma in double quotes [default: columns u, u1, u2, ...]
    #[arg(long, value_name = "COL,...", value_delimiter = ',', help_heading = "Data options")]
    pub(crate) input: Option<Vec<String>>,
    /// Output columns [default: columns y, y1, y2, ...]
    #[arg(long, value_name = "COL,...", value_delimiter = ',', help_heading = "Data options")]
    pub(crate) output: Option<Vec<String>>,
    /// Column whose value changes where a new experiment starts, '' for none; a model looks for the column of its fit by itself
    #[arg(long, value_name = "COL", help_heading = "Data options")]
    pub(crate) experiment: Option<String>,
    /// Column that says when samples were taken, '' for none [default: a column t, time, date, ..., or the first of dates]
    #[arg(long, value_name = "COL", help_heading = "Data options")]
    pub(crate) time: Option<String>,
    /// Resample by the time column, such as 0.5, 30s or 5min: linear between samples, means where the step gets longer;
    /// gaps of more than three steps are not bridged
    #[arg(
        long,
        value_name = "STEP",
        value_parser = step,
        allow_negative_numbers = true,
        help_heading = "Data options"
    )]
    pub(crate) resample: Option<f64>,
    /// Seconds between samples, for times and frequencies; predictions do not depend on it [default: from the time column]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = sample_time,
        allow_negative_numbers = true,
        help_heading = "Data options"
    )]
    pub(crate) sample_time: Option<f64>,
    /// Shares for training, validation and test [default: the paper's for known names, else 0.6,0.1,0.3]
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
    /// Rows in front of the column names of text files and sheets
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Data options"
    )]
    pub(crate) skip_rows: usize,
    /// Unit of a channel, for labels; may be given several times [default: from the file, as in `level [m]`]
    #[arg(long, value_name = "NAME=UNIT", value_parser = unit, help_heading = "Data options")]
    pub(crate) unit: Vec<(String, String)>,
    /// Where a sample is missing, or the time column has a gap: refuse the file, or start a new experiment after it
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

fn unit(text: &str) -> Result<(String, String), String> {
    match text.split_once('=').map(|(name, unit)| (name.trim(), unit.trim())) {
        Some((name, unit)) if !name.is_empty() && !unit.is_empty() => Ok((name.to_owned(), unit.to_owned())),
        _ => Err("expected NAME=UNIT such as level=m".to_owned()),
    }
}

/// A step of time.
fn step(text: &str) -> Result<f64, String> {
    intervalid_data::parse_seconds(text).ok_or_else(|| "expected a positive time such as 0.5, 30s or 5min".to_owned())
}

/// Names of columns as a list was typed: cells in double quotes hold commas.
pub(crate) fn column_names(typed: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for piece in typed {
        let joined = match open.take() {
            Some(start) => format!("{start},{piece}"),
            None => piece.clone(),
        };
        let trimmed = joined.trim();
        match trimmed.strip_prefix('"') {
            Some(rest) if rest.ends_with('"') && !rest.is_empty() => names.push(rest[..rest.len() - 1].to_owned()),
            Some(_) => open = Some(joined),
            None => names.push(trimmed.to_owned()),
        }
    }
    names.extend(open);
    names.retain(|name| !name.is_empty());
    names
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
    fn quoted_names_hold_commas() {
        let names = |text: &str| column_names(&text.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(names("a, b c ,d"), ["a", "b c", "d"]);
        assert_eq!(names(r#""flow, cold",valve"#), ["flow, cold", "valve"]);
        assert_eq!(names(r#"x,"a,b,c","y""#), ["x", "a,b,c", "y"]);
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn steps_and_units() {
        assert_eq!((step("0.5"), step("5min")), (Ok(0.5), Ok(300.0)));
        assert!(step("-1").is_err() && step("soon").is_err());
        assert_eq!(unit("level = m/s"), Ok(("level".to_owned(), "m/s".to_owned())));
        assert!(unit("level").is_err());
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
