//! Several models in the same charts: steps, frequency, static curves and errors.

use intervalid_analysis::{ChannelResponse, FrequencyResponse, Residuals, Response, Responses, StaticOutput};

use super::plot::Plot;
use super::{AnalysisContent, AnalysisReport, Section, with_unit};
use crate::chart::{Chart, SeriesStyle};
use crate::error::{ReportError, Result};
use crate::page::{Content, Page};
use crate::text::{listed, significant};

/// A model by the name that charts have for it.
pub type NamedAnalysis<'a> = (&'a str, AnalysisReport<'a>);

/// Curves of several models, one chart for each input and output that the first of them has. The other views are those of one model.
///
/// # Errors
/// If there is no model.
pub fn analysis_overlay(models: &[NamedAnalysis<'_>]) -> Result<Page> {
    let Some((_, first)) = models.first() else {
        return Err(ReportError::Compare {
            reason: "no model was named".to_owned(),
        });
    };
    let sections = [steps(models), frequency(models), curves(models), errors(models)];
    let content = AnalysisContent {
        title: listed(models.iter().map(|(name, _)| *name)),
        model: first.model.kind(),
        lead: Vec::new(),
        cautions: Vec::new(),
        sections: sections
            .into_iter()
            .filter(|section| !section.charts.is_empty())
            .collect(),
    };
    Ok(Page::new(Content::Analysis(Box::new(content))))
}

/// Inputs and outputs of the first model, by name.
fn pairs<'a>(models: &[NamedAnalysis<'a>]) -> Vec<(&'a str, &'a str)> {
    let linear = models[0].1.linear;
    let outputs = |input: &'a str| linear.outputs.iter().map(move |output| (input, output.name.as_str()));
    let inputs = linear.inputs.iter().map(|input| input.name.as_str());
    inputs.flat_map(outputs).collect()
}

/// A chart of the models that have something to show in it; bands come after all curves.
fn chart<T>(
    plot: Plot,
    found: &[(&str, T)],
    curve: impl Fn(Plot, &str, &T) -> Plot,
    band: impl Fn(Plot, &str, usize, &T) -> Plot,
) -> Option<Chart> {
    if found.is_empty() {
        return None;
    }
    let plot = found.iter().fold(plot, |plot, (name, found)| curve(plot, name, found));
    let plot = found.iter().enumerate().fold(plot, |plot, (index, (name, found))| {
        band(plot, &format!("{name}, band"), index, found)
    });
    Some(plot.chart())
}

