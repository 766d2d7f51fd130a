//! Single runs: what every seed of a model gave, and the band of the one in the middle.

use std::collections::HashMap;

use intervalid_model::Metrics;
use intervalid_study::figures::model_label;
use intervalid_study::{RunRecord, RunState, Spec, Store, StoredBand};
use serde::{Deserialize, Serialize};

use super::command::{Alone, alone};
use super::ids::GroupIds;
use crate::chart::{Axis, BandChart, Chart};
use crate::column::Column;
use crate::error::Result;
use crate::table::{Heading, MetricRow, metric_headings};
use crate::text::asked;

/// Samples of bands on the page: with their four columns at 2.7 bytes each about two megabytes.
const SAMPLES: usize = 190_000;

/// The seeds of one model on one data set at one coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupView {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) headings: Vec<Heading>,
    pub(crate) runs: Vec<RunView>,
    /// The band of the run in the middle: by its interval score, or where there are several outputs by its mean fit.
    pub(crate) chart: Option<Chart>,
    /// What the chart is of, or why there is none.
    pub(crate) note: String,
    pub(crate) command: String,
    /// Settings of the study that the command has no options for.
    #[serde(default)]
    pub(crate) left_out: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunView {
    pub(crate) seed: u64,
    /// None of a failed run.
    pub(crate) metrics: Option<MetricRow>,
    /// A row per output, where there are several.
    #[serde(default)]
    pub(crate) outputs: Vec<MetricRow>,
    pub(crate) reason: String,
    pub(crate) train_seconds: Option<f64>,
}

pub(super) fn views(store: &Store, spec: &Spec, ids: &GroupIds, runs: &[RunRecord]) -> Result<Vec<GroupView>> {
    let mut grouped: HashMap<&str, Vec<&RunRecord>> = HashMap::new();
    for run in runs {
        if let Some(id) = ids.of(&run.cell) {
            grouped.entry(id).or_default().push(run);
        }
    }
    let mut left = SAMPLES;
    let mut views = Vec::new();
    for (cell, id) in ids.groups() {
        let Some(mut runs) = grouped.remove(id.as_str()) else {
            continue;
        };
        runs.sort_by_key(|run| run.cell.seed);
        let (chart, note) = band(store, &runs, id, &mut left)?;
        let Alone { command, left_out } = alone(spec, cell);
        views.push(GroupView {
            id: id.clone(),
            name: format!(
                "{}, {}, target {}",
                cell.dataset,
                model_label(cell),
                asked(cell.coverage)
            ),
            headings: metric_headings(),
            runs: runs.iter().map(|run| run_view(run)).collect(),
            chart,
            note,
            command,
            left_out,
        });
    }
    Ok(views)
}

fn run_view(run: &RunRecord) -> RunView {
    let row = |output: &str, metrics: Metrics| MetricRow::new("", output, metrics, run.cell.coverage, None);
    let test = run.result().map(|result| &result.test);
    let several = test.filter(|test| test.has_several_outputs());
    let outputs = several.into_iter().flat_map(|test| &test.outputs);
    RunView {
        seed: run.cell.seed,
        metrics: test.map(|test| row("", test.judged())),
        outputs: outputs.map(|(name, metrics)| row(name, *metrics)).collect(),
        reason: match &run.state {
            RunState::Done(_) => String::new(),
            RunState::Failed { reason } => reason.clone(),
        },
        train_seconds: run.result().map(|result| result.train_seconds),
    }
}

fn band(store: &Store, runs: &[&RunRecord], id: &str, left: &mut usize) -> Result<(Option<Chart>, String)> {
    let tests = || runs.iter().filter_map(|run| Some((*run, &run.result()?.test)));
    let several = tests().any(|(_, test)| test.has_several_outputs());
    // Scores of several outputs have no common unit.
    let (measure, cost): (&str, fn(&Metrics) -> Option<f64>) = match several {
        true => ("mean fit", |metrics| metrics.fit_percent.map(|fit| -fit)),
        false => ("interval score", |metrics| metrics.interval_score),
    };
    let costs = tests().filter_map(|(run, test)| Some((run, cost(&test.judged())?)));
    let mut costs: Vec<(&RunRecord, f64)> = costs.collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(run, _)) = costs.get(costs.len() / 2) else {
        return Ok((None, "No run has a simulation to show.".to_owned()));
    };
    let predictions = store.predictions(&run.key)?.unwrap_or_default();
    let Some(first) = predictions.first() else {
        return Ok((None, "The study kept no simulations.".to_owned()));
    };
    if first.target.len() > *left {
        let note = "Its simulation is not on this page, to keep it small; the command shows it.".to_owned();
        return Ok((None, note));
    }
    *left -= first.target.len();
    let others = match predictions.len() - 1 {
        0 => String::new(),
        more => format!(" ({more} more outputs or experiments are not shown)"),
    };
    let note = format!(
        "Seed {}, whose {measure} is the median of the seeds{others}.",
        run.cell.seed
    );
    Ok((Some(chart(first, run, id)), note))
}

fn chart(prediction: &StoredBand, run: &RunRecord, id: &str) -> Chart {
    let column = |values: &[f32]| Column::new(values.iter().map(|&value| f64::from(value)));
    let is_outside = |k: &usize| {
        let target = prediction.target[*k];
        !(prediction.lower[*k] <= target && target <= prediction.upper[*k])
    };
    Chart::Band(BandChart {
        title: format!("Test part, seed {}", run.cell.seed),
        x: Axis {
            label: "sample".to_owned(),
            start: prediction.first as f64,
            step: 1.0,
        },
        y_label: "output".to_owned(),
        band_label: format!("{} interval", asked(run.cell.coverage)),
        measured: column(&prediction.target),
        prediction: column(&prediction.centre),
        lower: column(&prediction.lower),
        upper: column(&prediction.upper),
        online: None,
        extrapolated: Vec::new(),
        outside: (prediction.warmup..prediction.target.len())
            .filter(is_outside)
            .collect(),
        sync: id.to_owned(),
    })
}
