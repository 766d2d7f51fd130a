//! What a run of a benchmark gives, as it is kept in a file.

use intervalid_model::ModelKind;
use serde::{Deserialize, Serialize};

use crate::store::Key;

/// Format of the files of results.
pub(crate) const FORMAT: u32 = 1;

/// One fit, judged on every test of a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// Of this file.
    pub format: u32,
    /// What was asked of what: a result with the same key is not made again.
    #[serde(flatten)]
    pub key: Key,
    /// The commit that the program was built from, where it is known.
    pub commit: Option<String>,
    /// Unit of errors, widths and scores.
    pub unit: String,
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Which model was fitted or found.
    pub model: ModelKind,
    /// Models that it averages.
    pub members: usize,
    /// Its lags or states in words.
    pub memory: String,
    /// Crisp parameters; every one of an interval network has two margins besides.
    pub parameters: usize,
    /// Measured outputs of a test that start it.
    pub start_outputs: usize,
    /// Samples for training and validation.
    pub train_samples: usize,
    /// Wall-clock time of the fit.
    pub fit_seconds: f64,
    /// Why it ended, in words.
    pub stopped_because: String,
    /// Rounds of a search that was capped by its budget: with so many and no budget it gives the same again.
    pub capped_after_rounds: Option<usize>,
    /// Time of one step; none where no test is long enough.
    pub step: Option<StepTiming>,
    /// Of every test and output.
    pub scores: Vec<Score>,
}

/// How long a step takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTiming {
    /// Median of three rounds.
    pub microseconds: f64,
    /// Whether steps were taken one by one; else it is the time of a whole free run over its samples.
    pub one_by_one: bool,
}

/// How good a free run over a test is. Errors, widths and scores are in the protocol's unit; a measure that does not exist is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Name of the test.
    pub test: String,
    /// Name of the output.
    pub output: String,
    /// Scored samples.
    pub n: usize,
    /// Root mean square error.
    pub rmse: Option<f64>,
    /// 100·(1 - ‖y-ŷ‖/‖y-mean y‖).
    pub fit_percent: Option<f64>,
    /// Share of samples inside the band.
    pub picp: Option<f64>,
    /// The same of the band that follows the measured outputs.
    pub picp_online: Option<f64>,
    /// Mean width of the band.
    pub width: Option<f64>,
    /// Winkler's score at the coverage asked.
    pub interval_score: Option<f64>,
    /// Continuous ranked probability score; of models that claim a normal distribution.
    pub crps: Option<f64>,
    /// Mean negative logarithm of the claimed density at y; as `crps`.
    pub nll: Option<f64>,
    /// First step at which the run diverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged_at: Option<usize>,
}
