//! How far a study in a folder is.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::record::RunState;
use crate::store::Store;
use crate::study_model::StudyModel;

/// Runs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    /// All of them.
    pub total: usize,
    /// Finished.
    pub done: usize,
    /// Failed.
    pub failed: usize,
    /// Neither yet, or without data.
    pub left: usize,
}

/// Runs of one data set and model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupStatus {
    /// Data set.
    pub dataset: String,
    /// Model, or the search.
    pub model: StudyModel,
    /// Its runs.
    pub runs: RunCounts,
}

/// A failed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedRun {
    /// The run in words.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// Progress of the study in a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyStatus {
    /// Title.
    pub name: String,
    /// All runs.
    pub runs: RunCounts,
    /// Runs by data set and model, in the study's order.
    pub groups: Vec<GroupStatus>,
    /// Failed runs.
    pub failures: Vec<FailedRun>,
    /// Training time of all finished runs.
    pub train_seconds: f64,
    /// When the study was begun, UTC.
    pub created: String,
    /// When the last run was recorded, UTC.
    pub last_finished: Option<String>,
    /// Versions of the program that ran it, sorted.
    pub versions: Vec<String>,
    /// SHA-256 of the study.
    pub spec_hash: String,
}

impl RunCounts {
    fn add(&mut self, state: Option<&RunState>) {
        self.total += 1;
        *match state {
            Some(RunState::Done(_)) => &mut self.done,
            Some(RunState::Failed { .. }) => &mut self.failed,
            None => &mut self.left,
        } += 1;
    }
}

/// Reads the progress of the study in `folder`, also while it runs.
///
/// # Errors
/// If the folder holds no study, or its database is damaged.
pub fn status(folder: impl AsRef<Path>) -> Result<StudyStatus> {
    let store = Store::open(folder)?;
    let spec = store.spec()?;
    let records = store.runs()?;
    let by_cell: HashMap<String, &RunState> = records
        .iter()
        .map(|record| (record.cell.to_string(), &record.state))
        .collect();

    let mut runs = RunCounts::default();
    let mut groups: Vec<GroupStatus> = Vec::new();
    for cell in spec.cells() {
        let state = by_cell.get(&cell.to_string()).copied();
        runs.add(state);
        let known = groups
            .iter_mut()
            .find(|group| group.dataset == cell.dataset && group.model == cell.model);
        match known {
            Some(group) => group.runs.add(state),
            None => {
                let mut counts = RunCounts::default();
                counts.add(state);
                groups.push(GroupStatus {
                    dataset: cell.dataset,
                    model: cell.model,
                    runs: counts,
                });
            }
        }
    }
    let mut versions: Vec<String> = records.iter().map(|record| record.version.clone()).collect();
    versions.sort_unstable();
    versions.dedup();
    let failures = records.iter().filter_map(|record| match &record.state {
        RunState::Failed { reason } => Some(FailedRun {
            run: record.cell.to_string(),
            reason: reason.clone(),
        }),
        RunState::Done(_) => None,
    });
    Ok(StudyStatus {
        name: spec.name,
        runs,
        groups,
        failures: failures.collect(),
        train_seconds: records
            .iter()
            .filter_map(|record| record.result())
            .map(|result| result.train_seconds)
            .sum(),
        created: store.meta("created")?,
        last_finished: records.iter().map(|record| record.finished_at.clone()).max(),
        versions,
        spec_hash: store.meta("spec_hash")?,
    })
}
