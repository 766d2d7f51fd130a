use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::fault;
use crate::lock::is_at;

/// What temporary files are called, followed by [`RANDOM`] letters and digits, so that leftovers can be told.
const PREFIX: &str = ".intervalid-";
const RANDOM: usize = 6;

/// Replaces a file in one step, durably: written beside its place, synced and renamed, so that a reader sees the old content or the
/// new one, whatever happens meanwhile.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("metrics.json");
/// intervalid_files::replace_file(&path, b"{}")?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// On Unix, a file that is replaced keeps who may read and write it.
///
/// # Errors
/// What the operating system says; the old file then stays.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_as(path, content, path)
}

/// As [`replace_file`], for a file that will take the place of `earlier` later.
pub(crate) fn replace_as(path: &Path, content: &[u8], earlier: &Path) -> io::Result<()> {
    let folder = around(path);
    let mut file = temporary_file(folder)?;
    // Before there is anything in it to read.
    keep_mode(file.as_file(), earlier)?;
    let half = content.len() / 2;
    file.write_all(&content[..half]).map_err(own_words)?;
    fault::point()?;
    file.write_all(&content[half..]).map_err(own_words)?;
    fault::point()?;
    file.as_file().sync_all()?;
    fault::point()?;
    file.persist(path).map_err(|error| own_words(error.error))?;
    sync_folder(folder);
    Ok(())
}

/// Gives a file the permissions of an earlier one, if there is one.
#[cfg(unix)]
fn keep_mode(file: &File, earlier: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |permissions: fs::Permissions| permissions.mode() & 0o777;
    let Ok(earlier) = fs::symlink_metadata(earlier) else {
        return Ok(());
    };
    let wanted = mode(earlier.permissions());
    // Where there are no such permissions, all files have the same, and changing them may fail.
    if !earlier.is_file() || mode(file.metadata()?.permissions()) == wanted {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(wanted))
}

/// Gives a file the permissions of an earlier one: other systems than Unix have none that are ours to keep.
#[cfg(not(unix))]
fn keep_mode(_file: &File, _earlier: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes a folder and those around it, durably, as far as they are not there yet.
///
/// # Errors
/// What the operating system says.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder)?;
    for made in missing.iter().rev() {
        sync_folder(around(made));
    }
    Ok(())
}

/// The folder that a path lies in.
fn around(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// An empty file in `folder` that is gone when it is dropped: whether the folder can be written into.
///
/// # Errors
/// What the operating system says.
pub fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    fault::point()?;
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM);
    // Temporary files are private by default; results follow the user's umask like any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder).map_err(own_words)?;
        // Locked, so that others can tell it from what a killed process left. Where there are no locks nothing is swept.
        let is_ours = match file.as_file().try_lock() {
            Ok(()) => is_at(file.as_file(), file.path())?,
            Err(TryLockError::Error(_)) => true,
            // Somebody sweeps it at this moment.
            Err(TryLockError::WouldBlock) => false,
        };
        if is_ours {
            return Ok(file);
        }
        // Swept between being made and being locked.
    }
}

/// Removes the temporary files that killed processes have left in a folder; those in use stay.
pub fn sweep(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !name.to_str().is_some_and(is_temporary) {
            continue;
        }
        // Whatever cannot be removed does no harm.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| rest.len() == RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Makes renames in a folder durable. Some file systems cannot; the renames have happened all the same.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// What the operating system said, without the name of the temporary file, which means nothing to a user.
fn own_words(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_go_and_files_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let in_use = temporary_file(folder.path()).unwrap();
        let others = [".intervalid-notes", ".intervalid-ab", "data.csv", ".intervalid-a_b-c.d"];
        for name in others.into_iter().chain([".intervalid-Ab3dE9"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        fs::create_dir(folder.path().join(".intervalid-folder")).unwrap();
        sweep(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left.len(), others.len() + 2, "{left:?}");
        assert!(in_use.path().exists() && !folder.path().join(".intervalid-Ab3dE9").exists());
    }

    #[cfg(unix)]
    #[test]
    #[cfg_attr(miri, ignore = "Miri changes no permissions")]
    fn a_file_that_is_replaced_keeps_who_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace_file(&path, b"new").unwrap();
        let usual = mode();
        for mode_before in [0o600, 0o640, 0o444, usual] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode_before)).unwrap();
            replace_file(&path, b"newer").unwrap();
            assert_eq!(mode(), mode_before);
        }
        // What a link leads to has permissions of its own.
        fs::remove_file(&path).unwrap();
        fs::write(folder.path().join("other"), "").unwrap();
        fs::set_permissions(folder.path().join("other"), fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("other", &path).unwrap();
        replace_file(&path, b"new").unwrap();
        assert_eq!(mode(), usual);
    }

    #[test]
    fn writing_and_sweeping_at_once_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let sweeper = scope.spawn(|| (0..2000).for_each(|_| sweep(folder.path())));
            for index in 0..100 {
                replace_file(&folder.path().join(format!("{}", index % 3)), b"content").unwrap();
            }
            sweeper.join().unwrap();
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
