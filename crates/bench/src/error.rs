//! What can go wrong, with the values that say why.

use std::path::PathBuf;

use intervalid_data::DataError;
use intervalid_model::ModelError;
use intervalid_workflow::WorkflowError;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A benchmark that does not exist.
    #[error("there is no benchmark '{name}': there are {}", known.join(", "))]
    UnknownBenchmark {
        /// As it was given.
        name: String,
        /// Names of those that exist.
        known: Vec<String>,
    },

    /// A protocol that says something impossible.
    #[error("protocol '{name}': {reason}")]
    Protocol {
        /// Its name, empty where it cannot be read.
        name: String,
        /// What is wrong.
        reason: String,
    },

    /// No folder for the files of benchmarks was given.
    #[error("{benchmark} is read from files of yours, and no folder is given for them")]
    NoDataFolder {
        /// Name of the benchmark.
        benchmark: String,
        /// Where its files are to be had.
        home: String,
    },

    /// A file that is not there.
    #[error("{benchmark}: no {} in {}", alternatives(files), folder.display())]
    MissingFile {
        /// Name of the benchmark.
        benchmark: String,
        /// Names that would do, without their ending.
        files: Vec<String>,
        /// Where they were looked for, folders inside it included.
        folder: PathBuf,
        /// Where they are to be had.
        home: String,
    },

    /// A file of another length than the official one.
    #[error("{}: {found} samples, expected {expected}", file.display())]
    Length {
        /// The file.
        file: PathBuf,
        /// Its samples.
        found: usize,
        /// Words, since some files must have so many samples and some at least so many.
        expected: String,
    },

    /// An array of another shape than the official one.
    #[error("{}: '{array}' is {rows}×{columns}, expected {expected}", file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// The array.
        array: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// What the protocol says.
        expected: &'static str,
    },

    /// A fit that would start from more measured outputs than the protocol allows.
    #[error("{benchmark}: a model may start from the first {allowed} measured outputs of a test, not from {found}")]
    Start {
        /// Name of the benchmark.
        benchmark: String,
        /// What the protocol allows.
        allowed: usize,
        /// What the model uses.
        found: usize,
    },

    /// The data cannot be read or do not make a record.
    #[error(transparent)]
    Data(#[from] DataError),

    /// A fit failed, or cannot be done.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),

    /// A file of results cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },

    /// A file of results that was changed, or that a newer version wrote.
    #[error("{} is no result of a benchmark that this version reads: {reason}", path.display())]
    Result {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },

    /// A folder without results.
    #[error("{} holds no results of benchmarks", folder.display())]
    NoResults {
        /// The folder.
        folder: PathBuf,
    },

    /// A result that has no form as JSON.
    #[error("the result cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<ModelError> for BenchError {
    fn from(error: ModelError) -> Self {
        Self::Workflow(error.into())
    }
}

fn alternatives(files: &[String]) -> String {
    let named: Vec<String> = files.iter().map(|file| format!("{file}.mat or {file}.csv")).collect();
    named.join(", nor ")
}

/// Result with this crate's error.
pub type Result<T, E = BenchError> = std::result::Result<T, E>;
