//! Missing, constant, extreme and wrong data: a figure or a clear error, never a panic.

use intervalid_figure::*;

use crate::{band, has_text, lines, names, texts, with_root};

const ODD: [f64; 10] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    1e-320,
    1.0,
];

fn check(figure: Result<Figure>) {
    let figure = figure.expect("a figure");
    with_root(&figure, |_| ());
    let svg = figure.to_svg();
    assert!(
        !svg.contains("NaN") && !svg.contains("inf\""),
        "a coordinate is not finite"
    );
    figure.to_png(0.5).expect("an image");
}

#[test]
fn any_pair_of_values_can_be_drawn() {
    let style = Style::default();
    for a in ODD {
        for b in ODD {
            let values = vec![a, b];
            check(lines(values.clone(), false));
            check(lines(values.clone(), true));
            let mut plot = band(2);
            plot.panels[0].measured.clone_from(&values);
            plot.panels[0].upper.clone_from(&values);
            check(plot.draw(&style));
            let groups = vec![
                BoxGroup {
                    values: values.clone(),
                    ..BoxGroup::default()
                };
                2
            ];
            let panel = |log| BoxPanel {
                groups: groups.clone(),
                log,
                ..BoxPanel::default()
            };
            check(
                BoxPlot {
                    panels: vec![panel(false), panel(true)],
                    ..BoxPlot::default()
                }
                .draw(&style),
            );
            for log in [false, true] {
                let map = HeatMap {
                    rows: names(1, "r"),
                    columns: names(2, "c"),
                    values: vec![values.clone()],
                    ..HeatMap::default()
                };
                check(
                    HeatMapGrid {
                        maps: vec![map],
                        log,
                        ..HeatMapGrid::default()
                    }
                    .draw(&style),
                );
                let series = vec![BarSeries {
                    name: "s".to_owned(),
                    values: values.clone(),
                }];
                check(
                    BarChart {
                        categories: names(2, "c"),
                        series,
                        log,
                        ..BarChart::default()
                    }
                    .draw(&style),
                );
            }
        }
    }
}

#[test]
fn empty_data_say_so() {
    let style = Style::default();
    let figures = [
        BandPlot {
            panels: vec![BandPanel::default()],
            ..BandPlot::default()
        }
        .draw(&style),
        BoxPlot {
            panels: vec![BoxPanel::default()],
            ..BoxPlot::default()
        }
        .draw(&style),
        BoxPlot {
            panels: vec![BoxPanel {
                groups: vec![BoxGroup::default()],
                ..BoxPanel::default()
            }],
            ..BoxPlot::default()
        }
        .draw(&style),
        HeatMapGrid {
            maps: vec![HeatMap::default()],
            ..HeatMapGrid::default()
        }
        .draw(&style),
        HeatMapGrid {
            maps: vec![HeatMap {
                rows: names(2, "r"),
                values: vec![Vec::new(); 2],
                ..HeatMap::default()
            }],
            ..HeatMapGrid::default()
        }
        .draw(&style),
        BarChart::default().draw(&style),
        LineChart {
            panels: vec![LinePanel::default()],
            ..LineChart::default()
        }
        .draw(&style),
        lines(vec![f64::NAN; 5], true),
    ];
    for figure in figures {
        let figure = figure.unwrap();
        assert!(has_text(&figure, "no data"), "{:?}", texts(&figure));
        figure.to_png(1.0).unwrap();
    }
}

#[test]
fn single_samples_and_constants_show() {
    for samples in [1, 2, 400] {
        let mut plot = band(samples);
        plot.panels[0].measured.fill(4.2);
        check(plot.draw(&Style::default()));
    }
    let mut plot = band(1);
    plot.measured_as = MeasuredMarks::Line;
    // A line of one point is drawn as a dot.
    assert!(crate::paths(&plot.draw(&Style::default()).unwrap(), "measured").contains("h.01"));
}

#[test]
fn missing_values_are_counted() {
    let group = BoxGroup {
        label: "NODE".to_owned(),
        values: vec![1.0, f64::NAN, -2.0, 3.0],
        ..BoxGroup::default()
    };
    let draw = |log| {
        let panels = vec![BoxPanel {
            groups: vec![group.clone()],
            log,
            ..BoxPanel::default()
        }];
        BoxPlot {
            panels,
            ..BoxPlot::default()
        }
        .draw(&Style::default())
        .unwrap()
    };
    assert!(has_text(&draw(false), "NODE (1 n/a)") && has_text(&draw(true), "NODE (2 n/a)"));
}

#[test]
fn wrong_data_are_refused() {
    let style = Style::default();
    assert!(matches!(
        BandPlot::default().draw(&style),
        Err(FigureError::NoPanels { .. })
    ));
    assert!(matches!(
        LineChart::default().draw(&style),
        Err(FigureError::NoPanels { .. })
    ));
    let mut plot = band(5);
    plot.panels[0].upper.pop();
    assert!(matches!(
        plot.draw(&style),
        Err(FigureError::UnequalLengths {
            expected: 5,
            found: 4,
            ..
        })
    ));
    let mut plot = band(5);
    plot.x[3] = 0.5;
    let error = plot.draw(&style).unwrap_err();
    assert!(error.to_string().contains("x[3] = 0.5 after 2"), "{error}");
    let mut plot = band(5);
    plot.panels[0].y_range = Some((1.0, 1.0));
    assert!(matches!(plot.draw(&style), Err(FigureError::Range { .. })));
    let map = HeatMap {
        rows: names(1, "r"),
        columns: names(2, "c"),
        values: vec![vec![1.0]],
        ..HeatMap::default()
    };
    let error = HeatMapGrid {
        maps: vec![map],
        ..HeatMapGrid::default()
    }
    .draw(&style)
    .unwrap_err();
    assert!(
        error.to_string().contains("values[0] has 1 entries, expected 2"),
        "{error}"
    );
    let narrow = Style {
        width: Some(50.0),
        ..style
    };
    assert!(matches!(band(5).draw(&narrow), Err(FigureError::Size { .. })));
}

#[test]
fn hostile_text_is_escaped() {
    let mut plot = band(5);
    plot.title = "a < b & \"c\" </svg> \u{7} 日本".to_owned();
    plot.panels[0].y_label = "W".repeat(500);
    check(plot.draw(&Style::default()));
    assert!(texts(&plot.draw(&Style::default()).unwrap())[0].starts_with("a < b & \"c\" </svg>"));
}
