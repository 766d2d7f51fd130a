//! Databases of shards become one.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::lock::Writers;
use crate::output::check_version;
use crate::put::{Put, put_in};
use crate::rows::read_output;
use crate::spec::Spec;
use crate::status::{RunCounts, status};
use crate::store::{Store, initialise};

/// What a merge did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergeSummary {
    /// Title of the study.
    pub study: String,
    /// Shards that were read.
    pub shards: usize,
    /// Runs that were added, or took the place of a failure.
    pub added: usize,
    /// Runs that were there already.
    pub known: usize,
    /// All runs of the study, as they are now.
    pub runs: RunCounts,
}

/// Puts the runs of `shards` into the study in `folder`, which is made if there is none. All of them or, if anything is
/// wrong, nothing; the same shard again changes nothing.
///
/// # Errors
/// If a shard is of another study (more seeds are no other study) or of another version of the program, if two shards have
/// different results of one run, or if a database cannot be read or written.
pub fn merge_studies(folder: impl AsRef<Path>, shards: &[impl AsRef<Path>]) -> Result<MergeSummary> {
    let folder = folder.as_ref();
    if shards.is_empty() {
        return Err(StudyError::value("shards", "[]", "at least one folder"));
    }
    let stores = open_shards(folder, shards)?;
    let spec = widest(folder, &stores)?;
    let had_folder = folder.exists();
    let merged = merge_into(folder, &spec, &stores);
    if merged.is_err() && !had_folder {
        // Stays where there is something in it.
        let _ = fs::remove_dir(folder);
    }
    let (added, known) = merged?;
    Ok(MergeSummary {
        study: spec.name,
        shards: stores.len(),
        added,
        known,
        runs: status(folder)?.runs,
    })
}

/// A shard and where it is.
struct Opened {
    folder: PathBuf,
    store: Store,
    spec: Spec,
}

fn open_shards(folder: &Path, shards: &[impl AsRef<Path>]) -> Result<Vec<Opened>> {
    let target = folder.canonicalize().ok();
    let open = |shard: &Path| {
        let refused = |reason: &str| StudyError::Merge {
            shard: shard.to_owned(),
            folder: folder.to_owned(),
            reason: reason.to_owned(),
        };
        let store = Store::open(shard)?;
        if target.is_some() && shard.canonicalize().ok() == target {
            return Err(refused(
                "they are the same folder; name the folders of the other shards",
            ));
        }
        check_version(&store.path().display().to_string(), &store.meta("version")?)?;
        let spec = store.spec()?;
        Ok(Opened {
            folder: shard.to_owned(),
            store,
            spec,
        })
    };
    shards.iter().map(|shard| open(shard.as_ref())).collect()
}

/// The study of all shards: the one with most seeds, if they differ in nothing else.
fn widest(folder: &Path, shards: &[Opened]) -> Result<Spec> {
    let mut specs: Vec<(&Path, Spec)> = shards.iter().map(|it| (it.folder.as_path(), it.spec.clone())).collect();
    match Store::open(folder) {
        Ok(store) => {
            check_version(&store.path().display().to_string(), &store.meta("version")?)?;
            specs.push((folder, store.spec()?));
        }
        Err(StudyError::NoStudy { .. }) => {}
        Err(error) => return Err(error),
    }
    let most = specs.iter().max_by_key(|(_, spec)| spec.seeds.len());
    let (_, widest) = most.expect("there is at least one shard").clone();
    match specs.iter().find(|(_, spec)| !spec.continues_as(&widest)) {
        None => Ok(widest),
        Some((odd, spec)) => Err(StudyError::Merge {
            shard: odd.to_path_buf(),
            folder: folder.to_owned(),
            reason: format!(
                "its study '{}' has other contents than '{}' of the others (only seeds may differ)",
                spec.name, widest.name
            ),
        }),
    }
}

fn merge_into(folder: &Path, spec: &Spec, shards: &[Opened]) -> Result<(usize, usize)> {
    let mut target = Store::connect(folder, spec, Writers::One)?;
    let merged = put_all(&mut target, folder, spec, shards);
    match &merged {
        Ok(_) => target.close()?,
        // Nothing was written: nothing is left behind.
        Err(_) => target.remove_if_empty(),
    }
    merged
}

/// All runs of `shards` into `target`, in one transaction.
fn put_all(target: &mut Store, folder: &Path, spec: &Spec, shards: &[Opened]) -> Result<(usize, usize)> {
    target.check_continues(folder, spec)?;
    target.check_versions()?;
    let created: Vec<String> = shards
        .iter()
        .map(|shard| shard.store.meta("created"))
        .collect::<Result<_>>()?;
    let path = target.path().to_owned();
    target.transaction(|transaction| {
        initialise(transaction, spec, created.iter().min().map(String::as_str))?;
        let (mut added, mut known) = (0, 0);
        for shard in shards {
            let mut keys: Vec<String> = shard.store.states()?.into_keys().collect();
            keys.sort_unstable();
            for key in keys {
                let Some(output) = shard.store.with(|connection| read_output(connection, &key))? else {
                    continue;
                };
                // What wrote to a database last may have kept runs of others.
                let origin = shard.store.path().display();
                check_version(&format!("the result of '{}' in {origin}", output.cell), &output.version)?;
                let conflict = |difference| StudyError::Conflict {
                    path: path.clone(),
                    run: output.cell.to_string(),
                    difference,
                    origin: origin.to_string(),
                };
                match put_in(transaction, &output, conflict)? {
                    Put::Stored => added += 1,
                    Put::AlreadyThere => known += 1,
                }
            }
        }
        Ok((added, known))
    })
}
