//! A fitted model and the data it is used on.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_data::{Channel, Dataset, Experiment, Part, Segment, Split, position_of};
use intervalid_files::settle;
use intervalid_model::{Band, Model, ModelError};
use intervalid_report::folder::{CONFIG, MODEL, READ};
use intervalid_report::{FitReport, Page, fit_page};
use intervalid_workflow::{RecordRequest, Trained};

use super::fit::ConfigFile;
use super::seen::{ONE_PART, WHOLE, warn_of_learnt_test, warn_of_part, warn_of_split};
use crate::args::{BandName, DataArgs, DataOptions, GlobalArgs, PartName, column_names};
use crate::error::Failure;
use crate::format::{count, percent, significant};
use crate::output::Output;
use crate::request::{record, threads};
use crate::summary::MUCH_EXTRAPOLATED;

const NAME_A_MODEL: &str =
    "name a folder that `intervalid fit` wrote, or a model file; the model comes before the data";

/// The model file that a user means: a file, or the folder of a fit.
pub(super) fn model_file(path: &Path) -> Result<PathBuf, Failure> {
    let refused = |what: &str| Failure::input(anyhow!("{}: {what}", path.display())).with_hint(NAME_A_MODEL);
    if path.is_dir() {
        settle(path, &READ)?;
        let file = path.join(MODEL);
        return match file.is_file() {
            true => Ok(file),
            false => Err(refused(&format!("there is no {MODEL} in this folder"))),
        };
    }
    match path.exists() {
        true => Ok(path.to_owned()),
        false => Err(refused("no such model")),
    }
}

/// Reads a model.
pub(super) fn model(path: &Path, output: &Output) -> Result<Model, Failure> {
    let file = model_file(path)?;
    let model = Model::load(&file).map_err(|error| Failure::from(error).or_hint(NAME_A_MODEL))?;
    output.detail(format_args!(
        "{}: {} with {} and {}",
        file.display(),
        model.kind(),
        model.memory_in_words(),
        count(model.parameters(), "parameter"),
    ));
    Ok(model)
}

/// Reads a model, or its light one.
pub(super) fn banded(path: &Path, band: BandName, output: &Output) -> Result<Model, Failure> {
    let full = model(path, output)?;
    match band {
        BandName::Full => Ok(full),
        BandName::Light => Ok(full.light()?),
    }
}

/// A free run, or predictions so many samples ahead.
pub(super) fn run(
    model: &Model,
    dataset: &Dataset,
    part: &Part,
    horizon: Option<usize>,
) -> Result<Vec<Band>, ModelError> {
    match horizon {
        None => model.simulate(dataset, part),
        Some(samples) => model.predict_ahead(dataset, part, samples),
    }
}

/// A simulation of part of a record.
pub(super) struct Simulation {
    pub(super) dataset: Dataset,
    pub(super) part: Part,
    pub(super) bands: Vec<Band>,
    /// Which samples of each band lie outside the region of the training data, where the model knows it.
    pub(super) extrapolated: Option<Vec<Vec<bool>>>,
    /// What was read.
    pub(super) request: RecordRequest,
}

/// What to think of when a simulation has diverged.
pub(super) const FAR_INPUTS: &str = "are the inputs far from those the model was fitted on?";

impl Simulation {
    /// Where the first simulation that diverged did so, in words.
    pub(super) fn diverged(&self) -> Option<anyhow::Error> {
        let band = self.bands.iter().find(|band| band.diverged_at.is_some())?;
        Some(diverged_at(
            &self.dataset.experiments()[band.experiment],
            band.first + band.len(),
        ))
    }

    /// Free runs over the same record from this sample of every experiment on, counted from 0.
    pub(super) fn start_later(&mut self, model: &Model, start: usize) -> Result<(), Failure> {
        let lengths = self.dataset.experiments().iter().map(Experiment::len).enumerate();
        let segments = lengths.filter(|(_, end)| *end > start + 1);
        let segments = segments.map(|(experiment, end)| Segment { experiment, start, end });
        self.part = Part::from_segments(segments.collect());
        if self.part.is_empty() {
            return Err(Failure::input(anyhow!(
                "{}: expected more than {} samples in an experiment, so that all models can start",
                self.request.label(),
                start + 1
            )));
        }
        self.bands = run(model, &self.dataset, &self.part, None)?;
        Ok(())
    }
}

/// That the simulation of an experiment diverged at this sample, counted from 0.
pub(super) fn diverged_at(experiment: &Experiment, sample: usize) -> anyhow::Error {
    let row = experiment
        .row(sample)
        .map_or_else(String::new, |row| format!(" ({row})"));
    anyhow!(
        "the simulation of '{}' diverged at sample {}{row}: nothing is predicted from there on",
        experiment.name(),
        sample + 1
    )
}

