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
    let shared = shares_positions(spec);
    let is_edge = |index: usize| spec.series[index].style == SeriesStyle::Edge;
    let curves = spec.series.iter().enumerate().filter(|(index, _)| !is_edge(*index));
    let series = curves.map(|(_, series)| {
        let (x, y) = match series.style {
            SeriesStyle::Joined | SeriesStyle::Dots => present(spec, series, shared),
            _ => with_gaps(spec, series),
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
    let bands = spec.fills.iter().map(|fill| {
        let [(x, upper), (_, lower)] = fill.edges.map(|edge| present(spec, &spec.series[edge], shared));
        // Between curves that have names of their own it is a layer, in the colour of its curve.
        let is_layer = !fill.edges.iter().all(|edge| is_edge(*edge));
        let name = &spec.series[fill.edges[0]].name;
        ShadedBand {
            label: match is_layer {
                true => String::new(),
                false => name.trim_end_matches(" upper").to_owned(),
            },
            x,
            lower,
            upper,
            of: is_layer.then(|| spec.series[fill.of].name.clone()),
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

/// Whether the curves stand at the same positions, so that a value that is missing is a gap. Where each curve has positions of its own,
/// no two have a value at the same one.
fn shares_positions(spec: &LinesChart) -> bool {
    let values = |place: usize| {
        let each = spec.series.iter().filter_map(|series| series.values.get(place));
        each.flatten().count()
    };
    spec.series.len() < 2 || (0..spec.x.len()).any(|place| values(place) > 1)
}

fn with_gaps(spec: &LinesChart, series: &Series) -> (Vec<f64>, Vec<f64>) {
    let values = series.values.iter().map(|value| value.unwrap_or(f64::NAN));
    (spec.x.clone(), values.collect())
}

/// A curve with its gaps; places that only other curves have are none.
fn present(spec: &LinesChart, series: &Series, shared: bool) -> (Vec<f64>, Vec<f64>) {
    if shared {
        return with_gaps(spec, series);
    }
    spec.x
        .iter()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::plot::Plot;

    fn panel(plot: Plot) -> LinePanel {
        let Chart::Lines(spec) = plot.chart() else {
            panic!("lines")
        };
        let chart = lines(&spec);
        chart.draw(&Style::default()).expect("a figure");
        chart.panels.into_iter().next().expect("a panel")
    }

    #[test]
    fn layers_keep_what_is_between_them() {
        let layers = [("noise", vec![1.0, 2.0]), ("margins", vec![3.0, 1.0])];
        let layers = layers.map(|(name, values)| (name.to_owned(), values)).to_vec();
        let panel = panel(Plot::new("t", "x", "y").stack(&[0.0, 1.0], layers));
        let found = |of: &str| {
            let band = panel.bands.iter().find(|band| band.of.as_deref() == Some(of));
            let band = band.expect("a layer");
            (band.lower.clone(), band.upper.clone(), band.label.clone())
        };
        assert_eq!(found("noise"), (vec![0.0, 0.0], vec![1.0, 2.0], String::new()));
        assert_eq!(found("margins"), (vec![1.0, 2.0], vec![4.0, 3.0], String::new()));
        assert_eq!(panel.series.len(), 2, "the ground is no curve");
    }

    #[test]
    fn a_band_stops_where_its_curve_does() {
        let (u, none) = ([0.0, 1.0, 2.0, 3.0], f64::NAN);
        let plot = Plot::new("t", "x", "y")
            .curve("rest", &u, &[1.0, none, 3.0, 4.0], SeriesStyle::Line)
            .band("band", 0, &u, [&[0.0, none, 2.0, 3.0], &[2.0, none, 4.0, 5.0]]);
        let panel = panel(plot);
        let band = &panel.bands[0];
        assert_eq!((band.x.as_slice(), band.label.as_str()), (&u[..], "band"));
        assert!(band.lower[1].is_nan() && band.upper[1].is_nan() && band.of.is_none());
    }

    #[test]
    fn positions_of_other_curves_are_no_gaps() {
        let plot = Plot::new("t", "x", "y")
            .curve("model", &[0.0, 2.0], &[1.0, 2.0], SeriesStyle::Joined)
            .curve("recording", &[1.0], &[1.5], SeriesStyle::Dots)
            .band("band", 0, &[0.0, 2.0], [&[0.5, 1.5], &[1.5, 2.5]]);
        let panel = panel(plot);
        assert_eq!(panel.series[0].x, [0.0, 2.0]);
        assert_eq!(
            (panel.bands[0].x.as_slice(), &panel.bands[0].lower),
            (&[0.0, 2.0][..], &vec![0.5, 1.5])
        );
    }
}
