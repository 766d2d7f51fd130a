//! Files that appear whole or not at all. Every program and library of the workspace writes results through here.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// What temporary files are called, so that leftovers of a killed process can be told.
const PREFIX: &str = ".intervalid-";

/// Replaces a file in one step, durably: written beside its place, synced and renamed, so that a reader sees the old content or the
/// new one, whatever happens meanwhile.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("metrics.json");
/// intervalid_data::replace_file(&path, b"{}")?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// What the operating system says; the old file then stays.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = temporary_file(folder)?;
    file.write_all(content).map_err(own_words)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| own_words(error.error))?;
    // Some file systems cannot sync a folder; the rename has happened all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// An empty file in `folder` that is gone when it is dropped: whether the folder can be written into.
///
/// # Errors
/// What the operating system says.
pub fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    // Temporary files are private by default; results follow the user's umask like any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(own_words)
}

/// What the operating system said, without the name of the temporary file, which means nothing to a user.
fn own_words(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}
