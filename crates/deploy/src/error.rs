//! What can go wrong, with the values that say why.

use std::path::PathBuf;

use intervalid_model::{ModelError, ModelKind};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The model cannot run step by step.
    #[error(transparent)]
    Model(#[from] ModelError),

    /// A kind of model that no writer knows.
    #[error("{model} models cannot be exported: fit inode, ilstm, iss or arx")]
    Unsupported {
        /// The model.
        model: ModelKind,
    },

    /// A name that cannot be made an identifier.
    #[error("'{name}' cannot name the exported code: expected a letter first, then letters, digits and _")]
    Name {
        /// The name.
        name: String,
    },

    /// A number that an export in single precision cannot hold.
    #[error("{what} is {value:e}, which single precision cannot hold: export in double precision")]
    BeyondSingle {
        /// Which number.
        what: String,
        /// Its value.
        value: f64,
    },

    /// Something is in the way of the export.
    #[error("{} exists already: choose another place or replace it with --force", path.display())]
    Exists {
        /// What exists.
        path: PathBuf,
    },

    /// A file could not be written or read.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `write`, `create`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },

    /// No C compiler was found, or it failed.
    #[error("cannot compile the binary of the FMU with '{compiler}': {reason}")]
    Compiler {
        /// The command.
        compiler: String,
        /// What went wrong, and what to do.
        reason: String,
    },
}

/// Result with this crate's error.
pub type Result<T, E = DeployError> = std::result::Result<T, E>;
