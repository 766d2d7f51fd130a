//! `intervalid predict` where outputs are not known yet: inputs alone, started from an output or from another recording.

use std::path::PathBuf;

use anyhow::anyhow;
use intervalid_data::{Channel, Dataset, Experiment, Moment, Part, Preparation, Segment, position_of};
use intervalid_model::{Model, ModelKind};
use intervalid_report::folder::{Extras, Planned, predictions_csv};
use intervalid_workflow::{Past, Plan, PlanLabel};
use serde::Serialize;

use super::levels::{LevelBounds, Levels};
use super::load::{columns, diverged_at, of_model, warn_of_extrapolation, warn_of_far_input, warn_of_trend};
use super::predict::diverged;
use super::seen::{WHOLE, warn_of_split};
use crate::args::{DataArgs, DataOptions, GlobalArgs, PredictArgs};
use crate::error::Failure;
use crate::output::Output;
use crate::path_text;
use crate::request::record;
use crate::write::OutFile;

/// The JSON object. Nothing was measured, so there are no metrics.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    metrics: Option<()>,
    predictions: Vec<Column<'a>>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
    plot: Option<()>,
}

/// One output.
#[derive(Serialize)]
struct Column<'a> {
    experiment: &'a str,
    output: &'a str,
    /// Row of the plan that the first prediction is for, from 1.
    first: usize,
    y_hat: &'a [f64],
    y_lower: &'a [f64],
    y_upper: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    extrapolated: Option<&'a [bool]>,
    /// Bounds at further coverages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelBounds<'a>>,
}

/// Inputs as they were read, and the plan that was made of them.
struct Planning {
    read: Dataset,
    plan: Plan,
}

