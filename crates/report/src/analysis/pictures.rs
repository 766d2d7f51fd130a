//! The charts of an analysis as files.

use intervalid_figure::{
    BarChart, BarSeries, Figure, LineChart, LinePanel, LineSeries, LineStyle, ReferenceLine, ShadedBand, Style,
};

use crate::chart::{BarsChart, Chart, LinesChart, Series, SeriesStyle};
use crate::error::Result;
use crate::page::{Content, Page};

impl Page {
    /// Every chart of the page of an analysis, with a name for its file; none of other pages, whose charts are drawn in the browser.
    ///
    /// # Errors
    /// If a chart cannot be drawn.
    pub fn pictures(&self, style: &Style) -> Result<Vec<(String, Figure)>> {
        let Content::Analysis(content) = &self.content else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for section in &content.sections {
            for (index, chart) in section.charts.iter().enumerate() {
                let figure = match chart {
                    Chart::Lines(spec) => lines(spec).draw(style)?,
                    Chart::Bars(spec) => bars(spec).draw(style)?,
                    _ => continue,
                };
                found.push((format!("{}-{}", section.id, index + 1), figure));
            }
        }
        Ok(found)
    }
}

fn lines(spec: &LinesChart) -> LineChart {
    let is_edge = |index: usize| spec.series[index].style == SeriesStyle::Edge;
    let curves = spec.series.iter().enumerate().filter(|(index, _)| !is_edge(*index));
    let series = curves.map(|(_, series)| {
        // Places that other curves have and this one has not are no gaps of it.
        let (x, y) = match series.style {
            SeriesStyle::Joined | SeriesStyle::Dots => present(&spec.x, series),
            _ => (
                spec.x.clone(),
                series.values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
            ),
        };
        LineSeries {
            name: series.name.clone(),
            x,
            y,
            style: match series.style {
                SeriesStyle::Dots => LineStyle::Dots,
                SeriesStyle::Stem => LineStyle::Stem,
                SeriesStyle::Line | SeriesStyle::Step | SeriesStyle::Joined | SeriesStyle::Edge => LineStyle::Line,
            },
        }
    });
    let bands = spec
        .fills
        .iter()
        .filter(|fill| fill.edges.iter().all(|edge| is_edge(*edge)))
        .map(|fill| {
            let [(x, upper), (_, lower)] = fill.edges.map(|edge| present(&spec.x, &spec.series[edge]));
            let name = &spec.series[fill.edges[0]].name;
            ShadedBand {
                label: name.trim_end_matches(" upper").to_owned(),
                x,
                lower,
                upper,
            }
        });
    let references = spec.references.iter().map(|reference| ReferenceLine {
        value: reference.value,
        label: reference.label.clone(),
    });
    LineChart {
        title: spec.title.clone(),
        panels: vec![LinePanel {
            x_label: spec.x_label.clone(),
            y_label: spec.y_label.clone(),
            series: series.collect(),
            bands: bands.collect(),
            references: references.collect(),
            log: spec.log,
            x_log: spec.x_log,
            y_range: spec.y_range.map(|[low, high]| (low, high)),
            equal: spec.equal,
            ..LinePanel::default()
        }],
        ..LineChart::default()
    }
}

fn present(x: &[f64], series: &Series) -> (Vec<f64>, Vec<f64>) {
    x.iter()
        .zip(&series.values)
        .filter_map(|(x, value)| Some((*x, (*value)?)))
        .unzip()
}

fn bars(spec: &BarsChart) -> BarChart {
    BarChart {
        title: spec.title.clone(),
        x_label: spec.x_label.clone(),
        y_label: spec.y_label.clone(),
        categories: spec.categories.clone(),
        series: vec![BarSeries {
            name: spec.y_label.clone(),
            values: spec.values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
        }],
        log: spec.log,
    }
}
