use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::read::open_own;
use crate::whole::make_folder;

/// A file that this process keeps locked; removed when dropped.
///
/// The operating system lets go of the lock when its holder ends, however it ends, so that locks of the dead need no clock to be
/// noticed: they are free. Where machines share a folder, the file system must pass locks on.
#[derive(Debug)]
pub struct LockedFile {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl LockedFile {
    /// Makes and locks the file, and its folder if need be; none if another holds it.
    ///
    /// # Errors
    /// As [`lock_file`]: what is not ours is not removed either.
    pub fn take(path: impl Into<PathBuf>) -> io::Result<Option<Self>> {
        let path = path.into();
        Ok(lock_file(&path, Sharing::Alone)?.map(|file| Self { path, _file: file }))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Before the lock is let go of: afterwards the file may be somebody else's.
        let _ = fs::remove_file(&self.path);
    }
}

/// Who else may hold a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody.
    Alone,
    /// Others that share it too.
    Shared,
}

/// Makes and locks the file, and its folder if need be; none if another holds it. The lock lasts as long as the file is open.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::InvalidInput`] if there is a link, or a file with content: ours are empty.
pub fn lock_file(path: &Path, sharing: Sharing) -> io::Result<Option<File>> {
    loop {
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let file = match open_own(path) {
            // Somebody swept the folder away in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(not_ours(path, &error)),
            file => file?,
        };
        let locked = match sharing {
            Sharing::Alone => file.try_lock(),
            Sharing::Shared => file.try_lock_shared(),
        };
        match locked {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            // The last holder may have removed the file after it was opened here: then another of that name counts.
            Ok(()) if !is_at(&file, path)? => {}
            Ok(()) => {
                let length = file.metadata()?.len();
                if length > 0 {
                    let found = format!("it has {length} bytes, expected an empty file");
                    return Err(not_ours(path, &found));
                }
                return Ok(Some(file));
            }
        }
    }
}

/// Why a file of this name is no lock, whatever the folder around it is called in the message.
fn not_ours(path: &Path, found: &dyn std::fmt::Display) -> io::Error {
    let what = format!("{} is not ours: {found}", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Whether `path` names this very file.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
}

/// Whether `path` names this very file.
#[cfg(not(unix))]
pub(crate) fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_lock_is_refused_and_what_it_names_stays() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        for target in [victim.as_path(), Path::new("/no/such/folder/x")] {
            let lock = folder.path().join("lock");
            std::os::unix::fs::symlink(target, &lock).unwrap();
            let error = LockedFile::take(&lock).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            fs::remove_file(&lock).unwrap();
        }
        assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    }

    #[test]
    fn a_file_with_content_is_no_lock_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("poetry.lock");
        fs::write(&path, "precious").unwrap();
        for _ in 0..2 {
            let error = LockedFile::take(&path).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains("has 8 bytes"), "{error}");
        }
        assert_eq!(fs::read_to_string(path).unwrap(), "precious");
    }

    #[test]
    fn those_who_share_a_lock_keep_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.lock");
        let lock = |sharing| lock_file(&path, sharing).unwrap();
        let shared = [lock(Sharing::Shared), lock(Sharing::Shared)];
        assert!(shared.iter().all(Option::is_some) && lock(Sharing::Alone).is_none());
        drop(shared);
        let alone = lock(Sharing::Alone);
        assert!(alone.is_some() && lock(Sharing::Shared).is_none());
        // Whoever removes a file that it holds hands on nothing but its name.
        fs::remove_file(&path).unwrap();
        assert!(lock(Sharing::Alone).is_some());
    }

    #[test]
    fn a_file_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims/one");
        let first = LockedFile::take(&path).unwrap();
        assert!(first.is_some());
        assert!(LockedFile::take(&path).unwrap().is_none());
        drop(first);
        assert!(!path.exists());
        assert!(LockedFile::take(&path).unwrap().is_some());
    }

    #[test]
    fn many_who_want_the_same_get_it_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Some(lock) = LockedFile::take(&path).unwrap() {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
