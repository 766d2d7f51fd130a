//! Metrics as the cells of a table.

use intervalid_model::Metrics;
use serde::Serialize;
use serde_json::Value;

use crate::text::{percent, significant};

/// Headings of [`metric_cells`], with what they mean.
pub(crate) const METRIC_HEADINGS: [(&str, &str); 8] = [
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

/// One row of a table of metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

fn metric_cells(metrics: &Metrics) -> Vec<String> {
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), text);
    vec![
        metrics.n.to_string(),
        cell(metrics.rmse, |value| significant(value, 4)),
        cell(metrics.fit_percent, |value| format!("{value:.1} %")),
        cell(metrics.picp, percent),
        cell(metrics.pinaw, percent),
        cell(metrics.cwc, |value| significant(value, 3)),
        cell(metrics.interval_score, |value| significant(value, 4)),
        cell(metrics.worst_rolling_picp, percent),
    ]
}

/// The metrics that the data of a page hold.
pub(crate) fn metrics_of(value: &Value) -> Metrics {
    serde_json::from_value(value.clone()).unwrap_or_default()
}
