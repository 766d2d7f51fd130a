//! What a search found, for people and reports.

use std::time::Duration;

use intervalid_data::Lags;
use intervalid_model::{Calibration, Model, ModelKind};
use serde::{Deserialize, Serialize};

use crate::findings::Finding;
use crate::promise::Promise;

/// A fitted model and how it was found.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// The model, calibrated.
    pub model: Model,
    /// The search.
    pub info: SearchInfo,
    /// Descent of the chosen network on lagged outputs: mean squared error over held-out data before the first step and after each;
    /// empty for any other model.
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
    /// What the chosen candidate promised and what the model made of it was found to do; none in results of version 0.1.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// Set where coverage differed so much between blocks that the offline band is doubtful on new data, or where a better candidate
    /// was passed over since its model broke its promise.
    pub warning: Option<String>,
    /// What the two bands promise, and what not.
    pub guarantees: Vec<String>,
    /// Rounds that were finished: see [`SearchConfig::rounds`](crate::SearchConfig::rounds).
    pub rounds: usize,
    /// Whether it ended before everything was tried.
    pub capped: bool,
    /// Why it ended.
    #[serde(default)]
    pub end: SearchEnd,
    /// Multiplications of the search: its effort, whatever the machine.
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
    /// Widths of the hidden layers; of models with hidden states, units in the state and the output map.
    pub hidden: Vec<usize>,
    /// Hidden states; 0 for models on lagged outputs.
    #[serde(default)]
    pub states: usize,
    /// Coefficients or weights.
    pub parameters: usize,
    /// Rounds it stayed in; 0 for ARX models, which have none.
    pub rounds: usize,
    /// √(½ CV² + ½ F²) of the errors on held-out blocks and after the forward cut; less is better. None where it left before it was
    /// tried on all of them.
    pub score: Option<f64>,
    /// How far models of it that were fitted without different blocks are apart on the record's inputs backwards, in standard deviations;
    /// beyond one it is taken only where nothing else is left. None where that was not tried.
    #[serde(default)]
    pub doubt: Option<f64>,
    /// CV: root mean square error over held-out blocks.
    pub rmse: f64,
    /// F: root mean square error after the forward cut.
    #[serde(default)]
    pub forward: Option<f64>,
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
    "offline band: sized by free-run errors on data that the fits had not seen, wider where these differ from stretch to stretch; an \
     estimate, no guarantee, since errors of simulations are neither independent nor stationary",
    "online band: over a long record the asked share is inside whatever the plant does, since misses widen it and hits \
     narrow it; nothing is promised for a single sample or the first few hundred",
];
