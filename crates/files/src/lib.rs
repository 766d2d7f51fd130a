//! Files and folders of results that appear whole or not at all, whatever ends the process that writes them.
//!
//! - [`replace_file`] replaces one file; a reader sees the old content or the new one. [`make_folder`] makes a place for it.
//! - [`LockedFile`] is held by one process at a time and let go of when that process ends, however it ends.
//! - [`OwnedFolder`] replaces several files of a folder together: all are prepared beside their places, and renaming the folder
//!   that holds them decides. What a killed process left of such a switch is finished by whoever comes next.
//! - [`Manifest`] lists the files that were switched in together with their hashes, so that a mixture is recognised.
//! - [`read_file`] reads files that somebody else may have put there: regular ones, of a bounded length.
//! - [`fault`] fails or ends debug builds at a chosen file operation; release builds have no trace of it.

mod error;
pub mod fault;
mod folder;
mod lock;
mod manifest;
mod read;
mod whole;

pub use error::{FolderError, Result};
pub use folder::{FOLDER_LOCK, OwnedFolder, Staged, settle};
pub use lock::{LockedFile, Sharing, lock_file};
pub use manifest::{MANIFEST, Manifest};
pub use read::{Links, open_file, open_own, read_file};
pub use whole::{make_folder, replace_file, sweep, temporary_file};
