//! What the band is made of, and what to measure next.

use intervalid_analysis::{Linearisation, NextRecording, WidthShares};

use super::plot::Plot;
use super::{Section, TableView, with_unit};
use crate::chart::{BarsChart, Chart, Reference};
use crate::column::rounded;
use crate::text::{percent, significant};

/// Parts that are told apart; the rest are one.
const SHOWN: usize = 5;

pub(super) fn width_section(linear: &Linearisation, widths: &[WidthShares]) -> Option<Section> {
    widths.first()?;
    let row = |found: &WidthShares| -> Vec<Vec<String>> {
        let parts = found.parts.iter();
        parts
            .map(|part| {
                vec![
                    found.output.clone(),
                    part.name.clone(),
                    percent(part.mean),
                    percent(part.where_wide),
                ]
            })
            .collect()
    };
    Some(Section {
        id: "width".to_owned(),
        label: "Band".to_owned(),
        heading: "Why is the band wide here?".to_owned(),
        words: widths.iter().map(|found| found.words.clone()).collect(),
        tables: vec![TableView {
            headings: ["output", "part", "mean share", "share where widest"]
                .map(str::to_owned)
                .to_vec(),
            rows: widths.iter().flat_map(row).collect(),
        }],
        charts: widths.iter().map(|found| stacked(linear, found)).collect(),
    })
}

/// Half the width, divided among its largest parts.
fn stacked(linear: &Linearisation, found: &WidthShares) -> Chart {
    let x: Vec<f64> = found.sample.iter().map(|sample| *sample as f64).collect();
    let mut layers: Vec<(String, Vec<f64>)> = Vec::new();
    for (index, part) in found.parts.iter().enumerate() {
        let widths: Vec<f64> = part
            .share
            .iter()
            .zip(&found.half_width)
            .map(|(share, half)| share * half)
            .collect();
        match layers.get_mut(SHOWN) {
            Some((_, rest)) => rest.iter_mut().zip(widths).for_each(|(rest, width)| *rest += width),
            None if index == SHOWN => layers.push(("all others".to_owned(), widths)),
            None => layers.push((part.name.clone(), widths)),
        }
    }
    let label = format!("half width of {}", with_unit(&linear.outputs, &found.output));
    Plot::new(format!("Parts of the band of {}", found.output), "sample", label)
        .stack(&x, layers)
        .chart()
}

pub(super) fn next_section(linear: &Linearisation, next: &NextRecording) -> Section {
    let mut charts = Vec::new();
    for found in &next.inputs {
        let categories: Vec<String> = found
            .parts
            .iter()
            .map(|part| significant(f64::midpoint(part.from, part.to), 3))
            .collect();
        let label = with_unit(&linear.inputs, &found.input);
        let even = 100.0 / found.parts.len().max(1) as f64;
        charts.push(Chart::Bars(BarsChart {
            title: format!("Where {} was", found.input),
            x_label: label.clone(),
            y_label: "samples (%)".to_owned(),
            categories: categories.clone(),
            values: rounded(found.parts.iter().map(|part| 100.0 * part.share)),
            references: vec![Reference {
                value: even,
                label: "evenly".to_owned(),
            }],
            ..BarsChart::default()
        }));
        charts.push(Chart::Bars(BarsChart {
            title: format!("How wide the band is by {}", found.input),
            x_label: label,
            y_label: "width / median".to_owned(),
            categories,
            values: rounded(found.parts.iter().map(|part| part.width.unwrap_or(f64::NAN))),
            references: vec![Reference {
                value: 1.0,
                label: "median".to_owned(),
            }],
            ..BarsChart::default()
        }));
    }
    Section {
        id: "next".to_owned(),
        label: "Next".to_owned(),
        heading: "What to measure next".to_owned(),
        words: next.words.clone(),
        charts,
        ..Section::default()
    }
}
