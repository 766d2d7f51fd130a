//! What can go wrong, with the values that say why.

use std::path::PathBuf;

use intervalid_data::{DataError, Lags, display_name};

use crate::kind::{Method, ModelKind};
use crate::simulate::range::SAMPLE_LIMIT;

/// Errors of this crate. A training run that stops early or diverges is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The data do not fit what was asked of them.
    #[error(transparent)]
    Data(#[from] DataError),

    /// An option is outside its range.
    #[error("{option} = {found} is not allowed: expected {expected}")]
    Option {
        /// Name of the option, as in the configuration file.
        option: &'static str,
        /// The value given.
        found: String,
        /// The allowed values.
        expected: String,
    },

    /// A coverage that the model cannot tell the width of its band for.
    #[error("coverage = {asked}: {}", levels_in_words(*own, *reach))]
    NoSuchLevel {
        /// The coverage asked for.
        asked: f64,
        /// The coverage that the model was fitted for.
        own: f64,
        /// The least and the greatest that it could give; none if there is none but its own.
        reach: Option<(f64, f64)>,
    },

    /// Lags that reach beyond all samples, so that they see nothing but padding.
    #[error(
        "lags = {lags} reach {} samples back: expected less than {longest}, the longest stretch of the training part",
        lags.memory()
    )]
    LagsTooLong {
        /// The lags given.
        lags: Lags,
        /// Samples of the longest stretch.
        longest: usize,
    },

    /// A model meets data with other channels.
    #[error("the model has {expected} {what}, the data have {found}")]
    Channels {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// Channels of the model.
        expected: usize,
        /// Channels of the data.
        found: usize,
    },

    /// A model meets data in other units.
    #[error(
        "the model takes '{}' in {}, the data have it in {}: convert it",
        display_name(channel),
        display_name(expected),
        display_name(found)
    )]
    Unit {
        /// Channel of the data.
        channel: String,
        /// Unit of the model's channel.
        expected: String,
        /// Unit of the data.
        found: String,
    },

    /// A model meets data that were sampled at another rate.
    #[error("the model was fitted on samples every {expected} s, the data have one every {found} s: resample them")]
    SampleTime {
        /// Seconds between samples of the model.
        expected: f64,
        /// Seconds between samples of the data.
        found: f64,
    },

    /// Nothing finite came out of training.
    #[error(
        "training diverged in epoch {epoch} of stage {stage} before any finite result: try a smaller learning rate \
             than {learning_rate} or a smaller gradient clip"
    )]
    Diverged {
        /// Epoch, from 1.
        epoch: usize,
        /// Which stage.
        stage: &'static str,
        /// The learning rate in that epoch.
        learning_rate: f64,
    },

    /// The observer broke training off before any epoch was worth keeping.
    #[error("interrupted in epoch {epoch}, before any finite result")]
    Interrupted {
        /// Epoch, from 1.
        epoch: usize,
    },

    /// A model that cannot run step by step.
    #[error("{model} models cannot run step by step: {}", no_step(*model))]
    NotStepwise {
        /// The model.
        model: ModelKind,
    },

    /// Values handed to a running simulation have a wrong length.
    #[error("{what}: got {found}, expected {expected}")]
    Length {
        /// What they are.
        what: &'static str,
        /// How many there are.
        found: String,
        /// How many there should be.
        expected: String,
    },

    /// A value handed to a running simulation is not a number.
    #[error("{what} of channel '{channel}' is {value}, expected a finite number")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Name of its channel.
        channel: String,
        /// The value.
        value: f64,
    },

    /// A value that is beyond what any model may run on.
    #[error(
        "{what} '{}' is {value:e}{}: expected {least:e} to {most:e}, which is {SAMPLE_LIMIT:e} standard deviations of the \
         training data to either side of their mean",
        display_name(channel),
        place(sample.as_ref())
    )]
    OutOfRange {
        /// `input` or `measured output`.
        what: &'static str,
        /// Name of its channel.
        channel: String,
        /// The value.
        value: f64,
        /// The least value that is allowed.
        least: f64,
        /// The greatest value that is allowed.
        most: f64,
        /// Experiment and sample, from 0, of a value in a record.
        sample: Option<(String, usize)>,
    },

    /// A simulation was asked for something that it cannot do now.
    #[error("{0}")]
    NotNow(&'static str),

    /// A running simulation left every reasonable range.
    #[error("the simulation left every reasonable range at step {step}: start it again from measured outputs")]
    RunDiverged {
        /// The step, from 1.
        step: u64,
    },

    /// A mean of several models that stores no light band.
    #[error(
        "the model is the mean of {members} and stores no light band, expected one that the search calibrated for fewer members"
    )]
    NoLightBand {
        /// How many they are.
        members: usize,
    },

    /// A saved state that does not belong to the model, or is damaged.
    #[error("the saved state cannot be used: {0}")]
    State(String),

    /// A record that was not prepared as the model's own.
    #[error(
        "the record was not prepared as the model's own: expected '{}', found '{}'",
        or_nothing(expected),
        or_nothing(found)
    )]
    Preparation {
        /// What was done to the model's record, in words.
        expected: String,
        /// What was done to this one.
        found: String,
    },

    /// A model that cannot run sample by sample because of what was done to its record.
    #[error("the model cannot run step by step: {reason}")]
    PreparedStep {
        /// Why.
        reason: &'static str,
    },

    /// Recordings that tell too little about a band.
    #[error(
        "{samples} samples are worth about {effective:.0} independent ones, expected at least {needed:.0}: with fewer, how wide the band \
         must be is a guess"
    )]
    TooFewSamples {
        /// Scored samples.
        samples: usize,
        /// How many independent ones would tell as much.
        effective: f64,
        /// How many there should be.
        needed: f64,
    },

    /// Something of ours has no JSON form.
    #[error("{what} cannot be written as JSON: {source}")]
    Serialise {
        /// What it is.
        what: &'static str,
        /// The reason.
        source: serde_json::Error,
    },

    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read`, `write`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },

    /// A file is not a model (or checkpoint) that this version can read.
    #[error("{} is not a valid {what}: {reason}", path.display())]
    Format {
        /// What it should have been.
        what: FileKind,
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        reason: String,
    },
}

/// Kinds of files this crate writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A fitted model.
    Model,
    /// Training in the middle.
    Checkpoint,
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Checkpoint => "checkpoint",
        })
    }
}

impl ModelError {
    /// An option outside its range.
    #[must_use]
    pub fn option(option: &'static str, found: impl ToString, expected: impl ToString) -> Self {
        Self::Option {
            option,
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}

/// Sentences, or that there are none.
fn or_nothing(words: &str) -> &str {
    match words {
        "" => "nothing done to it",
        words => words.trim_end_matches('.'),
    }
}

/// Which bands there are.
fn levels_in_words(own: f64, reach: Option<(f64, f64)>) -> String {
    match reach {
        Some((least, most)) => format!("expected {least} to {most}, for which the model stores how wide its band is"),
        None => format!("expected {own}, since the model stores no band for any other coverage"),
    }
}

/// Where in a record a value stands.
fn place(sample: Option<&(String, usize)>) -> String {
    sample.map_or_else(String::new, |(experiment, index)| {
        format!(
            " at sample {index} (counted from 0) of experiment '{}'",
            display_name(experiment)
        )
    })
}

/// Why a family has no step of its own, and what to use instead.
fn no_step(model: ModelKind) -> &'static str {
    match model.method() {
        Method::Bayesian => {
            "their band takes many random draws of the whole network at every sample; fit inode or ilstm, whose band is one pass"
        }
        Method::Dropout => {
            "their band takes many randomly thinned networks at every sample; fit inode or ilstm, whose band is one pass"
        }
        Method::Ensemble => {
            "their members feed back their common mean, which needs all of them and a Gaussian read-out; fit inode or ilstm, which also come as ensembles"
        }
        Method::Interval | Method::Linear => "their family has no stepwise form",
    }
}

/// Result with this crate's error.
pub type Result<T, E = ModelError> = std::result::Result<T, E>;
