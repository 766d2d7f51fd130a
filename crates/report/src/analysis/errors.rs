//! Errors of the free run over a recording.

use intervalid_analysis::{AheadFit, Correlation, CoverageGroup, Linearisation, Residuals};

use super::plot::Plot;
use super::{AnalysisReport, Section, with_unit};
use crate::chart::{BarsChart, Chart, Reference, SeriesStyle};
use crate::column::rounded;
use crate::text::{asked, count, percent, significant};
use crate::thin::kept;

/// Points of a scatter, and about so many of a line over time; more would only cover each other.
const POINTS: usize = 3000;

pub(super) fn section(report: &AnalysisReport<'_>) -> Option<Section> {
    let first = report.residuals.first()?;
    let coverage = report.model.config().coverage;
    let mut words = vec![format!(
        "Measured less simulated, {} of each output.",
        count(first.n, "sample")
    )];
    let mut charts = Vec::new();
    for found in report.residuals {
        words.push(reading(found));
        charts.extend(of_output(report.linear, found, coverage));
    }
    charts.extend(ahead(report.linear, report.ahead));
    Some(Section {
        id: "errors".to_owned(),
        label: "Errors".to_owned(),
        heading: "Errors".to_owned(),
        words,
        charts,
        ..Section::default()
    })
}

fn reading(found: &Residuals) -> String {
    let name = &found.output;
    let (beyond, total) = found.autocorrelation.beyond();
    let own = match found.autocorrelation.is_white() {
        true => format!("its errors look like white noise ({beyond} of {total} lags beyond the bounds)"),
        false => format!(
            "its errors follow one another ({beyond} of {total} lags beyond the bounds), as those of a free run mostly do"
        ),
    };
    let explained: Vec<&str> = found
        .cross
        .iter()
        .filter(|cross| !cross.correlation.is_white())
        .map(|cross| cross.input.as_str())
        .collect();
    let inputs = match explained.as_slice() {
        [] => "past inputs explain nothing more of them".to_owned(),
        some => format!(
            "past values of {} still explain part of them: other lags or a larger model may help",
            some.join(" and ")
        ),
    };
    let region = match &found.by_region {
        Some([inside, outside]) if outside.n > 0 => format!(
            " {} of the samples lie outside the region of the training data; there {} are inside the band, elsewhere {}.",
            percent(outside.n as f64 / found.n as f64),
            outside.inside.map_or_else(|| "none".to_owned(), percent),
            inside.inside.map_or_else(|| "none".to_owned(), percent),
        ),
        _ => String::new(),
    };
    format!(
        "{name}: mean {}, standard deviation {}; {own}; {inputs}.{region}",
        significant(found.mean, 3),
        significant(found.std, 3)
    )
}

fn of_output(linear: &Linearisation, found: &Residuals, coverage: f64) -> Vec<Chart> {
    let name = &found.output;
    let label = with_unit(&linear.outputs, name);
    let every = found.n.div_ceil(POINTS).max(1);
    let thinned = |values: &[f64]| values.iter().step_by(every).copied().collect::<Vec<f64>>();
    let (least, most) = found
        .measured
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(*y), b.max(*y)));
    let scatter = Plot::new(
        format!("Measured against simulated {name}"),
        format!("simulated {label}"),
        format!("measured {label}"),
    )
    .curve(
        "samples",
        &thinned(&found.simulated),
        &thinned(&found.measured),
        SeriesStyle::Dots,
    )
    .curve("equal", &[least, most], &[least, most], SeriesStyle::Joined);
    let histogram = &found.histogram;
    let bars = Plot::new(
        format!("How large errors of {name} are"),
        format!("error of {label}"),
        "density",
    )
    .curve("errors", &histogram.middle, &histogram.density, SeriesStyle::Step)
    .curve("normal", &histogram.middle, &histogram.normal, SeriesStyle::Line);
    let mut charts = vec![over_time(found, &label), scatter.chart(), bars.chart()];
    if let Some(spectrum) = &found.spectrum {
        let frequency: Vec<f64> = spectrum.frequency.iter().map(|value| value / linear.step()).collect();
        let unit = if linear.sample_time.is_some() {
            "Hz"
        } else {
            "cycles/sample"
        };
        let plot = Plot::new(
            format!("Power of the error of {name}"),
            format!("frequency ({unit})"),
            "power",
        )
        .log([true, true])
        .curve("power", &frequency, &spectrum.power, SeriesStyle::Line)
        .reference(found.std * found.std, "white noise");
        charts.push(plot.chart());
    }
    charts.push(stems(
        format!("Autocorrelation of the error of {name}"),
        "lag (samples)",
        &found.autocorrelation,
    ));
    for cross in &found.cross {
        charts.push(stems(
            format!("Error of {name} and input {}", cross.input),
            "lag of the input (samples)",
            &cross.correlation,
        ));
    }
    let ends = |group: &CoverageGroup| format!("{} to {}", significant(group.from, 3), significant(group.to, 3));
    charts.push(inside(
        format!("{name} inside the band by time"),
        "samples",
        &found.by_time,
        |group| format!("{:.0}", group.to),
        coverage,
    ));
    charts.push(inside(
        format!("{name} inside the band by level"),
        &format!("simulated {label}"),
        &found.by_amplitude,
        ends,
        coverage,
    ));
    charts
}

