//! Files that remember something between calls.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_files::LockedFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Failure;
use crate::write::OutFile;

/// No state of ours is larger.
const MOST_BYTES: u64 = 64 << 20;

const OTHER_FILE: &str = "name another file with --state, or remove this one to start anew";

/// The file that a user named with `--state`, locked: of two calls at once, one would be forgotten.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    out: OutFile,
    _lock: LockedFile,
}

impl StateFile {
    /// Locks the file, and reads it if it is there; `what` says what it should be.
    pub(crate) fn open<T: DeserializeOwned>(path: &Path, what: &str) -> Result<(Self, Option<T>), Failure> {
        let out = OutFile::open(path, "--state")?;
        let OutFile::File { folder, name } = &out else {
            return Err(Failure::input(anyhow!(
                "--state {}: this is a device, expected a file",
                path.display()
            )));
        };
        // Beside the file that is written, whatever leads there.
        let lock = LockedFile::take(folder.path().join(lock_name(name)))
            .with_context(|| format!("--state {}: cannot be locked", path.display()))
            .map_err(Failure::input)?;
        let Some(lock) = lock else {
            let found = anyhow!("--state {}: another call is using it", path.display());
            return Err(Failure::input(found).with_hint("wait until it has ended, or name another file"));
        };
        let file = Self {
            path: path.to_owned(),
            out,
            _lock: lock,
        };
        let content = path.exists().then(|| file.read(what)).transpose()?;
        Ok((file, content))
    }

    fn read<T: DeserializeOwned>(&self, what: &str) -> Result<T, Failure> {
        let bytes = fs::metadata(&self.path)
            .map(|metadata| metadata.len())
            .context("cannot be read")
            .map_err(|error| self.refused(error))?;
        if bytes > MOST_BYTES {
            return Err(self.refused(anyhow!(
                "{bytes} bytes, expected {what}, which has fewer than {MOST_BYTES}"
            )));
        }
        let text = fs::read_to_string(&self.path)
            .context("cannot be read")
            .map_err(|error| self.refused(error))?;
        serde_json::from_str(&text)
            .with_context(|| format!("not {what}"))
            .map_err(|error| self.refused(error))
    }

    /// Why what it holds cannot be used.
    pub(crate) fn refused(&self, reason: impl Into<anyhow::Error>) -> Failure {
        let reason = reason.into();
        let message = format!("--state {}: {reason}", self.path.display());
        Failure::input(reason.context(message)).with_hint(OTHER_FILE)
    }

    /// Refuses a format that this version does not read.
    pub(crate) fn check_format(&self, found: u64, expected: u64) -> Result<(), Failure> {
        match found == expected {
            true => Ok(()),
            false => Err(self.refused(anyhow!("format {found}, this version reads format {expected}"))),
        }
    }

    /// Writes the file, in one step.
    pub(crate) fn write(&self, content: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(content)? + "\n";
        // What could not be read again had better not take the place of what can.
        check_length(text.len() as u64, MOST_BYTES).map_err(|error| self.refused(error))?;
        self.out.write(text.as_bytes())
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A name that no user gives to a file. It ends otherwise than those of `intervalid_files`, whatever the state is called.
fn lock_name(state: &OsStr) -> OsString {
    let mut name = OsString::from(".intervalid-");
    name.push(state);
    name.push("-state-lock");
    name
}

fn check_length(bytes: u64, most: u64) -> anyhow::Result<()> {
    match bytes <= most {
        true => Ok(()),
        false => Err(anyhow!(
            "what it has to remember has grown to {bytes} bytes, expected at most {most}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_grows_too_long_is_refused_and_the_old_one_stays() {
        assert!(check_length(MOST_BYTES, MOST_BYTES).is_ok());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let (file, old) = StateFile::open::<String>(&path, "a text").expect("opens");
        assert_eq!(old, None);
        file.write(&"short").expect("written");
        let failure = file.write(&"x".repeat(MOST_BYTES as usize)).expect_err("too long");
        let lines = failure.lines().join("\n");
        assert!(lines.contains("has grown to 67108867 bytes"), "{lines}");
        drop(file);
        let (_file, old) = StateFile::open::<String>(&path, "a text").expect("opens");
        assert_eq!(old.as_deref(), Some("short"));
    }
}
