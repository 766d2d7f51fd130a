//! `intervalid data show`.

use std::time::Instant;

use intervalid_data::{
    ChannelSummary, DataError, Dataset, InitialState, LagCandidate, LagSearchConfig, Lags, Split, SplitFractions,
    Summary, Trend, describe, find_dead_times, suggest_lags,
};
use intervalid_workflow::{RecordRequest, SplitSource};
use serde::Serialize;

use crate::args::column_names;
use crate::error::Failure;
use crate::format::{count, percent, seconds, significant, table};
use crate::output::Output;
use crate::request::split_label;

/// More experiments than this are listed with `--verbose` only.
const EXPERIMENTS_LISTED: usize = 12;
/// Statistics are printed with this many significant digits.
const DIGITS: usize = 4;

/// Everything the command tells; the JSON object.
#[derive(Debug, Serialize)]
struct Report {
    name: String,
    description: Option<&'static str>,
    source: Option<&'static str>,
    samples: usize,
    sample_time: Option<f64>,
    experiments: Vec<ExperimentReport>,
    inputs: Vec<ChannelReport>,
    outputs: Vec<ChannelReport>,
    split: Option<SplitReport>,
    dead_time: Option<Vec<DeadTimeReport>>,
    lags: Vec<LagReport>,
    paper_lags: Option<Lags>,
    warnings: Vec<String>,
    /// What could not be found out, and why.
    notes: Vec<String>,
    /// What was done to the recording before all this, a sentence each.
    preparation: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ExperimentReport {
    name: String,
    samples: usize,
}

#[derive(Debug, Serialize)]
struct ChannelReport {
    name: String,
    unit: Option<String>,
    min: f64,
    max: f64,
    mean: f64,
    std: f64,
    levels: Option<usize>,
    longest_constant: usize,
}

#[derive(Debug, Serialize)]
struct SplitReport {
    fractions: SplitFractions,
    chosen_by: SplitSource,
    train: usize,
    validation: usize,
    test: usize,
}

#[derive(Debug, Serialize)]
struct DeadTimeReport {
    input: String,
    output: String,
    delay: Option<usize>,
    bound: f64,
    correlation: Vec<f64>,
}

/// The outcome of one order search.
#[derive(Debug, Serialize)]
struct LagReport {
    initial: InitialState,
    suggested: LagCandidate,
    best: LagCandidate,
}

/// Describes the data and what they suggest for a first model.
pub(crate) fn run(request: &RecordRequest, detrend: Option<&[String]>, output: &Output) -> Result<(), Failure> {
    request.options().prepare.check()?;
    let started = Instant::now();
    let reading = format!("reading {}", request.label());
    let dataset = output.working(&reading, || request.load())?;
    output.detail(format_args!("{reading}: {:.1?}", started.elapsed()));
    let detrend = column_names(detrend.unwrap_or_default());
    let report = report(&dataset, request, &detrend, output)?;
    if output.is_json() {
        return output.json(&report);
    }
    print(&report, output)
}

fn report(recorded: &Dataset, request: &RecordRequest, detrend: &[String], output: &Output) -> Result<Report, Failure> {
    let known = request.known;
    let mut notes = Vec::new();
    let split = noted("split", request.split(recorded), &mut notes);
    let trend = match (&split, detrend) {
        (Some(split), [_, ..]) => Some(Trend::fit(recorded, &split.train, detrend)?),
        _ => None,
    };
    let level = trend.as_ref().map(|trend| trend.remove(recorded));
    let dataset = level.as_ref().unwrap_or(recorded);
    let summary = describe(dataset);
    let names: Vec<&str> = dataset
        .inputs()
        .iter()
        .chain(dataset.outputs())
        .map(|channel| channel.name.as_str())
        .collect();
    let mut preparation = dataset.preparation().in_words(&names);
    preparation.extend(trend.map(|trend| trend.in_words(&names)));
    let mut dead_time = None;
    let mut lags = Vec::new();
    if let Some(split) = &split {
        dead_time = noted("dead time", dead_times(dataset, split), &mut notes);
        // The two starts give the same reason if the search is impossible; once is enough.
        let found = output.working("searching lags", || search_lags(dataset, split, output));
        lags = noted("lags", found, &mut notes).unwrap_or_default();
    }
    let Summary {
        name,
        samples,
        experiments,
        sample_time,
        inputs,
        outputs,
        warnings,
    } = summary;
    Ok(Report {
        name,
        description: known.map(|known| known.description),
        source: known.map(|known| known.source),
        samples,
        sample_time,
        experiments: experiments
            .into_iter()
            .map(|(name, samples)| ExperimentReport { name, samples })
            .collect(),
        inputs: inputs.into_iter().map(channel).collect(),
        outputs: outputs.into_iter().map(channel).collect(),
        split: split.map(|split| SplitReport {
            fractions: request.fractions,
            chosen_by: request.split_source,
            train: split.train.samples(),
            validation: split.validation.samples(),
            test: split.test.samples(),
        }),
        dead_time,
        lags,
        paper_lags: known.map(|known| known.lags),
        warnings: warnings.iter().map(ToString::to_string).collect(),
        notes,
        preparation,
    })
}

/// A record that is too short or does not move can still be described: keep the reason and go on.
fn noted<T>(what: &str, result: Result<T, DataError>, notes: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| notes.push(format!("{what}: {error}"))).ok()
}

