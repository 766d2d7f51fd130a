//! The one error type of this crate; what can be wrong with a file is in a type of its own.

mod file;

use std::path::{Path, PathBuf};

use crate::channel::ChannelKind;
use crate::display_name::{did_you_mean, display_name, display_names};
use crate::lags::Lags;
use crate::split::Segment;

pub use file::{ArrayExpectation, FileError, FileProblem, NotANumberCause};

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
    #[error("channel '{}' is named twice: channel names must be unique", display_name(name))]
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
    /// A recording for the test that is among those for training.
    #[error(
        "'{}', which is to judge the model, holds the same samples as '{}', which it learns from: name another recording",
        display_name(test),
        display_name(training)
    )]
    TestIsLearnt {
        /// Experiment of the test part.
        test: String,
        /// The same samples among those for training and validation.
        training: String,
    },
    /// A channel that the data do not have.
    #[error(
        "no channel '{}': the channels are {}{}",
        display_name(name),
        display_names(known),
        did_you_mean(closest)
    )]
    NoChannel {
        /// The name given.
        name: String,
        /// Channels of the data set.
        known: Vec<String>,
        /// The channel that may be meant.
        closest: Option<String>,
    },
    /// A step to resample to that is not positive and finite.
    #[error("cannot resample to a step of {found} seconds: expected a positive number of seconds")]
    ResampleStep {
        /// The value given.
        found: f64,
    },
    /// A setting of a preparation out of range.
    #[error("{setting} is {found}: expected {expected}")]
    Preparation {
        /// The setting.
        setting: &'static str,
        /// The value given.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// Text that names no channels and limits.
    #[error(
        "cannot read '{}': expected a number of standard deviations such as 6, or channels such as level=6,flow=8",
        display_name(found)
    )]
    ParseClipSpikes {
        /// The text given.
        found: String,
    },
    /// A preparation for a record with another number of channels.
    #[error("the preparation is for {expected} channel(s), the record has {found}")]
    PreparationChannels {
        /// Channels of the preparation.
        expected: usize,
        /// Channels of the record.
        found: usize,
    },
    /// A record that has been prepared.
    #[error("the record is prepared already: spikes are clipped and samples thinned out once")]
    PreparedTwice,
    /// A trend of a single sample.
    #[error("a trend needs two samples to train on, found {samples}")]
    NoTrend {
        /// Samples that there are.
        samples: usize,
    },
    /// A data set without experiments.
    #[error("no experiments: a data set needs at least one")]
    NoExperiments,
    /// An experiment without samples.
    #[error("experiment '{}' has no samples", display_name(experiment))]
    EmptyExperiment {
        /// Its name.
        experiment: String,
    },
    /// An experiment with another number of columns than the data set has channels.
    #[error(
        "experiment '{}' has {found} {kind} column(s), expected {expected}: all experiments must have the same channels",
        display_name(experiment)
    )]
    ExperimentWidth {
        /// Its name.
        experiment: String,
        /// Whether inputs or outputs differ.
        kind: ChannelKind,
        /// Channels of the data set.
        expected: usize,
        /// Columns of the experiment.
        found: usize,
    },
    /// Columns of one experiment differ in length.
    #[error(
        "experiment '{}': channel '{}' has {found} samples, expected {expected} like the first output",
        display_name(experiment),
        display_name(channel)
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
        "experiment '{}': channel '{}' is {found} at sample {sample} (counted from 0): samples must be finite",
        display_name(experiment),
        display_name(channel)
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
    #[error("cannot read lags '{}': expected NX,ND,NY such as 2,0,3", display_name(found))]
    ParseLags {
        /// The text given.
        found: String,
    },
    /// Text that is not an initial state.
    #[error(
        "unknown initial state '{}': expected zero, measured, warmup:N or history:N",
        display_name(found)
    )]
    ParseInitialState {
        /// The text given.
        found: String,
    },
    /// Text that is not three fractions.
    #[error(
        "cannot read split '{}': expected three fractions TRAIN,VALIDATION,TEST such as 0.6,0.1,0.3",
        display_name(found)
    )]
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
        "channel '{}' is constant ({value}) over all {samples} samples of the training part: remove it or train on a \
         part in which it moves",
        display_name(channel)
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
        "channel '{}' ranges from {lowest:e} to {highest:e}, which is outside what double precision can normalise: \
         rescale it",
        display_name(channel)
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
    /// Limits of dead times in the wrong order.
    #[error("dead times from {least} to {largest} are out of order: expected the least first")]
    DeadTimes {
        /// The least.
        least: usize,
        /// The largest.
        largest: usize,
    },
    /// Text that is not a missing-sample policy.
    #[error("unknown missing-sample policy '{}': expected error or split", display_name(found))]
    ParseMissingPolicy {
        /// The text given.
        found: String,
    },
    /// No file was given.
    #[error("no data file given: name at least one")]
    NoFiles,
    /// A file that cannot be read as data.
    #[error(transparent)]
    File(#[from] FileError),
    /// A name that is neither a file nor a known data set.
    #[error(
        "no file and no data set '{0}': known names are {1}; other names need a data folder that holds {0}.csv{2}",
        display_name(name),
        display_names(known),
        did_you_mean(closest)
    )]
    UnknownName {
        /// The name given.
        name: String,
        /// Names that would work.
        known: Vec<String>,
        /// The name that may be meant.
        closest: Option<String>,
    },
    /// A known data set that must be fetched by the user.
    #[error(
        "the data set '{name}' does not come with this software (source: {origin}): expected {name}.csv in a data \
         folder{}",
        searched.as_ref().map_or_else(String::new, |folder| format!(", searched {}", show(folder)))
    )]
    NotShipped {
        /// Its name.
        name: String,
        /// Where to get it.
        origin: &'static str,
        /// The folder that was searched, if one was given.
        searched: Option<PathBuf>,
    },
    /// The data folder does not exist.
    #[error("data folder {} does not exist", show(folder))]
    NoDataDirectory {
        /// The folder.
        folder: PathBuf,
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
    #[error("data set '{}' has {found} {kind}(s), expected {expected}", display_name(dataset))]
    ChannelCount {
        /// Name of the data set.
        dataset: String,
        /// Whether inputs or outputs differ.
        kind: ChannelKind,
        /// Channels of the normaliser.
        expected: usize,
        /// Channels of the data set.
        found: usize,
    },
}

/// A path for a message.
fn show(path: &Path) -> String {
    display_name(&path.display().to_string()).into_owned()
}
