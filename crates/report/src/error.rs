//! Why a report cannot be made.

use intervalid_figure::FigureError;
use intervalid_model::ModelError;
use intervalid_study::StudyError;
use intervalid_workflow::WorkflowError;

/// `Result` with this crate's error.
pub type Result<T, E = ReportError> = std::result::Result<T, E>;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Report data that are not JSON.
    #[error("report data: not JSON: {0}")]
    Json(serde_json::Error),
    /// Report data of a newer version of this program.
    #[error("report data: format {found} is newer than format {newest}, the newest this version reads")]
    NewerFormat {
        /// The format of the file.
        found: u64,
        /// The newest format that this version reads.
        newest: u64,
    },
    /// A field of the report data that is missing, of the wrong type, or contradicts the others.
    #[error("report data: `{field}`: {reason}")]
    Field {
        /// Its path, such as `parts[0].runs[0].charts[1].lower`.
        field: String,
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
    /// A chart cannot be drawn.
    #[error("cannot draw a chart: {0}")]
    Figure(#[from] FigureError),
    /// A model cannot be evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Settings cannot be written.
    #[error(transparent)]
    Settings(#[from] WorkflowError),
    /// A configuration has no form as TOML.
    #[error("the settings cannot be written: {0}")]
    Toml(#[from] toml::ser::Error),
    /// Results cannot be written as JSON.
    #[error("the results cannot be written as JSON: {0}")]
    Write(serde_json::Error),
    /// A study cannot be read.
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl ReportError {
    pub(crate) fn field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Field {
            field: field.into(),
            reason: reason.into(),
        }
    }
}
