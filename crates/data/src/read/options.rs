//! How files are read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::prepare::Preparation;

/// What to do where a sample is missing: an empty cell, `NaN`, `NA` or `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingPolicy {
    /// Refuse the file, naming the cell.
    #[default]
    Error,
    /// Leave the row out and start a new experiment after it.
    Split,
}

impl fmt::Display for MissingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Split => "split",
        })
    }
}

impl FromStr for MissingPolicy {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "error" => Ok(Self::Error),
            "split" => Ok(Self::Split),
            _ => Err(DataError::ParseMissingPolicy { found: text.to_owned() }),
        }
    }
}

/// What stands before the decimals of a number in a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Decimal {
    /// `1.5`
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `1,5`
    #[serde(rename = ",")]
    Comma,
}

/// Which columns of a file are what.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `inputs` | columns named u, u1, u2… | input columns by name; an empty list means a time series without inputs |
/// | `outputs` | columns named y, y1, y2… | output columns by name |
/// | `experiment` | none | column whose value changes where a new experiment starts |
/// | `experiment_may_lack` | false | a file without the experiment column is one experiment |
/// | `time` | a column named t, time, date… | column that says when samples were taken; an empty name for none |
/// | `resample` | none | seconds between samples after resampling by the time column |
/// | `sample_time` | from the time column | seconds between samples, metadata |
/// | `delimiter` | by extension | one character between the cells of a text file: `,` for `.csv`, tab for `.tsv` |
/// | `decimal` | `.` | decimal character of text files; with `,` the cells of a `.csv` file are separated by `;` |
/// | `skip_rows` | 0 | lines of text files and rows of sheets in front of the column names |
/// | `units` | from the file | units of channels by name; they win over the file's |
/// | `missing` | `error` | what to do where a sample is missing |
/// | `name` | stem of the first file | name of the data set |
/// | `whole_lines` | false | leaves out a last line of a text file that has no end: it may still be written |
/// | `max_samples` | see below | most values that the chosen columns of a `.mat`, `.npz`, `.npy` or `.parquet` file may hold |
///
/// `max_samples` holds for the values that resampling makes as well, whatever the format. Without it, files of more than 200 million values are refused, and so are files of more than 10 million
/// values that take a hundred times their size in memory: a small file may hold a great many equal numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Input columns.
    pub inputs: Option<Vec<String>>,
    /// Output columns.
    pub outputs: Option<Vec<String>>,
    /// Experiment column.
    pub experiment: Option<String>,
    /// Whether files may lack the experiment column.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub experiment_may_lack: bool,
    /// Time column.
    pub time: Option<String>,
    /// Seconds between samples after resampling.
    pub resample: Option<f64>,
    /// Seconds between samples.
    pub sample_time: Option<f64>,
    /// Character between cells of text files.
    pub delimiter: Option<char>,
    /// Decimal character of text files.
    pub decimal: Decimal,
    /// Lines in front of the column names.
    pub skip_rows: usize,
    /// Units by channel name.
    pub units: Vec<(String, String)>,
    /// What to do where a sample is missing.
    pub missing: MissingPolicy,
    /// What is done to the samples before they become a record.
    pub prepare: Preparation,
    /// Name of the data set.
    pub name: Option<String>,
    /// Most values that the chosen columns of a file may hold.
    pub max_samples: Option<u64>,
    /// Whether a last line without an end is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole_lines: bool,
}

impl ReadOptions {
    /// Tells experiments apart by this column in files that have it.
    pub fn divide_by(&mut self, column: String) {
        self.experiment = Some(column);
        self.experiment_may_lack = true;
    }
}

impl ReadOptions {
    /// What happens to a missing sample while a file is read: where gaps are filled, whether one is too long shows later.
    pub(super) fn while_reading(&self) -> MissingPolicy {
        match self.prepare.fill_gaps {
            Some(_) => MissingPolicy::Split,
            None => self.missing,
        }
    }
}

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Line of a text file; the first line, usually the header, is 1.
    Line(u64),
    /// Row of an array or table; the first sample is 1.
    Row(u64),
}

impl Position {
    /// The place `rows` further down.
    #[must_use]
    pub fn plus(self, rows: u64) -> Self {
        match self {
            Self::Line(line) => Self::Line(line + rows),
            Self::Row(row) => Self::Row(row + rows),
        }
    }

    /// The number of the line or row.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}
