//! PNG images: size, content, text inside the page.

use intervalid_figure::*;
use resvg::tiny_skia::Pixmap;
use resvg::usvg;

use crate::{band, names};

fn image(figure: &Figure, scale: f64) -> Pixmap {
    Pixmap::decode_png(&figure.to_png(scale).unwrap()).unwrap()
}

#[test]
fn image_has_the_size_asked_for() {
    let figure = band(100).draw(&Style::default()).unwrap();
    for scale in [1.0, 2.0, 0.5] {
        let image = image(&figure, scale);
        let expected = [figure.width(), figure.height()].map(|side| (side * scale).round() as u32);
        assert_eq!([image.width(), image.height()], expected);
    }
    for scale in [0.0, -1.0, f64::NAN, 1e6] {
        assert!(matches!(figure.to_png(scale), Err(FigureError::Size { .. })), "{scale}");
    }
}

#[test]
fn background_follows_the_theme() {
    for (theme, expected) in [(Theme::Light, (255, 255, 255)), (Theme::Dark, (0x16, 0x19, 0x1d))] {
        let image = image(&band(100).draw(&Style::new(theme)).unwrap(), 1.0);
        let corner = image.pixel(1, 1).unwrap();
        assert_eq!((corner.red(), corner.green(), corner.blue()), expected);
    }
}

#[test]
fn text_is_rendered() {
    // The only difference between the two is the title, which takes the same room.
    let titled = |title: &str| {
        let plot = BandPlot {
            title: title.to_owned(),
            ..band(50)
        };
        image(&plot.draw(&Style::default()).unwrap(), 1.0)
    };
    let (with, without) = (titled("Interval LSTM: θ̂ ± σ"), titled("."));
    assert_eq!((with.width(), with.height()), (without.width(), without.height()));
    let dark = |image: &Pixmap| {
        let rows = 14..32;
        let pixels = rows.flat_map(|y| (0..image.width()).map(move |x| (x, y)));
        pixels
            .filter(|&(x, y)| image.pixel(x, y).is_some_and(|pixel| pixel.red() < 128))
            .count()
    };
    assert!(dark(&with) > dark(&without) + 200, "{} {}", dark(&with), dark(&without));
}

/// Bounding boxes of all texts as the renderer lays them out.
fn text_boxes(figure: &Figure) -> Vec<(String, usvg::Rect)> {
    fn collect(group: &usvg::Group, found: &mut Vec<(String, usvg::Rect)>) {
        for node in group.children() {
            match node {
                usvg::Node::Group(group) => collect(group, found),
                usvg::Node::Text(text) => {
                    let content = text.chunks().iter().map(|chunk| chunk.text()).collect();
                    found.push((content, text.abs_bounding_box()));
                }
                _ => {}
            }
        }
    }
    let mut options = usvg::Options::default();
    for face in ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("assets")
            .join(face);
        options.fontdb_mut().load_font_data(std::fs::read(path).unwrap());
    }
    let tree = usvg::Tree::from_str(&figure.to_svg(), &options).unwrap();
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    found
}

fn check_room(figure: &Figure) {
    let boxes = text_boxes(figure);
    assert!(!boxes.is_empty());
    for (text, area) in &boxes {
        let inside = area.left() >= 0.0
            && area.top() >= 0.0
            && f64::from(area.right()) <= figure.width()
            && f64::from(area.bottom()) <= figure.height();
        assert!(
            inside,
            "'{text}' is cut off: {area:?} in {} x {}",
            figure.width(),
            figure.height()
        );
    }
}

#[test]
fn no_text_is_cut_off() {
    let long = |index: usize| {
        [
            "interval LSTM cascade",
            "Monte Carlo dropout NODE",
            "x",
            "conformalised quantile regression of the residuals",
        ][index % 4]
            .to_owned()
    };
    for width in [320.0, 640.0, 1000.0] {
        for theme in [Theme::Light, Theme::Dark] {
            let style = Style {
                theme,
                width: Some(width),
                panel_height: None,
            };
            let mut plot = band(60);
            plot.title = "A rather long title of a figure ".repeat(4);
            plot.panels[0].title = "a panel title that is long as well, longer than the axis".to_owned();
            plot.panels[0].measured[3] = 1.234e9;
            check_room(&plot.draw(&style).unwrap());
            for count in [1, 5, 14] {
                let group = |index: usize| BoxGroup {
                    label: long(index),
                    values: vec![1e-7, 3e-7, index as f64 * 1e-7],
                    ..BoxGroup::default()
                };
                let panel = BoxPanel {
                    title: long(3),
                    y_label: long(3),
                    groups: (0..count).map(group).collect(),
                    ..BoxPanel::default()
                };
                check_room(
                    &BoxPlot {
                        panels: vec![panel; 3],
                        ..BoxPlot::default()
                    }
                    .draw(&style)
                    .unwrap(),
                );
                let series = BarSeries {
                    name: long(3),
                    values: vec![1.0; count],
                };
                let chart = BarChart {
                    y_label: long(1),
                    categories: (0..count).map(long).collect(),
                    series: vec![series; 4],
                    ..BarChart::default()
                };
                check_room(&chart.draw(&style).unwrap());
                let map = HeatMap {
                    title: long(3),
                    rows: (0..count).map(long).collect(),
                    columns: (0..count).map(long).collect(),
                    values: vec![vec![2.0; count]; count],
                    value_label: "elasticity ".repeat(12),
                    ..HeatMap::default()
                };
                check_room(
                    &HeatMapGrid {
                        maps: vec![map; 2],
                        ..HeatMapGrid::default()
                    }
                    .draw(&style)
                    .unwrap(),
                );
            }
        }
    }
}

#[test]
fn level_labels_do_not_touch() {
    let series = LineSeries {
        x: vec![0.0, 123_456.0],
        y: vec![-1e-5, 1e-5],
        ..LineSeries::default()
    };
    let panel = LinePanel {
        series: vec![series],
        ..LinePanel::default()
    };
    let chart = LineChart {
        panels: vec![panel; 6],
        columns: 3,
        ..LineChart::default()
    };
    let bars = BarChart {
        categories: names(9, "channel "),
        series: vec![BarSeries {
            name: String::new(),
            values: vec![1.0; 9],
        }],
        ..BarChart::default()
    };
    for figure in [
        chart.draw(&Style::default()).unwrap(),
        bars.draw(&Style::default()).unwrap(),
    ] {
        let boxes = text_boxes(&figure);
        for (index, (text, area)) in boxes.iter().enumerate() {
            for (other, other_area) in &boxes[index + 1..] {
                let apart = area.right() <= other_area.left()
                    || other_area.right() <= area.left()
                    || area.bottom() <= other_area.top()
                    || other_area.bottom() <= area.top();
                assert!(apart, "'{text}' {area:?} touches '{other}' {other_area:?}");
            }
        }
    }
}
