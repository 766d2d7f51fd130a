//! The folder of a fit.

use std::path::Path;

use intervalid_report::FitReport;
use intervalid_workflow::FitMetrics;
use serde::Serialize;

use super::candidates::candidates_csv;
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
/// The model of `--refit-all`, which has seen the test part.
pub(super) const MODEL_ALL: &str = "model-all.safetensors";
const PREDICTIONS: &str = "predictions.csv";
const HISTORY: &str = "history.csv";
/// Of a search only.
const CANDIDATES: &str = "candidates.csv";

/// All that a fit writes.
pub(super) const FILES: [&str; 9] = [
    MODEL,
    MODEL_ALL,
    METRICS,
    CONFIG,
    PREDICTIONS,
    HISTORY,
    CANDIDATES,
    REPORT_DATA,
    REPORT,
];

/// `fit --json`: the numbers, and where the files are.
#[derive(Serialize)]
pub(super) struct FitJson<'a> {
    #[serde(flatten)]
    pub(super) metrics: &'a FitMetrics,
    pub(super) out: &'a Path,
}

/// Writes everything; `report` holds the fit with its texts.
pub(super) fn write(folder: &OutFolder, report: &FitReport<'_>, out: &Path) -> Result<(), Failure> {
    let outcome = report.outcome;
    // Metrics of an older fit must not stand beside a newer model; new ones come last, when the folder is complete.
    folder.remove(METRICS)?;
    folder.remove(MODEL_ALL)?;
    outcome
        .model
        .save(folder.path().join(MODEL))
        .inspect_err(|_| folder.abandon())?;
    folder.write(CONFIG, report.config.as_bytes())?;
    let extras = Extras {
        extrapolated: outcome.runs.extrapolated.as_deref(),
        online: None,
    };
    let predictions = predictions_csv(report.dataset, &report.split.test, &outcome.runs.test, &extras)?;
    folder.write(PREDICTIONS, predictions.as_bytes())?;
    folder.write(HISTORY, history_csv(&outcome.training).as_bytes())?;
    match outcome.training.search() {
        Some(info) => folder.write(CANDIDATES, candidates_csv(info).as_bytes())?,
        None => folder.remove(CANDIDATES)?,
    }
    write_report(folder, report)?;
    let metrics = FitJson {
        metrics: &outcome.metrics,
        out,
    };
    let text = serde_json::to_string_pretty(&metrics)? + "\n";
    folder.write(METRICS, text.as_bytes())
}
