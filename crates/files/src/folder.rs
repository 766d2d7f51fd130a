//! A folder whose files are replaced together.
//!
//! New files are prepared in [`STAGED`], with the new manifest and a plan of what goes where. Renaming that folder to [`SWITCH`]
//! decides: before, a killed process has changed nothing; after, [`finish`] can be done by anybody and any number of times, and
//! everybody does it before reading or writing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{FolderError, Result};
use crate::fault;
use crate::lock::LockedFile;
use crate::manifest::{MANIFEST, Manifest, is_plain};
use crate::read::{Links, open_file, read_file};
use crate::whole::{replace_as, replace_file, sweep, sync_folder};

/// The file in an owned folder that its owner keeps locked; it goes where the folder is moved to.
pub const FOLDER_LOCK: &str = ".intervalid-folder-lock";
const STAGED: &str = ".intervalid-folder-new";
const SWITCH: &str = ".intervalid-folder-switch";
const PLAN: &str = ".plan.json";
/// A plan of a thousand files has a tenth of it; what is larger is none of ours.
const MOST_PLAN_BYTES: u64 = 1 << 20;

/// How often and how long a reader waits for a writer that is in the middle of a switch, which takes milliseconds.
const LOOKS: usize = 100;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What a switch does; the files to put are in its folder.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    put: Vec<String>,
    remove: Vec<String>,
}

/// A folder that this process alone writes results into.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
    _lock: LockedFile,
}

impl OwnedFolder {
    /// Takes the folder, which is made if need be; finishes and cleans up what killed processes have left in it.
    ///
    /// # Errors
    /// If another process has it, or it cannot be written.
    pub fn take(path: &Path) -> Result<Self> {
        let lock = LockedFile::take(path.join(FOLDER_LOCK)).map_err(FolderError::io("written", path))?;
        let lock = lock.ok_or_else(|| FolderError::Locked {
            folder: path.to_owned(),
        })?;
        finish(path)?;
        clear(&path.join(STAGED))?;
        sweep(path);
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// As [`OwnedFolder::take`], but waits for an owner who is done in a moment: for folders that several commands write into.
    ///
    /// # Errors
    /// As [`OwnedFolder::take`].
    pub fn take_in_turn(path: &Path) -> Result<Self> {
        for _ in 0..LOOKS {
            match Self::take(path) {
                Err(FolderError::Locked { .. }) => std::thread::sleep(LOOK_AGAIN),
                taken => return taken,
            }
        }
        Self::take(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was written together here, if it is known.
    ///
    /// # Errors
    /// If the list cannot be read, or a file of its name is another's.
    pub fn manifest(&self) -> Result<Option<Manifest>> {
        Manifest::read(&self.path)
    }

    /// Those of `names` that exist here and were not written by us, or were changed since.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn foreign<'n>(&self, names: &[&'n str]) -> Result<Vec<&'n str>> {
        let manifest = self.manifest()?;
        let mut found = Vec::new();
        for name in names {
            let path = self.path.join(name);
            let is_ours = match &manifest {
                _ if path.symlink_metadata().is_err() => true,
                Some(manifest) => manifest
                    .holds(&self.path, name)
                    .map_err(FolderError::io("read", path))?,
                None => false,
            };
            if !is_ours {
                found.push(*name);
            }
        }
        Ok(found)
    }

    /// Checks that those of `names` that are here were written together. Where the folder is not owned, [`settle`] does.
    ///
    /// # Errors
    /// [`FolderError::Changed`] if they were not.
    pub fn check(&self, names: &[&str]) -> Result<()> {
        let manifest = self.manifest()?;
        let changed = manifest.map(|manifest| {
            let changed = manifest.first_changed(&self.path, names)?;
            Ok(changed.map(str::to_owned))
        });
        match changed.transpose()?.flatten() {
            None => Ok(()),
            Some(file) => Err(FolderError::Changed {
                folder: self.path.clone(),
                file,
            }),
        }
    }

    /// A place to prepare new files in.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn stage(&self) -> Result<Staged<'_>> {
        let path = self.path.join(STAGED);
        fault::point()
            .and_then(|()| fs::create_dir(&path))
            .map_err(FolderError::io("written", &path))?;
        Ok(Staged {
            folder: self,
            path,
            names: Vec::new(),
        })
    }
}

/// New files of a folder, not yet in their places; gone when dropped.
#[derive(Debug)]
pub struct Staged<'a> {
    folder: &'a OwnedFolder,
    path: PathBuf,
    names: Vec<String>,
}

