//! What a search found, for people and reports.

use std::time::Duration;

use intervalid_data::Lags;
use intervalid_model::{Calibration, Model, ModelKind};
use serde::{Deserialize, Serialize};

use crate::findings::Finding;

/// A fitted model and how it was found.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The model, calibrated.
    pub model: Model,
    /// The search.
    pub info: SearchInfo,
    /// Descent of the chosen network: mean squared error over held-out blocks before the first step and after each; empty for a
    /// linear model.
    pub descent: Vec<f64>,
    /// Steps after which its error was least, which were kept.
    pub steps: usize,
    /// Wall-clock time.
    pub duration: Duration,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// Everything was tried.
    #[default]
    Finished,
    /// Its time ran out: what had been tried by then was judged.
    OutOfTime,
    /// Somebody ended it: the best linear model so far.
    Cancelled,
}

/// How a model was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchInfo {
    /// What the record looks like.
    pub findings: Vec<Finding>,
    /// Everything tried that got as far as a free run over held-out blocks; the chosen one first.
    pub candidates: Vec<CandidateInfo>,
    /// Why the first one was chosen.
    pub why: String,
    /// Networks that were averaged; 1 for a linear model.
    pub members: usize,
    /// How the band was calibrated.
    pub calibration: Calibration,
    /// Set where coverage differed so much between blocks that the offline band is doubtful on new data.
    pub warning: Option<String>,
    /// What the two bands promise, and what not.
    pub guarantees: Vec<String>,
    /// Rounds of networks that were finished.
    pub rounds: usize,
    /// Whether it ended before everything was tried.
    pub capped: bool,
    /// Why it ended.
    #[serde(default)]
    pub end: SearchEnd,
    /// Multiplications of the search's normal equations: its effort, whatever the machine.
    pub work: f64,
}

/// One candidate. Errors and widths are in standard deviations of the outputs, over held-out blocks; coverage and width
/// are those of a band of constant width, each block's from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateInfo {
    /// Its name in words.
    pub name: String,
    /// Kind of model.
    pub model: ModelKind,
    /// Lags.
    pub lags: Lags,
    /// Widths of the hidden layers; none for linear models.
    pub hidden: Vec<usize>,
    /// Coefficients or weights.
    pub parameters: usize,
    /// Rounds it stayed in; 0 for linear models, which have none.
    pub rounds: usize,
    /// Mean interval score; less is better. None where it left before it was tried on all blocks.
    pub score: Option<f64>,
    /// Root mean square error.
    pub rmse: f64,
    /// Share of samples inside.
    pub coverage: Option<f64>,
    /// Mean width.
    pub width: Option<f64>,
    /// Time spent on it, of one thread.
    pub seconds: f64,
    /// Whether it is the one.
    pub chosen: bool,
}

/// What the offline and the online band promise.
pub(crate) const GUARANTEES: [&str; 2] = [
    "offline band: a quantile of free-run errors on held-out blocks, at a level raised for their correlation; an estimate, no \
     guarantee, since errors of simulations are neither independent nor stationary",
    "online band: over a long record the asked share is inside whatever the plant does, since misses widen it and hits \
     narrow it; nothing is promised for a single sample or the first few hundred",
];
