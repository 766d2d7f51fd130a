//! Single runs: what every seed of a model gave, and the band of the one in the middle.

use std::collections::BTreeMap;

use intervalid_study::figures::model_label;
use intervalid_study::{Cell, RunConfig, RunRecord, RunState, SearchRun, Spec, Store, StoredBand};
use serde::{Deserialize, Serialize};

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
    /// The band of the run whose interval score is in the middle.
    pub(crate) chart: Option<Chart>,
    /// What the chart is of, or why there is none.
    pub(crate) note: String,
    pub(crate) command: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunView {
    pub(crate) seed: u64,
    /// None of a failed run.
    pub(crate) metrics: Option<MetricRow>,
    pub(crate) reason: String,
    pub(crate) train_seconds: Option<f64>,
}

/// Names the seeds of one model in links: letters, digits and dashes.
pub(super) fn group_id(cell: &Cell) -> String {
    let text = format!("{} {} {}", cell.dataset, model_label(cell), cell.coverage);
    let clean = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' => character.to_ascii_lowercase(),
        _ => '-',
    };
    text.chars().map(clean).collect()
}

pub(super) fn views(store: &Store, spec: &Spec, runs: &[RunRecord]) -> Result<Vec<GroupView>> {
    let mut grouped: BTreeMap<String, Vec<&RunRecord>> = BTreeMap::new();
    for run in runs {
        grouped.entry(group_id(&run.cell)).or_default().push(run);
    }
    let mut left = SAMPLES;
    let mut views = Vec::new();
    // In the order of the study, each group once.
    for cell in spec.cells() {
        let Some(mut runs) = grouped.remove(&group_id(&cell)) else {
            continue;
        };
        runs.sort_by_key(|run| run.cell.seed);
        let (chart, note) = band(store, &runs, &mut left)?;
        views.push(GroupView {
            id: group_id(&cell),
            name: format!(
                "{}, {}, target {}",
                cell.dataset,
                model_label(&cell),
                asked(cell.coverage)
            ),
            headings: metric_headings(),
            runs: runs.iter().map(|run| run_view(run)).collect(),
            chart,
            note,
            command: command(spec, &cell),
        });
    }
    Ok(views)
}

fn run_view(run: &RunRecord) -> RunView {
    let coverage = run.cell.coverage;
    let (metrics, reason) = match &run.state {
        RunState::Done(result) => (
            Some(MetricRow::new("", "", result.test.all, coverage, None)),
            String::new(),
        ),
        RunState::Failed { reason } => (None, reason.clone()),
    };
    RunView {
        seed: run.cell.seed,
        metrics,
        reason,
        train_seconds: run.result().map(|result| result.train_seconds),
    }
}

/// The command that fits such a model alone.
fn command(spec: &Spec, cell: &Cell) -> String {
    let mut command = match (cell.model.kind(), spec.config(cell)) {
        (None, Ok(RunConfig::Search(SearchRun { budget_seconds, .. }))) => {
            let budget = budget_seconds.map_or(String::new(), |seconds| format!(" --budget {seconds}s --threads 1"));
            format!("intervalid fit {}{budget}", cell.dataset)
        }
        _ => format!("intervalid fit {} --preset paper --model {}", cell.dataset, cell.model),
    };
    if let Some(strategy) = cell.strategy {
        command += &format!(" --strategy {}", strategy.name());
    }
    if let Some(margin) = cell.margin {
        command += &format!(" --margin {}", margin.name());
    }
    command + &format!(" --coverage {} --seed {}", cell.coverage, cell.seed)
}

fn band(store: &Store, runs: &[&RunRecord], left: &mut usize) -> Result<(Option<Chart>, String)> {
    let score = |run: &&&RunRecord| run.result().and_then(|result| result.test.all.interval_score);
    let mut scored: Vec<&&RunRecord> = runs.iter().filter(|run| score(run).is_some()).collect();
    scored.sort_by(|a, b| score(a).unwrap_or(0.0).total_cmp(&score(b).unwrap_or(0.0)));
    let Some(run) = scored.get(scored.len() / 2) else {
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
        "Seed {}, whose interval score is the median of the seeds{others}.",
        run.cell.seed
    );
    Ok((Some(chart(first, run)), note))
}

fn chart(prediction: &StoredBand, run: &RunRecord) -> Chart {
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
        sync: group_id(&run.cell),
    })
}
