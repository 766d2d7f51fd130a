//! What can go wrong, with the values that say why.

use intervalid_data::{DataError, display_name};
use intervalid_model::{FileKind, ModelError, ModelKind, OutputRange};
use intervalid_search::SearchError;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The record cannot be read, or does not fit what was asked of it.
    #[error(transparent)]
    Data(#[from] DataError),

    /// A setting is out of range, or a fit failed.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// A search failed.
    #[error(transparent)]
    Search(SearchError),

    /// A setting that does not exist.
    #[error("unknown key '{key}'")]
    UnknownSetting {
        /// As it was given.
        key: String,
        /// The name most like it, if one is.
        nearest: Option<&'static str>,
    },

    /// A value that a setting cannot have.
    #[error("{key} = {found}: {reason}")]
    Setting {
        /// Name of the setting.
        key: String,
        /// The value given.
        found: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A setting of one network, given to a search.
    #[error("{key} says how one network is trained: the preset auto searches that itself")]
    NotForSearch {
        /// Name of the setting.
        key: &'static str,
    },

    /// A model that is not searched, given to a search.
    #[error("the preset auto does not search for {model}: it tries arx, inode, iss and ilstm")]
    NotSearched {
        /// The model given.
        model: ModelKind,
    },

    /// Several coverages of a model whose band is fitted for one.
    #[error(
        "several coverages need a band that is calibrated on held-out data; {model} as it is asked for has a band for one"
    )]
    LevelsWithoutCalibration {
        /// The model given.
        model: ModelKind,
    },

    /// A coverage of all outputs together of a model whose band nothing sizes.
    #[error(
        "a coverage of all outputs together needs a band that is calibrated on held-out data; that of {model} as it is asked for is trained for each output"
    )]
    TogetherWithoutCalibration {
        /// The model given.
        model: ModelKind,
    },

    /// A range of an output that there is not.
    #[error("a range is given for '{}': expected an output ({})", display_name(name), outputs.join(", "))]
    RangeOfNothing {
        /// The name given.
        name: String,
        /// The outputs there are.
        outputs: Vec<String>,
    },

    /// Samples that a model is fitted to beyond the physical limits of their output.
    #[error(transparent)]
    OutsideRange(Box<OutsideRange>),

    /// A time limit for a fit that is not a search.
    #[error("a time budget is for the preset auto; one model is trained for as many epochs as asked")]
    BudgetWithoutSearch,

    /// A configuration file that is not TOML.
    #[error("{0}")]
    Syntax(String),

    /// Settings that have no form as TOML.
    #[error("the settings cannot be written: {0}")]
    Write(#[from] toml::ser::Error),

    /// Training was ended early; what was done is in its checkpoint.
    #[error("interrupted after {epochs} epochs")]
    Interrupted {
        /// Epochs done.
        epochs: usize,
    },

    /// Somebody ended the search or the calibration.
    #[error("interrupted during the {stage}")]
    Cancelled {
        /// `search` or `calibration`.
        stage: &'static str,
    },
}

impl WorkflowError {
    /// Whether the checkpoint or journal that is there cannot be gone on from: nothing but another place or its removal helps.
    #[must_use]
    pub fn is_of_kept_work(&self) -> bool {
        match self {
            Self::Model(ModelError::Format { what, .. }) => *what == FileKind::Checkpoint,
            Self::Search(SearchError::Journal { .. }) => true,
            _ => false,
        }
    }
}

/// Samples beyond the physical limits of their output.
#[derive(Debug, thiserror::Error)]
#[error(
    "'{}' is {value} at sample {sample} (counted from 0) of experiment '{}'{}, outside of its range {range}{}",
    display_name(output),
    display_name(experiment),
    row.as_ref().map_or_else(String::new, |row| format!(" ({row})")),
    if *count > 1 { format!(" like {} more", count - 1) } else { String::new() }
)]
pub struct OutsideRange {
    /// Name of the output.
    pub output: String,
    /// The first value outside.
    pub value: f64,
    /// The range given.
    pub range: OutputRange,
    /// Where it is.
    pub experiment: String,
    /// From 0.
    pub sample: usize,
    /// Where it is in its file, if that is known.
    pub row: Option<String>,
    /// How many of the same stretch lie outside.
    pub count: usize,
}

impl From<SearchError> for WorkflowError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Data(error) => Self::Data(error),
            SearchError::Model(error) => Self::Model(error),
            error => Self::Search(error),
        }
    }
}

/// Result with this crate's error.
pub type Result<T, E = WorkflowError> = std::result::Result<T, E>;