fn channel(summary: ChannelSummary) -> ChannelReport {
    let counted = summary.levels < ChannelSummary::LEVELS_COUNTED;
    ChannelReport {
        name: summary.channel.name,
        unit: summary.channel.unit,
        min: summary.min,
        max: summary.max,
        mean: summary.mean,
        std: summary.std,
        levels: counted.then_some(summary.levels),
        longest_constant: summary.longest_constant,
    }
}

fn dead_times(dataset: &Dataset, split: &Split) -> Result<Vec<DeadTimeReport>, DataError> {
    // The same samples that a search looks at, so that both say the same.
    let known = split.train.followed_by(&split.validation);
    let estimates = find_dead_times(dataset, &known)?;
    let named = estimates.into_iter().map(|estimate| DeadTimeReport {
        input: dataset.inputs()[estimate.input].name.clone(),
        output: dataset.outputs()[estimate.output].name.clone(),
        delay: estimate.delay,
        bound: estimate.bound,
        correlation: estimate.correlation,
    });
    Ok(named.collect())
}

fn search_lags(dataset: &Dataset, split: &Split, output: &Output) -> Result<Vec<LagReport>, DataError> {
    let search = |initial| {
        let started = Instant::now();
        let config = LagSearchConfig {
            initial,
            ..LagSearchConfig::default()
        };
        let found = suggest_lags(dataset, split, &config)?;
        let tried = found.candidates.len();
        output.detail(format_args!(
            "{tried} ARX models, start {initial}: {:.1?}",
            started.elapsed()
        ));
        Ok(LagReport {
            initial,
            suggested: found.suggested,
            best: found.best,
        })
    };
    [InitialState::ZeroPadded, InitialState::Measured]
        .into_iter()
        .map(search)
        .collect()
}

fn print(report: &Report, output: &Output) -> Result<(), Failure> {
    let description = report.description.map_or_else(String::new, |text| format!(": {text}"));
    output.heading(format_args!("{}{description}", report.name))?;
    if let Some(source) = report.source {
        output.result(format_args!("source: {source}"))?;
    }
    let duration = report.sample_time.map_or_else(String::new, |seconds| {
        format!(" ({} s in all)", significant(seconds * report.samples as f64, DIGITS))
    });
    output.result(format_args!(
        "{} in {}, sample time {}{duration}",
        count(report.samples, "sample"),
        count(report.experiments.len(), "experiment"),
        seconds(report.sample_time),
    ))?;
    print_experiments(report, output)?;
    output.heading("\nChannels")?;
    let inputs = report.inputs.iter().map(|channel| channel_row("input", channel));
    let outputs = report.outputs.iter().map(|channel| channel_row("output", channel));
    let header = ["name", "role", "unit", "min", "max", "mean", "std"];
    output.result(table(&header, &[3, 4, 5, 6], inputs.chain(outputs)))?;
    if let Some(split) = &report.split {
        output.heading("\nSplit")?;
        output.result(format_args!(
            " {} training, {} validation, {} test samples, in this order of time ({})",
            split.train,
            split.validation,
            split.test,
            split_label(split.chosen_by),
        ))?;
    }
    print_dead_time(report, output)?;
    print_lags(report, output)?;
    for (heading, lines) in [
        ("\nPreparation", &report.preparation),
        ("\nWarnings", &report.warnings),
        ("\nNot found out", &report.notes),
    ] {
        if !lines.is_empty() {
            output.heading(heading)?;
        }
        for line in lines {
            output.result(format_args!(" {line}"))?;
        }
    }
    Ok(())
}