/// Whole recordings, with the columns of the model unless the user names others.
pub(super) fn recordings(
    model: &Model,
    data: &DataArgs,
    global: &GlobalArgs,
    output: &Output,
) -> Result<(Dataset, Part), Failure> {
    let mut data = data.clone();
    warn_of_split(&data.options, WHOLE, output);
    let dataset = of_model(model, &mut data, global)?.load()?;
    output.warnings(&dataset);
    warn_of_trend(model, &dataset, output);
    let part = Part::whole(&dataset);
    warn_of_far_input(model, (&dataset, &part), 0, output);
    Ok((dataset, part))
}

/// What to read for a model: its columns unless the user names others, prepared as its own record was.
pub(super) fn of_model(model: &Model, data: &mut DataArgs, global: &GlobalArgs) -> Result<RecordRequest, Failure> {
    let interface = model.interface();
    let DataOptions { input, output, .. } = &mut data.options;
    *input = Some(columns("--input", &interface.inputs, input.as_deref())?);
    *output = Some(columns("--output", &interface.outputs, output.as_deref())?);
    let request = record(data, global).with_preparation(interface.preparation.clone());
    Ok(match (&data.options.experiment, &interface.experiment) {
        (None, Some(column)) => request.with_experiments_by(column.clone()),
        _ => request,
    })
}

/// The columns for these channels of a model, in their order. Channels that are asked for by their own names may come in any order; a column of
/// another name stands for the channel at its place.
pub(super) fn columns(option: &str, channels: &[Channel], asked: Option<&[String]>) -> Result<Vec<String>, Failure> {
    let own = || channels.iter().map(|channel| channel.name.clone());
    let Some(asked) = asked.map(column_names) else {
        return Ok(own().collect());
    };
    // The model itself refuses too few and too many.
    if asked.len() != channels.len() {
        return Ok(asked);
    }
    let place = |name: &str| position_of(channels.iter(), name);
    let mut ordered = vec![None; channels.len()];
    for name in &asked {
        if let Some(place) = place(name) {
            ordered[place] = Some(name.clone());
        }
    }
    if let Some(ordered) = ordered.into_iter().collect() {
        return Ok(ordered);
    }
    let at_another = |(index, name): &(usize, &String)| place(name).is_some_and(|place| place != *index);
    match asked.iter().enumerate().find(at_another) {
        None => Ok(asked),
        Some((index, name)) => Err(Failure::input(anyhow!(
            "{option} {}: '{name}' stands at the place of '{}', and the model has a channel '{name}' of its own",
            asked.join(","),
            channels[index].name,
        ))
        .with_hint(format!(
            "the model's channels are {}, in this order; by these names alone they may come in any order",
            own().collect::<Vec<_>>().join(",")
        ))),
    }
}

/// Says where a trend is not what it was fitted for.
pub(super) fn warn_of_trend(model: &Model, dataset: &Dataset, output: &Output) {
    for warning in model.trend_warnings(dataset) {
        output.warning(warning);
    }
}

/// Names that a message shows.
const SHOWN: usize = 5;

/// Says which stretches are left out since they are too short for the model to start.
fn warn_of_short(dataset: &Dataset, part: &Part, bands: &[Band], output: &Output) {
    let is_run = |segment: &Segment| {
        let mut own = bands.iter().filter(|band| band.experiment == segment.experiment);
        own.any(|band| (segment.start..segment.end).contains(&band.first))
    };
    let short: Vec<String> = part
        .segments()
        .iter()
        .filter(|segment| !is_run(segment))
        .map(|segment| {
            let name = dataset.experiments()[segment.experiment].name();
            format!("'{name}' ({})", count(segment.len(), "sample"))
        })
        .collect();
    if short.is_empty() {
        return;
    }
    let more = match short.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    output.warning(format_args!(
        "{}: left out, too short for the model to start: {}{more}",
        dataset.name(),
        short[..short.len().min(SHOWN)].join(", ")
    ));
}

/// Says where much of a record is unlike anything the model was fitted on.
pub(super) fn warn_of_extrapolation(dataset: &Dataset, extrapolated: Option<&[Vec<bool>]>, output: &Output) {
    let flags = extrapolated.unwrap_or_default().concat();
    let share = flags.iter().filter(|&&flag| flag).count() as f64 / flags.len().max(1) as f64;
    if share > MUCH_EXTRAPOLATED {
        output.warning(format_args!(
            "{}: {} of the samples lie outside the region of the training data; rely on neither prediction nor band there",
            dataset.name(),
            percent(share)
        ));
    }
}

/// Says where an input lies so far outside of the training data that it is hardly one; samples are counted after the first `before` ones.
pub(super) fn warn_of_far_input(model: &Model, (dataset, part): (&Dataset, &Part), before: usize, output: &Output) {
    if let Some(far) = model.far_input(dataset, part) {
        let (least, most) = (significant(far.known.0, 4), significant(far.known.1, 4));
        output.warning(format_args!(
            "{}: '{}' is {} at sample {}, where the training data lie between {least} and {most}: a mark for a missing sample, or another unit? The model \
             answers it like any other value",
            far.experiment,
            far.channel,
            far.value,
            far.sample + 1 - before,
        ));
    }
}

