//! Claims: which runs of a study some process is computing now.
//!
//! A claim is a file in `claims/` that its holder keeps locked, so that claims of the dead are free. Where drivers on several
//! machines share a folder, the file system must pass locks on, which SQLite needs from it as well.

use std::fs;
use std::path::Path;

use intervalid_files::LockedFile;

use crate::error::{Result, StudyError};

const FOLDER: &str = "claims";
/// Of a key's 64 digits; two runs of one study never share as many.
const DIGITS: usize = 32;

/// A run that this process computes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    _file: LockedFile,
}

impl Claim {
    /// Claims a run of the study in `study`; none if somebody else has it.
    pub(crate) fn take(study: &Path, key: &str) -> Result<Option<Self>> {
        let path = study.join(FOLDER).join(&key[..DIGITS.min(key.len())]);
        match LockedFile::take(&path) {
            Ok(file) => Ok(file.map(|file| Self { _file: file })),
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
            // A folder of this name may be the user's, and so may what is in it.
            if !entry.file_name().to_str().is_some_and(is_claim) {
                continue;
            }
            // Removed when let go of. Whatever cannot be removed does no harm: it can be claimed.
            drop(LockedFile::take(entry.path()));
        }
        // Stays while it is not empty.
        let _ = fs::remove_dir(folder);
    }
}

/// Whether a claim may have this name.
fn is_claim(name: &str) -> bool {
    name.len() == DIGITS && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
    fn files_of_others_in_a_folder_of_this_name_stay() {
        let folder = tempfile::tempdir().unwrap();
        let claims = folder.path().join(FOLDER);
        fs::create_dir(&claims).unwrap();
        let stale = "0123456789abcdef".repeat(2);
        let (full, upper, long) = ("f".repeat(DIGITS), "F".repeat(DIGITS), "0".repeat(DIGITS + 1));
        let others = ["policy.txt", ".gitkeep", &full, &upper, &long];
        for name in others {
            let content = if name == "policy.txt" || name == full {
                "precious"
            } else {
                ""
            };
            fs::write(claims.join(name), content).unwrap();
        }
        fs::write(claims.join(&stale), "").unwrap();
        Claim::sweep(folder.path());
        assert!(!claims.join(&stale).exists());
        for name in others {
            assert!(claims.join(name).exists(), "{name}");
        }
        assert_eq!(fs::read_to_string(claims.join("policy.txt")).unwrap(), "precious");
    }
}
