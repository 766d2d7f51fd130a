//! A fitted model and the data it is used on.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_data::{Dataset, Part};
use intervalid_files::settle;
use intervalid_model::{Band, Model};

use super::fit::{CONFIG, ConfigFile, MODEL, READ};
use crate::args::{DataArgs, GlobalArgs, PartName};
use crate::error::Failure;
use crate::format::count;
use crate::output::Output;
use crate::request::record;

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

/// A simulation of part of a record.
pub(super) struct Simulation {
    pub(super) dataset: Dataset,
    pub(super) part: Part,
    pub(super) bands: Vec<Band>,
}

/// Simulates the part of the data that was asked for, freely or so many samples ahead. Columns are those of the model unless the user names others.
pub(super) fn simulate(
    (path, model): (&Path, &Model),
    data: &DataArgs,
    (part, horizon): (PartName, Option<usize>),
    global: &GlobalArgs,
    output: &Output,
) -> Result<Simulation, Failure> {
    let mut data = data.clone();
    if part != PartName::All && data.split.is_none() {
        // The parts are those of the fit, as far as its folder tells.
        let config = model_file(path)?.with_file_name(CONFIG);
        if config.is_file() {
            data.split = ConfigFile::load(Some(&config))?.split()?;
        }
    }
    let interface = model.interface();
    let names = |channels: &[intervalid_data::Channel]| channels.iter().map(|channel| channel.name.clone()).collect();
    data.input.get_or_insert_with(|| names(&interface.inputs));
    data.output.get_or_insert_with(|| names(&interface.outputs));
    let request = record(&data, global);
    let dataset = request.load()?;
    output.warnings(&dataset);
    let part = match part {
        PartName::All => Part::whole(&dataset),
        PartName::Train => request.split(&dataset)?.train,
        PartName::Validation => request.split(&dataset)?.validation,
        PartName::Test => request.split(&dataset)?.test,
    };
    output.detail(format_args!(
        "{}: {} in {}",
        dataset.name(),
        count(part.samples(), "sample"),
        count(part.segments().len(), "piece"),
    ));
    let bands = match horizon {
        None => model.simulate(&dataset, &part)?,
        Some(samples) => model.predict_ahead(&dataset, &part, samples)?,
    };
    Ok(Simulation { dataset, part, bands })
}
