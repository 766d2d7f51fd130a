use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{FolderError, Result};
use crate::read::{Links, open_file, read_file};

/// The list of files that were written together, in their folder.
pub const MANIFEST: &str = "manifest.json";

/// Grows with every change of the file's content.
const FORMAT: u32 = 1;
/// A list of a hundred files has a tenth of it; what is larger is no list of ours.
const MOST_BYTES: u64 = 1 << 20;

/// Which files were written together, and their content's hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    files: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    bytes: u64,
    sha256: String,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            format: FORMAT,
            files: BTreeMap::new(),
        }
    }
}

impl Manifest {
    /// That of a folder; none if it has none, as folders of version 0.1.0.
    ///
    /// # Errors
    /// If it cannot be read or is no such list.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let text = match read_file(&path, Links::Followed, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(FolderError::unreadable(&path))?,
        };
        let damaged = |reason| FolderError::Damaged {
            path: path.clone(),
            reason,
        };
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if manifest.format > FORMAT {
            return Err(damaged(format!(
                "format {}, expected at most {FORMAT}",
                manifest.format
            )));
        }
        // It decides which files are looked at: only those of its own folder.
        match manifest.files.keys().find(|name| !is_plain(name)) {
            Some(name) => Err(damaged(format!("{name:?} is not the name of a file in this folder"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Names of the files, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether the file of that name in `folder` is the one that was written. A file that is not listed is not.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn holds(&self, folder: &Path, name: &str) -> io::Result<bool> {
        let Some(entry) = self.files.get(name) else {
            return Ok(false);
        };
        let path = folder.join(name);
        let found = fs::metadata(&path)?;
        // The size first: it spares reading most files that differ.
        Ok(found.is_file() && found.len() == entry.bytes && sha256(&path, entry.bytes)? == entry.sha256)
    }

    /// The first of `names` in `folder` that is not the one that was written. Files that somebody removed are not missed.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn first_changed<'n>(&self, folder: &Path, names: &[&'n str]) -> Result<Option<&'n str>> {
        for &name in names.iter().filter(|name| folder.join(name).exists()) {
            match self.holds(folder, name) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(name)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(FolderError::io("read", folder.join(name))(error)),
            }
        }
        Ok(None)
    }

    pub(crate) fn insert(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let bytes = fs::metadata(path)?.len();
        let sha256 = sha256(path, bytes)?;
        self.files.insert(name.to_owned(), Entry { bytes, sha256 });
        Ok(())
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.files.remove(name);
    }

    pub(crate) fn to_text(&self) -> io::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// Whether it names a file in a folder, and nothing outside of it.
pub(crate) fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', ':', '\0'])
}

/// The hash of a file of so many bytes; of a longer one, some other.
fn sha256(path: &Path, bytes: u64) -> io::Result<String> {
    let mut file = open_file(path, Links::Followed)?.take(bytes.saturating_add(1));
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_content_is_noticed_and_a_removed_file_is_not_missed() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::default();
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), name).unwrap();
            manifest.insert(name, &folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join(MANIFEST), manifest.to_text().unwrap()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), Some(manifest.clone()));
        assert_eq!(manifest.first_changed(folder.path(), &["a", "b"]).unwrap(), None);
        fs::remove_file(folder.path().join("a")).unwrap();
        assert_eq!(manifest.first_changed(folder.path(), &["a", "b"]).unwrap(), None);
        fs::write(folder.path().join("b"), "c").unwrap();
        assert_eq!(manifest.first_changed(folder.path(), &["a", "b"]).unwrap(), Some("b"));
    }

    #[cfg(unix)]
    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no programs")]
    fn a_pipe_in_place_of_a_list_or_a_file_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let mut make = std::process::Command::new("mkfifo");
            assert!(make.arg(folder.path().join(name)).status().unwrap().success());
        };
        pipe(MANIFEST);
        let error = Manifest::read(folder.path()).unwrap_err();
        assert!(
            matches!(&error, FolderError::Damaged { reason, .. } if reason.contains("a pipe")),
            "{error}"
        );
        fs::remove_file(folder.path().join(MANIFEST)).unwrap();
        let empty = folder.path().join("a");
        fs::write(&empty, "").unwrap();
        let mut manifest = Manifest::default();
        manifest.insert("a", &empty).unwrap();
        fs::remove_file(&empty).unwrap();
        pipe("a");
        assert_eq!(manifest.first_changed(folder.path(), &["a"]).unwrap(), Some("a"));
        // What a link of the user's leads to is read.
        fs::remove_file(&empty).unwrap();
        fs::write(folder.path().join("b"), "").unwrap();
        std::os::unix::fs::symlink("b", &empty).unwrap();
        assert_eq!(manifest.first_changed(folder.path(), &["a"]).unwrap(), None);
    }

    #[test]
    fn a_list_that_is_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MANIFEST), vec![b' '; MOST_BYTES as usize + 1]).unwrap();
        let error = Manifest::read(folder.path()).unwrap_err();
        assert!(
            matches!(&error, FolderError::Damaged { reason, .. } if reason.contains("too long")),
            "{error}"
        );
    }

    #[test]
    fn lists_that_reach_elsewhere_or_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let entry = r#"{"bytes": 0, "sha256": ""}"#;
        for text in [
            String::new(),
            "[]".to_owned(),
            r#"{"format": 2, "files": {}}"#.to_owned(),
            format!(r#"{{"format": 1, "files": {{"../secret": {entry}}}}}"#),
            format!(r#"{{"format": 1, "files": {{"/etc/passwd": {entry}}}}}"#),
            format!(r#"{{"format": 1, "files": {{"..": {entry}}}}}"#),
        ] {
            fs::write(folder.path().join(MANIFEST), &text).unwrap();
            assert!(
                matches!(Manifest::read(folder.path()), Err(FolderError::Damaged { .. })),
                "{text}"
            );
        }
    }
}
