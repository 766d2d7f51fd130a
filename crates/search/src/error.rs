//! What can go wrong, with the values that say why.

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

    /// Somebody ended the work before it had a result.
    #[error("cancelled before there was a result")]
    Cancelled,
}

/// Result with this crate's error.
pub type Result<T, E = SearchError> = std::result::Result<T, E>;
