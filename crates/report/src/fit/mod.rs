//! The page of a fit.

mod coverage;
mod data;
pub(crate) mod elasticity;
mod history;
mod residuals;
mod runs;
mod search;
mod story;

pub use story::model_in_words;

use intervalid_data::{Dataset, Split};
use intervalid_model::{Band, CoverageTarget, Evaluation, ModelKind};
use intervalid_workflow::FitOutcome;
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::error::Result;
use crate::page::{Content, Page};
use crate::table::{Heading, MetricRow, metric_headings};
use crate::text::{asked, independent_share, reading, together_reading};

/// Simulations of one part of a record.
#[derive(Clone, Copy, Debug)]
struct PartBands<'a> {
    /// Such as `test`.
    name: &'static str,
    /// The simulations; never none.
    bands: &'a [Band],
    evaluation: &'a Evaluation,
}

/// What a fit leaves behind for its page.
#[derive(Clone, Copy, Debug)]
pub struct FitReport<'a> {
    /// The record.
    pub dataset: &'a Dataset,
    /// Its parts.
    pub split: &'a Split,
    /// The fit.
    pub outcome: &'a FitOutcome,
    /// `config.toml`.
    pub config: &'a str,
    /// Commands that repeat the fit.
    pub commands: &'a [String],
}

impl<'a> FitReport<'a> {
    /// Free runs: test first, then validation and training; parts that are empty are left out.
    fn parts(&self) -> Vec<PartBands<'a>> {
        let FitOutcome {
            runs, metrics, train, ..
        } = self.outcome;
        let parts: [(&'static str, &'a [Band], &'a Option<Evaluation>); 3] = [
            ("test", &runs.test, &metrics.test),
            ("validation", &runs.validation, &metrics.validation),
            ("training", &runs.train, train),
        ];
        let part = |(name, bands, evaluation): (_, _, &'a Option<Evaluation>)| {
            let evaluation = evaluation.as_ref()?;
            Some(PartBands {
                name,
                bands,
                evaluation,
            })
        };
        parts.into_iter().filter_map(part).collect()
    }
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
    let FitReport { dataset, outcome, .. } = *report;
    let model = &outcome.model;
    let coverage = model.config().coverage;
    let target = model.interface().coverage_target(coverage);
    let parts = report.parts();
    let search = outcome.metrics.search.as_ref();
    let independent = independent_share(model.interface());
    let mut metrics: Vec<MetricRow> = Vec::new();
    for part in &parts {
        metrics.extend(MetricRow::all(part.name, part.evaluation, target, independent));
        if let ("test", Some(online)) = (part.name, &outcome.metrics.test_online) {
            metrics.extend(MetricRow::all("test, online band", online, target, independent));
        }
    }
    let judged = parts.first();
    let bands = judged.map_or(&[][..], |part| part.bands);
    let story = story::tell(report, judged);
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
        readings: judged.map_or_else(Vec::new, |part| {
            let outputs = part.evaluation.outputs.iter();
            let of_each = outputs.map(|(name, metrics)| format!("{name}: {}", reading(metrics, coverage, independent)));
            of_each
                .chain(together_reading(
                    part.evaluation,
                    coverage,
                    target.together,
                    independent,
                ))
                .collect()
        }),
        search: search.map(search::view),
        extrapolation: outcome.runs.extrapolated.as_deref().and_then(search::extrapolation),
        baseline: outcome.baseline.as_ref().map(|baseline| BaselineView {
            name: baseline.label(),
            // Its band is for each output, whatever that of the model is for.
            rows: MetricRow::all(
                &baseline.label(),
                &baseline.test,
                CoverageTarget::of_each(coverage),
                independent,
            ),
        }),
        residuals: residuals::views(model, dataset, bands)?,
        coverage_charts: coverage::views(dataset, bands, coverage)?,
        history: history::charts(&outcome.training),
        stages: history::stages(&outcome.training),
        elasticity: elasticity::view(model),
        data: data::view(dataset, report.split, outcome.metrics.preparation.clone()),
        config: report.config.to_owned(),
        commands: report.commands.to_vec(),
        train_seconds: outcome.metrics.train_seconds,
    };
    Ok(Page::new(Content::Fit(Box::new(content))))
}
