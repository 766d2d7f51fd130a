//! The folder of a fit: owned by one process while it works, its files replaced together.

use std::path::Path;

use anyhow::anyhow;
use intervalid_files::{Links, OwnedFolder, Staged, read_file};
use intervalid_report::folder::{FILES, METRICS, write_fit};
use serde_json::Value;

use crate::error::Failure;
use crate::write::{ANOTHER_FOLDER, OutFolder};

/// Numbers of a fit have a thousandth of it.
const MOST_METRICS_BYTES: u64 = 64 << 20;

/// A folder that a fit may write. Dropped without results, it leaves no folders that were made for them.
#[derive(Debug)]
pub(crate) struct FitFolder {
    /// None only while dropping.
    owned: Option<OwnedFolder>,
    out: OutFolder,
    /// Whether files that no fit wrote may be replaced.
    force: bool,
}

impl FitFolder {
    /// Makes the folder if need be and takes it; with `force`, files that no fit wrote may be replaced.
    pub(crate) fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        let out = OutFolder::open(path, &FILES)?;
        let owned = OwnedFolder::take(path).inspect_err(|_| out.abandon())?;
        let folder = Self {
            owned: Some(owned),
            out,
            force,
        };
        folder.refuse_foreign(&format!("{ANOTHER_FOLDER}; `fit --force` replaces it"))?;
        Ok(folder)
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        self.out.path()
    }

    /// Writes everything at once. What the user put there or edited while the fit was at work is not replaced.
    pub(super) fn write(&self, files: &[(&'static str, Vec<u8>)]) -> Result<(), Failure> {
        self.refuse_foreign("move it away or give --force, and run the same command again")?;
        Ok(write_fit(self.owned(), files)?)
    }

    /// Where new files are prepared; refuses as [`write`](Self::write) does.
    pub(crate) fn stage(&self) -> Result<Staged<'_>, Failure> {
        self.refuse_foreign("move it away, and run the same command again")?;
        Ok(self.owned().stage()?)
    }

    fn owned(&self) -> &OwnedFolder {
        self.owned.as_ref().expect("owned until it is dropped")
    }

    /// What somebody else wrote, or edited, is not ours to replace; `hint` says what to do about it.
    fn refuse_foreign(&self, hint: &str) -> Result<(), Failure> {
        if self.force {
            return Ok(());
        }
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
                Err(Failure::input(found).with_hint(hint))
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
    // What the user's link leads to is read, but no pipe, which would never end.
    let text = read_file(metrics, Links::Followed, MOST_METRICS_BYTES).ok();
    let value: Option<Value> = text.and_then(|text| serde_json::from_slice(&text).ok());
    value.is_some_and(|value| {
        let has = |key| value.get(key).is_some();
        has("dataset") && has("coverage") && has("out") && (has("train_seconds") || has("models"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use intervalid_report::folder::{CONFIG, REPORT};

    use super::*;

    #[test]
    fn what_the_user_changes_while_a_fit_is_at_work_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = |text: &str| [(METRICS, text.as_bytes().to_vec()), (CONFIG, Vec::new())];
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        FitFolder::open(folder.path(), false)
            .and_then(|fit| fit.write(&files("old")))
            .expect("an empty folder");
        // One file that is edited, and one that was not there before.
        for name in [METRICS, REPORT] {
            let fit = FitFolder::open(folder.path(), false).expect("files of a fit");
            fs::write(folder.path().join(name), "mine").expect("written");
            let failure = fit.write(&files("new")).expect_err("it is the user's now");
            let lines = failure.lines().join("\n");
            assert!(
                lines.contains(&format!("'{name}' in it was not written by a fit")),
                "{lines}"
            );
            assert!(fit.stage().is_err());
            assert_eq!(read(name).as_deref(), Some("mine"));
            assert_eq!(read(CONFIG).as_deref(), Some(""));
            drop(fit);
            FitFolder::open(folder.path(), true)
                .and_then(|fit| fit.write(&files("old")))
                .expect("forced");
            assert_eq!(read(METRICS).as_deref(), Some("old"));
        }
        // A fit that writes twice knows its own files.
        let fit = FitFolder::open(folder.path(), false).expect("files of a fit");
        for text in ["one", "two"] {
            fit.write(&files(text)).expect("its own");
        }
        assert_eq!(read(METRICS).as_deref(), Some("two"));
    }
}
