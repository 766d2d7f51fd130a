//! What can go wrong with a study as a whole; a run that fails is a record, not an error.

use intervalid_workflow::WorkflowError;
use std::path::PathBuf;

use intervalid_data::DataError;
use intervalid_figure::FigureError;
use intervalid_model::ModelError;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A study file that is no TOML, or has a key or a value that a study does not have.
    #[error("{origin}: {reason}")]
    Parse {
        /// File or name of the study.
        origin: String,
        /// The parser's words, with line and column.
        reason: String,
    },

    /// A key that a study does not have.
    #[error("{origin}, line {line}: unknown key '{key}'")]
    UnknownKey {
        /// File or name of the study.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// Keys that a study has.
        known: &'static [&'static str],
    },

    /// A value of a study that is not allowed.
    #[error("{place} = {found} is not allowed: expected {expected}")]
    Value {
        /// Where in the study, such as `coverages` or `override 2: dataset`.
        place: String,
        /// The value.
        found: String,
        /// The allowed values.
        expected: String,
    },

    /// Settings that do not make a fit's configuration.
    #[error("{place}: {source}")]
    Settings {
        /// Where in the study, such as `settings` or `override 2: set`.
        place: String,
        /// What is wrong with them.
        source: Box<WorkflowError>,
    },

    /// Neither a file nor a built-in study.
    #[error("no study file and no built-in study '{name}': built-in are {known}")]
    UnknownStudy {
        /// What was asked for.
        name: String,
        /// Names that would work.
        known: String,
    },

    /// A data set exists but cannot be read.
    #[error("data set '{dataset}': {source}")]
    Data {
        /// Name or path in the study.
        dataset: String,
        /// Why.
        source: Box<DataError>,
    },

    /// None of the study's data sets could be found.
    #[error("none of the data sets of this study can be found: {reasons}")]
    NoData {
        /// One reason per data set.
        reasons: String,
    },

    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read`, `create`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },

    /// A folder without a study.
    #[error("{} holds no study: expected {}, which `intervalid study run` writes", folder.display(), crate::store::DATABASE)]
    NoStudy {
        /// The folder.
        folder: PathBuf,
    },

    /// Another process writes to the study.
    #[error("{} is being written by another process: wait for it, or use another folder", folder.display())]
    InUse {
        /// The folder of the study.
        folder: PathBuf,
    },

    /// The folder holds another study.
    #[error(
        "{} holds the study '{found}' with other contents than '{expected}': choose another folder, or remove this one \
         (only seeds may be added to a study)",
        folder.display()
    )]
    OtherStudy {
        /// The folder.
        folder: PathBuf,
        /// Name of the study in it.
        found: String,
        /// Name of the study that was asked for.
        expected: String,
    },

    /// A database that is none of a study, or is damaged.
    #[error("{} is not a valid study database: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        reason: String,
    },

    /// The database refused an operation.
    #[error("{}: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Its words.
        source: rusqlite::Error,
    },

    /// A share of a study that does not exist.
    #[error("shard {found} is not allowed: {advice}")]
    Shard {
        /// As typed.
        found: String,
        /// What is meant.
        advice: String,
    },

    /// A task or a result that is none, or came damaged.
    #[error("this is no {what} of a study: {reason}")]
    Message {
        /// `task` or `result`.
        what: &'static str,
        /// What was wrong with it.
        reason: String,
    },

    /// A task, a result or a database of another version of the program.
    #[error("{what} is of intervalid {found}, this is {expected}: use the same version on all machines")]
    OtherVersion {
        /// What was refused.
        what: String,
        /// Its version.
        found: String,
        /// The version of this program.
        expected: String,
    },

    /// A result that does not belong to the study.
    #[error("the result of '{run}' is of another study than {} (its hash is {found}, not {expected})", path.display())]
    ForeignResult {
        /// The run in words.
        run: String,
        /// The database.
        path: PathBuf,
        /// Hash of the study it was made for.
        found: String,
        /// Hash of the study in the database.
        expected: String,
    },

    /// Two results of one run that cannot both be right.
    #[error("{}: '{run}' is there already, and its {difference} is not that of {origin}: nothing was changed", path.display())]
    Conflict {
        /// The database.
        path: PathBuf,
        /// The run in words.
        run: String,
        /// What differs, such as `result` or `data or settings`.
        difference: &'static str,
        /// Where the other one came from.
        origin: String,
    },

    /// A worker has other data than the study was planned with, or none.
    #[error("the worker cannot use data set '{dataset}': {reason}")]
    WorkerData {
        /// Name or path in the study.
        dataset: String,
        /// What is there instead, and what to do.
        reason: String,
    },

    /// Databases that cannot be merged.
    #[error("cannot merge {} into {}: {reason}", shard.display(), folder.display())]
    Merge {
        /// Folder of the shard.
        shard: PathBuf,
        /// Folder of the whole.
        folder: PathBuf,
        /// Why.
        reason: String,
    },

    /// A model in the database cannot be analysed.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// A figure cannot be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
}

impl StudyError {
    /// Whether the study, its data or its folder are to blame, rather than the machine or the program.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Database { .. } | Self::Model(_) | Self::Figure(_))
    }

    pub(crate) fn value(place: impl Into<String>, found: impl ToString, expected: impl ToString) -> Self {
        Self::Value {
            place: place.into(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}

/// Result with this crate's error.
pub type Result<T, E = StudyError> = std::result::Result<T, E>;
