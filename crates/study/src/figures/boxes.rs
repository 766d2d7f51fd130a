//! Box plots over seeds: RMSE, deviation of PICP, PINAW and CWC of every model, with the published values beside ours. Several outputs
//! have no RMSE in common, and the PICP of the worst.

use intervalid_figure::{BoxGroup, BoxPanel, BoxPlot, Published, Style, Target, Theme};

use super::{NamedFigure, labels};
use crate::cell::Cell;
use crate::error::Result;
use crate::published::{TableMetric, published};
use crate::record::RunRecord;
use crate::spec::Spec;
use crate::store::Store;

/// Panels of a figure.
const PANELS: [TableMetric; 4] = TableMetric::ALL;

/// The seeds of every model on one data set at one coverage, before they are drawn.
pub struct SeedBoxes {
    /// Data set.
    pub dataset: String,
    /// Coverage asked.
    pub coverage: f64,
    /// A panel per metric that there is: the error of several outputs has no mean.
    pub plot: BoxPlot,
}

/// One figure per data set and coverage.
///
/// # Errors
/// If the database cannot be read or a figure not be drawn.
pub fn box_plots(store: &Store) -> Result<Vec<NamedFigure>> {
    let spec = store.spec()?;
    let boxes = seed_boxes(&spec, &store.runs()?);
    let draw = |boxes: &SeedBoxes| {
        let dataset = labels::file_of_dataset(&boxes.dataset, &spec.datasets);
        Ok(NamedFigure {
            name: labels::file(&["boxes", &dataset, &labels::share(boxes.coverage)]),
            figure: boxes.plot.draw(&Style::new(Theme::Light))?,
        })
    };
    boxes.iter().map(draw).collect()
}

/// What [`box_plots`] draws; data sets and coverages without runs are left out.
#[must_use]
pub fn seed_boxes(spec: &Spec, runs: &[RunRecord]) -> Vec<SeedBoxes> {
    let mut boxes = Vec::new();
    for dataset in &spec.datasets {
        for &coverage in &spec.coverages {
            let shown: Vec<&RunRecord> = runs
                .iter()
                .filter(|run| labels::is_at(run, dataset, coverage))
                .collect();
            if shown.is_empty() {
                continue;
            }
            let models = models(&shown);
            let mut results = shown.iter().filter_map(|run| run.result());
            let several = results.any(|result| result.test.has_several_outputs());
            let panel = |&metric: &TableMetric| BoxPanel {
                title: match (metric, several) {
                    (TableMetric::Picp, false) => "PICP - asked (points)",
                    (TableMetric::Picp, true) => "PICP of the worst output - asked (points)",
                    (metric, false) => metric.label(dataset),
                    (metric, true) => metric.label_of_several(),
                }
                .to_owned(),
                groups: models.iter().map(|cell| group(metric, cell, &shown)).collect(),
                target: (metric == TableMetric::Picp).then(|| Target {
                    value: 0.0,
                    label: "asked".to_owned(),
                }),
                // Missing coverage is punished exponentially.
                log: metric == TableMetric::Cwc,
                ..BoxPanel::default()
            };
            boxes.push(SeedBoxes {
                dataset: dataset.clone(),
                coverage,
                plot: BoxPlot {
                    title: format!("{dataset}, {} asked", labels::percent(coverage)),
                    panels: PANELS
                        .iter()
                        .filter(|&&metric| !(several && metric == TableMetric::Rmse))
                        .map(panel)
                        .collect(),
                    columns: 2,
                    published_label: "published mean ± std".to_owned(),
                },
            });
        }
    }
    boxes
}

/// One cell per model, in the order of the study.
fn models<'a>(runs: &[&'a RunRecord]) -> Vec<&'a Cell> {
    let mut models: Vec<&Cell> = Vec::new();
    for run in runs {
        if !models.iter().any(|cell| labels::of(cell) == labels::of(&run.cell)) {
            models.push(&run.cell);
        }
    }
    models.sort_by_key(|cell| (labels::colour(cell), labels::of(cell)));
    models
}

/// The seeds of one model. Coverage is shown as its distance to what was asked.
fn group(metric: TableMetric, cell: &Cell, runs: &[&RunRecord]) -> BoxGroup {
    let label = labels::of(cell);
    let asked = if metric == TableMetric::Picp {
        100.0 * cell.coverage
    } else {
        0.0
    };
    let own = runs.iter().filter(|run| labels::of(&run.cell) == label);
    let values = own.filter_map(|run| Some(metric.of(&run.result()?.test.judged(), &run.cell.dataset)? - asked));
    let (strategy, margin) = (cell.strategy, cell.margin);
    BoxGroup {
        values: values.collect(),
        published: published(&cell.dataset, cell.model, strategy, margin, cell.coverage, metric).map(|value| {
            Published {
                mean: value.mean - asked,
                standard_deviation: value.std,
            }
        }),
        colour: labels::colour(cell),
        label,
    }
}
