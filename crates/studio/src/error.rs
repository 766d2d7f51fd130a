//! Why the studio cannot start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `Result` with this crate's error.
pub type Result<T, E = StudioError> = std::result::Result<T, E>;

/// Why the studio cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudioError {
    /// The folder cannot be made or used.
    #[error("{}: cannot be used as a workspace: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file where a folder is wanted.
    #[error("{}: this is a file, expected a folder", folder.display())]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// A folder whose name has no form as text.
    #[error("{}: the name of a workspace must be valid UTF-8", folder.display())]
    NotText {
        /// The folder.
        folder: PathBuf,
    },
    /// Another studio has the folder.
    #[error("{}: another studio is running in this folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The file of a workspace is damaged.
    #[error("{}: {reason}", file.display())]
    State {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// No random numbers, no threads.
    #[error("the server cannot start: {0}")]
    System(String),
}

impl StudioError {
    /// Whether the user can mend it by other arguments.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::System(_))
    }
}
