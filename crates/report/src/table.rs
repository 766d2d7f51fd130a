//! Metrics as the cells of a table.

use intervalid_model::Metrics;
use serde::{Deserialize, Serialize};

use crate::text::{percent, significant};

/// A heading, and what it means.
pub(crate) type Heading = (String, String);

/// Headings of [`metric_cells`], with what they mean.
const METRIC_HEADINGS: [(&str, &str); 8] = [
    ("n", "scored samples"),
    (
        "RMSE",
        "root mean square error of the simulation, in the output's unit; less is better",
    ),
    (
        "fit",
        "100 % is perfect, 0 % is no better than the mean of the measured outputs",
    ),
    (
        "PICP",
        "share of the measured outputs inside the band; should reach what was asked",
    ),
    (
        "PINAW",
        "mean width of the band as a share of the range of the outputs; narrower is better",
    ),
    (
        "CWC",
        "PINAW·(1 + [PICP < asked]·e^(-25·(PICP - asked))), PICP and asked as shares; less is better",
    ),
    (
        "score",
        "interval score: mean width plus the price of misses, in the output's unit; less is better",
    ),
    ("worst 100", "least PICP of 100 consecutive samples"),
];

/// The headings as a page keeps them.
pub(crate) fn metric_headings() -> Vec<Heading> {
    METRIC_HEADINGS
        .map(|(name, meaning)| (name.to_owned(), meaning.to_owned()))
        .to_vec()
}

/// One row of a table of metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MetricRow {
    /// What the numbers are of.
    pub(crate) name: String,
    pub(crate) output: String,
    pub(crate) cells: Vec<String>,
    /// Whether the band holds what was asked; missing without a band.
    pub(crate) kept: Option<bool>,
    /// The numbers, for charts and comparisons.
    pub(crate) numbers: Metrics,
}

impl MetricRow {
    pub(crate) fn new(name: &str, output: &str, metrics: Metrics, coverage: f64) -> Self {
        Self {
            name: name.to_owned(),
            output: output.to_owned(),
            cells: metric_cells(&metrics),
            kept: metrics.picp.map(|picp| picp >= coverage),
            numbers: metrics,
        }
    }
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

fn metric_cells(metrics: &Metrics) -> Vec<String> {
    let worst = metrics.worst_rolling_picp.map(percent);
    let cells = metric_texts(metrics).into_iter().chain([worst]);
    let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
    [metrics.n.to_string()].into_iter().chain(cells).collect()
}
