//! Who may write to a study: all writers hold a lock on one file, which is removed only while nobody else holds it.

use std::fs::File;
use std::path::Path;

use intervalid_files::{Sharing, lock_file};

use crate::error::{Result, StudyError};

/// Name of the file in a study's folder.
pub(crate) const LOCK: &str = "study.lock";

/// Who else may write to a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// Drivers that keep their claims.
    Several,
    /// Nobody.
    One,
}

/// Locks a study for as long as the file is open.
pub(crate) fn lock(folder: &Path, writers: Writers) -> Result<File> {
    let path = folder.join(LOCK);
    let failed = |source| StudyError::File {
        action: "lock",
        path: path.clone(),
        source,
    };
    let sharing = match writers {
        Writers::Several => Sharing::Shared,
        Writers::One => Sharing::Alone,
    };
    let locked = lock_file(&path, sharing).map_err(failed)?;
    locked.ok_or_else(|| StudyError::InUse {
        folder: folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// What a merge that failed does to the file of its lock: whoever opened it before must not take it for one that still counts.
    #[test]
    fn a_lock_that_was_removed_and_made_again_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let held = match lock(folder.path(), Writers::One) {
                            Err(StudyError::InUse { .. }) => continue,
                            held => held.unwrap(),
                        };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        holders.fetch_sub(1, Ordering::SeqCst);
                        fs::remove_file(folder.path().join(LOCK)).unwrap();
                        drop(held);
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }

    #[test]
    fn a_lock_is_that_of_the_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK);
        let old = lock(folder.path(), Writers::One).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        let new = lock(folder.path(), Writers::Several).unwrap();
        drop(old);
        assert!(matches!(
            lock(folder.path(), Writers::One),
            Err(StudyError::InUse { .. })
        ));
        drop(new);
        lock(folder.path(), Writers::One).unwrap();
        // A file of the user's is no lock.
        fs::write(&path, "mine").unwrap();
        assert!(matches!(
            lock(folder.path(), Writers::One),
            Err(StudyError::File { .. })
        ));
    }
}