/// The step that goes furthest, per unit of the input, so that models at different points and steps of different sizes compare.
fn steps(models: &[NamedAnalysis<'_>]) -> Section {
    let linear = models[0].1.linear;
    let mut charts = Vec::new();
    for (input, output) in pairs(models) {
        let found = models.iter().filter_map(|(name, report)| {
            let responses = report.responses.iter().find(|found| found.input == input)?;
            let step = largest(responses)?;
            let label = format!("{name}, step of {}", significant(step.amplitude, 3));
            Some((label, PerUnit::new(responses, step, output)?))
        });
        let found: Vec<(String, PerUnit)> = found.collect();
        let found: Vec<(&str, &PerUnit)> = found.iter().map(|(label, found)| (label.as_str(), found)).collect();
        let unit = found.first().map_or("s", |(_, found)| found.time_unit);
        let plot = Plot::new(
            format!("Step {input} → {output}, per unit"),
            format!("time ({unit})"),
            format!(
                "{} per {}",
                with_unit(&linear.outputs, output),
                with_unit(&linear.inputs, input)
            ),
        );
        charts.extend(chart(
            plot,
            &found,
            |plot, name, found| plot.curve(name, &found.time, &found.y, SeriesStyle::Joined),
            |plot, name, of, found| plot.band(name, of, &found.time, [&found.lower, &found.upper]),
        ));
    }
    Section {
        id: "steps".to_owned(),
        label: "Steps".to_owned(),
        heading: "Steps".to_owned(),
        words: vec![
            "From rest, one input changes and stays: the largest step of each model, divided by its size, with the band of a simulation."
                .to_owned(),
        ],
        charts,
        ..Section::default()
    }
}

fn largest(responses: &Responses) -> Option<&Response> {
    let steps = responses.steps.iter();
    steps.max_by(|a, b| a.amplitude.abs().total_cmp(&b.amplitude.abs()))
}

/// The answer to a step, divided by its size.
struct PerUnit {
    time_unit: &'static str,
    time: Vec<f64>,
    y: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl PerUnit {
    fn new(responses: &Responses, step: &Response, output: &str) -> Option<Self> {
        let answer = step.outputs.iter().find(|answer| answer.output == output)?;
        let per_unit = |values: &[f64]| values.iter().map(|y| (y - answer.rest) / step.amplitude).collect();
        // A step down turns the band over.
        let (lower, upper) = match step.amplitude > 0.0 {
            true => (&answer.lower, &answer.upper),
            false => (&answer.upper, &answer.lower),
        };
        Some(Self {
            time_unit: responses.time_unit,
            time: responses.time.clone(),
            y: per_unit(&answer.y),
            lower: per_unit(lower),
            upper: per_unit(upper),
        })
    }
}

fn frequency(models: &[NamedAnalysis<'_>]) -> Section {
    let linear = models[0].1.linear;
    let mut charts = Vec::new();
    for (input, output) in pairs(models) {
        let found = models.iter().filter_map(|(name, report)| {
            let found = report.frequency?;
            let channel = found
                .channels
                .iter()
                .find(|channel| channel.input == input && channel.output == output)?;
            Some((*name, (found, channel)))
        });
        let found: Vec<(&str, (&FrequencyResponse, &ChannelResponse))> = found.collect();
        let Some((_, (first, _))) = found.first() else { continue };
        let x_label = format!("frequency ({})", first.frequency_unit);
        let gain = format!(
            "gain ({} per {})",
            with_unit(&linear.outputs, output),
            with_unit(&linear.inputs, input)
        );
        let magnitude = Plot::new(format!("Gain {input} → {output}"), &x_label, gain).log([true, true]);
        charts.extend(chart(
            magnitude,
            &found,
            |plot, name, (found, channel)| plot.curve(name, &found.frequency, &channel.magnitude, SeriesStyle::Joined),
            |plot, name, of, (found, channel)| match &channel.band {
                Some(band) => plot.band(name, of, &found.frequency, [&band.magnitude[0], &band.magnitude[1]]),
                None => plot,
            },
        ));
        let phase = Plot::new(format!("Phase {input} → {output}"), &x_label, "degrees").log([true, false]);
        charts.extend(chart(
            phase,
            &found,
            |plot, name, (found, channel)| plot.curve(name, &found.frequency, &channel.phase, SeriesStyle::Joined),
            |plot, name, of, (found, channel)| match &channel.band {
                Some(band) => plot.band(name, of, &found.frequency, [&band.phase[0], &band.phase[1]]),
                None => plot,
            },
        ));
    }
    Section {
        id: "frequency".to_owned(),
        label: "Frequency".to_owned(),
        heading: "Frequency response".to_owned(),
        words: vec![
            "How a small sine around each model's point of rest comes out: larger or smaller, and how late. Models without margins or \
             members have no band."
                .to_owned(),
        ],
        charts,
        ..Section::default()
    }
}

fn curves(models: &[NamedAnalysis<'_>]) -> Section {
    let linear = models[0].1.linear;
    let values = |list: &[Option<f64>]| list.iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<_>>();
    let mut charts = Vec::new();
    for (input, output) in pairs(models) {
        let found = models.iter().filter_map(|(name, report)| {
            let curve = report.curves.iter().find(|curve| curve.input == input)?;
            let answer = curve.outputs.iter().find(|answer| answer.output == output)?;
            Some((*name, (curve.u.as_slice(), answer)))
        });
        let found: Vec<(&str, (&[f64], &StaticOutput))> = found.collect();
        let x_label = with_unit(&linear.inputs, input);
        let rest = Plot::new(
            format!("{output} at rest over {input}"),
            &x_label,
            with_unit(&linear.outputs, output),
        );
        charts.extend(chart(
            rest,
            &found,
            |plot, name, (u, answer)| plot.curve(name, u, &values(&answer.y), SeriesStyle::Joined),
            |plot, name, of, (u, answer)| plot.band(name, of, u, [&values(&answer.lower), &values(&answer.upper)]),
        ));
        let gain = Plot::new(format!("Local gain {input} → {output}"), &x_label, "gain");
        charts.extend(chart(
            gain,
            &found,
            |plot, name, (u, answer)| plot.curve(name, u, &values(&answer.gain), SeriesStyle::Joined),
            |plot, _, _, _| plot,
        ));
    }
    Section {
        id: "static".to_owned(),
        label: "Static".to_owned(),
        heading: "Static characteristic".to_owned(),
        words: vec![
            "Where the output comes to rest when an input is held. The slope is the local gain; a linear model has one slope.".to_owned(),
        ],
        charts,
        ..Section::default()
    }
}

fn errors(models: &[NamedAnalysis<'_>]) -> Section {
    let linear = models[0].1.linear;
    let mut charts = Vec::new();
    for channel in &linear.outputs {
        let output = &channel.name;
        let found = models.iter().filter_map(|(name, report)| {
            let found = report.residuals.iter().find(|found| found.output == *output)?;
            Some((*name, found))
        });
        let found: Vec<(&str, &Residuals)> = found.collect();
        let label = with_unit(&linear.outputs, output);
        let histogram = Plot::new(
            format!("How large errors of {output} are"),
            format!("error of {label}"),
            "density",
        );
        charts.extend(chart(
            histogram,
            &found,
            |plot, name, found| {
                let bars = &found.histogram;
                plot.curve(name, &bars.middle, &bars.density, SeriesStyle::Joined)
            },
            |plot, _, _, _| plot,
        ));
        let Some((_, first)) = found.first() else { continue };
        let bound = first.autocorrelation.bound;
        let autocorrelation = Plot::new(
            format!("Autocorrelation of the error of {output}"),
            "lag (samples)",
            "correlation",
        )
        .range(-1.0, 1.0)
        .reference(bound, "95 % of noise")
        .reference(-bound, "");
        charts.extend(chart(
            autocorrelation,
            &found,
            |plot, name, found| {
                let own = &found.autocorrelation;
                let lags: Vec<f64> = (0..own.values.len())
                    .map(|index| (own.first + index as i64) as f64)
                    .collect();
                plot.curve(name, &lags, &own.values, SeriesStyle::Joined)
            },
            |plot, _, _, _| plot,
        ));
    }
    Section {
        id: "errors".to_owned(),
        label: "Errors".to_owned(),
        heading: "Errors".to_owned(),
        words: vec!["Measured less simulated, over the same samples.".to_owned()],
        charts,
        ..Section::default()
    }
}
