//! A model in use: how it is, and how it came to be so.

use intervalid_model::{DriftKind, Health, Model, MonitorReport, OutputHealth, TestHealth, TrendPoint};
use serde::{Deserialize, Serialize};

use crate::chart::{Chart, LinesChart, Reference, Series, SeriesStyle};
use crate::column::rounded;
use crate::page::{Content, Page};
use crate::text::{asked, count, percent, significant};

/// What the page of a monitor is made from.
#[derive(Clone, Copy, Debug)]
pub struct MonitorPage<'a> {
    /// What the monitor says.
    pub report: &'a MonitorReport,
    /// The model that it watches.
    pub model: &'a Model,
    /// The data seen last.
    pub dataset: &'a str,
}

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonitorContent {
    pub(crate) title: String,
    /// `ok`, `watch` or `refit`.
    pub(crate) state: String,
    pub(crate) lead: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) headings: Vec<String>,
    pub(crate) tests: Vec<TestRow>,
    pub(crate) notes: Vec<String>,
    pub(crate) outputs: Vec<OutputTrend>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TestRow {
    pub(crate) output: String,
    pub(crate) test: String,
    /// `ok`, `watch` or `refit`.
    pub(crate) state: String,
    pub(crate) cells: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutputTrend {
    pub(crate) name: String,
    pub(crate) charts: Vec<Chart>,
}

/// The page of a monitor.
#[must_use]
pub fn monitor_page(from: &MonitorPage<'_>) -> Page {
    let report = from.report;
    let mut lead = vec![match report.state {
        Health::Ok => "The model does what it promised, as far as these samples tell.".to_owned(),
        Health::Watch => "Something may have changed: look at it.".to_owned(),
        Health::Refit => format!(
            "The model needs a refit, since sample {}.",
            report.refit_since.unwrap_or(report.samples)
        ),
    }];
    lead.push(seen(report));
    let calm = report.state == Health::Ok;
    let reasons: Vec<String> = report.reasons.iter().map(|reason| sentence(reason)).collect();
    let (reasons, cautions) = match calm {
        true => (reasons, Vec::new()),
        false => (Vec::new(), reasons),
    };
    lead.extend(reasons);
    let mut notes = vec![format!(
        "Evidence starts at 1 and does not grow on the average while nothing changes. From {} on a test says watch, from {} on refit. A \
         model that keeps its promise reaches that with a probability of {} at most, in all tests together, however long it is watched. \
         A drift calls for a refit once fewer samples than promised are inside of late; before, it is to be watched.",
        significant(report.watch_at, 3),
        significant(report.refit_at, 3),
        asked(report.false_alarm),
    )];
    if let Some(share) = report.extrapolated {
        notes.push(format!(
            "{} of the samples lie outside the region of the training data.",
            percent(share)
        ));
    }
    let content = MonitorContent {
        title: format!("{}: {} on {}", report.state.name(), from.model.kind(), from.dataset),
        state: report.state.name().to_owned(),
        lead,
        cautions,
        headings: ["now", "at first", "evidence", "greatest"].map(str::to_owned).to_vec(),
        tests: report.outputs.iter().flat_map(test_rows).collect(),
        notes,
        outputs: report.outputs.iter().map(|output| trend(output, report)).collect(),
    };
    Page::new(Content::Monitor(Box::new(content)))
}

/// With a capital letter at its start.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn seen(report: &MonitorReport) -> String {
    let how = match report.horizon {
        None => "free runs".to_owned(),
        Some(samples) => format!("predictions {} ahead", count(samples, "sample")),
    };
    let samples = usize::try_from(report.samples).unwrap_or(usize::MAX);
    let blocks = report.block_length.map_or_else(String::new, |length| {
        let blocks = usize::try_from(report.blocks).unwrap_or(usize::MAX);
        format!(" in {} of {length}", count(blocks, "block"))
    });
    let inside = report.outputs.iter().filter_map(|output| {
        let share = percent(output.coverage?);
        Some(match report.outputs.len() {
            _ if report.together => format!("{share} with all outputs inside the band"),
            1 => format!("{share} inside the band"),
            _ => format!("{share} of {} inside the band", output.name),
        })
    });
    // Together they have one share.
    let inside: Vec<String> = inside.take(if report.together { 1 } else { usize::MAX }).collect();
    let inside = match inside.is_empty() {
        true => String::new(),
        false => format!(": {}, promised {}", inside.join(", "), asked(report.promised_coverage)),
    };
    format!("{} of {how}{blocks}{inside}.", count(samples, "sample"))
}

