//! How a monitor is set, and what it remembers.

use serde::{Deserialize, Serialize};

use super::moments::{MOST_SAMPLES, Sample};
use super::output::OutputMonitor;
use crate::error::{ModelError, Result};

/// How a [`Monitor`](super::Monitor) is set.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `false_alarm` | 0.01 | 10⁻⁶ to 0.5 | δ: probability that a model which keeps its promise is ever told to be refitted |
/// | `block` | none | 5 to 100 000 | samples per step of the tests; none: several correlation times of the first residuals |
/// | `horizon` | none | from 1 | samples ahead of the predictions that are watched; none: free runs. It only tells states apart |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MonitorConfig {
    /// δ, for all tests of all outputs together, over the whole life of the monitor.
    pub false_alarm: f64,
    /// Samples per block.
    pub block: Option<usize>,
    /// Samples ahead, for the record.
    pub horizon: Option<usize>,
}

impl Default for MonitorConfig {
    fn default() -> Self {
        Self {
            false_alarm: 0.01,
            block: None,
            horizon: None,
        }
    }
}

impl MonitorConfig {
    pub(super) fn check(&self) -> Result<()> {
        if !(1e-6..=0.5).contains(&self.false_alarm) {
            return Err(ModelError::option(
                "false_alarm",
                self.false_alarm,
                "a probability from 1e-6 to 0.5",
            ));
        }
        if let Some(block) = self.block.filter(|block| !(5..=100_000).contains(block)) {
            return Err(ModelError::option("block", block, "5 to 100000 samples"));
        }
        if self.horizon == Some(0) {
            return Err(ModelError::option("horizon", 0, "at least 1 sample ahead"));
        }
        Ok(())
    }

    /// In words, for messages.
    pub(super) fn in_words(&self) -> String {
        let block = self.block.map_or_else(
            || "blocks by the data".to_owned(),
            |block| format!("blocks of {block} samples"),
        );
        let horizon = match self.horizon {
            None => "free runs".to_owned(),
            Some(1) => "predictions 1 sample ahead".to_owned(),
            Some(samples) => format!("predictions {samples} samples ahead"),
        };
        format!("{horizon}, false alarms {}, {block}", self.false_alarm)
    }
}

/// All that a [`Monitor`](super::Monitor) remembers, with the fingerprint of its model.
///
/// Plain numbers: written with serde to any format that keeps `f64` exactly, it reads back to the same monitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorState {
    /// [`Model::fingerprint`](crate::Model::fingerprint)
    pub(super) model: String,
    pub(super) config: MonitorConfig,
    pub(super) samples: u64,
    /// Samples that were told to be extrapolated or not, and how many were.
    pub(super) flagged: u64,
    pub(super) extrapolated: u64,
    /// The same of about the last hundred, each sample counting a hundredth less than the next.
    pub(super) recently_extrapolated: f64,
    /// Samples per block, once that is decided.
    pub(super) block: Option<u64>,
    /// `[output][sample]`, until then.
    pub(super) waiting: Vec<Vec<Sample>>,
    pub(super) outputs: Vec<OutputMonitor>,
    /// Sample at which the model was found to need a refit.
    pub(super) refit_at: Option<u64>,
}

impl MonitorState {
    pub(super) fn new(model: String, config: MonitorConfig, outputs: usize) -> Self {
        Self {
            model,
            config,
            samples: 0,
            flagged: 0,
            extrapolated: 0,
            recently_extrapolated: 0.0,
            block: config.block.map(|block| block as u64),
            waiting: vec![Vec::new(); outputs],
            outputs: (0..outputs).map(|_| OutputMonitor::new()).collect(),
            refit_at: None,
        }
    }

    /// The settings of its monitor.
    #[must_use]
    pub fn config(&self) -> MonitorConfig {
        self.config
    }

    /// Samples it has seen.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether it can be gone on from by a monitor of this model with these settings.
    pub(super) fn check(&self, model: &str, config: &MonitorConfig, outputs: usize, burn_in: usize) -> Result<()> {
        if self.model != model {
            return Err(ModelError::State(format!(
                "it belongs to model {}, this is model {model}",
                self.model
            )));
        }
        if self.config != *config {
            return Err(ModelError::State(format!(
                "it was made with other settings: {}; expected {}",
                self.config.in_words(),
                config.in_words()
            )));
        }
        let waiting = self.waiting.first().map_or(0, Vec::len);
        let counts = self.samples <= MOST_SAMPLES
            && self.flagged <= self.samples
            && self.extrapolated <= self.flagged
            && self.refit_at.is_none_or(|at| at <= self.samples)
            && self.block.is_none_or(|block| block > 0)
            && (0.0..=1.0).contains(&self.recently_extrapolated);
        let lengths = self.outputs.len() == outputs
            && self.waiting.len() == outputs
            && self.waiting.iter().all(|samples| samples.len() == waiting)
            && waiting < burn_in
            && (waiting == 0 || self.block.is_none());
        let sound = self.outputs.iter().all(OutputMonitor::is_sound)
            && self.waiting.iter().flatten().all(Sample::is_sound)
            && self
                .outputs
                .iter()
                .all(|output| output.all.samples.checked_add(waiting as u64) == Some(self.samples));
        match counts && lengths && sound {
            true => Ok(()),
            false => Err(ModelError::State(
                "its numbers are not those of this model's monitor".to_owned(),
            )),
        }
    }
}
