//! The page of an analysis.

mod band;
mod curves;
mod errors;
mod linear;
mod pictures;
mod plot;
mod responses;

use intervalid_analysis::{
    AheadFit, FrequencyResponse, Linearisation, NextRecording, Residuals, Responses, StaticCurve, WidthShares,
};
use intervalid_data::{Channel, Dataset};
use intervalid_model::{Model, ModelKind};
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::error::Result;
use crate::page::{Content, Page};
use crate::text::{count, labelled, listed};

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

/// The channel of this name with its unit.
fn with_unit(channels: &[Channel], name: &str) -> String {
    let unit = channels
        .iter()
        .find(|channel| channel.name == name)
        .and_then(|channel| channel.unit.as_deref());
    labelled(name, unit)
}