fn test_rows(output: &OutputHealth) -> Vec<TestRow> {
    let unit = output.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
    let number = |value: f64| format!("{}{unit}", significant(value, 3));
    let answer = |value: f64| percent(1.0 + value);
    let tests = &output.tests;
    let of = |kind: DriftKind, meaning: &str, test: &TestHealth, text: &dyn Fn(f64) -> String| TestRow {
        output: output.name.clone(),
        test: format!("{}: {meaning}", kind.name()),
        state: test.state.name().to_owned(),
        cells: vec![
            text(test.now),
            text(test.at_first),
            significant(test.evidence, 3),
            significant(test.greatest_evidence, 3),
        ],
    };
    vec![
        of(DriftKind::Coverage, "share inside the band", &tests.coverage, &percent),
        of(DriftKind::Level, "mean of y - ŷ", &tests.level, &number),
        of(
            DriftKind::Gain,
            "answer of the plant over the model's",
            &tests.gain,
            &answer,
        ),
        of(
            DriftKind::Noise,
            "standard deviation of the rest",
            &tests.noise,
            &number,
        ),
    ]
}

fn trend(output: &OutputHealth, report: &MonitorReport) -> OutputTrend {
    let points = &output.trend;
    let x: Vec<f64> = points.iter().map(|point| point.end as f64).collect();
    let unit = output
        .unit
        .as_ref()
        .map_or_else(String::new, |unit| format!(" ({unit})"));
    let series = |name: &str, value: &dyn Fn(&TrendPoint) -> f64| Series {
        name: name.to_owned(),
        values: rounded(points.iter().map(value)),
        style: SeriesStyle::Line,
    };
    let chart = |title: &str, y_label: String, series: Vec<Series>, references: Vec<(f64, String)>| LinesChart {
        title: format!("{}: {title}", output.name),
        x_label: "samples seen".to_owned(),
        y_label,
        x: x.clone(),
        series,
        references: references
            .into_iter()
            .map(|(value, label)| Reference { value, label })
            .collect(),
        ..LinesChart::default()
    };
    let evidence = DriftKind::ALL
        .into_iter()
        .enumerate()
        // A logarithmic axis has no place for nothing.
        .map(|(index, kind)| series(kind.name(), &move |point| point.evidence[index].clamp(1e-3, 1e9)));
    let charts = vec![
        LinesChart {
            y_range: Some([0.0, 102.0]),
            ..chart(
                "inside the band",
                "inside (%)".to_owned(),
                vec![series("inside (%)", &|point| 100.0 * point.coverage)],
                vec![
                    (
                        100.0 * report.promised_coverage,
                        format!("promised {}", asked(report.promised_coverage)),
                    ),
                    (
                        100.0 * report.least_coverage,
                        format!("tolerated {}", asked(report.least_coverage)),
                    ),
                ],
            )
        },
        LinesChart {
            log: true,
            ..chart(
                "evidence",
                "evidence".to_owned(),
                evidence.collect(),
                vec![
                    (report.watch_at, "watch".to_owned()),
                    (report.refit_at, "refit".to_owned()),
                ],
            )
        },
        chart(
            "level and noise",
            format!("y - ŷ{unit}"),
            vec![
                series("mean", &|point| point.level),
                series("deviation", &|point| point.noise),
                series("half-width of the band", &|point| point.half_width),
            ],
            vec![(0.0, "no error".to_owned())],
        ),
        chart(
            "gain",
            "plant over model (%)".to_owned(),
            vec![series("plant over model (%)", &|point| 100.0 * (1.0 + point.gain))],
            vec![(100.0, "as the model".to_owned())],
        ),
    ];
    OutputTrend {
        name: output.name.clone(),
        charts: match points.is_empty() {
            true => Vec::new(),
            false => charts.into_iter().map(Chart::Lines).collect(),
        },
    }
}
