//! What a search found, for people and reports.

use intervalid_data::Lags;
use serde::Serialize;

use super::findings::Finding;
use crate::band::calibration::Calibration;
use crate::kind::ModelKind;
use crate::model::Model;
use crate::train::TrainInfo;

/// A fitted model and how it was found.
#[derive(Clone, Debug)]
pub struct AutoFit {
    /// The model, calibrated.
    pub model: Model,
    /// The search.
    pub info: AutoInfo,
    /// Training of the chosen model: an epoch is a Gauss–Newton step, its validation loss the mean over held-out blocks.
    pub training: TrainInfo,
}

/// How a model was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AutoInfo {
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
    pub guarantees: [&'static str; 2],
    /// Rounds of networks that were finished.
    pub rounds: usize,
    /// Whether the time given with a budget ran out before the search was done.
    pub capped: bool,
    /// Multiplications of the search's normal equations: its effort, whatever the machine.
    pub work: f64,
}

/// One candidate. Errors and widths are in standard deviations of the outputs, over held-out blocks; coverage and width
/// are those of a band of constant width, each block's from the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
pub(super) const GUARANTEES: [&str; 2] = [
    "offline band: a quantile of free-run errors on held-out blocks, at a level raised for their correlation; an estimate, no \
     guarantee, since errors of simulations are neither independent nor stationary",
    "online band: over a long record the asked share is inside whatever the plant does, since misses widen it and hits \
     narrow it; nothing is promised for a single sample or the first few hundred",
];
