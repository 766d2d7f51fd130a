//! The order of events.

use std::path::Path;

use anyhow::anyhow;
use intervalid_data::{DataError, find_dead_times};
use intervalid_files::Staged;
use intervalid_report::FitReport;
use intervalid_report::folder::{self, Extras, REPORT, REPORT_DATA, history_csv, page_files, predictions_csv};
use serde::Serialize;

use super::super::fit::FitFolder;
use super::rows::{COVERAGE, Fitted, ModelRow, Prepared};
use super::{arx, networks, story};
use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::path_text;

/// What the demo writes.
pub(super) const FILES: [&str; 6] = [
    "predictions.csv",
    "history.csv",
    "model.safetensors",
    REPORT_DATA,
    REPORT,
    "metrics.json",
];

/// The JSON object, also `metrics.json`.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    preset: &'a str,
    coverage: f64,
    dead_time: Option<usize>,
    models: Vec<ModelRow<'a>>,
    /// The model that the files are of.
    chosen: &'a str,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
    files: [&'a str; 6],
}

/// Fits linear models and interval networks to the hair dryer and writes the better network's results into `out`.
pub(crate) fn run(out: &Path, epochs: Option<usize>, output: &Output) -> Result<(), Failure> {
    interrupt::listen();
    let folder = FitFolder::open(out, false)?;
    let prepared = Prepared::new()?;
    let dead_time = dead_time(&prepared)?;
    story::data(&prepared, dead_time, output)?;

    let lags = output.working("searching lags", || arx::search(&prepared))?;
    story::models(&prepared, lags, epochs, output)?;
    let linear = [
        arx::fit("ARX, lags of the paper", &prepared, prepared.known.lags)?,
        arx::fit("ARX, lags found", &prepared, lags)?,
    ];
    let networks = networks::fit_all(&prepared, epochs, output)?;
    let chosen = choose(&networks).ok_or_else(|| Failure::run(anyhow!("no network was fitted")))?;
    let models: Vec<&Fitted> = linear.iter().chain(&networks).collect();

    let report = Report {
        dataset: prepared.known.name,
        preset: "paper",
        coverage: COVERAGE,
        dead_time,
        models: models.iter().map(|fitted| fitted.row()).collect(),
        chosen: chosen.name,
        out,
        files: FILES,
    };
    write(&folder, &prepared, chosen, &report)?;
    if output.is_json() {
        return output.json(&report);
    }
    story::results(&models, &prepared, output)?;
    story::next(folder.path(), chosen, output)
}

fn dead_time(prepared: &Prepared) -> Result<Option<usize>, DataError> {
    let found = find_dead_times(&prepared.dataset, &prepared.split.train)?;
    Ok(found.first().and_then(|pair| pair.delay))
}

/// The network with the better interval score on the validation part: the test part may not choose what it judges.
fn choose(networks: &[Fitted]) -> Option<&Fitted> {
    let score = |fitted: &&Fitted| {
        let validation = fitted.outcome.metrics.validation.as_ref();
        validation
            .and_then(|validation| validation.all.interval_score)
            .unwrap_or(f64::INFINITY)
    };
    networks.iter().min_by(|a, b| score(a).total_cmp(&score(b)))
}

fn write(folder: &FitFolder, prepared: &Prepared, chosen: &Fitted, report: &Report<'_>) -> Result<(), Failure> {
    let [predictions, history, model, .., metrics] = FILES;
    let test = &prepared.split.test;
    let text = predictions_csv(&prepared.dataset, test, &chosen.outcome.runs.test, &Extras::default())?;
    let mut staged = folder.stage()?;
    staged.write(predictions, text.as_bytes())?;
    staged.write(history, history_csv(&chosen.outcome.training).as_bytes())?;
    staged.write(model, &chosen.outcome.model.to_bytes()?)?;
    let text = serde_json::to_string_pretty(report)? + "\n";
    staged.write(metrics, text.as_bytes())?;
    write_page(&mut staged, prepared, chosen)?;
    // A fit that was in the folder goes as a whole.
    Ok(staged.switch(&folder::FILES)?)
}

/// The page of the chosen network, with the linear model beside it.
fn write_page(staged: &mut Staged<'_>, prepared: &Prepared, chosen: &Fitted) -> Result<(), Failure> {
    let report = FitReport {
        dataset: &prepared.dataset,
        split: &prepared.split,
        outcome: &chosen.outcome,
        config: &toml::to_string(chosen.outcome.model.config()).map_err(Failure::run)?,
        commands: &["intervalid demo".to_owned()],
    };
    for (name, content) in page_files(&report)? {
        staged.write(name, &content)?;
    }
    Ok(())
}
