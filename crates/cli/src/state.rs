//! Files that remember something between calls.

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
        if !matches!(out, OutFile::File { .. }) {
            return Err(Failure::input(anyhow!(
                "--state {}: this is a device, expected a file",
                path.display()
            )));
        }
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = LockedFile::take(PathBuf::from(lock))
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
        self.out.write((serde_json::to_string(content)? + "\n").as_bytes())
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
