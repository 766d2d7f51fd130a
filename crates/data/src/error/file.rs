//! What can be wrong with a data file.

use std::fmt;

use crate::channel::ChannelKind;
use crate::display_name::{did_you_mean, display_name, display_names};
use crate::error::DataError;
use crate::read::Position;

/// A file that cannot be read as data, and what is wrong with it.
#[derive(Debug)]
pub struct FileError {
    /// File as it was given.
    pub file: String,
    /// What is wrong.
    pub problem: FileProblem,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", display_name(&self.file), self.problem)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}

/// What is wrong with a file; [`FileError`] adds which file it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The file does not exist.
    #[error("no such file")]
    FileNotFound,
    /// The path is a folder.
    #[error("this is a folder, expected a file")]
    IsDirectory,
    /// The operating system refused to read.
    #[error("cannot be read: {source}")]
    Io {
        /// What it said.
        source: std::io::Error,
    },
    /// An extension no reader knows.
    #[error(
        "unknown file type '{}': expected .csv, .tsv, .txt, .xlsx, .mat, .npz, .npy or .parquet",
        display_name(extension)
    )]
    UnknownExtension {
        /// The extension, empty if there is none.
        extension: String,
    },
    /// A format that was left out of this build.
    #[error("this build reads no {format} files: build it with the feature '{feature}'")]
    FeatureOff {
        /// Format name.
        format: &'static str,
        /// Cargo feature that adds it.
        feature: &'static str,
    },
    /// A file that breaks the rules of its format.
    #[error("not a readable {format} file: {problem}")]
    Malformed {
        /// Format name.
        format: &'static str,
        /// What its decoder said.
        problem: String,
    },
    /// A MATLAB file in the HDF5-based format.
    #[error("this is a MATLAB v7.3 (HDF5) file, expected v5 to v7 here: save it in MATLAB with save(..., '-v7')")]
    MatVersion,
    /// A file without content.
    #[error("the file is empty, expected a header row and samples")]
    EmptyFile,
    /// A file with columns but without samples.
    #[error("no rows: expected at least one complete sample")]
    NoRows,
    /// Text that is not UTF-8.
    #[error("line {line} is not UTF-8 text: save the file as UTF-8")]
    NotUtf8 {
        /// Line number from 1.
        line: u64,
    },
    /// A line too long for a table.
    #[error("line {line} is longer than {limit} bytes: expected one sample per line")]
    LongLine {
        /// Line number from 1.
        line: u64,
        /// Longest line accepted, in bytes.
        limit: usize,
    },
    /// A first line that holds numbers only.
    #[error(
        "line {line} holds numbers ('{}'), expected column names: add a header row such as u,y",
        display_name(found)
    )]
    NoHeader {
        /// Line number from 1.
        line: u64,
        /// The line.
        found: String,
    },
    /// Lines that end as on computers of long ago.
    #[error("lines end with carriage returns alone: save the file with the line ends of Unix or Windows")]
    CarriageReturns,
    /// Cells separated by another character than expected.
    #[error("the header is separated by {found:?}, expected {expected:?}: set the delimiter to {found:?}")]
    Delimiter {
        /// Character in the header.
        found: char,
        /// Character looked for.
        expected: char,
    },
    /// The same in a file that has decimal commas, too.
    #[error(
        "the header is separated by {found:?}, expected {expected:?}, and line {line} has decimal commas ('{cell}'): \
         set the delimiter to {found:?} and the decimal character to ','"
    )]
    DelimiterAndDecimal {
        /// Character in the header.
        found: char,
        /// Character looked for.
        expected: char,
        /// Line of the first sample.
        line: u64,
        /// A number with a decimal comma in it.
        cell: String,
    },
    /// A blank line between rows.
    #[error(
        "line {line} is blank, expected a sample: delete the line, or use the missing-sample policy 'split' if \
         samples are missing there"
    )]
    BlankLine {
        /// Line number from 1.
        line: u64,
    },
    /// A row with too many or too few cells.
    #[error(
        "line {line} has {found} cell{}, expected {expected} like the header{}",
        if *found == 1 { "" } else { "s" },
        if *decimal_commas {
            ": decimal commas look like the commas between cells; save the file with semicolons between cells, or write \
             decimal points"
        } else {
            ""
        }
    )]
    RaggedRow {
        /// Line number from 1.
        line: u64,
        /// Cells of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
        /// Whether there are twice as many cells as expected, as decimal commas between commas would give.
        decimal_commas: bool,
    },
    /// A cell that is no number.
    #[error(
        "{position}, column '{}': '{}' is not a number{cause}",
        display_name(column),
        display_name(found)
    )]
    NotANumber {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The cell.
        found: String,
        /// Why it may look like one.
        cause: NotANumberCause,
    },
    /// Cells whose commas seem to group thousands, in a file that is read with decimal commas.
    #[error(
        "{position}, column '{}': the comma of '{}' seems to group thousands, as '{}' stands in the same column: write numbers without separators \
         between their thousands, or '{},0' if it is a decimal one",
        display_name(column),
        display_name(found),
        display_name(beside),
        display_name(beside)
    )]
    GroupedThousands {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The cell.
        found: String,
        /// A cell without a comma.
        beside: String,
    },
    /// An infinite cell.
    #[error("{position}, column '{}': {found} is not finite", display_name(column))]
    NonFiniteCell {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The value.
        found: f64,
    },
    /// A missing sample where the policy is to refuse.
    #[error(
        "{position}, column '{}': missing sample (empty or NaN): fill it, or use the missing-sample policy 'split' to \
         start a new experiment there",
        display_name(column)
    )]
    MissingSample {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
    },
    /// A gap that is longer than those that are filled, has one side only, or holds one in the times.
    #[error(
        "{position}, column '{}': missing sample in a gap that is not filled: expected at most {most} in a row, with a sample before \
         and after and no gap in the times between",
        display_name(column)
    )]
    GapNotFilled {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// Samples that may be missing in a row.
        most: usize,
    },
    /// An empty experiment label.
    #[error("{position}: the experiment label is empty: expected a name or number")]
    NoExperimentLabel {
        /// Line or row.
        position: Position,
    },
    /// An experiment label that comes back after another.
    #[error(
        "{position}: experiment '{}' appears again after another one: rows of one experiment must follow each other",
        display_name(label)
    )]
    ExperimentReappears {
        /// Line or row.
        position: Position,
        /// The label.
        label: String,
    },
    /// A column name that occurs twice in the file.
    #[error("column '{}' occurs twice: column names must be unique", display_name(column))]
    DuplicateColumn {
        /// Column name.
        column: String,
    },
    /// A column asked for twice.
    #[error(
        "column '{}' is asked for twice: a column is one input or one output",
        display_name(column)
    )]
    ColumnTwice {
        /// Column name.
        column: String,
    },
    /// A column the file does not have.
    #[error(
        "no column '{}': the columns are {}{}",
        display_name(column),
        display_names(available),
        did_you_mean(closest)
    )]
    MissingColumn {
        /// Column name.
        column: String,
        /// Columns of the file.
        available: Vec<String>,
        /// The column that may be meant.
        closest: Option<String>,
    },
    /// No column has a default name.
    #[error(
        "no {kind} column: {0}, {0}1, {0}2… are taken by default and the columns are {1}; name the {kind}s",
        kind.default_letter(),
        display_names(available)
    )]
    NoDefaultColumns {
        /// Whether inputs or outputs are missing.
        kind: ChannelKind,
        /// Columns of the file.
        available: Vec<String>,
    },
    /// Files with different channels.
    #[error(
        "the {kind}s are {}, expected {} as in {}: all experiments must have the same channels",
        display_names(found),
        display_names(expected),
        display_name(first)
    )]
    UnequalFiles {
        /// Whether inputs or outputs differ.
        kind: ChannelKind,
        /// Channels of this file.
        found: Vec<String>,
        /// Channels of the first file.
        expected: Vec<String>,
        /// The first file.
        first: String,
    },
    /// An array that is no column or table of samples.
    #[error("array '{}' is {}: {expected}", display_name(array), display_name(found))]
    ArrayShape {
        /// Array name.
        array: String,
        /// Its shape or type.
        found: String,
        /// What a channel needs.
        expected: ArrayExpectation,
    },
    /// More values than may be read.
    #[error("{found} values announced for the chosen columns, expected at most {limit}")]
    TooManyValues {
        /// Values of the chosen columns, as the file announces them.
        found: u64,
        /// The most that are read.
        limit: u64,
    },
    /// A small file that holds very many values.
    #[error("{file_bytes} bytes expand to {values} values, far more than a recording of that size holds")]
    Expansion {
        /// Values of the chosen columns, as the file announces them.
        values: u64,
        /// Size of the file.
        file_bytes: u64,
    },
    /// A cell of the time column that is no time.
    #[error(
        "{position}, time column '{}': '{}' is not a time: expected seconds or dates such as 2024-03-01 10:00:00, all \
         in one form",
        display_name(column),
        display_name(found)
    )]
    NotATime {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The cell.
        found: String,
    },
    /// A column of times whose numbers are in another unit.
    #[error(
        "time column '{}': '{}' is not a unit of time: expected ns, us, ms, s, min, h or d",
        display_name(column),
        display_name(found)
    )]
    UnitOfTime {
        /// Column name.
        column: String,
        /// The unit.
        found: String,
    },
    /// A step that makes too many samples.
    #[error(
        "resampling to a step of {step} s makes {found} values of the chosen columns, expected at most {limit}: take a \
         longer step, or allow more values"
    )]
    TooManyResampled {
        /// Seconds between samples.
        step: f64,
        /// Values of the chosen columns after resampling.
        found: u64,
        /// The most that are made.
        limit: u64,
    },
    /// Samples that are not evenly spaced.
    #[error(
        "{position}, time column '{}': {found} s after the sample before, where {step} s are usual ({irregular} of \
         {intervals} intervals are more than 5 % off): samples must be evenly spaced; resample them",
        display_name(column)
    )]
    IrregularTime {
        /// Line or row of the first such sample.
        position: Position,
        /// Column name.
        column: String,
        /// Seconds since the sample before.
        found: f64,
        /// The usual number of seconds.
        step: f64,
        /// Intervals that are off.
        irregular: usize,
        /// All intervals.
        intervals: usize,
    },
    /// A gap between samples.
    #[error(
        "{position}, time column '{}': a gap of {found} s where {step} s are usual: use the missing-sample policy \
         'split' to start a new experiment there{}",
        display_name(column),
        if *bridge { ", or resample to bridge short gaps" } else { "" }
    )]
    TimeGap {
        /// Line or row after the gap.
        position: Position,
        /// Column name.
        column: String,
        /// Its length in seconds.
        found: f64,
        /// The usual number of seconds between samples.
        step: f64,
        /// Whether resampling would bridge it.
        bridge: bool,
    },
    /// Times that do not rise.
    #[error(
        "{position}, time column '{}': {found} s after the sample before: times must rise; sort the rows, or use the \
         missing-sample policy 'split' to start a new experiment there",
        display_name(column)
    )]
    TimeBackwards {
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// Seconds since the sample before, not positive.
        found: f64,
    },
    /// A sample time that the time column contradicts.
    #[error(
        "the time column '{}' has a sample every {found} s, expected {expected} s: leave out one of the two",
        display_name(column)
    )]
    SampleTimeConflict {
        /// Column name.
        column: String,
        /// Seconds between samples in the file.
        found: f64,
        /// Seconds between samples as given.
        expected: f64,
    },
    /// Files of one record that were sampled at different rates.
    #[error(
        "the time column '{}' has a sample every {found} s, but {earlier} has one every {expected} s: files of one record \
         need the same sample time",
        display_name(column)
    )]
    SampleTimesDiffer {
        /// Column name.
        column: String,
        /// Seconds between samples in this file.
        found: f64,
        /// The file that was read before.
        earlier: String,
        /// Seconds between samples there.
        expected: f64,
    },
    /// Resampling without times.
    #[error(
        "there is no time column to resample by: the columns are {}",
        display_names(available)
    )]
    ResampleWithoutTime {
        /// Columns of the file.
        available: Vec<String>,
    },
    /// One channel in different units.
    #[error(
        "channel '{}' is in {}, expected {} as in {}: give all files the same units",
        display_name(channel),
        display_name(found),
        display_name(expected),
        display_name(first)
    )]
    UnequalUnits {
        /// Channel name.
        channel: String,
        /// Its unit in this file.
        found: Box<str>,
        /// Its unit in the first file.
        expected: Box<str>,
        /// The first file.
        first: String,
    },
    /// Arrays of different lengths.
    #[error(
        "array '{}' has {found} rows, expected {expected} like '{}': one row per sample in all arrays",
        display_name(array),
        display_name(first)
    )]
    ArrayLengths {
        /// Array name.
        array: String,
        /// Its rows.
        found: u64,
        /// Rows of the first array.
        expected: u64,
        /// Name of the first array.
        first: String,
    },
}

