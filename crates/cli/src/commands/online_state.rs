//! What the online band of `predict` has learnt, between calls.

use std::path::Path;

use intervalid_data::{Dataset, Part, Segment};
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

/// A piece of a recording, known again by the samples up to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    /// Where it starts.
    #[serde(default, skip_serializing_if = "is_zero")]
    start: usize,
    /// Where it ended, as far as that is settled.
    samples: usize,
    hash: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(start: &usize) -> bool {
    *start == 0
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

    /// The bands with what was learnt before, which then holds these recordings too. The same recordings again, grown or with others after them, start
    /// from what was known before them: a call that is repeated gives the same.
    pub(super) fn follow(
        self,
        model: &Model,
        (dataset, part): (&Dataset, &Part),
        bands: &[Band],
    ) -> Result<Vec<Band>, Failure> {
        let before = self
            .content
            .and_then(|content| match is_again(dataset, part, &content.recordings) {
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
            recordings: recordings(dataset, part),
        })?;
        Ok(bands)
    }
}

fn recordings(dataset: &Dataset, part: &Part) -> Vec<Recording> {
    let of = |segment: &Segment| {
        // The last sample may be half a number still, and rows to come change those that they are made into.
        let is_end = segment.end == dataset.experiments()[segment.experiment].len();
        let unsettled = if is_end { dataset.unsettled() + 1 } else { 0 };
        let samples = match segment.end.saturating_sub(unsettled) {
            settled if settled > segment.start => settled,
            _ => segment.end,
        };
        Recording {
            start: segment.start,
            samples,
            hash: start_hash(dataset, segment.experiment, samples).unwrap_or_default(),
        }
    };
    part.segments().iter().map(of).collect()
}

/// Whether these pieces are the known ones again, in their order: some may have grown, and others may have come, as after a gap.
fn is_again(dataset: &Dataset, part: &Part, known: &[Recording]) -> bool {
    let starts = |segment: &Segment, recording: &Recording| {
        segment.start == recording.start
            && segment.end >= recording.samples
            && start_hash(dataset, segment.experiment, recording.samples).as_ref() == Some(&recording.hash)
    };
    let mut segments = part.segments().iter();
    known
        .iter()
        .all(|recording| segments.any(|segment| starts(segment, recording)))
}

fn start_hash(dataset: &Dataset, experiment: usize, samples: usize) -> Option<String> {
    start_hashes(dataset, experiment, &[samples]).pop().flatten()
}
