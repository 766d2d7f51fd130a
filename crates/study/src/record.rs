//! What is kept of a run.

use intervalid_model::{Evaluation, Metrics, ModelKind};
use serde::{Deserialize, Serialize};

use crate::cell::Cell;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
#[expect(clippy::large_enum_variant, reason = "nearly all runs are done")]
pub enum RunState {
    /// Fitted and evaluated.
    Done(RunResult),
    /// Neither, and why.
    Failed {
        /// The error.
        reason: String,
    },
}

/// Numbers of a finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Epochs of all stages.
    pub epochs_run: usize,
    /// Why training ended.
    pub stopped_because: String,
    /// Training time. Of runs that share training, the first has the time of what they share.
    pub train_seconds: f64,
    /// Fitted numbers, without margins and spreads.
    pub parameters: usize,
    /// Test part.
    pub test: RunMetrics,
    /// Validation part.
    pub validation: RunMetrics,
}

/// Metrics of a run: means over the outputs, and each output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunMetrics {
    /// Means over the outputs; with one output, its metrics.
    pub all: Metrics,
    /// Name and metrics of each output.
    pub outputs: Vec<(String, Metrics)>,
}

impl RunMetrics {
    /// Whether there is more than one output.
    #[must_use]
    pub fn has_several_outputs(&self) -> bool {
        self.outputs.len() > 1
    }

    /// What stands for the run in tables, figures and pages: with one output, its metrics.
    ///
    /// Of several outputs, errors and interval scores are in units of their own and have no mean. The coverage is asked of each output,
    /// and a mean hides that one misses it: the share inside is that of the output that is inside least often, the worst window the
    /// worst of any. The others have no unit, and are means.
    #[must_use]
    pub fn judged(&self) -> Metrics {
        if !self.has_several_outputs() {
            return self.all;
        }
        // One output without a share leaves the worst open.
        let least = |measure: fn(&Metrics) -> Option<f64>| {
            let values: Option<Vec<f64>> = self.outputs.iter().map(|(_, metrics)| measure(metrics)).collect();
            values?.into_iter().min_by(f64::total_cmp)
        };
        Metrics {
            rmse: None,
            interval_score: None,
            picp: least(|metrics| metrics.picp),
            worst_rolling_picp: least(|metrics| metrics.worst_rolling_picp),
            ..self.all
        }
    }
}

impl From<Evaluation> for RunMetrics {
    fn from(evaluation: Evaluation) -> Self {
        Self {
            all: evaluation.all,
            outputs: evaluation.outputs,
        }
    }
}

/// A run in the database.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRecord {
    /// Key of the run, for its predictions and model.
    pub key: String,
    /// Place in the grid.
    #[serde(flatten)]
    pub cell: Cell,
    /// How it ended.
    #[serde(flatten)]
    pub state: RunState,
    /// Resolved configuration, as JSON: that of the fitted model.
    pub config: String,
    /// Version of the program that ran it.
    pub version: String,
    /// When it was recorded, UTC.
    pub finished_at: String,
}

impl RunRecord {
    /// The kind of model that was fitted: of a search, what it chose. None of a run that failed.
    #[must_use]
    pub fn fitted_model(&self) -> Option<ModelKind> {
        #[derive(Deserialize)]
        struct Fitted {
            model: ModelKind,
        }
        self.result()?;
        serde_json::from_str(&self.config)
            .ok()
            .map(|fitted: Fitted| fitted.model)
    }

    /// Numbers of a finished run.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        match &self.state {
            RunState::Done(result) => Some(result),
            RunState::Failed { .. } => None,
        }
    }
}
