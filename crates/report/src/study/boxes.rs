//! Box plots over seeds, with the published values beside ours.

use intervalid_study::figures::{model_colour, model_label};
use intervalid_study::{Cell, RunRecord, Spec, TableMetric, published};
use serde::Serialize;

use super::groups::group_id;
use crate::chart::{BoxGroup, BoxesChart, Chart, Reference};
use crate::column::rounded;
use crate::text::asked;

/// The four metrics of one data set and coverage.
#[derive(Serialize)]
pub(super) struct BoxesView {
    name: String,
    charts: Vec<Chart>,
}

pub(super) fn views(spec: &Spec, runs: &[RunRecord]) -> Vec<BoxesView> {
    let mut views = Vec::new();
    for dataset in &spec.datasets {
        for &coverage in &spec.coverages {
            let shown: Vec<&RunRecord> = runs
                .iter()
                .filter(|run| run.cell.dataset == *dataset && (run.cell.coverage - coverage).abs() < 1e-9)
                .collect();
            if shown.is_empty() {
                continue;
            }
            let mut models: Vec<&Cell> = Vec::new();
            for run in &shown {
                if !models.iter().any(|cell| group_id(cell) == group_id(&run.cell)) {
                    models.push(&run.cell);
                }
            }
            models.sort_by_key(|cell| (model_colour(cell), model_label(cell)));
            views.push(BoxesView {
                name: format!("{dataset}, {}", asked(coverage)),
                charts: TableMetric::ALL.map(|metric| chart(metric, &models, &shown)).to_vec(),
            });
        }
    }
    views
}

fn chart(metric: TableMetric, models: &[&Cell], runs: &[&RunRecord]) -> Chart {
    let group = |cell: &&Cell| {
        let origin = metric.box_origin(cell.coverage);
        let own = runs.iter().filter(|run| group_id(&run.cell) == group_id(cell));
        let values = own.filter_map(|run| Some(metric.of(&run.result()?.test.all)? - origin));
        let (strategy, margin) = (cell.strategy, cell.margin);
        let printed = published(&cell.dataset, cell.model, strategy, margin, cell.coverage, metric);
        BoxGroup {
            label: model_label(cell),
            colour: model_colour(cell),
            values: rounded(values),
            published: printed.map(|value| [value.mean - origin, value.std]),
        }
    };
    Chart::Boxes(BoxesChart {
        title: metric.box_label().to_owned(),
        y_label: metric.box_label().to_owned(),
        groups: models.iter().map(group).collect(),
        references: match metric {
            TableMetric::Picp => vec![Reference {
                value: 0.0,
                label: "asked".to_owned(),
            }],
            _ => Vec::new(),
        },
        // Missing coverage is punished exponentially.
        log: metric == TableMetric::Cwc,
    })
}
