//! `intervalid evaluate`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_model::{
    Evaluation, HorizonCoverage, ModelKind, ROLLING_WINDOW, RollingCoverage, align, coverage_by_horizon, evaluate,
    rolling_coverage,
};
use intervalid_report::folder::{Extras, predictions_csv};
use intervalid_report::{asked, independent_share};
use serde::Serialize;

use super::levels::{LevelReport, Levels};
use super::load::{FAR_INPUTS, Simulation, banded, model_file, page, simulate};
use crate::args::{EvaluateArgs, GlobalArgs, PartName};
use crate::error::Failure;
use crate::format::{count, percent};
use crate::output::Output;
use crate::path_text;
use crate::request::files;
use crate::summary;
use crate::write::{OutFile, refuse_other_than_csv, refuse_replacing};

/// The JSON object: the metrics, and how coverage changes along the record.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    /// `offline`, `online` for the band whose scale follows the measured outputs, `ahead` for predictions with a horizon.
    band: &'static str,
    /// Samples ahead, with `--horizon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<usize>,
    #[serde(flatten)]
    metrics: &'a Evaluation,
    /// Per output.
    rolling: Vec<Option<RollingCoverage>>,
    /// Per output, by the samples since the start of a free run; empty of predictions ahead, which start anew all the time.
    horizons: Vec<Vec<HorizonCoverage>>,
    /// At further coverages, of the same kind of band.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelReport>,
    /// One entry per file, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileReport>,
    /// The page or the file of samples, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// Metrics of one of several files.
#[derive(Serialize)]
struct FileReport {
    file: String,
    #[serde(flatten)]
    metrics: Evaluation,
}

/// Whether the file is a page, by its name.
fn is_page(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("html"))
}

/// Simulates a record and compares with what was measured.
pub(crate) fn run(args: &EvaluateArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let out = match &args.out {
        None => None,
        Some(path) => {
            let sources = files(&args.data.data, global).chain([model_file(&args.model)?]);
            refuse_replacing("--out", path, sources)?;
            match (is_page(path), args.horizon) {
                (true, Some(_)) => {
                    let found = anyhow!("--out {}: a page is of free runs, without --horizon", path.display());
                    return Err(Failure::input(found).with_hint("NAME.csv has the samples of predictions ahead"));
                }
                (true, None) => {}
                (false, _) => refuse_other_than_csv("--out", path)?,
            }
            Some(OutFile::open(path, "--out")?)
        }
    };
    let levels = Levels::new(banded(&args.model, args.band, output)?, args.coverage.as_ref())?;
    let model = &levels.model;
    let mut simulation = output.working("simulating", || {
        simulate(
            (&args.model, model),
            &args.data,
            (args.part, args.horizon),
            global,
            output,
        )
    })?;
    let band = match (args.online, args.horizon) {
        (true, _) => "online",
        (false, Some(_)) => "ahead",
        (false, None) => "offline",
    };
    let mut level_bands = levels.bands(&simulation.dataset, &simulation.part, args.horizon)?;
    if args.online {
        simulation.bands = model.online(&simulation.dataset, &simulation.bands)?;
        level_bands = levels.online(&simulation.dataset, &level_bands)?;
    }
    let coverage = model.config().coverage;
    let evaluation = evaluate(&simulation.dataset, &simulation.bands, coverage)?;
    let files = each_file(args, &simulation, coverage)?;
    let level_reports = level_bands.reports(&simulation.dataset)?;
    if let Some(out) = out.as_ref().filter(|_| args.out.as_deref().is_some_and(is_page)) {
        out.write(page(model, &simulation, global.command())?.to_html()?.as_bytes())?;
    } else if let Some(out) = &out {
        let extras = Extras {
            inside: true,
            levels: level_bands.columns(),
            rows: args.part != PartName::All,
            ..Extras::default()
        };
        let text = predictions_csv(&simulation.dataset, &simulation.part, &simulation.bands, &extras)?;
        out.write(text.as_bytes())?;
    }
    // Metrics of what was predicted before say little about a requirement.
    let end = match simulation.diverged() {
        Some(found) => Err(Failure::run(found).with_hint(FAR_INPUTS)),
        None => check_coverage(
            args.require_coverage,
            model.interface().is_together(),
            &evaluation,
            &files,
        ),
    };
    if !output.is_json() {
        // Errors of predictions ahead do not follow one another as those of a free run, of which the calibration knows.
        let independent = independent_share(model.interface()).filter(|_| args.horizon.is_none());
        for FileReport { file, metrics } in &files {
            output.heading(format_args!("{file}:"))?;
            summary::metrics(metrics, model.interface(), coverage, independent, output)?;
            output.story("")?;
        }
        let how = match args.horizon {
            None => format!("free run over {} samples, {band} band", evaluation.all.n),
            Some(samples) => format!("{} predictions {} ahead", evaluation.all.n, count(samples, "sample")),
        };
        let on = match files.len() {
            0 | 1 => simulation.dataset.name().to_owned(),
            several => format!("all {several} recordings together"),
        };
        output.story(format_args!("{} on {on}, {how}:", model.kind()))?;
        // The model knows the units even where its columns are asked for by name.
        summary::metrics(&evaluation, model.interface(), coverage, independent, output)?;
        summary::formulas(output)?;
        summary::levels(
            level_reports.iter().map(|level| (level.coverage, &level.metrics)),
            output,
        )?;
        if let Some(path) = &args.out {
            output.story(format_args!("Written to {}", path.display()))?;
        }
        return end;
    }
    let (mut rolling, mut horizons) = (Vec::new(), Vec::new());
    for index in 0..simulation.dataset.outputs().len() {
        let runs = align(&simulation.dataset, &simulation.bands, index)?;
        rolling.push(rolling_coverage(&runs, ROLLING_WINDOW));
        if args.horizon.is_none() {
            horizons.push(coverage_by_horizon(&runs, ROLLING_WINDOW));
        }
    }
    output.json(&Report {
        dataset: simulation.dataset.name(),
        model: model.kind(),
        coverage,
        band,
        horizon: args.horizon,
        metrics: &evaluation,
        rolling,
        horizons,
        levels: level_reports,
        files,
        out: args.out.clone(),
    })?;
    end
}

