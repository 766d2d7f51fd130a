//! The linear system around the point, and how it answers sines.

use std::ops::Range;

use intervalid_analysis::{ChannelResponse, FrequencyResponse, Linearisation, ResponseBound};

use super::plot::Plot;
use super::{Section, TableView, with_unit};
use crate::chart::{Chart, SeriesStyle};
use crate::text::significant;

const MOST_POLES: usize = 20;

pub(super) fn section(linear: &Linearisation) -> Section {
    let point = &linear.operating_point;
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| significant(value, 4));
    let place = |re: f64, im: f64| match im.abs() > 1e-9 {
        true => format!(
            "{} {} {}i",
            significant(re, 4),
            if im > 0.0 { "+" } else { "−" },
            significant(im.abs(), 4)
        ),
        false => significant(re, 4),
    };
    let at = |channels: &[intervalid_data::Channel], values: &[f64]| {
        let each = channels.iter().zip(values).map(|(channel, value)| {
            let unit = channel
                .unit
                .as_ref()
                .map_or_else(String::new, |unit| format!(" {unit}"));
            format!("{} = {}{unit}", channel.name, significant(*value, 4))
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let gains = linear.channels.iter().map(|channel| {
        let range = channel.gain_range.map_or_else(
            || "–".to_owned(),
            |[least, most]| format!("{} to {}", significant(least, 4), significant(most, 4)),
        );
        vec![
            format!("{} → {}", channel.input, channel.output),
            number(channel.gain),
            range,
            channel.delay.to_string(),
            channel.zeros.len().to_string(),
        ]
    });
    let poles = linear.poles.iter().take(MOST_POLES).map(|pole| {
        vec![
            place(pole.place.re, pole.place.im),
            significant(pole.magnitude, 4),
            number(pole.time_constant),
            number(pole.damping),
            number(pole.natural_frequency),
        ]
    });
    let headings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let where_from = if point.is_steady { "steady state" } else { "point" };
    let draws = linear.intervals.as_ref().map(|intervals| match intervals.samples {
        0 => "Ranges of gains are those of the members.".to_owned(),
        samples => format!(
            "Ranges of gains and bands below come from {samples} draws of the parameters inside their margins{}; unstable draws are left out.",
            if linear.members > 1 { " and from the members" } else { "" }
        ),
    });
    let mut words = vec![format!(
        "Around the {where_from} {}; {}.",
        at(&linear.inputs, &point.inputs),
        at(&linear.outputs, &point.outputs)
    )];
    words.extend(draws);
    Section {
        id: "linear".to_owned(),
        label: "Linear".to_owned(),
        heading: "Linearised".to_owned(),
        words,
        tables: vec![
            TableView {
                headings: headings(&["channel", "gain", "within", "delay (samples)", "zeros"]),
                rows: gains.collect(),
            },
            TableView {
                headings: vec![
                    "pole".to_owned(),
                    "magnitude".to_owned(),
                    format!("time constant ({})", linear.time_unit),
                    "damping".to_owned(),
                    format!(
                        "natural frequency (rad/{})",
                        if linear.sample_time.is_some() { "s" } else { "sample" }
                    ),
                ],
                rows: poles.collect(),
            },
        ],
        charts: vec![pole_map(linear)],
    }
}

/// Poles, zeros and the unit circle.
fn pole_map(linear: &Linearisation) -> Chart {
    let circle: Vec<f64> = (0..=100)
        .map(|index| -(std::f64::consts::PI * f64::from(index) / 100.0).cos())
        .collect();
    let half = |sign: f64| {
        circle
            .iter()
            .map(|x| sign * (1.0 - x * x).max(0.0).sqrt())
            .collect::<Vec<_>>()
    };
    let mut poles: Vec<(f64, f64)> = linear.poles.iter().map(|pole| (pole.place.re, pole.place.im)).collect();
    // Far zeros would make everything else a dot.
    let zeros = linear
        .channels
        .iter()
        .flat_map(|channel| &channel.zeros)
        .map(|zero| (zero.re, zero.im));
    let mut zeros: Vec<(f64, f64)> = zeros.filter(|(re, im)| re.hypot(*im) < 3.0).collect();
    let dots = |list: &mut Vec<(f64, f64)>| -> (Vec<f64>, Vec<f64>) {
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        list.iter().copied().unzip()
    };
    let (pole_x, pole_y) = dots(&mut poles);
    let (zero_x, zero_y) = dots(&mut zeros);
    Plot::new("Poles and zeros in the z-plane", "real part", "imaginary part")
        .curve("poles", &pole_x, &pole_y, SeriesStyle::Dots)
        .curve("zeros", &zero_x, &zero_y, SeriesStyle::Dots)
        .band("unit circle", 0, &circle, [&half(-1.0), &half(1.0)])
        .equal()
        .chart()
}

pub(super) fn frequency_section(linear: &Linearisation, found: &FrequencyResponse) -> Section {
    let mut charts = Vec::new();
    for channel in &found.channels {
        charts.extend(channel_charts(linear, found, channel));
    }
    let mut words = vec![
        "How a small sine around the point comes out: larger or smaller, and how late. The curve of Nyquist has a dot per frequency."
            .to_owned(),
    ];
    if found.channels.iter().any(|channel| channel.measured.is_some()) {
        words.push(
            "Dots are what the recording shows without a model (Welch's average, all inputs at once). Believe them where the coherence is \
             near one: elsewhere noise, nonlinearity or a quiet input hides the response. In closed loop they are biased."
                .to_owned(),
        );
    }
    words.extend(proven_in_words(found));
    Section {
        id: "frequency".to_owned(),
        label: "Frequency".to_owned(),
        heading: "Frequency response".to_owned(),
        words,
        charts,
        ..Section::default()
    }
}

/// Least and greatest gain that a bound is shown at: beyond, everything else would be a line at the edge. Zero has no place on the axis.
fn shown(channel: &ChannelResponse) -> [f64; 2] {
    let gains = || {
        channel
            .magnitude
            .iter()
            .copied()
            .filter(|gain| gain.is_finite() && *gain > 0.0)
    };
    [
        0.1 * gains().fold(f64::INFINITY, f64::min),
        30.0 * gains().fold(0.0, f64::max),
    ]
}

/// Stretches of frequencies at which both bounds are proven, and not beyond `most`.
fn proven(bounds: &[Vec<Option<f64>>; 2], most: f64) -> Vec<Range<usize>> {
    let is_shown = |index: usize| match (bounds[0][index], bounds[1][index]) {
        (Some(_), Some(upper)) => upper <= most,
        _ => false,
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    for index in (0..bounds[0].len()).filter(|index| is_shown(*index)) {
        match runs.last_mut() {
            Some(run) if run.end == index => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    // A single frequency has no area.
    runs.retain(|run| run.len() > 1);
    runs
}

/// The bounds of a stretch, not below `least`.
fn run_of(bounds: &[Vec<Option<f64>>; 2], run: Range<usize>, least: f64) -> [Vec<f64>; 2] {
    let number = |value: &Option<f64>| value.map_or(f64::NAN, |value| value.max(least));
    bounds
        .each_ref()
        .map(|side| side[run.clone()].iter().map(number).collect())
}

fn proven_name(index: usize) -> String {
    match index {
        0 => "proven".to_owned(),
        further => format!("proven ({})", further + 1),
    }
}

/// What is proven of the response, in words.
fn proven_in_words(found: &FrequencyResponse) -> Option<String> {
    let bounds: Vec<&ResponseBound> = found
        .channels
        .iter()
        .filter_map(|channel| channel.certified.as_ref())
        .collect();
    let (all, proven) = (
        bounds.len() * found.frequency.len(),
        bounds.iter().map(|bound| bound.proven).sum::<usize>(),
    );
    let what = "The band is that of draws inside the margins of the parameters and of members.";
    match (all, proven) {
        (0, _) => None,
        (_, 0) => Some(format!(
            "{what} No bound of all models inside the margins could be proven at any frequency: the margins are too wide for it, as \
             they may hold one with a pole there."
        )),
        (all, proven) if proven == all => Some(format!(
            "{what} Around it stands what is proven of every model inside the margins, by interval arithmetic."
        )),
        (all, proven) => Some(format!(
            "{what} Around it stands what is proven of every model inside the margins, by interval arithmetic: at {proven} of {all} \
             frequencies. Elsewhere nothing could be proven, as the margins may hold a model with a pole there."
        )),
    }
}

fn channel_charts(linear: &Linearisation, found: &FrequencyResponse, channel: &ChannelResponse) -> Vec<Chart> {
    let name = format!("{} → {}", channel.input, channel.output);
    let x_label = format!("frequency ({})", found.frequency_unit);
    let gain = format!(
        "gain ({} per {})",
        with_unit(&linear.outputs, &channel.output),
        with_unit(&linear.inputs, &channel.input)
    );
    let mut magnitude = Plot::new(format!("Gain {name}"), &x_label, gain)
        .log([true, true])
        .curve("model", &found.frequency, &channel.magnitude, SeriesStyle::Joined);
    let mut phase = Plot::new(format!("Phase {name}"), &x_label, "degrees")
        .log([true, false])
        .curve("model", &found.frequency, &channel.phase, SeriesStyle::Joined);
    let mut more = Vec::new();
    if let Some(measured) = &channel.measured {
        magnitude = magnitude.curve("recording", &measured.frequency, &measured.magnitude, SeriesStyle::Dots);
        // Whole turns say nothing: the dots are put beside the curve.
        let turned: Vec<f64> = measured
            .frequency
            .iter()
            .zip(&measured.phase)
            .map(|(frequency, phase)| {
                let after = found
                    .frequency
                    .partition_point(|own| own < frequency)
                    .min(found.frequency.len() - 1);
                phase + 360.0 * ((channel.phase[after] - phase) / 360.0).round()
            })
            .collect();
        phase = phase.curve("recording", &measured.frequency, &turned, SeriesStyle::Dots);
        let coherence = Plot::new(
            format!("Coherence of {} with the inputs", channel.output),
            &x_label,
            "share explained",
        )
        .log([true, false])
        .range(0.0, 1.05)
        .curve(
            "coherence",
            &measured.frequency,
            &measured.coherence,
            SeriesStyle::Joined,
        );
        more.push(coherence.chart());
    }
    if let Some(certified) = &channel.certified {
        let [least, most] = shown(channel);
        for (index, run) in proven(&certified.magnitude, most).into_iter().enumerate() {
            let [lower, upper] = run_of(&certified.magnitude, run.clone(), least);
            magnitude = magnitude.band(&proven_name(index), 0, &found.frequency[run], [&lower, &upper]);
        }
        for (index, run) in proven(&certified.phase, f64::INFINITY).into_iter().enumerate() {
            let [lower, upper] = run_of(&certified.phase, run.clone(), f64::NEG_INFINITY);
            phase = phase.band(&proven_name(index), 0, &found.frequency[run], [&lower, &upper]);
        }
    }
    if let Some(band) = &channel.band {
        magnitude = magnitude.band("band", 0, &found.frequency, [&band.magnitude[0], &band.magnitude[1]]);
        phase = phase.band("band", 0, &found.frequency, [&band.phase[0], &band.phase[1]]);
    }
    let mut curve: Vec<(f64, f64)> = channel
        .real
        .iter()
        .copied()
        .zip(channel.imaginary.iter().copied())
        .collect();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (real, imaginary): (Vec<f64>, Vec<f64>) = curve.into_iter().unzip();
    let nyquist = Plot::new(format!("Nyquist {name}"), "real part", "imaginary part").curve(
        "model",
        &real,
        &imaginary,
        SeriesStyle::Dots,
    );
    let mut charts = vec![magnitude.chart(), phase.chart(), nyquist.chart()];
    charts.extend(more);
    charts
}