impl Staged<'_> {
    /// Writes a new file.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&mut self, name: &str, content: &[u8]) -> Result<()> {
        debug_assert!(is_plain(name) && name != MANIFEST && name != PLAN, "{name}");
        let target = self.folder.path.join(name);
        replace_as(&self.path.join(name), content, &target).map_err(FolderError::io("written", target))?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Puts all new files into their places, takes `obsolete` ones away, as far as they are not among the new, and lists what
    /// belongs together. Other files stay as they are.
    ///
    /// # Errors
    /// What the operating system says. Nothing has changed then, or the switch is finished by whoever comes next.
    pub fn switch(self, obsolete: &[&str]) -> Result<()> {
        let written = |error| FolderError::io("written", &self.folder.path)(error);
        let plan = self.plan(obsolete);
        let mut manifest = self.folder.manifest()?.unwrap_or_default();
        for name in &plan.remove {
            manifest.remove(name);
        }
        for name in &plan.put {
            manifest.insert(name, &self.path.join(name)).map_err(written)?;
        }
        let listed = manifest.to_text().map_err(written)?;
        replace_file(&self.path.join(MANIFEST), listed.as_bytes()).map_err(written)?;
        self.decide(&plan)
    }

    /// As [`Staged::switch`], for files in a folder of the user's: nothing is taken away, and no list is kept.
    ///
    /// # Errors
    /// As [`Staged::switch`].
    pub fn switch_unlisted(self) -> Result<()> {
        let plan = self.plan(&[]);
        self.decide(&plan)
    }

    fn plan(&self, obsolete: &[&str]) -> Plan {
        let is_new = |name: &&&str| self.names.iter().any(|new| new == **name);
        Plan {
            put: self.names.clone(),
            remove: obsolete
                .iter()
                .filter(|name| !is_new(name))
                .map(ToString::to_string)
                .collect(),
        }
    }

    fn decide(&self, plan: &Plan) -> Result<()> {
        let written = |error| FolderError::io("written", &self.folder.path)(error);
        let planned = serde_json::to_vec(plan).map_err(|error| written(error.into()))?;
        replace_file(&self.path.join(PLAN), &planned).map_err(written)?;
        fault::point()
            .and_then(|()| fs::rename(&self.path, self.folder.path.join(SWITCH)))
            .map_err(written)?;
        sync_folder(&self.folder.path);
        // Once more if something came in between: a switch that is decided had better not wait for the next command.
        finish(&self.folder.path).or_else(|_| finish(&self.folder.path))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // Not there after a switch; otherwise the next owner clears it at the latest.
        let _ = clear(&self.path);
    }
}

/// Makes a folder ready for reading: finishes the switch of a killed process, waits for one under way, and checks that those of
/// `names` in it were written together.
///
/// # Errors
/// [`FolderError::Changed`] if they were not; otherwise what keeps a switch from being finished.
pub fn settle(folder: &Path, names: &[&str]) -> Result<()> {
    let mut looks = 0;
    loop {
        let mut is_busy = false;
        if folder.join(SWITCH).exists() {
            match OwnedFolder::take(folder) {
                Err(FolderError::Locked { .. }) => is_busy = true,
                taken => drop(taken?),
            }
        }
        let manifest = Manifest::read(folder)?;
        let found = match &manifest {
            Some(manifest) => manifest.first_changed(folder, names)?.map(str::to_owned),
            None => None,
        };
        // Somebody may have switched the files between our look at the list and at the file, and be done with it: then the list is another.
        let is_outdated = found.is_some() && Manifest::read(folder)? != manifest;
        match found {
            None if !is_busy => return Ok(()),
            _ if looks < LOOKS && (is_busy || is_outdated || is_owned(folder)) => std::thread::sleep(LOOK_AGAIN),
            None => {
                return Err(FolderError::Locked {
                    folder: folder.to_owned(),
                });
            }
            Some(file) => {
                return Err(FolderError::Changed {
                    folder: folder.to_owned(),
                    file,
                });
            }
        }
        looks += 1;
    }
}

/// Whether some process writes into it now.
fn is_owned(folder: &Path) -> bool {
    open_file(&folder.join(FOLDER_LOCK), Links::Refused).is_ok_and(|file| file.try_lock().is_err())
}

/// Does what is left to do of a switch that was decided. Its caller owns the folder.
fn finish(folder: &Path) -> Result<()> {
    let switch = folder.join(SWITCH);
    if switch.is_symlink() {
        return Err(FolderError::Damaged {
            path: switch,
            reason: "it is a link, expected a folder of ours".to_owned(),
        });
    }
    let path = switch.join(PLAN);
    let text = match read_file(&path, Links::Refused, MOST_PLAN_BYTES) {
        // Nothing to do, or all is done but for the empty folder.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return clear(&switch),
        text => text.map_err(FolderError::unreadable(&path))?,
    };
    let damaged = |reason| FolderError::Damaged {
        path: path.clone(),
        reason,
    };
    let plan: Plan = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    // Names come from a file that anybody may have put there.
    if let Some(name) = plan.put.iter().chain(&plan.remove).find(|name| !is_plain(name)) {
        return Err(damaged(format!("{name:?} is not the name of a file in this folder")));
    }
    // The manifest comes last: until then it does not fit, and a reader knows.
    for name in plan.put.iter().map(String::as_str).chain([MANIFEST]) {
        let target = folder.join(name);
        if name == MANIFEST {
            for name in &plan.remove {
                absent(fault::point().and_then(|()| fs::remove_file(folder.join(name))))
                    .map_err(FolderError::io("removed", folder.join(name)))?;
            }
        }
        absent(fault::point().and_then(|()| fs::rename(switch.join(name), &target)))
            .map_err(FolderError::io("written", target))?;
    }
    sync_folder(folder);
    absent(fault::point().and_then(|()| fs::remove_file(&path))).map_err(FolderError::io("removed", &path))?;
    clear(&switch)
}

/// What is not there was moved or removed before.
fn absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn clear(folder: &Path) -> Result<()> {
    absent(fs::remove_dir_all(folder)).map_err(FolderError::io("removed", folder))
}

#[cfg(test)]
mod tests;