fn print_experiments(report: &Report, output: &Output) -> Result<(), Failure> {
    if report.experiments.len() < 2 {
        return Ok(());
    }
    let listed = if output.is_verbose() {
        usize::MAX
    } else {
        EXPERIMENTS_LISTED
    };
    output.heading("\nExperiments")?;
    let rows = report.experiments.iter().take(listed);
    let rows = rows.map(|experiment| vec![experiment.name.clone(), experiment.samples.to_string()]);
    output.result(table(&["name", "samples"], &[1], rows))?;
    if report.experiments.len() > listed {
        let more = report.experiments.len() - listed;
        output.result(format_args!(" and {more} more (list them with --verbose)"))?;
    }
    Ok(())
}

fn channel_row(role: &str, channel: &ChannelReport) -> Vec<String> {
    let mut row = vec![
        channel.name.clone(),
        role.to_owned(),
        channel.unit.clone().unwrap_or_else(|| "-".to_owned()),
    ];
    // A mean that is nothing but rounding error is zero to a reader.
    let negligible = 1e-6 * (channel.max - channel.min);
    let number = |value: f64| {
        if value.abs() <= negligible {
            "0".to_owned()
        } else {
            significant(value, DIGITS)
        }
    };
    row.extend([channel.min, channel.max, channel.mean, channel.std].map(number));
    row
}

fn print_dead_time(report: &Report, output: &Output) -> Result<(), Failure> {
    let Some(pairs) = report.dead_time.as_ref().filter(|pairs| !pairs.is_empty()) else {
        return Ok(());
    };
    output.heading("\nDead time (first delay at which the output answers the input, training and validation part)")?;
    for pair in pairs {
        let found = match (pair.delay, report.sample_time) {
            (Some(0), _) => "without delay".to_owned(),
            (Some(delay), Some(seconds)) => {
                let time = significant(delay as f64 * seconds, 3);
                format!("{} ({time} s)", count(delay, "sample"))
            }
            (Some(delay), None) => count(delay, "sample"),
            (None, _) => format!("no significant answer within {} samples", pair.correlation.len() - 1),
        };
        output.result(format_args!(" {} → {}: {found}", pair.input, pair.output))?;
    }
    Ok(())
}

fn print_lags(report: &Report, output: &Output) -> Result<(), Failure> {
    if report.lags.is_empty() {
        return Ok(());
    }
    output.heading("\nSuggested lags (smallest ARX model close to the best free run on the validation part)")?;
    let rows = report.lags.iter().map(|found| {
        let start = match found.initial {
            InitialState::Measured => "last NY outputs known",
            _ => "one output known",
        };
        let error = |candidate: &LagCandidate| percent(candidate.validation_rmse);
        vec![
            start.to_owned(),
            found.suggested.lags.to_string(),
            error(&found.suggested),
            found.best.lags.to_string(),
            error(&found.best),
        ]
    });
    let header = ["start of the free run", "NX,ND,NY", "error", "best", "error"];
    output.result(table(&header, &[2, 4], rows))?;
    output.result(" error: RMSE in per cent of the standard deviation of the training outputs")?;
    if let Some(lags) = report.paper_lags {
        output.result(format_args!(" the paper uses {lags}"))?;
    }
    Ok(())
}
