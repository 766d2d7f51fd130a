//! Where in a record the band holds, and whether it is wide where errors are large.

use intervalid_data::Dataset;
use intervalid_model::{Aligned, Band, ROLLING_WINDOW, align, coverage_by_horizon};
use serde::{Deserialize, Serialize};

use super::runs::{axis, strung};
use crate::chart::{BarsChart, Chart, LinesChart, Reference, ScatterChart, Series, SeriesStyle};
use crate::column::{Column, rounded};
use crate::error::Result;
use crate::text::{asked, labelled, percent};
use crate::thin::kept;

/// Bars of the chart by horizon.
const BINS: usize = 20;
/// Points of a scatter, and about so many of a line over time; more would only cover each other.
const POINTS: usize = 4000;

/// Coverage of one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CoverageView {
    pub(crate) output: String,
    pub(crate) rolling: Option<Chart>,
    pub(crate) horizon: Option<Chart>,
    pub(crate) scatter: Chart,
    /// Width against error in words.
    pub(crate) reading: String,
}

pub(super) fn views(dataset: &Dataset, bands: &[Band], coverage: f64) -> Result<Vec<CoverageView>> {
    let mut views = Vec::new();
    for (index, channel) in dataset.outputs().iter().enumerate() {
        let runs = align(dataset, bands, index)?;
        if runs.iter().all(|run| run.target.is_empty()) {
            continue;
        }
        let unit = channel.unit.as_deref();
        let (scatter, reading) = width_against_error(&runs, &channel.name, unit);
        views.push(CoverageView {
            output: channel.name.clone(),
            rolling: rolling(dataset, bands, &runs, &channel.name, coverage),
            horizon: horizon(&runs, &channel.name, coverage),
            scatter,
            reading,
        });
    }
    Ok(views)
}

fn reference(coverage: f64) -> Vec<Reference> {
    vec![Reference {
        value: 100.0 * coverage,
        label: format!("target {}", asked(coverage)),
    }]
}

