//! Figures as a user sees them: structure of the SVG, pixels of the PNG, odd data, files.

mod files;
mod odd_data;
mod rendering;
mod structure;

use intervalid_figure::{BandPanel, BandPlot, Figure, FigureError, LineChart, LinePanel, LineSeries, Style};
use resvg::usvg::roxmltree::{Document, Node};

/// Calls `check` with the root of the figure's SVG; fails when it is not well-formed XML.
fn with_root<T>(figure: &Figure, check: impl Fn(Node<'_, '_>) -> T) -> T {
    let svg = figure.to_svg();
    let document = Document::parse(&svg).expect("well-formed XML");
    check(document.root_element())
}

/// Number of elements with this name inside groups of this class.
fn count(figure: &Figure, class: &str, element: &str) -> usize {
    with_root(figure, |root| {
        let groups = root.descendants().filter(|node| node.attribute("class") == Some(class));
        groups
            .flat_map(|group| group.descendants().filter(|node| node.has_tag_name(element)))
            .count()
    })
}

/// Number of groups of this class.
fn groups(figure: &Figure, class: &str) -> usize {
    with_root(figure, |root| {
        root.descendants()
            .filter(|node| node.attribute("class") == Some(class))
            .count()
    })
}

/// Path data inside groups of this class.
fn paths(figure: &Figure, class: &str) -> String {
    with_root(figure, |root| {
        let groups = root.descendants().filter(|node| node.attribute("class") == Some(class));
        groups
            .flat_map(|group| group.descendants().filter_map(|node| node.attribute("d")))
            .collect()
    })
}

/// All texts in order.
fn texts(figure: &Figure) -> Vec<String> {
    with_root(figure, |root| {
        let texts = root.descendants().filter(|node| node.has_tag_name("text"));
        texts.filter_map(|node| node.text()).map(str::to_owned).collect()
    })
}

fn has_text(figure: &Figure, wanted: &str) -> bool {
    texts(figure).iter().any(|text| text == wanted)
}

fn names(count: usize, prefix: &str) -> Vec<String> {
    (1..=count).map(|number| format!("{prefix}{number}")).collect()
}

/// A sine with an interval that every tenth sample leaves.
fn band(samples: usize) -> BandPlot {
    let prediction: Vec<f64> = (0..samples).map(|index| (index as f64 * 0.05).sin()).collect();
    let off = |index: usize| if index.is_multiple_of(10) { 0.5 } else { 0.05 };
    BandPlot {
        title: "Simulation".to_owned(),
        x_label: "sample".to_owned(),
        x: (0..samples).map(|index| index as f64).collect(),
        panels: vec![BandPanel {
            y_label: "level (cm)".to_owned(),
            measured: prediction
                .iter()
                .enumerate()
                .map(|(index, value)| value + off(index))
                .collect(),
            lower: prediction.iter().map(|value| value - 0.2).collect(),
            upper: prediction.iter().map(|value| value + 0.2).collect(),
            prediction,
            ..BandPanel::default()
        }],
        ..BandPlot::default()
    }
}

fn lines(y: Vec<f64>, log: bool) -> Result<Figure, FigureError> {
    let series = LineSeries {
        name: "loss".to_owned(),
        x: (0..y.len()).map(|index| index as f64).collect(),
        y,
        ..LineSeries::default()
    };
    LineChart {
        panels: vec![LinePanel {
            series: vec![series],
            log,
            ..LinePanel::default()
        }],
        ..LineChart::default()
    }
    .draw(&Style::default())
}