impl FileProblem {
    /// Where in the file it is, if it is at one place.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::NotUtf8 { line }
            | Self::LongLine { line, .. }
            | Self::NoHeader { line, .. }
            | Self::DelimiterAndDecimal { line, .. }
            | Self::BlankLine { line }
            | Self::RaggedRow { line, .. } => Some(Position::Line(*line)),
            Self::NotANumber { position, .. }
            | Self::GroupedThousands { position, .. }
            | Self::NonFiniteCell { position, .. }
            | Self::MissingSample { position, .. }
            | Self::GapNotFilled { position, .. }
            | Self::NoExperimentLabel { position }
            | Self::ExperimentReappears { position, .. }
            | Self::NotATime { position, .. }
            | Self::IrregularTime { position, .. }
            | Self::TimeGap { position, .. }
            | Self::TimeBackwards { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// The error of a file with this problem.
    pub(crate) fn of(self, file: &str) -> DataError {
        DataError::File(FileError {
            file: file.to_owned(),
            problem: self,
        })
    }
}

/// Why a cell that is no number may look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotANumberCause {
    /// It does not look like one.
    Unknown,
    /// It has a decimal comma, in a file that is read with decimal points.
    DecimalComma,
    /// It has a decimal point, in a file that is read with decimal commas.
    DecimalPoint,
    /// Its thousands are grouped.
    Thousands,
}

