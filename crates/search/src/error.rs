//! What can go wrong, with the values that say why.

use std::path::PathBuf;

use intervalid_data::DataError;
use intervalid_model::{ModelError, ModelKind};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A setting is out of range, or a fit failed.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// The record does not fit what was asked of it.
    #[error(transparent)]
    Data(#[from] DataError),

    /// Free runs of every linear model left every sensible range.
    #[error("no stable linear model fits this record")]
    NoStableLinearModel,

    /// Too few samples for any network of the kind that was asked for.
    #[error("this record is too short to search for an {model}: {samples} samples to learn from")]
    TooShortForNetworks {
        /// What was asked for.
        model: ModelKind,
        /// Samples of the training and validation parts.
        samples: usize,
    },

    /// A file where the journal of this search should be that is something else.
    #[error("{} is not the journal of this search: {reason}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: String,
    },

    /// The journal cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    JournalFile {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },

    /// Somebody ended the work before it had a result.
    #[error("cancelled before there was a result")]
    Cancelled,
}

impl SearchError {
    /// Whether a stretch is too short for a run of the model.
    pub(crate) fn is_too_short(&self) -> bool {
        let (Self::Data(error) | Self::Model(ModelError::Data(error))) = self else {
            return false;
        };
        matches!(error, DataError::TooShort { .. })
    }
}

/// Result with this crate's error.
pub type Result<T, E = SearchError> = std::result::Result<T, E>;
