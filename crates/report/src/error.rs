//! Why a report cannot be made.

use intervalid_model::ModelError;
use intervalid_study::StudyError;

/// `Result` with this crate's error.
pub type Result<T, E = ReportError> = std::result::Result<T, E>;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The record of a fit is damaged or of another program.
    #[error("report data: {reason}")]
    Format {
        /// What was found and what was expected.
        reason: String,
    },
    /// Fits that cannot be compared.
    #[error("cannot compare: {reason}")]
    Compare {
        /// Why not.
        reason: String,
    },
    /// A template does not fit its data.
    #[error("cannot write the page: {0}")]
    Template(#[from] minijinja::Error),
    /// A model cannot be evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A study cannot be read.
    #[error(transparent)]
    Study(#[from] StudyError),
}
