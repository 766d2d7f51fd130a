//! The order of events of `fit`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use intervalid_data::{Dataset, Lags, Part, Split, runs};
use intervalid_model::{
    AutoConfig, AutoInfo, Band, Evaluation, FitConfig, FitOptions, Model, ModelError, Progress, StopReason, TrainInfo,
    evaluate, map_parallel,
};

use super::auto::{candidates_csv, search};
use super::config::{ConfigFile, Preset, auto_toml, config_toml, resolve, resolve_auto};
use super::result::{Extrapolation, FitResult};
use crate::args::{DataArgs, FitArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::count;
use crate::history::history_csv;
use crate::interrupt;
use crate::output::Output;
use crate::predictions::{Extras, predictions_csv};
use crate::request::DataRequest;
use crate::request::threads;
use crate::summary;
use crate::write::OutFolder;

/// The fitted model in a fit's folder.
pub(crate) const MODEL: &str = "model.safetensors";
/// `fit --json` in a fit's folder.
pub(crate) const METRICS: &str = "metrics.json";
/// The resolved settings in a fit's folder.
pub(crate) const CONFIG: &str = "config.toml";
const PREDICTIONS: &str = "predictions.csv";
const HISTORY: &str = "history.csv";
/// Of a search only.
const CANDIDATES: &str = "candidates.csv";
/// There while a fit runs, or after it was interrupted.
const CHECKPOINT: &str = "checkpoint.safetensors";

/// What to do about a checkpoint that is in the way.
const STALE: &str = "delete it to start over, or name another folder with --out DIR";

const FILES: [&str; 6] = [MODEL, METRICS, CONFIG, PREDICTIONS, HISTORY, CANDIDATES];

/// At most this much work is lost by a crash; a checkpoint of every epoch would cost more than the epochs.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// What is to be fitted, everything decided.
enum Plan {
    /// One model with these settings.
    One(Box<FitConfig>),
    /// The best that a search finds.
    Search(AutoConfig),
}

impl Plan {
    fn new(args: &FitArgs, file: &ConfigFile, dataset: &str) -> Result<Self, Failure> {
        match Preset::of(args, file)? {
            Preset::Paper if args.budget.is_some() => {
                let found = anyhow!("--budget is for --preset auto; one model is trained for as many epochs as asked");
                Err(Failure::input(found).with_hint("use --epochs N, or leave --budget out"))
            }
            Preset::Paper => Ok(Self::One(Box::new(resolve(args, file, dataset)?))),
            Preset::Auto => Ok(Self::Search(resolve_auto(args, file)?)),
        }
    }

    fn preset(&self) -> Preset {
        match self {
            Self::One(_) => Preset::Paper,
            Self::Search(_) => Preset::Auto,
        }
    }

    fn toml(&self, data: &DataArgs) -> Result<String, Failure> {
        match self {
            Self::One(config) => config_toml(config, data),
            Self::Search(config) => auto_toml(config, data),
        }
    }
}

/// Fits a model, evaluates it on the parts it was not trained on and writes its folder.
pub(crate) fn run(args: &FitArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = ConfigFile::load(args.config.as_deref())?;
    let mut data = args.data.clone();
    file.fill(&mut data)?;
    let request = DataRequest::new(&data, global);
    let name = request.known.map_or("", |known| known.name);
    let plan = Plan::new(args, &file, name)?;
    if args.print_config {
        let text = plan.toml(&data)?;
        return if output.is_json() {
            let table: toml::Table = text.parse().map_err(Failure::run)?;
            output.json(&table)
        } else {
            Ok(output.result(text.trim_end())?)
        };
    }
    let dataset = request.load()?;
    let split = request.split(&dataset)?;
    // Found out now and not after training: parts too short to be simulated.
    let (lags, initial) = match &plan {
        Plan::One(config) => (config.lags, config.initial),
        Plan::Search(config) => (config.lags.unwrap_or(Lags { nx: 0, nd: 0, ny: 1 }), config.initial),
    };
    for part in [&split.test, &split.validation] {
        if !part.is_empty() {
            runs(&dataset, part, lags, initial)?;
        }
    }
    let folder = OutFolder::open(&args.out, &FILES)?;
    output.detail(format_args!(
        "{}: {} samples to train, {} to validate, {} to test",
        dataset.name(),
        split.train.samples(),
        split.validation.samples(),
        split.test.samples()
    ));

    let checkpoint = folder.path().join(CHECKPOINT);
    let has_checkpoint = matches!(&plan, Plan::One(config) if config.model.network().is_some());
    if !has_checkpoint && checkpoint.exists() {
        let found = anyhow!(
            "{}: an interrupted fit of a network is in this folder",
            checkpoint.display()
        );
        return Err(Failure::input(found).with_hint(STALE));
    }
    let fitted = match &plan {
        Plan::One(config) => {
            train(&dataset, &split, config, &checkpoint, output).map(|(model, info)| (model, info, None))
        }
        Plan::Search(config) => {
            search(args, config, &dataset, &split, output).map(|fit| (fit.model, fit.training, Some(fit.info)))
        }
    };
    let (model, info, search) = fitted.inspect_err(|_| folder.abandon())?;
    let simulate = |part: &&Part| simulate(&model, &dataset, part);
    let mut bands = map_parallel(&[&split.test, &split.validation], threads(args.threads), simulate).into_iter();
    let (test, validation) = (bands.next().transpose()?, bands.next().transpose()?);
    let (test, validation) = (test.unwrap_or_default(), validation.unwrap_or_default());
    let evaluations = [
        evaluation(&dataset, &test, &model)?,
        evaluation(&dataset, &model.online(&dataset, &test)?, &model)?,
        evaluation(&dataset, &validation, &model)?,
    ];
    let extrapolated = model.extrapolated(&dataset, &test)?;
    let preset = plan.preset().name();
    let mut result = FitResult::new(dataset.name(), preset, (&model, &info), evaluations, args.out.clone());
    result.extrapolation = extrapolated.as_ref().map(|flags| Extrapolation::of(&test, flags));
    result.search = search;

    // Metrics of an older fit must not stand beside a newer model; new ones come last, when the folder is complete.
    folder.remove(METRICS)?;
    model.save(folder.path().join(MODEL))?;
    let settings = repeatable(&plan, &model, result.search.as_ref()).toml(&data)?;
    folder.write(CONFIG, settings.as_bytes())?;
    let extras = Extras {
        extrapolated: extrapolated.as_deref(),
        online: None,
    };
    folder.write(
        PREDICTIONS,
        predictions_csv(&dataset, &split.test, &test, &extras)?.as_bytes(),
    )?;
    folder.write(HISTORY, history_csv(&info).as_bytes())?;
    match &result.search {
        Some(info) => folder.write(CANDIDATES, candidates_csv(info).as_bytes())?,
        None => folder.remove(CANDIDATES)?,
    }
    let text = serde_json::to_string_pretty(&result)? + "\n";
    folder.write(METRICS, text.as_bytes())?;
    // The fit is whole; a leftover would only be taken up to do nothing.
    let _ = std::fs::remove_file(checkpoint);
    if output.is_json() {
        return output.json(&result);
    }
    summary::fit(&result, &model, &dataset, output)
}

/// The plan that gives this result again: with the settings as resolved, and as many rounds as there was time for.
fn repeatable(plan: &Plan, model: &Model, search: Option<&AutoInfo>) -> Plan {
    match (plan, search) {
        (Plan::Search(config), Some(info)) if info.capped => Plan::Search(AutoConfig {
            rounds: info.rounds,
            ..config.clone()
        }),
        (Plan::Search(config), _) => Plan::Search(config.clone()),
        (Plan::One(_), _) => Plan::One(Box::new(model.config().clone())),
    }
}

fn train(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    checkpoint: &Path,
    output: &Output,
) -> Result<(Model, TrainInfo), Failure> {
    interrupt::listen();
    let was_there = checkpoint.exists();
    let bars = output.bars();
    let bar = bars.add(config.model.name());
    let mut observer = |progress: &Progress| {
        let _ = bar.show(progress);
        match interrupt::requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = FitOptions {
        observer: Some(&mut observer),
        checkpoint: Some(checkpoint),
        checkpoint_every: CHECKPOINT_EVERY,
    };
    let (model, info) = Model::fit(dataset, split, config, options).map_err(|error| match error {
        ModelError::Interrupted { epoch } => interrupted(epoch),
        ModelError::Format { what: "checkpoint", .. } => Failure::from(error).with_hint(STALE),
        error => {
            if !was_there {
                // Nothing was learnt that would be worth going on from.
                let _ = std::fs::remove_file(checkpoint);
            }
            Failure::from(error)
        }
    })?;
    let is_interrupted = info
        .stages
        .iter()
        .any(|stage| matches!(stage.stopped, StopReason::Interrupted { .. }));
    if is_interrupted {
        return Err(interrupted(info.epochs_run()));
    }
    Ok((model, info))
}

fn interrupted(epochs: usize) -> Failure {
    let failure = Failure::run(anyhow!("interrupted after {}", count(epochs, "epoch")));
    failure.with_hint("run the same command again to go on from there")
}

fn simulate(model: &Model, dataset: &Dataset, part: &Part) -> Result<Vec<Band>, Failure> {
    if part.is_empty() {
        return Ok(Vec::new());
    }
    Ok(model.simulate(dataset, part)?)
}

fn evaluation(dataset: &Dataset, bands: &[Band], model: &Model) -> Result<Option<Evaluation>, Failure> {
    if bands.is_empty() {
        return Ok(None);
    }
    Ok(Some(evaluate(dataset, bands, model.config().coverage)?))
}
