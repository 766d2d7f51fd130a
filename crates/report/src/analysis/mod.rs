//! The page of an analysis.

mod band;
mod curves;
mod errors;
mod linear;
mod overlay;
mod pictures;
mod plot;
mod responses;

use intervalid_analysis::{
    AheadFit, FrequencyResponse, Linearisation, NextRecording, Residuals, Responses, StaticCurve, Views, WidthShares,
};
use intervalid_data::{Channel, Dataset};
use intervalid_model::{Model, ModelKind};
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::error::Result;
use crate::fit::elasticity;
use crate::page::{Content, Page};
use crate::text::{count, labelled, listed};

pub use overlay::{NamedAnalysis, analysis_overlay};

/// The views of a model.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// The recording that errors are of, if there is one.
    pub dataset: Option<&'a Dataset>,
    /// Around the operating point.
    pub linear: &'a Linearisation,
    /// Bode; none of a model without inputs.
    pub frequency: Option<&'a FrequencyResponse>,
    /// Steps and pulses, one entry per input; none where the point is no stable rest.
    pub responses: &'a [Responses],
    /// Static characteristics, one per input.
    pub curves: &'a [StaticCurve],
    /// Errors, one entry per output.
    pub residuals: &'a [Residuals],
    /// Fits by horizon.
    pub ahead: &'a [AheadFit],
    /// What the band is made of, one entry per output.
    pub widths: &'a [WidthShares],
    /// What to measure next.
    pub next: Option<&'a NextRecording>,
    /// What a reader should know, in words.
    pub notes: &'a [String],
}

impl<'a> AnalysisReport<'a> {
    /// All views, over a recording if they are of one.
    #[must_use]
    pub fn new(model: &'a Model, dataset: Option<&'a Dataset>, views: &'a Views) -> Self {
        Self {
            model,
            dataset,
            linear: &views.linear,
            frequency: views.frequency.as_ref(),
            responses: &views.responses,
            curves: &views.curves,
            residuals: &views.residuals,
            ahead: &views.ahead,
            widths: &views.widths,
            next: views.next.as_ref(),
            notes: &views.notes,
        }
    }
}

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnalysisContent {
    pub(crate) title: String,
    pub(crate) model: ModelKind,
    pub(crate) lead: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

/// A view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Section {
    /// For links.
    pub(crate) id: String,
    /// In the navigation.
    pub(crate) label: String,
    pub(crate) heading: String,
    pub(crate) words: Vec<String>,
    pub(crate) tables: Vec<TableView>,
    pub(crate) charts: Vec<Chart>,
}

/// A table of text; the first column names the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableView {
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The page of a model's views.
///
/// # Errors
/// None so far: the views were checked where they were made.
pub fn analysis_page(report: &AnalysisReport<'_>) -> Result<Page> {
    let AnalysisReport { model, linear, .. } = *report;
    let names = |channels: &[Channel]| listed(channels.iter().map(|channel| channel.name.as_str()));
    let mut sections = vec![linear::section(linear)];
    sections.extend(report.frequency.map(|found| linear::frequency_section(linear, found)));
    sections.extend(responses::section(linear, report.responses));
    sections.extend(curves::section(linear, report.curves));
    sections.extend(errors::section(report));
    sections.extend(band::width_section(linear, report.widths));
    sections.extend(elasticity_section(model));
    sections.extend(report.next.map(|next| band::next_section(linear, next)));
    let whence = report.dataset.map_or_else(String::new, |dataset| {
        format!(" Errors are those of its free run over {}.", dataset.name())
    });
    let members = match linear.members {
        1 => String::new(),
        members => format!(", the mean of {members} members"),
    };
    let content = AnalysisContent {
        title: format!("{}: what the model does", names(&linear.outputs)),
        model: model.kind(),
        lead: vec![format!(
            "{} from {}: {} with {} and {}{members}.{whence}",
            names(&linear.outputs),
            names(&linear.inputs),
            model.kind(),
            model.memory_in_words(),
            count(model.parameters(), "parameter"),
        )],
        cautions: report.notes.to_vec(),
        sections,
    };
    Ok(Page::new(Content::Analysis(Box::new(content))))
}

/// Which parameters carry the uncertainty; none of a model without margins.
fn elasticity_section(model: &Model) -> Option<Section> {
    let found = elasticity::view(model)?;
    Some(Section {
        id: "elasticity".to_owned(),
        label: "Elasticity".to_owned(),
        heading: "Elasticity: where the uncertainty sits".to_owned(),
        words: vec![format!(
            "Elasticity is the width of a parameter's interval over its size. {} Where a parameter is (near) zero the ratio is unbounded.",
            found.reading
        )],
        charts: found.channels.into_iter().chain(found.layers).collect(),
        ..Section::default()
    })
}

/// The channel of this name with its unit.
fn with_unit(channels: &[Channel], name: &str) -> String {
    let unit = channels
        .iter()
        .find(|channel| channel.name == name)
        .and_then(|channel| channel.unit.as_deref());
    labelled(name, unit)
}
