//! What each kind of figure contains.

use intervalid_figure::*;

use crate::{band, count, groups, has_text, names, paths, texts, with_root};

#[test]
fn band_marks_what_is_outside() {
    let figure = band(100).draw(&Style::default()).unwrap();
    assert_eq!(paths(&figure, "outside").matches('M').count(), 10);
    assert_eq!(paths(&figure, "measured").matches('M').count(), 100);
    assert_eq!(paths(&figure, "interval").matches('Z').count(), 1);
    assert!(
        texts(&figure).iter().any(|text| text.starts_with("−1")),
        "a typographic minus"
    );
    for text in [
        "Simulation",
        "sample",
        "level (cm)",
        "measured",
        "prediction",
        "measured outside the interval",
    ] {
        assert!(has_text(&figure, text), "{text}");
    }
}

#[test]
fn band_panels_share_the_lower_axis() {
    let mut plot = band(50);
    plot.panels = vec![plot.panels[0].clone(), plot.panels[0].clone(), plot.panels[0].clone()];
    plot.panels[1].y_range = Some((-10.0, 10.0));
    let figure = plot.draw(&Style::default()).unwrap();
    assert_eq!(groups(&figure, "axes"), 3);
    assert_eq!(texts(&figure).iter().filter(|text| *text == "sample").count(), 1);
    plot.panels[1].y_range = None;
    plot.panels[2].upper[3] = 900.0;
    plot.shared_y = true;
    let shared = plot.draw(&Style::default()).unwrap();
    assert_eq!(texts(&shared).iter().filter(|text| *text == "800").count(), 3);
}

#[test]
fn long_records_stay_small() {
    let mut plot = band(100_000);
    plot.panels = vec![plot.panels[0].clone(); 4];
    let figure = plot.draw(&Style::default()).unwrap();
    assert!(figure.to_svg().len() < 1_000_000, "{} bytes", figure.to_svg().len());
}

fn boxes(count: usize, log: bool) -> BoxPlot {
    let group = |label: String| BoxGroup {
        label,
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 30.0],
        published: Some(Published {
            mean: 6.0,
            standard_deviation: 1.0,
        }),
        colour: 0,
    };
    let panel = BoxPanel {
        title: "RMSE".to_owned(),
        y_label: "RMSE (kN)".to_owned(),
        groups: names(count, "interval LSTM variant ").into_iter().map(group).collect(),
        target: Some(Target {
            value: 5.0,
            label: "goal".to_owned(),
        }),
        log,
        y_range: None,
    };
    BoxPlot {
        title: "Seeds".to_owned(),
        panels: vec![panel; 4],
        ..BoxPlot::default()
    }
}

#[test]
fn boxes_have_their_parts() {
    for log in [false, true] {
        let figure = boxes(3, log).draw(&Style::default()).unwrap();
        assert_eq!((groups(&figure, "box"), groups(&figure, "published")), (12, 12));
        // Two whiskers with caps and the median.
        assert_eq!(count(&figure, "box", "line"), 12 * 5);
        // One path of outliers and the diamond of the mean.
        assert_eq!(count(&figure, "box", "path"), 12 * 2);
        assert!(has_text(&figure, "goal") && has_text(&figure, "published mean ± standard deviation"));
    }
}

#[test]
fn box_edges_are_quartiles() {
    let plot = BoxPlot {
        panels: vec![BoxPanel {
            groups: vec![BoxGroup {
                values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 30.0],
                ..BoxGroup::default()
            }],
            y_range: Some((0.0, 30.0)),
            ..BoxPanel::default()
        }],
        ..BoxPlot::default()
    };
    let style = Style {
        panel_height: Some(300.0),
        ..Style::default()
    };
    // Ten pixels per unit: the box from 3.25 to 7.75 is 45 high.
    assert!(plot.draw(&style).unwrap().to_svg().contains("height=\"45\""));
}

#[test]
fn many_boxes_slant_their_names() {
    let svg = boxes(14, false).draw(&Style::default()).unwrap().to_svg();
    assert!(svg.contains("rotate(-38"));
    assert!(
        !boxes(2, false)
            .draw(&Style::default())
            .unwrap()
            .to_svg()
            .contains("rotate(-38")
    );
}