/// A line that keeps the largest errors, however few samples they last.
fn over_time(found: &Residuals, label: &str) -> Chart {
    let shown = kept(&found.errors, POINTS);
    let samples: Vec<f64> = shown.iter().map(|k| (k + 1) as f64).collect();
    let errors: Vec<f64> = shown.iter().map(|k| found.errors[*k]).collect();
    Plot::new(
        format!("Error of {} over time", found.output),
        "sample",
        format!("error of {label}"),
    )
    .curve("error", &samples, &errors, SeriesStyle::Line)
    .reference(0.0, "")
    .chart()
}

fn stems(title: String, x_label: &str, found: &Correlation) -> Chart {
    let lags: Vec<f64> = (0..found.values.len())
        .map(|index| (found.first + index as i64) as f64)
        .collect();
    Plot::new(title, x_label, "correlation")
        .range(-1.0, 1.0)
        .curve("correlation", &lags, &found.values, SeriesStyle::Stem)
        .reference(found.bound, "95 % of noise")
        .reference(-found.bound, "")
        .chart()
}

fn inside(
    title: String,
    x_label: &str,
    groups: &[CoverageGroup],
    name: impl Fn(&CoverageGroup) -> String,
    coverage: f64,
) -> Chart {
    Chart::Bars(BarsChart {
        title,
        x_label: x_label.to_owned(),
        y_label: "inside (%)".to_owned(),
        categories: groups.iter().map(name).collect(),
        values: rounded(
            groups
                .iter()
                .map(|group| group.inside.map_or(f64::NAN, |share| 100.0 * share)),
        ),
        references: vec![Reference {
            value: 100.0 * coverage,
            label: format!("target {}", asked(coverage)),
        }],
        log: false,
        y_range: Some([0.0, 105.0]),
    })
}

/// A chart per output.
fn ahead(linear: &Linearisation, fits: &[AheadFit]) -> Vec<Chart> {
    if fits.is_empty() {
        return Vec::new();
    }
    let chart = |(output, channel): (usize, &intervalid_data::Channel)| {
        let label = |fit: &AheadFit| {
            fit.horizon
                .map_or_else(|| "free run".to_owned(), |horizon| horizon.to_string())
        };
        Chart::Bars(BarsChart {
            title: format!("Fit of {} by samples ahead", channel.name),
            x_label: "samples ahead".to_owned(),
            y_label: "fit (%)".to_owned(),
            categories: fits.iter().map(label).collect(),
            values: rounded(fits.iter().map(|fit| fit.fit_percent[output].unwrap_or(f64::NAN))),
            ..BarsChart::default()
        })
    };
    linear.outputs.iter().enumerate().map(chart).collect()
}

#[cfg(test)]
mod tests {
    use intervalid_analysis::Histogram;

    use super::*;

    #[test]
    fn an_error_of_one_sample_is_seen_in_a_long_record() {
        let mut errors = vec![0.0; 12_000];
        errors[7] = 5.0;
        let found = Residuals {
            output: "y".to_owned(),
            n: errors.len(),
            mean: 0.0,
            std: 0.05,
            measured: errors.clone(),
            simulated: vec![0.0; errors.len()],
            errors,
            histogram: Histogram {
                middle: Vec::new(),
                density: Vec::new(),
                normal: Vec::new(),
                beyond: 1,
            },
            spectrum: None,
            autocorrelation: Correlation {
                first: 0,
                values: Vec::new(),
                bound: 0.1,
            },
            cross: Vec::new(),
            by_time: Vec::new(),
            by_amplitude: Vec::new(),
            by_region: None,
        };
        let Chart::Lines(chart) = over_time(&found, "y") else {
            panic!("lines")
        };
        let values = &chart.series[0].values;
        let greatest = (0..values.len()).max_by(|&a, &b| values[a].unwrap_or(0.0).total_cmp(&values[b].unwrap_or(0.0)));
        let greatest = greatest.expect("values");
        assert_eq!((chart.x[greatest], values[greatest]), (8.0, Some(5.0)));
        assert!(values.len() <= POINTS, "{}", values.len());
    }
}
