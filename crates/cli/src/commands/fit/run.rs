//! The order of events of `fit`.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use intervalid_data::{Dataset, Lags, Part, Split, runs};
use intervalid_model::{
    Band, Evaluation, FitOptions, Model, ModelError, StopReason, TrainInfo, evaluate, map_parallel,
};
use intervalid_report::{Baseline, FitReport, PartBands};

use super::config::{ConfigFile, PAPER, config_toml, resolve};
use super::result::FitResult;
use crate::args::{FitArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::count;
use crate::history::history_csv;
use crate::interrupt;
use crate::output::Output;
use crate::pages::{REPORT, REPORT_DATA, repeat_command, write_report};
use crate::predictions::predictions_csv;
use crate::request::DataRequest;
use crate::request::threads;
use crate::summary;
use crate::write::{OutFolder, out_of_space, refuse_replacing};

/// The fitted model in a fit's folder.
pub(crate) const MODEL: &str = "model.safetensors";
/// `fit --json` in a fit's folder.
pub(crate) const METRICS: &str = "metrics.json";
/// The resolved settings in a fit's folder.
pub(crate) const CONFIG: &str = "config.toml";
const PREDICTIONS: &str = "predictions.csv";
const HISTORY: &str = "history.csv";
/// There while a fit runs, or after it was interrupted.
const CHECKPOINT: &str = "checkpoint.safetensors";

/// What to do about a checkpoint that is in the way.
const STALE: &str = "delete it to start over, or name another folder with --out DIR";

/// Where lags come from.
const DATA_SHOW: &str = "`intervalid data show DATA` suggests lags; without --lags they are searched";

const FILES: [&str; 7] = [MODEL, METRICS, CONFIG, PREDICTIONS, HISTORY, REPORT_DATA, REPORT];

/// At most this much work is lost by a crash; a checkpoint of every epoch would cost more than the epochs.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Fits a model, evaluates it on the parts it was not trained on and writes its folder.
pub(crate) fn run(args: &FitArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = ConfigFile::load(args.config.as_deref())?;
    let mut data = args.data.clone();
    file.fill(&mut data)?;
    let request = DataRequest::new(&data, global);
    let name = request.known.map_or("", |known| known.name);
    let config = resolve(args, &file, name)?;
    if args.print_config {
        let text = config_toml(&config, &data)?;
        return if output.is_json() {
            let table: toml::Table = text.parse().map_err(Failure::run)?;
            output.json(&table)
        } else {
            Ok(output.result(text.trim_end())?)
        };
    }
    let dataset = request.load()?;
    let about = |failure: Failure| failure.about(&request.label());
    let split = request.split(&dataset).map_err(|error| about(error.into()))?;
    // Found out now and not after training: parts too short to be simulated.
    for part in [&split.test, &split.validation] {
        if !part.is_empty() {
            runs(&dataset, part, config.lags, config.initial).map_err(|error| about(error.into()))?;
        }
    }
    if !config.lag_search {
        check_lags(config.lags, &split).map_err(|failure| failure.with_hint(DATA_SHOW))?;
    }
    for name in FILES {
        refuse_replacing("--out", &args.out.join(name), data.data.iter().map(Path::new))?;
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
    if config.model.network().is_none() && checkpoint.exists() {
        let found = anyhow!(
            "{}: an interrupted fit of a network is in this folder",
            checkpoint.display()
        );
        return Err(Failure::input(found).with_hint(STALE));
    }
    let trained = train(&dataset, &split, &config, &checkpoint, output);
    let (model, info) = trained.inspect_err(|_| folder.abandon()).map_err(about)?;
    let simulate = |part: &&Part| simulate(&model, &dataset, part);
    let parts = [&split.test, &split.validation, &split.train];
    let bands = map_parallel(&parts, threads(args.threads), simulate);
    let [test, validation, train]: [Vec<Band>; 3] = bands
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .try_into()
        .unwrap_or_default();
    let baseline = Baseline::fit(&dataset, &split, model.config()).unwrap_or_else(|error| {
        output.warning(format_args!("no linear model to compare with: {error}"));
        None
    });
    let evaluations = [
        evaluation(&dataset, &test, &model)?,
        evaluation(&dataset, &validation, &model)?,
    ];
    let result = FitResult::new(dataset.name(), PAPER, (&model, &info), evaluations, args.out.clone());
    output.detail(format_args!(
        "{}: {} in {:.1} s, {}",
        result.model,
        count(result.epochs_run, "epoch"),
        result.train_seconds,
        result.stopped_because
    ));

    // Metrics of an older fit must not stand beside a newer model; new ones come last, when the folder is complete.
    folder.remove(METRICS)?;
    model
        .save(folder.path().join(MODEL))
        .inspect_err(|_| folder.abandon())?;
    let config = config_toml(model.config(), &data)?;
    folder.write(CONFIG, config.as_bytes())?;
    folder.write(PREDICTIONS, predictions_csv(&dataset, &split.test, &test)?.as_bytes())?;
    folder.write(HISTORY, history_csv(&info).as_bytes())?;
    let parts = [("test", &test), ("validation", &validation), ("training", &train)];
    let report = FitReport {
        dataset: &dataset,
        split: &split,
        model: &model,
        info: &info,
        parts: &parts.map(|(name, bands)| PartBands { name, bands }),
        baseline: baseline.as_ref(),
        preset: PAPER,
        config: &config,
        commands: &[repeat_command(
            &data,
            global,
            &folder.path().join(CONFIG).display().to_string(),
        )],
    };
    write_report(&folder, &report)?;
    let text = serde_json::to_string_pretty(&result)? + "\n";
    folder.write(METRICS, text.as_bytes())?;
    // The fit is whole; a leftover would only be taken up to do nothing.
    let _ = std::fs::remove_file(checkpoint);
    if output.is_json() {
        return output.json(&result);
    }
    summary::fit(&result, &model, output)
}

/// Lags that reach beyond all samples see nothing but padding.
fn check_lags(lags: Lags, split: &Split) -> Result<(), Failure> {
    let longest = split.train.segments().iter().map(|segment| segment.len()).max();
    let longest = longest.unwrap_or(0);
    if lags.memory() < longest {
        return Ok(());
    }
    Err(Failure::input(anyhow!(
        "lags = {lags} reach {} samples back: expected less than {longest}, the longest stretch of the training part",
        lags.memory()
    )))
}

fn train(
    dataset: &Dataset,
    split: &Split,
    config: &intervalid_model::FitConfig,
    checkpoint: &Path,
    output: &Output,
) -> Result<(Model, TrainInfo), Failure> {
    interrupt::listen();
    let was_there = checkpoint.exists();
    let bars = output.bars();
    let bar = bars.add(config.model.name());
    let mut observer = |progress: &_| bar.observe(progress);
    let options = FitOptions {
        observer: Some(&mut observer),
        checkpoint: Some(checkpoint),
        checkpoint_every: CHECKPOINT_EVERY,
    };
    let (model, info) = Model::fit(dataset, split, config, options).map_err(|error| match error {
        ModelError::Interrupted { epoch } => interrupted(epoch),
        ModelError::Format { what: "checkpoint", .. } => Failure::from(error).with_hint(STALE),
        // What the disk held before it was full is worth going on from.
        ModelError::File { ref source, .. } if out_of_space(source) => Failure::from(error)
            .with_hint("free some space and run the same command again, or name another folder with --out DIR"),
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
