//! `intervalid predict`.

use std::path::PathBuf;

use intervalid_model::{Evaluation, ModelKind, evaluate};
use intervalid_report::folder::{Extras, predictions_csv};
use serde::Serialize;

use super::levels::{LevelBounds, LevelReport, Levels};
use super::load::{FAR_INPUTS, banded, model_file, simulate};
use super::online_state::OnlineState;
use crate::args::{GlobalArgs, PartName, PredictArgs};
use crate::error::Failure;
use crate::format::count;
use crate::output::Output;
use crate::path_text;
use crate::plot;
use crate::request::files;
use crate::write::{OutFile, refuse_other_than_csv, refuse_replacing, refuse_same};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    /// Samples ahead, with `--horizon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<usize>,
    metrics: Evaluation,
    /// Of the adaptive band, with `--online`.
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics_online: Option<Evaluation>,
    /// At further coverages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelReport>,
    predictions: Vec<PredictSummary<'a>>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
    #[serde(serialize_with = "path_text::maybe")]
    plot: Option<PathBuf>,
}

/// One output of one experiment.
#[derive(Serialize)]
struct PredictSummary<'a> {
    experiment: &'a str,
    output: &'a str,
    /// Sample of the first prediction in its experiment, from 1.
    first: usize,
    /// Where in its file that sample is, line or row from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_row: Option<u64>,
    /// When that sample was taken, where the data say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time: Option<String>,
    y_hat: &'a [f64],
    y_lower: &'a [f64],
    y_upper: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    y_lower_online: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_upper_online: Option<&'a [f64]>,
    /// Which samples lie outside the region of the training data, where the model knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    extrapolated: Option<&'a [bool]>,
    /// Bounds at further coverages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelBounds<'a>>,
}

/// Simulates a record and writes the simulation as CSV, as a picture, or as JSON.
pub(crate) fn run(args: &PredictArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let model_file = model_file(&args.model)?;
    refuse_same(&[
        ("--out", args.out.as_deref()),
        ("--plot", args.plot.as_deref()),
        ("--state", args.state.as_deref()),
    ])?;
    for (option, path) in [("--out", &args.out), ("--plot", &args.plot), ("--state", &args.state)] {
        if let Some(path) = path {
            let data = args.data.data.iter().chain(&args.start_from);
            let sources = files(data, global).chain([model_file.clone()]);
            refuse_replacing(option, path, sources)?;
        }
    }
    let levels = Levels::new(banded(&args.model, args.band, output)?, args.coverage.as_ref())?;
    let model = &levels.model;
    if let Some(path) = &args.out {
        refuse_other_than_csv("--out", path)?;
    }
    let out = args
        .out
        .as_deref()
        .map(|path| OutFile::open(path, "--out"))
        .transpose()?;
    if args.start_from.is_some() || !args.initial_output.is_empty() {
        return super::ahead::run(args, &levels, out.as_ref(), global, output);
    }
    let plot = args.plot.as_deref().map(plot::PlotFile::open).transpose()?;
    let state = args.state.as_deref().map(OnlineState::open).transpose()?;
    let simulation = output.working("simulating", || {
        simulate(
            (&args.model, model),
            &args.data,
            (args.part, args.horizon),
            global,
            output,
        )
    });
    let simulation = simulation.map_err(|failure| failure.or_missing_output(model))?;
    let level_bands = levels.bands(&simulation.dataset, &simulation.part, args.horizon)?;
    let online = match (args.online, state) {
        (true, None) => Some(model.online(&simulation.dataset, &simulation.bands)?),
        (true, Some(state)) => Some(state.follow(model, (&simulation.dataset, &simulation.part), &simulation.bands)?),
        (false, _) => None,
    };
    let extras = Extras {
        extrapolated: simulation.extrapolated.as_deref(),
        online: online.as_deref(),
        levels: level_bands.columns(),
        rows: args.part != PartName::All,
        ..Extras::default()
    };
    let text = predictions_csv(&simulation.dataset, &simulation.part, &simulation.bands, &extras)?;
    if let Some(plot) = &plot {
        let title = match args.horizon {
            None => format!("{} on {}", model.kind(), simulation.dataset.name()),
            Some(samples) => format!(
                "{} on {}, {} ahead",
                model.kind(),
                simulation.dataset.name(),
                count(samples, "sample")
            ),
        };
        let bands = online.as_deref().unwrap_or(&simulation.bands);
        plot.write(&plot::bands(&title, model, &simulation.dataset, bands)?)?;
    }
    if let Some(out) = &out {
        out.write(text.as_bytes())?;
    }
    if output.is_json() {
        let experiments = simulation.dataset.experiments();
        let predictions = simulation.bands.iter().enumerate().flat_map(|(run, band)| {
            let (online, extrapolated, levels) = (&online, &simulation.extrapolated, &level_bands);
            let online = online.as_ref().map(|bands| &bands[run]);
            // What measured outputs have led is no prediction.
            let skipped = band.warmup.min(band.len());
            let (first, experiment) = (band.first + skipped, &experiments[band.experiment]);
            simulation
                .dataset
                .outputs()
                .iter()
                .enumerate()
                .map(move |(index, channel)| PredictSummary {
                    experiment: experiment.name(),
                    output: &channel.name,
                    first: first + 1,
                    first_row: experiment.row(first).map(|row| row.number()),
                    first_time: experiment.time().map(|time| time.at(first).to_string()),
                    y_hat: &band.centre[index][skipped..],
                    y_lower: &band.lower[index][skipped..],
                    y_upper: &band.upper[index][skipped..],
                    y_lower_online: online.map(|band| &band.lower[index][skipped..]),
                    y_upper_online: online.map(|band| &band.upper[index][skipped..]),
                    extrapolated: extrapolated.as_ref().map(|flags| &flags[run][skipped..]),
                    levels: levels.bounds(run, index, skipped),
                })
        });
        output.json(&Report {
            dataset: simulation.dataset.name(),
            model: model.kind(),
            coverage: model.config().coverage,
            horizon: args.horizon,
            metrics: evaluate(&simulation.dataset, &simulation.bands, model.config().coverage)?,
            metrics_online: match &online {
                Some(bands) => Some(evaluate(&simulation.dataset, bands, model.config().coverage)?),
                None => None,
            },
            levels: level_bands.reports(&simulation.dataset)?,
            predictions: predictions.collect(),
            out: args.out.clone(),
            plot: args.plot.clone(),
        })?;
    } else if out.is_none() && plot.is_none() {
        output.content(text.trim_end())?;
    } else {
        for path in [&args.out, &args.plot].into_iter().flatten() {
            output.story(format_args!("Written to {}", path.display()))?;
        }
    }
    diverged(simulation.diverged(), args.allow_divergence, output)
}

/// Says where a simulation diverged; that is a failure, unless the user expects it.
pub(super) fn diverged(found: Option<anyhow::Error>, is_allowed: bool, output: &Output) -> Result<(), Failure> {
    match found {
        None => Ok(()),
        Some(found) if is_allowed => {
            output.warning(found);
            Ok(())
        }
        Some(found) => Err(Failure::run(found).with_hint(format!(
            "{FAR_INPUTS} --allow-divergence takes what was predicted before as a result"
        ))),
    }
}
