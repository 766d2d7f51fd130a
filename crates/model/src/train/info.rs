//! What a training run reports.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{CheckedConfig, Strategy};
use crate::kind::Method;

/// A stage of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Cascade, first: θ by L_MSE.
    Crisp,
    /// Cascade, second: Δ by L_RQR-W, θ frozen.
    Margins,
    /// Joint: both at once.
    Joint,
    /// A network with Gaussian likelihood; one such stage per member of an ensemble.
    Likelihood,
}

impl Stage {
    /// The stages of a fit, in order.
    pub(crate) fn of(config: &CheckedConfig) -> Vec<Stage> {
        match (config.model.method(), config.interval.strategy) {
            (Method::Interval, Strategy::Cascade) => vec![Stage::Crisp, Stage::Margins],
            (Method::Interval, Strategy::Joint) => vec![Stage::Joint],
            (Method::Ensemble, _) => vec![Stage::Likelihood; config.gaussian.members],
            (Method::Bayesian | Method::Dropout, _) => vec![Stage::Likelihood],
            (Method::Linear, _) => Vec::new(),
        }
    }

    /// `crisp`, `margins`, `joint` or `likelihood`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::Crisp => "crisp",
            Stage::Margins => "margins",
            Stage::Joint => "joint",
            Stage::Likelihood => "likelihood",
        }
    }
}

/// One epoch. A loss that the stage does not use is missing; an infinite validation loss is a diverged free run.
///
/// The second loss is L_RQR-W, in the stage `likelihood` the negative log-likelihood (with the Bayesian KL in `train`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochRecord {
    /// Stage.
    pub stage: Stage,
    /// Epoch in the stage, from 1.
    pub epoch: usize,
    /// Mean L_MSE and second loss over the epoch's mini-batches, normalised units.
    pub train: [Option<f64>; 2],
    /// L_MSE and second loss of free runs over the validation part.
    pub validation: [Option<f64>; 2],
    /// Step size.
    pub learning_rate: f64,
    /// GradNorm's s₁, s₂ after the epoch.
    pub scales: [f64; 2],
}

/// An epoch as an observer sees it.
#[derive(Clone, Copy, Debug)]
pub struct EpochProgress {
    /// The epoch.
    pub record: EpochRecord,
    /// Whether it is the best of its stage so far.
    pub improved: bool,
    /// Epochs done in all stages.
    pub epochs_done: usize,
    /// Epochs in all stages, if none stops early.
    pub epochs_total: usize,
    /// Estimate of the time left.
    pub seconds_left: f64,
}

/// Why a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum StopReason {
    /// All epochs done.
    Epochs,
    /// No improvement for as long as `patience` says.
    Patience {
        /// Last epoch.
        epoch: usize,
    },
    /// A loss or gradient was not finite; the best epoch before it was kept.
    NonFinite {
        /// The epoch in which it happened.
        epoch: usize,
    },
    /// The observer asked to stop.
    Interrupted {
        /// Last epoch.
        epoch: usize,
    },
}

impl core::fmt::Display for StopReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            StopReason::Epochs => write!(f, "all epochs done"),
            StopReason::Patience { epoch } => write!(f, "no improvement, stopped after epoch {epoch}"),
            StopReason::NonFinite { epoch } => write!(
                f,
                "a loss was not finite in epoch {epoch}: the best epoch before it was kept; try a smaller learning rate"
            ),
            StopReason::Interrupted { epoch } => write!(f, "interrupted after epoch {epoch}"),
        }
    }
}

/// How a stage went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageInfo {
    /// Stage.
    pub stage: Stage,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch whose parameters were kept, from 1.
    pub best_epoch: usize,
    /// Its validation loss (the stage's own criterion).
    pub best_loss: f64,
    /// Why it ended.
    pub stopped: StopReason,
}

/// How a fit went.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainInfo {
    /// Stages in order.
    pub stages: Vec<StageInfo>,
    /// Every epoch.
    pub history: Vec<EpochRecord>,
    /// Wall-clock time of this call (not of earlier ones that a checkpoint continues).
    pub duration: Duration,
}

impl TrainInfo {
    /// Epochs of all stages.
    #[must_use]
    pub fn epochs_run(&self) -> usize {
        self.stages.iter().map(|stage| stage.epochs).sum()
    }

    /// Whether somebody ended it early; the best epoch so far was kept.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let interrupted = |stage: &StageInfo| matches!(stage.stopped, StopReason::Interrupted { .. });
        self.stages.iter().any(interrupted)
    }

    /// One line on why training ended.
    #[must_use]
    pub fn stopped_because(&self) -> String {
        let mut parts: Vec<String> = self
            .stages
            .iter()
            .map(|stage| format!("{}: {}", stage.stage.name(), stage.stopped))
            .collect();
        parts.dedup();
        parts.join("; ")
    }
}
