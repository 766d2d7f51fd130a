//! The folder of a fit: owned by one process while it works, its files replaced together.

use std::path::Path;

use anyhow::anyhow;
use intervalid_files::{OwnedFolder, Staged};
use intervalid_report::folder::{FILES, METRICS, write_fit};
use serde_json::Value;

use crate::error::Failure;
use crate::write::{ANOTHER_FOLDER, OutFolder};

/// A folder that a fit may write. Dropped without results, it leaves no folders that were made for them.
#[derive(Debug)]
pub(crate) struct FitFolder {
    /// None only while dropping.
    owned: Option<OwnedFolder>,
    out: OutFolder,
}

impl FitFolder {
    /// Makes the folder if need be and takes it; with `force`, files that no fit wrote may be replaced.
    pub(crate) fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        let out = OutFolder::open(path, &FILES)?;
        let owned = OwnedFolder::take(path).inspect_err(|_| out.abandon())?;
        let folder = Self {
            owned: Some(owned),
            out,
        };
        if !force {
            folder.refuse_foreign()?;
        }
        Ok(folder)
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        self.out.path()
    }

    /// Writes everything at once.
    pub(super) fn write(&self, files: &[(&'static str, Vec<u8>)]) -> Result<(), Failure> {
        Ok(write_fit(self.owned(), files)?)
    }

    /// Where new files are prepared.
    pub(crate) fn stage(&self) -> Result<Staged<'_>, Failure> {
        Ok(self.owned().stage()?)
    }

    fn owned(&self) -> &OwnedFolder {
        self.owned.as_ref().expect("owned until it is dropped")
    }

    /// What somebody else wrote, or edited, is not ours to replace.
    fn refuse_foreign(&self) -> Result<(), Failure> {
        // Version 0.1.0 listed no files; what a fit of it left is known by its numbers.
        if self.owned().manifest()?.is_none() && is_of_a_fit(&self.path().join(METRICS)) {
            return Ok(());
        }
        match self.owned().foreign(&FILES)?.first() {
            None => Ok(()),
            Some(name) => {
                let found = anyhow!(
                    "--out {}: '{name}' in it was not written by a fit, or was changed since, and would be replaced",
                    self.path().display()
                );
                Err(Failure::input(found).with_hint(format!("{ANOTHER_FOLDER}; `fit --force` replaces it")))
            }
        }
    }
}

impl Drop for FitFolder {
    fn drop(&mut self) {
        // The lock goes first: a folder with something in it stays.
        self.owned = None;
        self.out.abandon();
    }
}

/// Whether these are the numbers of a fit or a demo.
fn is_of_a_fit(metrics: &Path) -> bool {
    let text = std::fs::read(metrics).ok();
    let value: Option<Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    value.is_some_and(|value| {
        let has = |key| value.get(key).is_some();
        has("dataset") && has("coverage") && has("out") && (has("train_seconds") || has("models"))
    })
}
