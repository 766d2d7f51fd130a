//! The one error type of this crate.

use crate::lags::Lags;
use crate::read::Position;
use crate::split::Segment;

/// Why data could not be read, split, scaled or cut into windows.
///
/// Messages name the offending value, where it is, and what would be accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A data set without outputs.
    #[error("no output channel: name at least one output")]
    NoOutputs,
    /// Two channels share a name.
    #[error("channel '{name}' is named twice: channel names must be unique")]
    DuplicateChannel {
        /// The shared name.
        name: String,
    },
    /// A sample time that is not positive and finite.
    #[error("sample time {found} is not a positive number of seconds")]
    SampleTime {
        /// The value given.
        found: f64,
    },
    /// A data set without experiments.
    #[error("no experiments: a data set needs at least one")]
    NoExperiments,
    /// An experiment without samples.
    #[error("experiment '{experiment}' has no samples")]
    EmptyExperiment {
        /// Its name.
        experiment: String,
    },
    /// An experiment with another number of columns than the data set has channels.
    #[error(
        "experiment '{experiment}' has {found} {kind} column(s), expected {expected}: all experiments must have the \
         same \
         channels"
    )]
    ExperimentWidth {
        /// Its name.
        experiment: String,
        /// `input` or `output`.
        kind: &'static str,
        /// Channels of the data set.
        expected: usize,
        /// Columns of the experiment.
        found: usize,
    },
    /// Columns of one experiment differ in length.
    #[error(
        "experiment '{experiment}': channel '{channel}' has {found} samples, expected {expected} like the first output"
    )]
    UnequalLengths {
        /// Experiment name.
        experiment: String,
        /// The channel that differs.
        channel: String,
        /// Samples of the first output.
        expected: usize,
        /// Samples of this channel.
        found: usize,
    },
    /// A NaN or infinity in a data set that was built from arrays.
    #[error(
        "experiment '{experiment}': channel '{channel}' is {found} at sample {sample} (counted from 0): samples must \
         be finite"
    )]
    NonFiniteSample {
        /// Experiment name.
        experiment: String,
        /// Channel name.
        channel: String,
        /// Index from 0.
        sample: usize,
        /// The value.
        found: f64,
    },
    /// Lags out of range.
    #[error("lags {lags} are out of range: NX and ND are 0 to 1000000, NY is 1 to 1000000")]
    Lags {
        /// The lags given.
        lags: Lags,
    },
    /// Text that is not `NX,ND,NY`.
    #[error("cannot read lags '{found}': expected NX,ND,NY such as 2,0,3")]
    ParseLags {
        /// The text given.
        found: String,
    },
    /// Text that is not an initial state.
    #[error("unknown initial state '{found}': expected zero, measured or warmup:N")]
    ParseInitialState {
        /// The text given.
        found: String,
    },
    /// Text that is not three fractions.
    #[error("cannot read split '{found}': expected three fractions TRAIN,VALIDATION,TEST such as 0.4,0.1,0.5")]
    ParseSplit {
        /// The text given.
        found: String,
    },
    /// Fractions that are negative or do not sum to 1.
    #[error("split {train},{validation},{test} is not valid: fractions must be ≥ 0 (training > 0) and sum to 1")]
    SplitFractions {
        /// Training fraction.
        train: f64,
        /// Validation fraction.
        validation: f64,
        /// Test fraction.
        test: f64,
    },
    /// A part with a positive fraction that rounding left without samples.
    #[error(
        "the {part} part (fraction {fraction}) of {samples} samples is empty: record more samples or change the split"
    )]
    EmptyPart {
        /// `training`, `validation` or `test`.
        part: &'static str,
        /// Its fraction.
        fraction: f64,
        /// Samples of the data set.
        samples: usize,
    },
    /// A part that names samples the data set does not have.
    #[error(
        "samples {}..{} of experiment {} do not exist: it has {samples} samples; split the same data set",
        segment.start, segment.end, segment.experiment
    )]
    ForeignPart {
        /// The segment that does not fit.
        segment: Segment,
        /// Samples of that experiment, 0 if there is no such experiment.
        samples: usize,
    },
    /// A channel that does not move over the part it is normalised with.
    #[error(
        "channel '{channel}' is constant ({value}) over all {samples} samples of the training part: remove it or \
         train on \
         a part in which it moves"
    )]
    ConstantChannel {
        /// Channel name.
        channel: String,
        /// Its one value.
        value: f64,
        /// Samples looked at.
        samples: usize,
    },
    /// Too few samples for a standard deviation.
    #[error("{samples} sample(s) are too few for a mean and a standard deviation: at least 2 are needed")]
    TooFewForStatistics {
        /// Samples found.
        samples: usize,
    },
    /// Values so large or so close that mean or standard deviation overflow or vanish.
    #[error(
        "channel '{channel}' ranges from {lowest:e} to {highest:e}, which is outside what double precision can \
         normalise: \
         rescale it"
    )]
    StatisticsOverflow {
        /// Channel name.
        channel: String,
        /// Smallest value.
        lowest: f64,
        /// Largest value.
        highest: f64,
    },
    /// A window length that leaves nothing to score.
    #[error("window length {length} is too short: at least {shortest} samples are needed")]
    WindowLength {
        /// Length given.
        length: usize,
        /// Shortest length accepted.
        shortest: usize,
    },
    /// A window step of zero.
    #[error("window step 0 is too small: at least 1")]
    WindowStep,
    /// No stretch of consecutive samples is long enough.
    #[error("too short for {what}: {needed} consecutive samples are needed, the longest stretch has {found}")]
    TooShort {
        /// What the samples are needed for.
        what: &'static str,
        /// Samples needed.
        needed: usize,
        /// Samples of the longest segment.
        found: usize,
    },
    /// The least-squares solver did not converge or overflowed.
    #[error("the least-squares solver failed: the record may hold values too far apart in size; rescale the channels")]
    LeastSquares,
    /// A false-alarm probability outside (0, 1).
    #[error("false-alarm probability {found} is out of range: it lies between 0 and 1, ends excluded")]
    FalseAlarm {
        /// The value given.
        found: f64,
    },
    /// A tolerance that is negative or not finite.
    #[error("lag-search tolerance {found} is out of range: it is a share ≥ 0 such as 0.02")]
    SearchTolerance {
        /// The value given.
        found: f64,
    },
    /// Text that is not a missing-sample policy.
    #[error("unknown missing-sample policy '{found}': expected error or split")]
    ParseMissingPolicy {
        /// The text given.
        found: String,
    },
    /// No file was given.
    #[error("no data file given: name at least one")]
    NoFiles,
    /// The file does not exist.
    #[error("{file}: no such file")]
    FileNotFound {
        /// File as it was given.
        file: String,
    },
    /// The path is a folder.
    #[error("{file}: this is a folder, expected a file")]
    IsDirectory {
        /// File as it was given.
        file: String,
    },
    /// The operating system refused to read.
    #[error("{file}: cannot be read: {source}")]
    Io {
        /// File as it was given.
        file: String,
        /// What it said.
        source: std::io::Error,
    },
    /// An extension no reader knows.
    #[error("{file}: unknown file type '{extension}': expected .csv, .tsv, .mat, .npz, .npy or .parquet")]
    UnknownExtension {
        /// File as it was given.
        file: String,
        /// The extension, empty if there is none.
        extension: String,
    },
    /// A format that was left out of this build.
    #[error("{file}: this build reads no {format} files: build it with the feature '{feature}'")]
    FeatureOff {
        /// File as it was given.
        file: String,
        /// Format name.
        format: &'static str,
        /// Cargo feature that adds it.
        feature: &'static str,
    },
    /// A file without content.
    #[error("{file}: the file is empty, expected a header row and samples")]
    EmptyFile {
        /// File as it was given.
        file: String,
    },
    /// A file with columns but without samples.
    #[error("{file}: no rows: expected at least one complete sample")]
    NoRows {
        /// File as it was given.
        file: String,
    },
    /// Text that is not UTF-8.
    #[error("{file}: line {line} is not UTF-8 text: save the file as UTF-8")]
    NotUtf8 {
        /// File as it was given.
        file: String,
        /// Line number from 1.
        line: u64,
    },
    /// A line too long for a table.
    #[error("{file}: line {line} is longer than {limit} bytes: expected one sample per line")]
    LongLine {
        /// File as it was given.
        file: String,
        /// Line number from 1.
        line: u64,
        /// Longest line accepted, in bytes.
        limit: usize,
    },
    /// A first line that holds numbers only.
    #[error("{file}: line {line} holds numbers ('{found}'), expected column names: add a header row such as u,y")]
    NoHeader {
        /// File as it was given.
        file: String,
        /// Line number from 1.
        line: u64,
        /// The line.
        found: String,
    },
    /// Cells separated by another character than expected.
    #[error("{file}: the header is separated by {found:?}, expected {expected:?}: set the delimiter to {found:?}")]
    Delimiter {
        /// File as it was given.
        file: String,
        /// Character in the header.
        found: char,
        /// Character looked for.
        expected: char,
    },
    /// The same in a file that has decimal commas, too.
    #[error(
        "{file}: the header is separated by {found:?}, expected {expected:?}, and line {line} has decimal commas \
         ('{cell}'): set the delimiter to {found:?} and the decimal character to ','"
    )]
    DelimiterAndDecimal {
        /// File as it was given.
        file: String,
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
        "{file}: line {line} is blank, expected a sample: delete the line, or use the missing-sample policy 'split' \
         if samples are missing there"
    )]
    BlankLine {
        /// File as it was given.
        file: String,
        /// Line number from 1.
        line: u64,
    },
    /// A row with too many or too few cells.
    #[error("{file}: line {line} has {found} cell(s), expected {expected} like the header{hint}")]
    RaggedRow {
        /// File as it was given.
        file: String,
        /// Line number from 1.
        line: u64,
        /// Cells of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
        /// Likely cause, or empty.
        hint: &'static str,
    },
    /// A cell that is no number.
    #[error("{file}: {position}, column '{column}': '{found}' is not a number{hint}")]
    NotANumber {
        /// File as it was given.
        file: String,
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The cell.
        found: String,
        /// Likely cause, or empty.
        hint: &'static str,
    },
    /// An infinite cell.
    #[error("{file}: {position}, column '{column}': {found} is not finite")]
    NonFiniteCell {
        /// File as it was given.
        file: String,
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
        /// The value.
        found: f64,
    },
    /// A missing sample where the policy is to refuse.
    #[error(
        "{file}: {position}, column '{column}': missing sample (empty or NaN): fill it, or use the missing-sample \
         policy 'split' to start a new experiment there"
    )]
    MissingSample {
        /// File as it was given.
        file: String,
        /// Line or row.
        position: Position,
        /// Column name.
        column: String,
    },
    /// An empty experiment label.
    #[error("{file}: {position}: the experiment label is empty: expected a name or number")]
    NoExperimentLabel {
        /// File as it was given.
        file: String,
        /// Line or row.
        position: Position,
    },
    /// An experiment label that comes back after another.
    #[error(
        "{file}: {position}: experiment '{label}' appears again after another one: rows of one experiment must \
         follow each other"
    )]
    ExperimentReappears {
        /// File as it was given.
        file: String,
        /// Line or row.
        position: Position,
        /// The label.
        label: String,
    },
    /// A column name that occurs twice in the file.
    #[error("{file}: column '{column}' occurs twice: column names must be unique")]
    DuplicateColumn {
        /// File as it was given.
        file: String,
        /// Column name.
        column: String,
    },
    /// A column asked for twice.
    #[error("{file}: column '{column}' is asked for twice: a column is one input or one output")]
    ColumnTwice {
        /// File as it was given.
        file: String,
        /// Column name.
        column: String,
    },
    /// A column the file does not have.
    #[error("{file}: no column '{column}': the columns are {available}{suggestion}")]
    MissingColumn {
        /// File as it was given.
        file: String,
        /// Column name.
        column: String,
        /// Columns of the file.
        available: String,
        /// A question about a close name, or empty.
        suggestion: String,
    },
    /// No column has a default name.
    #[error(
        "{file}: no {kind} column: {letter}, {letter}1, {letter}2… are taken by default and the columns are \
         {available}; name the {kind}s with --{kind}"
    )]
    NoDefaultColumns {
        /// File as it was given.
        file: String,
        /// `input` or `output`.
        kind: &'static str,
        /// First letter of the default names.
        letter: char,
        /// Columns of the file.
        available: String,
    },
    /// Files with different channels.
    #[error(
        "{file}: the {kind}s are {found}, expected {expected} as in {first}: all experiments must have the same \
         channels"
    )]
    UnequalFiles {
        /// File as it was given.
        file: String,
        /// `input` or `output`.
        kind: &'static str,
        /// Channels of this file.
        found: String,
        /// Channels of the first file.
        expected: String,
        /// The first file.
        first: String,
    },
    /// An array that is no column or table of samples.
    #[error("{file}: array '{array}' is {shape}: {problem}")]
    ArrayShape {
        /// File as it was given.
        file: String,
        /// Array name.
        array: String,
        /// Its shape or type.
        shape: String,
        /// What is expected.
        problem: &'static str,
    },
    /// Arrays of different lengths.
    #[error(
        "{file}: array '{array}' has {found} rows, expected {expected} like '{first}': one row per sample in all arrays"
    )]
    ArrayLengths {
        /// File as it was given.
        file: String,
        /// Array name.
        array: String,
        /// Its rows.
        found: u64,
        /// Rows of the first array.
        expected: u64,
        /// Name of the first array.
        first: String,
    },
    /// A file that breaks the rules of its format.
    #[error("{file}: not a readable {format} file: {problem}")]
    Malformed {
        /// File as it was given.
        file: String,
        /// Format name.
        format: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A MATLAB file in the HDF5-based format.
    #[error("{file}: this is a MATLAB v7.3 (HDF5) file, expected v5 to v7: save it in MATLAB with save(..., '-v7')")]
    MatVersion {
        /// File as it was given.
        file: String,
    },
    /// A name that is neither a file nor a known data set.
    #[error(
        "no file and no data set '{name}': known names are {known}; other names need a folder (--data-dir or \
         INTERVALID_DATA) that holds {name}.csv{suggestion}"
    )]
    UnknownName {
        /// The name given.
        name: String,
        /// Names that would work.
        known: String,
        /// A question about a close name, or empty.
        suggestion: String,
    },
    /// A known data set that must be fetched by the user.
    #[error(
        "the data set '{name}' is not part of this software (source: {origin}): point --data-dir or INTERVALID_DATA \
         at a folder that holds {name}.csv{searched}"
    )]
    NotShipped {
        /// Its name.
        name: String,
        /// Where to get it.
        origin: &'static str,
        /// The folder that was searched, or empty.
        searched: String,
    },
    /// The data folder does not exist.
    #[error("data folder {folder} does not exist: check --data-dir or INTERVALID_DATA")]
    NoDataDirectory {
        /// The folder.
        folder: String,
    },
    /// A parameter of a synthetic system that is out of range.
    #[error("synthetic system: {parameter} = {value} is out of range: expected {allowed}")]
    SyntheticParameter {
        /// Field name.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// What is accepted.
        allowed: &'static str,
    },
    /// A data set with other numbers of channels than a normaliser.
    #[error("data set '{dataset}' has {found} {kind}(s), expected {expected}")]
    ChannelCount {
        /// Name of the data set.
        dataset: String,
        /// `input` or `output`.
        kind: &'static str,
        /// Channels of the normaliser.
        expected: usize,
        /// Channels of the data set.
        found: usize,
    },
}