#[test]
fn heat_map_cells_and_key() {
    let map = HeatMap {
        rows: names(2, "r"),
        columns: names(3, "c"),
        values: vec![vec![0.0, 0.0, 1.0], vec![f64::NAN, f64::INFINITY, 0.5]],
        value_label: "elasticity".to_owned(),
        ..HeatMap::default()
    };
    let grid = HeatMapGrid {
        maps: vec![map.clone(), map],
        ..HeatMapGrid::default()
    };
    let figure = grid.draw(&Style::default()).unwrap();
    assert_eq!(groups(&figure, "cells"), 2);
    // Equal neighbours merge: five runs of cells per map.
    assert_eq!(paths(&figure, "cells").matches('M').count(), 10);
    for text in ["r1", "c3", "elasticity", "unbounded", "no value", "0.0", "1.0"] {
        assert!(has_text(&figure, text), "{text}: {:?}", texts(&figure));
    }
}

#[test]
fn large_heat_maps_stay_small() {
    let size = 700;
    let values = (0..size)
        .map(|row| (0..size).map(|column| (row * column) as f64 % 97.0).collect())
        .collect();
    let map = HeatMap {
        rows: names(size, ""),
        columns: names(size, ""),
        values,
        ..HeatMap::default()
    };
    let grid = HeatMapGrid {
        maps: vec![map],
        ..HeatMapGrid::default()
    };
    let figure = grid.draw(&Style::default()).unwrap();
    assert!(figure.to_svg().len() < 1_100_000, "{}", figure.to_svg().len());
    assert!(texts(&figure).len() < 120);
}

#[test]
fn bars_and_hatches() {
    let series = |name: &str, values: [f64; 3]| BarSeries {
        name: name.to_owned(),
        values: values.to_vec(),
    };
    let chart = BarChart {
        categories: names(3, "channel "),
        series: vec![
            series("LSTM", [1.0, -2.0, f64::INFINITY]),
            series("NODE", [f64::NAN, 0.5, 0.25]),
        ],
        ..BarChart::default()
    };
    let figure = chart.draw(&Style::default()).unwrap();
    assert_eq!(
        (count(&figure, "series", "rect"), count(&figure, "series", "path")),
        (5, 1)
    );
    for text in ["LSTM", "NODE", "unbounded", "n/a", "channel 3", "−2"] {
        assert!(
            texts(&figure).iter().any(|found| found.starts_with(text)),
            "{text}: {:?}",
            texts(&figure)
        );
    }
}

#[test]
fn line_chart_parts() {
    let stem = |name: &str| LineSeries {
        name: name.to_owned(),
        x: vec![0.0, 1.0, 2.0],
        y: vec![1.0, f64::NAN, -0.1],
        style: LineStyle::Stem,
    };
    let panel = LinePanel {
        series: vec![stem("residuals")],
        bands: vec![ShadedBand {
            label: "99 % limits".to_owned(),
            x: vec![0.0, 2.0],
            lower: vec![-0.2; 2],
            upper: vec![0.2; 2],
            ..ShadedBand::default()
        }],
        references: vec![ReferenceLine {
            value: 0.5,
            label: "limit".to_owned(),
        }],
        ..LinePanel::default()
    };
    let chart = LineChart {
        panels: vec![panel; 2],
        ..LineChart::default()
    };
    let figure = chart.draw(&Style::default()).unwrap();
    assert_eq!(
        (
            groups(&figure, "series"),
            groups(&figure, "band"),
            groups(&figure, "reference")
        ),
        (2, 2, 2)
    );
    // Two stems and two dots in each panel.
    assert_eq!(paths(&figure, "series").matches('M').count(), 8);
    // Both panels have the same series: one entry each.
    for text in ["residuals", "99 % limits", "limit"] {
        assert_eq!(texts(&figure).iter().filter(|found| *found == text).count(), 1);
    }
}

