//! The folder of a fit.

use intervalid_data::{Dataset, Split};
use intervalid_model::{FitResult, FitRuns, Model, TrainInfo};
use intervalid_report::{Baseline, FitReport, PartBands};

use super::auto::candidates_csv;
use crate::error::Failure;
use crate::history::history_csv;
use crate::pages::{REPORT, REPORT_DATA, write_report};
use crate::predictions::{Extras, predictions_csv};
use crate::write::OutFolder;

/// The fitted model.
pub(crate) const MODEL: &str = "model.safetensors";
/// `fit --json`.
pub(crate) const METRICS: &str = "metrics.json";
/// The resolved settings.
pub(crate) const CONFIG: &str = "config.toml";
const PREDICTIONS: &str = "predictions.csv";
const HISTORY: &str = "history.csv";
/// Of a search only.
const CANDIDATES: &str = "candidates.csv";

/// All that a fit writes.
pub(super) const FILES: [&str; 8] = [
    MODEL,
    METRICS,
    CONFIG,
    PREDICTIONS,
    HISTORY,
    CANDIDATES,
    REPORT_DATA,
    REPORT,
];

/// A finished fit with its simulations.
pub(super) struct Fitted<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) split: &'a Split,
    pub(super) model: &'a Model,
    pub(super) info: &'a TrainInfo,
    pub(super) runs: &'a FitRuns,
    pub(super) baseline: Option<&'a Baseline>,
    pub(super) result: &'a FitResult,
    /// `config.toml`.
    pub(super) config: &'a str,
    /// The command that repeats the fit.
    pub(super) command: String,
}

impl Fitted<'_> {
    /// Writes everything.
    pub(super) fn write(&self, folder: &OutFolder) -> Result<(), Failure> {
        // Metrics of an older fit must not stand beside a newer model; new ones come last, when the folder is complete.
        folder.remove(METRICS)?;
        self.model
            .save(folder.path().join(MODEL))
            .inspect_err(|_| folder.abandon())?;
        folder.write(CONFIG, self.config.as_bytes())?;
        let extras = Extras {
            extrapolated: self.runs.extrapolated.as_deref(),
            online: None,
        };
        let predictions = predictions_csv(self.dataset, &self.split.test, &self.runs.test, &extras)?;
        folder.write(PREDICTIONS, predictions.as_bytes())?;
        folder.write(HISTORY, history_csv(self.info).as_bytes())?;
        match &self.result.search {
            Some(info) => folder.write(CANDIDATES, candidates_csv(info).as_bytes())?,
            None => folder.remove(CANDIDATES)?,
        }
        let FitRuns {
            test,
            validation,
            train,
            ..
        } = self.runs;
        let parts = [("test", test), ("validation", validation), ("training", train)];
        let report = FitReport {
            dataset: self.dataset,
            split: self.split,
            model: self.model,
            info: self.info,
            parts: &parts.map(|(name, bands)| PartBands { name, bands }),
            online: &self.runs.online,
            extrapolated: self.runs.extrapolated.as_deref(),
            search: self.result.search.as_ref(),
            baseline: self.baseline,
            preset: self.result.preset,
            config: self.config,
            commands: std::slice::from_ref(&self.command),
        };
        write_report(folder, &report)?;
        let text = serde_json::to_string_pretty(self.result)? + "\n";
        folder.write(METRICS, text.as_bytes())
    }
}