/// Share inside of the samples up to here, run by run; several runs stand one after the other with a gap between.
fn rolling(dataset: &Dataset, bands: &[Band], runs: &[Aligned<'_>], name: &str, coverage: f64) -> Option<Chart> {
    let longest = runs.iter().map(|run| run.target.len()).max()?;
    let window = ROLLING_WINDOW.min(longest.div_ceil(3)).max(1);
    let (mut x, mut values) = (Vec::new(), Vec::new());
    let axis = match bands {
        [band] => axis(dataset, band.experiment, band.first + band.warmup),
        _ => strung(dataset),
    };
    let mut position = 0;
    for run in runs {
        for (index, count) in run.rolling_counts(window).into_iter().enumerate() {
            x.push(axis.start + axis.step * (position + index + window - 1) as f64);
            values.push(100.0 * count as f64 / window as f64);
        }
        position += run.target.len();
        x.push(axis.start + axis.step * (position as f64 - 0.5));
        values.push(f64::NAN);
    }
    let shown = kept(&values, POINTS);
    Some(Chart::Lines(LinesChart {
        title: format!("Coverage of {name} over time ({window}-sample windows)"),
        x_label: axis.label,
        y_label: "inside (%)".to_owned(),
        x: shown.iter().map(|place| x[*place]).collect(),
        series: vec![Series {
            name: "inside (%)".to_owned(),
            values: rounded(shown.iter().map(|place| values[*place])),
            style: SeriesStyle::Line,
        }],
        references: reference(coverage),
        log: false,
        y_range: Some([0.0, 102.0]),
        ..LinesChart::default()
    }))
}

fn horizon(runs: &[Aligned<'_>], name: &str, coverage: f64) -> Option<Chart> {
    let longest = runs.iter().map(|run| run.target.len()).max()?;
    let bins = coverage_by_horizon(runs, longest.div_ceil(BINS));
    Some(Chart::Bars(BarsChart {
        title: format!("Coverage of {name} by steps since the last known output"),
        x_label: "steps since the last known output".to_owned(),
        y_label: "inside (%)".to_owned(),
        categories: bins.iter().map(|bin| format!("{}–{}", bin.first, bin.last)).collect(),
        values: rounded(bins.iter().map(|bin| 100.0 * bin.picp)),
        references: reference(coverage),
        log: false,
        y_range: Some([0.0, 102.0]),
    }))
}

/// A point per sample: the half of the band on the error's side, and the error. Above the diagonal it is outside.
fn width_against_error(runs: &[Aligned<'_>], name: &str, unit: Option<&str>) -> (Chart, String) {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for run in runs {
        for k in 0..run.target.len() {
            let error = run.target[k] - run.centre[k];
            let half = if error < 0.0 {
                run.centre[k] - run.lower[k]
            } else {
                run.upper[k] - run.centre[k]
            };
            pairs.push((half, error.abs()));
        }
    }
    pairs.retain(|(half, error)| half.is_finite() && error.is_finite());
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let reading = width_reading(&pairs);
    let every = pairs.len().div_ceil(POINTS).max(1);
    let shown: Vec<(f64, f64)> = pairs.into_iter().step_by(every).collect();
    let chart = Chart::Scatter(ScatterChart {
        title: format!("Band width of {name} against its error"),
        x_label: labelled("half-width on the error's side", unit),
        y_label: labelled("|error|", unit),
        x: Column::new(shown.iter().map(|pair| pair.0)),
        y: Column::new(shown.iter().map(|pair| pair.1)),
        diagonal: "edge of the band".to_owned(),
    });
    (chart, reading)
}

/// Whether the narrow half of the samples is covered as well as the wide half.
fn width_reading(sorted: &[(f64, f64)]) -> String {
    let (narrow, wide) = sorted.split_at(sorted.len() / 2);
    let inside = |half: &[(f64, f64)]| {
        let inside = half.iter().filter(|(half, error)| error <= half).count();
        inside as f64 / half.len().max(1) as f64
    };
    let mean_error = |half: &[(f64, f64)]| half.iter().map(|pair| pair.1).sum::<f64>() / half.len().max(1) as f64;
    let ratio = mean_error(wide) / mean_error(narrow);
    let sizes = match ratio {
        ratio if !ratio.is_finite() => String::new(),
        ratio if ratio > 1.1 => {
            format!(" Errors are {ratio:.1} times as large where the band is wide, so its width is informative.")
        }
        _ => " Errors are no larger where the band is wide, so its width tells you little here.".to_owned(),
    };
    format!(
        "{} of the samples are inside where the band is narrower than its median width, {} where it is wider.{sizes}",
        percent(inside(narrow)),
        percent(inside(wide)),
    )
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Experiment, ReadOptions, TimedTable, from_timed_tables};

    use super::*;

    #[test]
    fn several_runs_stand_in_a_row_without_a_date() {
        let channel = |name: &str| Channel {
            name: name.to_owned(),
            unit: None,
        };
        let table = |day: i64| TimedTable {
            name: format!("day {day}"),
            columns: vec![vec![1.0; 30], vec![2.0; 30]],
            nanoseconds: (0..30).map(|k| (86_400 * day + 5 * k) * 1_000_000_000).collect(),
            universal: false,
        };
        let (inputs, outputs, tables) = (vec![channel("u")], vec![channel("y")], vec![table(1), table(9)]);
        let dataset = from_timed_tables("plant", inputs, outputs, tables, &ReadOptions::default()).unwrap();
        let band = |experiment| Band {
            experiment,
            first: 10,
            warmup: 0,
            lower: vec![vec![1.0; 20]],
            centre: vec![vec![2.0; 20]],
            upper: vec![vec![3.0; 20]],
            diverged_at: None,
        };
        let rolling = |bands: &[Band]| match views(&dataset, bands, 0.9).unwrap().remove(0).rolling {
            Some(Chart::Lines(chart)) => chart,
            other => panic!("expected lines, found {other:?}"),
        };
        let one = rolling(&[band(1)]);
        assert_eq!(one.x_label, "time (s) since 1970-01-10T00:00:00");
        let both = rolling(&[band(0), band(1)]);
        assert_eq!(both.x_label, "time (s), runs one after the other");
        let end = both.x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(end <= 5.0 * 40.0, "{end}");
    }

    #[test]
    fn the_worst_window_and_the_border_of_runs_are_seen_in_a_long_record() {
        let samples = 9000;
        let run = |name: &str| Experiment::new(name, vec![vec![1.0; samples]], vec![vec![2.0; samples]]);
        let (inputs, outputs) = (vec![Channel::new("u")], vec![Channel::new("y")]);
        let dataset = Dataset::new("plant", inputs, outputs, None, vec![run("a"), run("b")]).unwrap();
        let band = |experiment: usize| Band {
            experiment,
            first: 0,
            warmup: 0,
            lower: vec![vec![1.0; samples]],
            centre: vec![vec![2.0; samples]],
            upper: vec![vec![3.0; samples]],
            diverged_at: None,
        };
        let mut bands = [band(0), band(1)];
        // So many samples outside that one window has none inside.
        let outside = 1001..1001 + ROLLING_WINDOW;
        bands[0].upper[0][outside].fill(1.5);
        let Some(Chart::Lines(chart)) = views(&dataset, &bands, 0.9).unwrap().remove(0).rolling else {
            panic!("lines")
        };
        let values = &chart.series[0].values;
        assert!(values.len() <= POINTS + 2, "{}", values.len());
        let least = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        assert!(least.abs() < 1e-9, "the worst window has none inside: {least} %");
        let gaps: Vec<f64> = (chart.x.iter().zip(values))
            .filter_map(|(x, value)| value.is_none().then_some(*x))
            .collect();
        assert_eq!(gaps, [samples as f64 - 0.5, 2.0 * samples as f64 - 0.5]);
    }

    #[test]
    fn width_in_words() {
        let informative: Vec<(f64, f64)> = (1..=10).map(|k| (f64::from(k), 0.9 * f64::from(k))).collect();
        let text = width_reading(&informative);
        assert!(
            text.starts_with("100.0 % of the samples are inside") && text.contains("2.7 times as large"),
            "{text}"
        );
        let blind: Vec<(f64, f64)> = (1..=10).map(|k| (f64::from(k), 3.0)).collect();
        let text = width_reading(&blind);
        assert!(
            text.starts_with("60.0 % of the samples are inside where the band is narrower"),
            "{text}"
        );
        assert!(text.ends_with("tells you little here."), "{text}");
    }
}
