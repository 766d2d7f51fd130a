use std::io;
use std::path::PathBuf;

/// Shorthand.
pub type Result<T, E = FolderError> = std::result::Result<T, E>;

/// Why a folder of results cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// Another process is writing into the folder.
    #[error("{}: another run is writing into this folder", .folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// A file is not the one that was written together with the others.
    #[error("{}: '{file}' is not the file that was written together with the others in this folder", .folder.display())]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// Name of the file in it.
        file: String,
    },
    /// The list of what was written together cannot be understood.
    #[error("{}: is damaged: {reason}", .path.display())]
    Damaged {
        /// The list.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system refuses.
    #[error("{}: cannot be {action}", .path.display())]
    Io {
        /// What was tried, such as `written`.
        action: &'static str,
        /// File or folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

impl FolderError {
    /// For `map_err`.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err` of what [`read_file`](crate::read_file) says of a list of ours.
    pub(crate) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Self::Damaged {
                path,
                reason: source.to_string(),
            },
            _ => Self::io("read", path)(source),
        }
    }
}
