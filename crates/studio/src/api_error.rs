//! What a request is refused with: a status, and a sentence for the user.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use intervalid_analysis::AnalysisError;
use intervalid_data::{DataError, FileError};
use intervalid_deploy::DeployError;
use intervalid_files::FolderError;
use intervalid_model::ModelError;
use intervalid_report::ReportError;
use intervalid_workflow::WorkflowError;
use serde_json::json;

/// A refusal.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    /// The request makes no sense, or its data do not.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Something of that name is there.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// What the operating system said about a file.
    pub(crate) fn io(what: &str, error: &std::io::Error) -> Self {
        Self::internal(format!("{what}: {error}"))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

/// Errors of the libraries are about what the user gave.
macro_rules! from_library {
    ($($error:ty),+) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::bad(with_causes(&error))
            }
        })+
    };
}

from_library!(
    DataError,
    FileError,
    ModelError,
    WorkflowError,
    DeployError,
    AnalysisError,
    FolderError,
    ReportError
);

/// The message and those of its causes that it does not quote.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let line = error.to_string();
        if !text.contains(&line) {
            text = format!("{text}: {line}");
        }
        cause = error.source();
    }
    text
}
