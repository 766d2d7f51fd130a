//! Metrics as the cells of a table.

use intervalid_model::{CoverageTarget, Evaluation, Metrics};
use serde::{Deserialize, Serialize};

use crate::text::{CoverageVerdict, MeasuredCoverage, against, percent, significant};

/// A heading, and what it means.
pub(crate) type Heading = (String, String);

/// Headings of [`metric_cells`], with what they mean.
const METRIC_HEADINGS: [(&str, &str); 8] = [
    ("n", "scored samples"),
    (
        "RMSE",
        "root mean square error of the simulation, in the output's unit; lower is better",
    ),
    (
        "fit",
        "100 % is perfect, 0 % is no better than the mean of the measured outputs",
    ),
    (
        "PICP",
        "share of the measured outputs inside the band; should reach the target",
    ),
    (
        "PINAW",
        "mean width of the band as a share of the range of the outputs; narrower is better",
    ),
    (
        "CWC",
        "PINAW·(1 + [PICP < target]·e^(-25·(PICP - target))), with PICP and target as shares; lower is better",
    ),
    (
        "score",
        "interval score: mean width plus a penalty for misses, in the output's unit; lower is better",
    ),
    ("worst 100", "PICP of the worst 100 consecutive samples"),
];

/// The headings as a page keeps them.
pub(crate) fn metric_headings() -> Vec<Heading> {
    METRIC_HEADINGS
        .map(|(name, meaning)| (name.to_owned(), meaning.to_owned()))
        .to_vec()
}

/// What the row of the means is called.
pub(crate) const MEAN: &str = "all (mean)";

/// One row of a table of metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MetricRow {
    /// What the numbers are of.
    pub(crate) name: String,
    pub(crate) output: String,
    pub(crate) cells: Vec<String>,
    /// Whether the coverage reaches the target or is consistent with it; missing without a band, and of one output where the target is of all
    /// together.
    pub(crate) kept: Option<bool>,
    /// The share of samples at which all outputs are inside, where the target is of that.
    #[serde(default)]
    pub(crate) together: Option<f64>,
    /// The numbers, for charts and comparisons.
    pub(crate) numbers: Metrics,
}

impl MetricRow {
    pub(crate) fn new(name: &str, output: &str, metrics: Metrics, coverage: f64, independent: Option<f64>) -> Self {
        Self {
            name: name.to_owned(),
            output: output.to_owned(),
            cells: metric_cells(&metrics),
            kept: is_kept(&metrics, coverage, independent),
            together: None,
            numbers: metrics,
        }
    }

    /// A row per output, and their mean where there are several. RMSE and interval score are in each output's own unit and have no mean.
    pub(crate) fn all(
        name: &str,
        evaluation: &Evaluation,
        target: CoverageTarget,
        independent: Option<f64>,
    ) -> Vec<Self> {
        let row = |output: &str, metrics| Self::new(name, output, metrics, target.share, independent);
        let outputs = evaluation.outputs.iter();
        let mut rows: Vec<Self> = outputs.map(|(output, metrics)| row(output, *metrics)).collect();
        if rows.len() < 2 {
            return rows;
        }
        let mean = Metrics {
            rmse: None,
            interval_score: None,
            ..evaluation.all
        };
        if target.together {
            // No output has a target of its own.
            rows.iter_mut().for_each(|row| row.kept = None);
        }
        rows.push(Self {
            // A mean has no target: it is kept where the worst output keeps it, or all together do.
            kept: is_kept(&against(target, evaluation).metrics, target.share, independent),
            together: evaluation.together.filter(|_| target.together),
            ..row(MEAN, mean)
        });
        rows
    }
}

fn is_kept(metrics: &Metrics, coverage: f64, independent: Option<f64>) -> Option<bool> {
    let measured = MeasuredCoverage::of(metrics, coverage, independent)?;
    Some(measured.verdict() != CoverageVerdict::Missed)
}

/// RMSE, fit, PICP, PINAW, CWC and interval score as text; none where a measure does not exist.
#[must_use]
pub fn metric_texts(metrics: &Metrics) -> [Option<String>; 6] {
    [
        metrics.rmse.map(|value| significant(value, 4)),
        metrics.fit_percent.map(|value| format!("{value:.1} %")),
        metrics.picp.map(percent),
        metrics.pinaw.map(percent),
        metrics.cwc.map(|value| significant(value, 3)),
        metrics.interval_score.map(|value| significant(value, 4)),
    ]
}

pub(crate) fn metric_cells(metrics: &Metrics) -> Vec<String> {
    let worst = metrics.worst_rolling_picp.map(percent);
    let cells = metric_texts(metrics).into_iter().chain([worst]);
    let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
    [metrics.n.to_string()].into_iter().chain(cells).collect()
}