/// Every file by itself, where there are several.
fn each_file(args: &EvaluateArgs, simulation: &Simulation, coverage: f64) -> Result<Vec<FileReport>, Failure> {
    let names = &args.data.data;
    if names.len() < 2 {
        return Ok(Vec::new());
    }
    let Simulation { dataset, bands, .. } = simulation;
    let experiments = simulation.request.files(dataset)?;
    let report = |(file, own): (&String, Range<usize>)| {
        let bands = bands.iter().filter(|band| own.contains(&band.experiment)).cloned();
        Ok(FileReport {
            file: file.clone(),
            metrics: evaluate(dataset, &bands.collect::<Vec<_>>(), coverage)?,
        })
    };
    names.iter().zip(experiments).map(report).collect()
}

/// Whether every output of every file has its least share of samples inside; one without a share has not.
fn check_coverage(
    least: Option<f64>,
    is_together: bool,
    all: &Evaluation,
    files: &[FileReport],
) -> Result<(), Failure> {
    let Some(least) = least else {
        return Ok(());
    };
    let whole = std::iter::once((None, all)).filter(|_| files.is_empty());
    let each = files.iter().map(|file| (Some(file.file.as_str()), &file.metrics));
    for (file, evaluation) in whole.chain(each) {
        let of_outputs = evaluation.outputs.iter();
        let shares: Vec<(String, Option<f64>)> = match is_together {
            true => vec![("samples of all outputs together".to_owned(), evaluation.together)],
            false => of_outputs
                .map(|(name, metrics)| (format!("samples of '{name}'"), metrics.picp))
                .collect(),
        };
        for (what, share) in shares {
            if share.is_none_or(|share| share < least) {
                let file = file.map_or_else(String::new, |file| format!("{file}: "));
                let found = match (share, evaluation.all.diverged_at) {
                    (Some(share), _) => format!("{} of the {what} lie inside the band", percent(share)),
                    (None, None) if evaluation.all.n == 0 => {
                        format!("there are no {what} to judge: the recording is too short for the model to start")
                    }
                    (None, _) => {
                        format!("the simulation diverges, so nobody knows how many of the {what} lie inside the band")
                    }
                };
                return Err(Failure::requirement(anyhow!(
                    "{file}{found}, required are {}",
                    asked(least)
                )));
            }
        }
    }
    Ok(())
}
