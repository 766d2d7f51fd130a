//! What `monitor` remembers between calls.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_data::Dataset;
use intervalid_files::LockedFile;
use intervalid_model::{Model, Monitor, MonitorConfig, MonitorState};
use intervalid_workflow::start_hashes;
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::write::OutFile;

/// Grows with every change that an older reader would get wrong.
const FORMAT: u64 = 1;
/// No state of ours is larger.
const MOST_BYTES: u64 = 64 << 20;
/// Recordings that are remembered; the oldest are forgotten.
const MOST_RECORDINGS: usize = 1000;

const OTHER_FILE: &str = "name another file with --state, or remove this one to start anew";

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

struct StateFile {
    path: PathBuf,
    out: OutFile,
    /// Two calls must not count at once: one of them would be forgotten.
    _lock: LockedFile,
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
        if path.exists() {
            memory.read(path)?;
        }
        memory.file = Some(StateFile {
            path: path.to_owned(),
            out,
            _lock: lock,
        });
        Ok(memory)
    }

    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        let refused = |error: anyhow::Error| Failure::input(error).with_hint(OTHER_FILE);
        let label = || format!("--state {}", path.display());
        let bytes = fs::metadata(path).map(|metadata| metadata.len());
        let bytes = bytes
            .with_context(|| format!("{}: cannot be read", label()))
            .map_err(refused)?;
        if bytes > MOST_BYTES {
            return Err(refused(anyhow!(
                "{}: {bytes} bytes, expected a state of a monitor, which has fewer than {MOST_BYTES}",
                label()
            )));
        }
        let text = fs::read_to_string(path)
            .with_context(|| format!("{}: cannot be read", label()))
            .map_err(refused)?;
        let content: Content = serde_json::from_str(&text)
            .with_context(|| format!("{}: not the state of a monitor", label()))
            .map_err(refused)?;
        if content.intervalid_monitor != FORMAT {
            return Err(refused(anyhow!(
                "{}: format {}, this version reads format {FORMAT}",
                label(),
                content.intervalid_monitor
            )));
        }
        self.monitor
            .restore(content.monitor)
            .map_err(|error| refused(anyhow::Error::new(error).context(label())))?;
        self.recordings = content.recordings;
        Ok(())
    }

    /// Samples at the start of an experiment that were counted before.
    pub(super) fn counted(&self, dataset: &Dataset, experiment: usize) -> usize {
        let lengths: Vec<usize> = self.recordings.iter().map(|recording| recording.samples).collect();
        let found = start_hashes(dataset, experiment, &lengths);
        let known = self.recordings.iter().zip(found);
        let known = known.filter(|(recording, found)| found.as_ref() == Some(&recording.hash));
        known.map(|(recording, _)| recording.samples).max().unwrap_or(0)
    }

    /// Notes that an experiment has been counted to its end, `before` samples of it earlier.
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
        let over = self.recordings.len().saturating_sub(MOST_RECORDINGS);
        self.recordings.drain(..over);
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
        file.out.write((serde_json::to_string(&content)? + "\n").as_bytes())
    }

    /// Where the state is kept.
    pub(super) fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }
}