/// Simulates the inputs and writes the prediction as CSV or as JSON.
pub(super) fn run(
    args: &PredictArgs,
    levels: &Levels,
    out: Option<&OutFile>,
    global: &GlobalArgs,
    output: &Output,
) -> Result<(), Failure> {
    let model = &levels.model;
    let Planning { read, plan } = plan(args, model, global, output)?;
    let level_bands = levels.bands(&plan.dataset, &plan.part, None)?;
    let bands = model.simulate(&plan.dataset, &plan.part)?;
    let extrapolated = model.extrapolated(&plan.dataset, &bands)?;
    warn_of_extrapolation(&read, extrapolated.as_deref(), output);
    // Rows of the plan: what was recorded before is the other file's.
    let planned = Segment {
        experiment: 0,
        start: plan.past,
        end: plan.dataset.samples(),
    };
    let planned = Part::from_segments(vec![planned]);
    warn_of_far_input(model, (&plan.dataset, &planned), plan.past, output);
    let [band] = bands.as_slice() else {
        return Err(Failure::input(anyhow!(
            "{}: too short to be simulated: expected at least 2 samples",
            read.name()
        )));
    };
    let skipped = band.warmup.min(band.len());
    let flags = extrapolated.as_ref().map(|flags| &flags[0][skipped..]);
    let rows = &read.experiments()[0];
    let extras = Extras {
        extrapolated: extrapolated.as_deref(),
        levels: level_bands.columns(),
        planned: Some(Planned { rows, past: plan.past }),
        ..Extras::default()
    };
    let text = predictions_csv(&plan.dataset, &plan.part, &bands, &extras)?;
    if let Some(out) = out {
        out.write(text.as_bytes())?;
    }
    if output.is_json() {
        let column = |(index, channel): (usize, &'_ Channel)| -> (usize, String) { (index, channel.name.clone()) };
        let names: Vec<(usize, String)> = model.interface().outputs.iter().enumerate().map(column).collect();
        let predictions = names.iter().map(|(index, name)| Column {
            experiment: rows.name(),
            output: name,
            // A run that diverges within its warm-up predicts nothing of the plan.
            first: (band.first + skipped).saturating_sub(plan.past) + 1,
            y_hat: &band.centre[*index][skipped..],
            y_lower: &band.lower[*index][skipped..],
            y_upper: &band.upper[*index][skipped..],
            extrapolated: flags,
            levels: level_bands.bounds(0, *index, skipped),
        });
        output.json(&Report {
            dataset: read.name(),
            model: model.kind(),
            coverage: model.config().coverage,
            metrics: None,
            predictions: predictions.collect(),
            out: args.out.clone(),
            plot: None,
        })?;
    } else if let Some(path) = &args.out {
        output.story(format_args!("Written to {}", path.display()))?;
    } else {
        output.content(text.trim_end())?;
    }
    let lost = (band.first + band.len()).saturating_sub(plan.past);
    let found = band.diverged_at.map(|_| diverged_at(rows, lost));
    diverged(found, args.allow_divergence, output)
}

const SECONDS_OF_A_DAY: f64 = 86_400.0;

/// Says where the clocks of plan and recording tell that the one does not follow the other; refuses dates that were recorded already.
fn check_clocks(
    (plan, ahead): (&str, &Experiment),
    (file, recorded): (&str, &Experiment),
    output: &Output,
) -> Result<(), Failure> {
    let (Some(clock), Some(past)) = (ahead.time(), recorded.time()) else {
        return Ok(());
    };
    let (start, end) = (clock.start, past.at(recorded.len() - 1));
    let Some(mut seconds) = start.seconds_since(end) else {
        return Ok(());
    };
    // A time of day does not say of which day: of the one that is nearest.
    if matches!(start, Moment::TimeOfDay(_)) {
        seconds -= SECONDS_OF_A_DAY * (seconds / SECONDS_OF_A_DAY).round();
    }
    let steps = seconds / past.step;
    if (0.5..=1.5).contains(&steps) {
        return Ok(());
    }
    let found = anyhow!(
        "{plan} starts at {start}, expected {}: {file} ends at {end}",
        past.at(recorded.len())
    );
    // Other clocks than dates may start anew in every file.
    match start.is_date() && steps < 0.5 {
        true => Err(Failure::input(found).with_hint("--start-from takes what was recorded before the plan")),
        false => {
            output.warning(format_args!("{found}; the plan is simulated as if it followed at once"));
            Ok(())
        }
    }
}

/// The last stretch of a recording as the model takes it. Thinning out keeps the first of every `factor` rows, of the plan from its first on: without
/// the rows that are left over at the beginning, the last one kept here is `factor` rows before that, as the model steps.
fn with_last_row_before(rows: &Dataset, last: &Experiment, factor: usize, model: &Model) -> Result<Dataset, Failure> {
    let first = last.len() % factor;
    let from = |column: &[f64]| column[first..].to_vec();
    let inputs = (0..rows.inputs().len()).map(|channel| from(last.input(channel)));
    let outputs = (0..rows.outputs().len()).map(|channel| from(last.output(channel)));
    let stretch = Experiment::new(last.name(), inputs.collect(), outputs.collect()).placed_like(last, first);
    let (inputs, outputs) = (rows.inputs().to_vec(), rows.outputs().to_vec());
    let stretch = Dataset::new(rows.name(), inputs, outputs, rows.sample_time(), vec![stretch])?;
    let preparation = &model.interface().preparation;
    let thinned = Preparation {
        decimate: preparation.decimate,
        ..Preparation::default()
    };
    // The rest was done to the whole recording.
    Ok(thinned.apply(stretch)?.with_preparation(preparation.clone()))
}

/// Units that are given, without those of outputs, which a plan does not have; a name that nothing has stays, to be refused.
fn units_of_inputs(options: &DataOptions, model: &Model) -> Result<Vec<(String, String)>, Failure> {
    let interface = model.interface();
    let of_columns = |option: &str, channels: &[Channel], asked: Option<&[String]>| -> Result<Vec<Channel>, Failure> {
        let names = columns(option, channels, asked)?;
        Ok(names.into_iter().map(Channel::new).collect())
    };
    let inputs = of_columns("--input", &interface.inputs, options.input.as_deref())?;
    let outputs = of_columns("--output", &interface.outputs, options.output.as_deref())?;
    let is_planned = |name: &str| {
        let is_output = position_of(outputs.iter(), name).is_some();
        !is_output || position_of(inputs.iter(), name).is_some()
    };
    let units = options.unit.iter().filter(|(name, _)| is_planned(name));
    Ok(units.cloned().collect())
}

/// Reads the inputs, and puts the past in front of them.
fn plan(args: &PredictArgs, model: &Model, global: &GlobalArgs, output: &Output) -> Result<Planning, Failure> {
    let interface = model.interface();
    let (inputs, outputs) = (&interface.inputs, &interface.outputs);
    warn_of_split(&args.data.options, WHOLE, output);
    let names = |channels: &[Channel]| channels.iter().map(|channel| channel.name.clone()).collect::<Vec<_>>();
    if inputs.is_empty() {
        let found = anyhow!("the model has no inputs, so there is nothing to plan with");
        return Err(Failure::input(found));
    }
    // The inputs are all that is read: as the only channels of a record they are its outputs.
    let read = record(
        &DataArgs {
            data: args.data.data.clone(),
            options: DataOptions {
                input: Some(Vec::new()),
                output: Some(columns("--input", inputs, args.data.options.input.as_deref())?),
                unit: units_of_inputs(&args.data.options, model)?,
                ..args.data.options.clone()
            },
        },
        global,
    )
    .with_preparation(interface.preparation.of_inputs(inputs.len()))
    .load()?;
    output.warnings(&read);
    let [ahead] = read.experiments() else {
        return Err(Failure::input(anyhow!(
            "{} has {} experiments: expected one stretch of inputs without gaps",
            read.name(),
            read.experiments().len()
        )));
    };
    if read.outputs().len() != inputs.len() {
        return Err(Failure::input(anyhow!(
            "{} input columns are named, the model has {}",
            read.outputs().len(),
            inputs.len()
        )));
    }
    let needed = Plan::needed(model);
    let recorded = match &args.start_from {
        Some(file) => {
            let mut data = DataArgs {
                data: vec![file.clone()],
                options: args.data.options.clone(),
            };
            let request = of_model(model, &mut data, global)?;
            // Thinned out later, so that its rows go on in those of the plan.
            let factor = interface.preparation.decimate.unwrap_or(1);
            let rows = request.with_preparation(Preparation {
                decimate: None,
                ..interface.preparation.clone()
            });
            let rows = rows.load()?;
            output.warnings(&rows);
            let last = &rows.experiments()[rows.experiments().len() - 1];
            let samples = last.len() / factor;
            if samples < needed {
                return Err(Failure::input(anyhow!(
                    "{file}: its last stretch has {samples} samples, expected at least {needed} to start from"
                )));
            }
            let past = with_last_row_before(&rows, last, factor, model)?;
            // Refuses a recording that was sampled at another rate.
            interface.scale::<f64>(&past)?;
            check_clocks((read.name(), ahead), (file, last), output)?;
            let last = &past.experiments()[0];
            Some(last.clone())
        }
        None if args.initial_output.len() != outputs.len() => {
            return Err(Failure::input(anyhow!(
                "--initial-output has {} values, the model has {} outputs: {}",
                args.initial_output.len(),
                outputs.len(),
                names(outputs).join(", ")
            )));
        }
        None => None,
    };
    let past = recorded
        .as_ref()
        .map_or(Past::AtRest(&args.initial_output), Past::Recorded);
    let columns: Vec<&[f64]> = (0..inputs.len()).map(|channel| ahead.output(channel)).collect();
    let label = PlanLabel {
        name: read.name().to_owned(),
        units: read.outputs().iter().map(|input| input.unit.clone()).collect(),
        time: ahead.time().cloned(),
        sample_time: read.sample_time(),
    };
    let plan = Plan::new(model, &columns, past, label)?;
    warn_of_trend(model, &plan.dataset, output);
    Ok(Planning { read, plan })
}
