//! Claims: which runs of a study some process is computing now.
//!
//! A claim is a file in `claims/` that its holder keeps locked. The operating system lets go of the lock when the holder
//! ends, however it ends, so that claims of the dead need no clock to be noticed: they are free. Where drivers on several
//! machines share a folder, the file system must pass locks on, which SQLite needs from it as well.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StudyError};

const FOLDER: &str = "claims";
/// Of a key's 64 digits; two runs of one study never share as many.
const DIGITS: usize = 32;

/// A run that this process computes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Claim {
    /// Claims a run of the study in `study`; none if somebody else has it.
    pub(crate) fn take(study: &Path, key: &str) -> Result<Option<Self>> {
        let folder = study.join(FOLDER);
        let path = folder.join(&key[..DIGITS.min(key.len())]);
        match lock(&folder, &path) {
            Ok(file) => Ok(file.map(|file| Self { path, _file: file })),
            Err(source) => Err(StudyError::File {
                action: "claim a run in",
                path,
                source,
            }),
        }
    }

    /// Removes what killed processes have left; what is in use stays.
    pub(crate) fn sweep(study: &Path) {
        let folder = study.join(FOLDER);
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            // Whatever cannot be removed does no harm: it can be claimed.
            if let Ok(Some(_locked)) = lock(&folder, &entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
        // Stays while it is not empty.
        let _ = fs::remove_dir(folder);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Before the lock is let go of: afterwards the file may be somebody else's.
        let _ = fs::remove_file(&self.path);
    }
}

/// The locked file, or none if another has locked it.
fn lock(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    loop {
        fs::create_dir_all(folder)?;
        let file = match File::create(path) {
            // Somebody swept the folder away in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            // The last holder may have removed the file after it was opened here: then another of that name is the claim.
            Ok(()) if is_at(&file, path)? => return Ok(Some(file)),
            Ok(()) => {}
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let key = "0123456789abcdef".repeat(4);
        let first = Claim::take(folder.path(), &key).unwrap();
        assert!(first.is_some());
        assert!(Claim::take(folder.path(), &key).unwrap().is_none());
        assert!(Claim::take(folder.path(), &key.replace('0', "9")).unwrap().is_some());
        Claim::sweep(folder.path());
        assert!(Claim::take(folder.path(), &key).unwrap().is_none());
        drop(first);
        assert!(Claim::take(folder.path(), &key).unwrap().is_some());
        // A killed holder leaves its file.
        fs::create_dir_all(folder.path().join(FOLDER)).unwrap();
        fs::write(folder.path().join(FOLDER).join(&key[..DIGITS]), "").unwrap();
        Claim::sweep(folder.path());
        assert!(!folder.path().join(FOLDER).exists());
    }

    #[test]
    fn many_who_want_the_same_run_get_it_one_after_the_other() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Some(claim) = Claim::take(folder.path(), "a key").unwrap() {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(claim);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