/// Simulates the part of the data that was asked for, freely or so many samples ahead. Columns are those of the model unless the user names others.
pub(super) fn simulate(
    (path, model): (&Path, &Model),
    data: &DataArgs,
    (part, horizon): (PartName, Option<usize>),
    global: &GlobalArgs,
    output: &Output,
) -> Result<Simulation, Failure> {
    if part == PartName::All {
        warn_of_split(&data.options, ONE_PART, output);
    }
    let simulation = simulate_settled((path, model), data, (part, horizon, false), global, output)?;
    warn_of_extrapolation(&simulation.dataset, simulation.extrapolated.as_deref(), output);
    warn_of_far_input(model, (&simulation.dataset, &simulation.part), 0, output);
    Ok(simulation)
}

/// The same, where that is asked for without the last samples, which rows and characters to come may still change.
pub(super) fn simulate_settled(
    (path, model): (&Path, &Model),
    data: &DataArgs,
    (part, horizon, settled_alone): (PartName, Option<usize>, bool),
    global: &GlobalArgs,
    output: &Output,
) -> Result<Simulation, Failure> {
    let mut data = data.clone();
    let file = model_file(path)?;
    let by_experiment = match part {
        PartName::All => None,
        _ => take_division(&file, &mut data.options)?,
    };
    let request = of_model(model, &mut data, global)?;
    let request = match settled_alone {
        true => request.with_whole_lines(),
        false => request,
    };
    if part != PartName::All {
        warn_of_part(&file, &request, output);
    }
    let dataset = request.load().map_err(Failure::from);
    let mut dataset = dataset.map_err(|failure| match &by_experiment {
        None => failure,
        Some(column) => failure.or_missing_experiment(column),
    })?;
    output.warnings(&dataset);
    warn_of_trend(model, &dataset, output);
    if settled_alone && dataset.unsettled() > 0 {
        dataset = dataset.settled().ok_or_else(|| {
            Failure::input(anyhow!(
                "{}: expected more than {} samples, since the last ones are settled by those that follow",
                request.label(),
                dataset.unsettled()
            ))
        })?;
    }
    let is_test = part == PartName::Test;
    let (part, name) = match part {
        PartName::All => (Part::whole(&dataset), "whole"),
        PartName::Train => (request.split(&dataset)?.train, "training"),
        PartName::Validation => (request.split(&dataset)?.validation, "validation"),
        PartName::Test => (request.split(&dataset)?.test, "test"),
    };
    if part.is_empty() {
        let found = anyhow!(
            "{}: its split {} has no {name} part",
            request.label(),
            request.fractions
        );
        return Err(Failure::input(found).with_hint(
            "the split is that of the fit; --part all takes the whole record, --split another division of it",
        ));
    }
    if is_test {
        warn_of_learnt_test(&file, (&dataset, &part), output);
    }
    output.detail(format_args!(
        "{}: {} in {}",
        dataset.name(),
        count(part.samples(), "sample"),
        count(part.segments().len(), "piece"),
    ));
    let bands = run(model, &dataset, &part, horizon)?;
    warn_of_short(&dataset, &part, &bands, output);
    Ok(Simulation {
        extrapolated: model.extrapolated(&dataset, &bands)?,
        dataset,
        part,
        bands,
        request,
    })
}

/// Divides a record as that of the fit was, as far as the folder of the model tells and no flag says otherwise: every experiment has parts of its own, so
/// that the shares alone would give others. What is said of experiments is returned where it comes from there.
fn take_division(model: &Path, options: &mut DataOptions) -> Result<Option<String>, Failure> {
    let config = model.with_file_name(CONFIG);
    if !config.is_file() {
        return Ok(None);
    }
    let file = ConfigFile::load(Some(&config))?;
    if options.split.is_none() {
        options.split = file.split()?;
    }
    if options.experiment.is_some() {
        return Ok(None);
    }
    options.experiment = file.experiment()?;
    Ok(options.experiment.clone())
}

/// The page of a fit, whose test part the simulated samples are.
pub(super) fn page(model: &Model, simulation: &Simulation, command: String) -> Result<Page, Failure> {
    let split = Split {
        train: Part::default(),
        validation: Part::default(),
        test: simulation.part.clone(),
    };
    let outcome = Trained::before(model.clone()).evaluate(&simulation.dataset, &split, threads(None))?;
    Ok(fit_page(&FitReport {
        dataset: &simulation.dataset,
        split: &split,
        outcome: &outcome,
        config: "",
        commands: &[command],
    })?)
}
