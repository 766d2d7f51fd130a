//! What the online band of `predict` has learnt, between calls.

use std::path::Path;

use intervalid_data::Dataset;
use intervalid_model::{Band, Model, OnlineMemory};
use intervalid_workflow::start_hashes;
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::state::StateFile;

/// Grows with every change that an older reader would get wrong.
const FORMAT: u64 = 1;

/// The file's content.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    intervalid_online: u64,
    /// Before the recordings that were seen last, so that seeing them again starts from there.
    before: Option<OnlineMemory>,
    after: OnlineMemory,
    recordings: Vec<Recording>,
}

/// A recording, known again by its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    samples: usize,
    hash: String,
}

/// The file, and what it held.
pub(super) struct OnlineState {
    file: StateFile,
    content: Option<Content>,
}

impl OnlineState {
    /// Opens the file that a user named.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let (file, content) = StateFile::open::<Content>(path, "the state of an online band")?;
        if let Some(content) = &content {
            file.check_format(content.intervalid_online, FORMAT)?;
        }
        Ok(Self { file, content })
    }

    /// The bands with what was learnt before, which then holds these recordings too. The same recordings again, or grown ones, start from what was
    /// known before them: a call that is repeated gives the same.
    pub(super) fn follow(self, model: &Model, dataset: &Dataset, bands: &[Band]) -> Result<Vec<Band>, Failure> {
        let before = self
            .content
            .and_then(|content| match is_again(dataset, &content.recordings) {
                true => content.before,
                false => Some(content.after),
            });
        let found = model.online_after(before.as_ref(), dataset, bands);
        let (bands, after) = found.map_err(|error| match error {
            intervalid_model::ModelError::State(_) => self.file.refused(error),
            error => error.into(),
        })?;
        self.file.write(&Content {
            intervalid_online: FORMAT,
            before,
            after,
            recordings: recordings(dataset),
        })?;
        Ok(bands)
    }
}

fn recordings(dataset: &Dataset) -> Vec<Recording> {
    let of = |(index, samples): (usize, usize)| Recording {
        samples,
        hash: start_hashes(dataset, index, &[samples])
            .pop()
            .flatten()
            .unwrap_or_default(),
    };
    dataset
        .experiments()
        .iter()
        .map(|experiment| experiment.len())
        .enumerate()
        .map(of)
        .collect()
}

/// Whether every experiment starts with a known one.
fn is_again(dataset: &Dataset, known: &[Recording]) -> bool {
    let starts = |(index, recording): (usize, &Recording)| {
        start_hashes(dataset, index, &[recording.samples])
            .pop()
            .flatten()
            .as_ref()
            == Some(&recording.hash)
    };
    dataset.experiments().len() == known.len() && known.iter().enumerate().all(starts)
}
