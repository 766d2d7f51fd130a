//! What `monitor` remembers between calls.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use intervalid_data::Dataset;
use intervalid_model::{Model, Monitor, MonitorConfig, MonitorState};
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
    intervalid_monitor: u64,
    monitor: MonitorState,
    recordings: Vec<Recording>,
}

/// A recording that was counted, known again by its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    name: String,
    samples: usize,
    hash: String,
}

/// A monitor, what it has counted, and the file that remembers both.
pub(super) struct Memory {
    pub(super) monitor: Monitor,
    recordings: Vec<Recording>,
    file: Option<StateFile>,
}

impl Memory {
    /// A monitor as the file remembers it, or a new one.
    pub(super) fn open(path: Option<&Path>, model: &Model, config: MonitorConfig) -> Result<Self, Failure> {
        let mut memory = Self {
            monitor: Monitor::new(model, config)?,
            recordings: Vec::new(),
            file: None,
        };
        let Some(path) = path else {
            return Ok(memory);
        };
        let (file, content) = StateFile::open::<Content>(path, "the state of a monitor")?;
        if let Some(content) = content {
            file.check_format(content.intervalid_monitor, FORMAT)?;
            let restored = memory.monitor.restore(content.monitor);
            restored.map_err(|error| file.refused(error))?;
            memory.recordings = content.recordings;
        }
        memory.file = Some(file);
        Ok(memory)
    }

    /// Samples at the start of an experiment that were counted before.
    pub(super) fn counted(&self, dataset: &Dataset, experiment: usize) -> usize {
        // Many recordings have few lengths.
        let lengths: BTreeSet<usize> = self.recordings.iter().map(|recording| recording.samples).collect();
        let lengths: Vec<usize> = lengths.into_iter().collect();
        let found = start_hashes(dataset, experiment, &lengths);
        let found: HashMap<usize, String> = lengths
            .into_iter()
            .zip(found)
            .filter_map(|(length, hash)| Some((length, hash?)))
            .collect();
        let known = self.recordings.iter();
        let known = known.filter(|recording| found.get(&recording.samples) == Some(&recording.hash));
        known.map(|recording| recording.samples).max().unwrap_or(0)
    }

    /// Notes that an experiment has been counted to its end, `before` samples of it earlier. None is forgotten: it would be counted again
    /// when it comes again. How long the list may grow, [`StateFile`] decides.
    pub(super) fn note(&mut self, dataset: &Dataset, experiment: usize, before: usize) {
        let samples = dataset.experiments()[experiment].len();
        if samples == before {
            return;
        }
        let [known, whole] =
            [before, samples].map(|length| start_hashes(dataset, experiment, &[length]).pop().flatten());
        // What has grown replaces what it was.
        self.recordings
            .retain(|recording| recording.samples != before || Some(&recording.hash) != known.as_ref());
        self.recordings.push(Recording {
            name: dataset.experiments()[experiment].name().to_owned(),
            samples,
            hash: whole.unwrap_or_default(),
        });
    }

    /// Writes the file, in one step.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let content = Content {
            intervalid_monitor: FORMAT,
            monitor: self.monitor.state().clone(),
            recordings: self.recordings.clone(),
        };
        file.write(&content)
    }

    /// Where the state is kept.
    pub(super) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(StateFile::path)
    }
}
