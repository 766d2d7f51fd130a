//! Everything that the folder of a fit holds, by name.

use std::path::Path;

use intervalid_files::OwnedFolder;
use intervalid_workflow::FitMetrics;
use serde::{Serialize, Serializer};

use super::candidates::candidates_csv;
use super::history::history_csv;
use super::predictions::{Extras, predictions_csv};
use crate::error::{ReportError, Result};
use crate::fit::{FitReport, fit_page};

/// The fitted model.
pub const MODEL: &str = "model.safetensors";
/// `fit --json`.
pub const METRICS: &str = "metrics.json";
/// The resolved settings.
pub const CONFIG: &str = "config.toml";
/// The model of `--refit-all`, which has seen the test part.
pub const MODEL_ALL: &str = "model-all.safetensors";
/// The page of a fit.
pub const REPORT: &str = "report.html";
/// What the page shows, so that it can be written again and be compared with others.
pub const REPORT_DATA: &str = "report.json";
/// There while a network is fitted, or after that was interrupted.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// What a search has finished, while it runs.
pub const JOURNAL: &str = "checkpoint.search";
const PREDICTIONS: &str = "predictions.csv";
const HISTORY: &str = "history.csv";
/// Of a search only.
const CANDIDATES: &str = "candidates.csv";

/// All that a fit writes.
pub const FILES: [&str; 9] = [
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

/// What is read of a fit: it must be of one fit.
pub const READ: [&str; 4] = [MODEL, METRICS, CONFIG, REPORT_DATA];

/// `fit --json`: the numbers, and where the files are.
#[derive(Serialize)]
pub struct FitJson<'a> {
    /// The numbers.
    #[serde(flatten)]
    pub metrics: &'a FitMetrics,
    /// The folder.
    #[serde(serialize_with = "path_text")]
    pub out: &'a Path,
}

/// A name that is no valid UTF-8 has no exact form in JSON; an error would come after the work.
fn path_text<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// The page of a fit and its data, as files.
///
/// # Errors
/// If the model cannot be evaluated.
pub fn page_files(report: &FitReport<'_>) -> Result<[(&'static str, Vec<u8>); 2]> {
    let page = fit_page(report)?;
    Ok([
        (REPORT_DATA, page.to_json().into_bytes()),
        (REPORT, page.to_html()?.into_bytes()),
    ])
}

/// Everything that the folder of a fit holds, by name; `out` is the folder as the user named it.
///
/// # Errors
/// If the model cannot be evaluated or written.
pub fn fit_files(report: &FitReport<'_>, out: &Path) -> Result<Vec<(&'static str, Vec<u8>)>> {
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
    files.extend(page_files(report)?);
    let metrics = FitJson {
        metrics: &outcome.metrics,
        out,
    };
    let text = serde_json::to_string_pretty(&metrics).map_err(ReportError::Write)? + "\n";
    files.push((METRICS, text.into_bytes()));
    Ok(files)
}

/// Writes everything at once; what an earlier fit left in the folder goes as a whole.
///
/// # Errors
/// What keeps the files from being written.
pub fn write_fit(folder: &OwnedFolder, files: &[(&'static str, Vec<u8>)]) -> intervalid_files::Result<()> {
    let mut staged = folder.stage()?;
    for (name, content) in files {
        staged.write(name, content)?;
    }
    staged.switch(&FILES)
}