impl fmt::Display for NotANumberCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "",
            Self::DecimalComma => ": set the decimal character to ',', or write decimal points",
            Self::DecimalPoint => ": expected a decimal comma and no point",
            Self::Thousands => ": write it without separators between its thousands",
        })
    }
}

/// What an array must be to hold channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayExpectation {
    /// One or two dimensions.
    TwoDimensions,
    /// Samples down the rows: a single row is one sample.
    SamplesDownRows,
    /// No more columns than this.
    FewerColumns {
        /// The most that are accepted.
        most: u64,
    },
    /// A MATLAB variable of real numbers, neither sparse nor inside another.
    MatlabNumbers,
    /// A NumPy type of real numbers.
    NumpyNumbers,
    /// A Parquet column of real numbers, not nested.
    FlatNumbers,
}

impl fmt::Display for ArrayExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoDimensions => f.write_str("expected one column per channel, at most two dimensions"),
            Self::SamplesDownRows => f.write_str("time runs down the rows, so this is one sample: transpose it"),
            Self::FewerColumns { most } => write!(f, "expected at most {most} columns, one per channel"),
            Self::MatlabNumbers => {
                f.write_str("expected a full array of real numbers: save the numbers as their own variable")
            }
            Self::NumpyNumbers => f.write_str("expected real numbers (bool, integers, float32 or float64)"),
            Self::FlatNumbers => f.write_str("expected a flat column of real numbers"),
        }
    }
}
