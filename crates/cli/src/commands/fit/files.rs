//! The folder of a fit.

use std::path::Path;

use intervalid_model::Model;
use intervalid_report::FitReport;
use intervalid_workflow::FitMetrics;
use serde::Serialize;

use super::candidates::candidates_csv;
use super::folder::FitFolder;
use crate::error::Failure;
use crate::history::history_csv;
use crate::pages::{REPORT, REPORT_DATA, write_report};
use crate::path_text;
use crate::predictions::{Extras, predictions_csv};

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
pub(crate) const FILES: [&str; 9] = [
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
    #[serde(serialize_with = "path_text::one")]
    pub(super) out: &'a Path,
}

/// What commands read: it must be of one fit.
pub(crate) const READ: [&str; 4] = [MODEL, METRICS, CONFIG, REPORT_DATA];

/// Writes everything at once; `report` holds the fit with its texts, `everything` is the model of `--refit-all`.
pub(super) fn write(
    folder: &FitFolder,
    report: &FitReport<'_>,
    everything: Option<&Model>,
    out: &Path,
) -> Result<(), Failure> {
    let outcome = report.outcome;
    let mut staged = folder.stage()?;
    if let Some(model) = everything {
        staged.write(MODEL_ALL, &model.to_bytes()?)?;
    }
    staged.write(MODEL, &outcome.model.to_bytes()?)?;
    staged.write(CONFIG, report.config.as_bytes())?;
    let extras = Extras {
        extrapolated: outcome.runs.extrapolated.as_deref(),
        online: None,
    };
    let predictions = predictions_csv(report.dataset, &report.split.test, &outcome.runs.test, &extras)?;
    staged.write(PREDICTIONS, predictions.as_bytes())?;
    staged.write(HISTORY, history_csv(&outcome.training).as_bytes())?;
    if let Some(info) = outcome.training.search() {
        staged.write(CANDIDATES, candidates_csv(info).as_bytes())?;
    }
    write_report(&mut staged, report)?;
    let metrics = FitJson {
        metrics: &outcome.metrics,
        out,
    };
    let text = serde_json::to_string_pretty(&metrics)? + "\n";
    staged.write(METRICS, text.as_bytes())?;
    Ok(staged.switch(&FILES)?)
}
