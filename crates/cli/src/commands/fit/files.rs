//! The folder of a fit.

use std::path::Path;

use intervalid_report::FitReport;
use intervalid_workflow::FitMetrics;
use serde::Serialize;

use super::candidates::candidates_csv;
use super::folder::FitFolder;
use crate::error::Failure;
use crate::history::history_csv;
use crate::pages::{REPORT, REPORT_DATA, report_files};
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

/// Everything that the folder of a fit holds, by name.
pub(super) fn contents(report: &FitReport<'_>, out: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let outcome = report.outcome;
    let extras = Extras {
        extrapolated: outcome.runs.extrapolated.as_deref(),
        levels: outcome
            .runs
            .levels
            .iter()
            .map(|level| (level.coverage, level.test.as_slice()))
            .collect(),
        ..Extras::default()
    };
    let predictions = predictions_csv(report.dataset, &report.split.test, &outcome.runs.test, &extras)?;
    let mut files = vec![
        (MODEL, outcome.model.to_bytes()?),
        (CONFIG, report.config.as_bytes().to_vec()),
        (PREDICTIONS, predictions.into_bytes()),
        (HISTORY, history_csv(&outcome.training).into_bytes()),
    ];
    if let Some(info) = outcome.training.search() {
        files.push((CANDIDATES, candidates_csv(info).into_bytes()));
    }
    files.extend(report_files(report)?);
    let metrics = FitJson {
        metrics: &outcome.metrics,
        out,
    };
    let text = serde_json::to_string_pretty(&metrics)? + "\n";
    files.push((METRICS, text.into_bytes()));
    Ok(files)
}

/// Writes everything at once.
pub(super) fn write(folder: &FitFolder, files: &[(&'static str, Vec<u8>)]) -> Result<(), Failure> {
    let mut staged = folder.stage()?;
    for (name, content) in files {
        staged.write(name, content)?;
    }
    Ok(staged.switch(&FILES)?)
}
