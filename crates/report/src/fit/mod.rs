//! The page of a fit.

mod baseline;
mod coverage;
mod data;
mod elasticity;
mod history;
mod residuals;
mod runs;
mod search;
mod story;

use intervalid_data::{Dataset, Split};
use intervalid_model::{AutoInfo, Band, Evaluation, Model, ModelKind, TrainInfo, evaluate};
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::error::Result;
use crate::page::{Content, Page};
use crate::table::{Heading, MetricRow, metric_headings};
use crate::text::{asked, independent_share, reading};

pub use baseline::Baseline;

/// Simulations of one part of a record.
#[derive(Clone, Copy, Debug)]
pub struct PartBands<'a> {
    /// Such as `test`.
    pub name: &'a str,
    /// The simulations; none where the part is empty.
    pub bands: &'a [Band],
}

/// What a fit leaves behind for its page.
#[derive(Clone, Copy, Debug)]
pub struct FitReport<'a> {
    /// The record.
    pub dataset: &'a Dataset,
    /// Its parts.
    pub split: &'a Split,
    /// The fitted model.
    pub model: &'a Model,
    /// How it was trained.
    pub info: &'a TrainInfo,
    /// Free runs: test first, then validation and training.
    pub parts: &'a [PartBands<'a>],
    /// The test part with the band that follows the measured outputs.
    pub online: &'a [Band],
    /// Which samples of the test part lie outside the region of the training data, where the model knows it.
    pub extrapolated: Option<&'a [Vec<bool>]>,
    /// How the model was found, if by search.
    pub search: Option<&'a AutoInfo>,
    /// A linear model on the same record; none where the model is one.
    pub baseline: Option<&'a Baseline>,
    /// Where the settings come from.
    pub preset: &'a str,
    /// `config.toml`.
    pub config: &'a str,
    /// Commands that repeat the fit.
    pub commands: &'a [String],
}

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FitContent {
    pub(crate) title: String,
    pub(crate) dataset: String,
    pub(crate) model: ModelKind,
    pub(crate) label: String,
    pub(crate) coverage: f64,
    pub(crate) asked: String,
    pub(crate) lead: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) facts: Vec<story::Fact>,
    pub(crate) parts: Vec<runs::PartView>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) metrics: Vec<MetricRow>,
    pub(crate) readings: Vec<String>,
    pub(crate) search: Option<search::SearchView>,
    pub(crate) extrapolation: Option<String>,
    pub(crate) baseline: Option<BaselineView>,
    pub(crate) residuals: Vec<residuals::ResidualView>,
    pub(crate) coverage_charts: Vec<coverage::CoverageView>,
    pub(crate) history: Vec<Chart>,
    pub(crate) stages: Vec<String>,
    pub(crate) elasticity: Option<elasticity::ElasticityView>,
    pub(crate) data: data::DataView,
    pub(crate) config: String,
    pub(crate) commands: Vec<String>,
    pub(crate) train_seconds: f64,
}

/// The linear model beside the fitted one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BaselineView {
    pub(crate) name: String,
    pub(crate) rows: Vec<MetricRow>,
}

/// The page of a fit.
///
/// # Errors
/// If the bands do not belong to the record.
pub fn fit_page(report: &FitReport<'_>) -> Result<Page> {
    let (dataset, model) = (report.dataset, report.model);
    let coverage = model.config().coverage;
    let independent = report.search.and_then(|info| independent_share(&info.calibration));
    let mut evaluations: Vec<(&str, Evaluation)> = Vec::new();
    for part in report.parts.iter().filter(|part| !part.bands.is_empty()) {
        evaluations.push((part.name, evaluate(dataset, part.bands, coverage)?));
    }
    let mut metrics: Vec<MetricRow> = Vec::new();
    for (name, evaluation) in &evaluations {
        metrics.extend(rows(name, evaluation, coverage, independent));
        if *name == "test" && !report.online.is_empty() {
            let online = evaluate(dataset, report.online, coverage)?;
            metrics.extend(rows("test, online band", &online, coverage, independent));
        }
    }
    let judged = report.parts.iter().find(|part| !part.bands.is_empty());
    let bands = judged.map_or(&[][..], |part| part.bands);
    let story = story::tell(report, &evaluations);
    let content = FitContent {
        title: format!("{}: {}", dataset.name(), story.model),
        dataset: dataset.name().to_owned(),
        model: model.kind(),
        label: story.model,
        coverage,
        asked: asked(coverage),
        lead: story.lead,
        cautions: story.cautions,
        facts: story.facts,
        parts: runs::views(report)?,
        headings: metric_headings(),
        metrics,
        readings: evaluations.first().map_or_else(Vec::new, |(_, evaluation)| {
            let outputs = evaluation.outputs.iter();
            outputs
                .map(|(name, metrics)| format!("{name}: {}", reading(metrics, coverage, independent)))
                .collect()
        }),
        search: report.search.map(search::view),
        extrapolation: report.extrapolated.and_then(search::extrapolation),
        baseline: report.baseline.map(|baseline| BaselineView {
            name: baseline.label(),
            rows: rows(&baseline.label(), &baseline.test, coverage, independent),
        }),
        residuals: residuals::views(dataset, bands)?,
        coverage_charts: coverage::views(dataset, bands, coverage)?,
        history: history::charts(report.info),
        stages: history::stages(report.info),
        elasticity: elasticity::view(model),
        data: data::view(dataset, report.split),
        config: report.config.to_owned(),
        commands: report.commands.to_vec(),
        train_seconds: report.info.duration.as_secs_f64(),
    };
    Ok(Page::new(Content::Fit(Box::new(content))))
}

/// A row per output, and their mean where there are several.
fn rows(name: &str, evaluation: &Evaluation, coverage: f64, independent: Option<f64>) -> Vec<MetricRow> {
    let outputs = evaluation.outputs.iter();
    let mut rows: Vec<MetricRow> = outputs
        .map(|(output, metrics)| MetricRow::new(name, output, *metrics, coverage, independent))
        .collect();
    if rows.len() > 1 {
        rows.push(MetricRow::mean(name, evaluation, coverage, independent));
    }
    rows
}