/// A circle of dots is as wide as it is high, whatever the size of the figure.
#[test]
fn equal_axes_keep_a_circle_round() {
    let points: Vec<(f64, f64)> = (0..=20)
        .map(|k| f64::from(k) / 10.0 - 1.0)
        .map(|x| (x, (1.0 - x * x).max(0.0).sqrt()))
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let series = |name: &str, sign: f64| LineSeries {
        name: name.to_owned(),
        x: x.clone(),
        y: y.iter().map(|y| sign * y).collect(),
        style: LineStyle::Dots,
    };
    for width in [400.0, 760.0] {
        let panel = LinePanel {
            series: vec![series("above", 1.0), series("below", -1.0)],
            equal: true,
            ..LinePanel::default()
        };
        let chart = LineChart {
            panels: vec![panel],
            ..LineChart::default()
        };
        let style = Style {
            width: Some(width),
            ..Style::default()
        };
        let figure = chart.draw(&style).expect("a circle");
        let drawn = paths(&figure, "series");
        let numbers = |place: usize| -> Vec<f64> {
            let dots = drawn.split('M').skip(1);
            let number = |dot: &str| {
                let mut numbers = dot
                    .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
                    .filter(|n| !n.is_empty());
                numbers.nth(place).and_then(|number| number.parse().ok())
            };
            dots.filter_map(number).collect()
        };
        let extent = |values: &[f64]| {
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - values.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let (across, upwards) = (extent(&numbers(0)), extent(&numbers(1)));
        assert!(
            across > 100.0 && (across - upwards).abs() < 1.0,
            "{width}: {across} by {upwards}"
        );
    }
}

#[test]
fn many_dots_stay_dots_and_many_stems_become_a_line() {
    let draw = |style: LineStyle| {
        let series = LineSeries {
            name: "samples".to_owned(),
            x: (0..2500_u32).map(f64::from).collect(),
            y: (0..2500_u32).map(|k| f64::from(k * 7919 % 1009)).collect(),
            style,
        };
        let panel = LinePanel {
            series: vec![series],
            ..LinePanel::default()
        };
        let chart = LineChart {
            panels: vec![panel],
            ..LineChart::default()
        };
        paths(&chart.draw(&Style::default()).unwrap(), "series")
    };
    let dots = draw(LineStyle::Dots);
    assert!(
        !dots.contains('L') && dots.matches('M').count() > 2000,
        "{}",
        dots.len()
    );
    assert!(draw(LineStyle::Stem).contains('L'));
}

#[test]
fn a_band_has_the_colour_of_its_series() {
    let series = ["below", "above"].map(|name| LineSeries {
        name: name.to_owned(),
        x: vec![0.0, 1.0],
        y: vec![1.0, 2.0],
        ..LineSeries::default()
    });
    let fills = |of: Option<&str>| {
        let panel = LinePanel {
            series: series.to_vec(),
            bands: vec![ShadedBand {
                x: vec![0.0, 1.0],
                lower: vec![0.0; 2],
                upper: vec![1.0; 2],
                of: of.map(str::to_owned),
                ..ShadedBand::default()
            }],
            ..LinePanel::default()
        };
        let chart = LineChart {
            panels: vec![panel],
            ..LineChart::default()
        };
        let figure = chart.draw(&Style::default()).unwrap();
        with_root(&figure, |root| {
            let band = root.descendants().find(|node| node.attribute("class") == Some("band"));
            let path = band.and_then(|band| band.descendants().find(|node| node.has_tag_name("path")));
            path.and_then(|path| path.attribute("fill")).map(str::to_owned)
        })
    };
    let found = [None, Some("below"), Some("above"), Some("nobody")].map(fills);
    assert!(found.iter().all(Option::is_some), "{found:?}");
    assert!(
        found[0] != found[1] && found[1] != found[2] && found[2] != found[0],
        "{found:?}"
    );
    assert_eq!(found[3], found[0]);
}

#[test]
fn figures_have_no_ids_and_repeat_exactly() {
    for theme in [Theme::Light, Theme::Dark] {
        let style = Style::new(theme);
        let draw = || [band(300).draw(&style).unwrap(), boxes(5, true).draw(&style).unwrap()];
        assert_eq!(draw(), draw());
        assert!(draw().iter().all(|figure| !figure.to_svg().contains(" id=")));
    }
    let colours = |theme| band(10).draw(&Style::new(theme)).unwrap().to_svg();
    assert_ne!(colours(Theme::Light), colours(Theme::Dark));
}
