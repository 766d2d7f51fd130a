//! The order of events of `fit`.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use intervalid_data::{Dataset, Split};
use intervalid_model::{
    AutoInfo, FitConfig, FitOptions, FitResult, FitRuns, Model, ModelError, Plan, StopReason, TrainInfo,
    calibrate_on_blocks,
};
use intervalid_report::Baseline;

use super::auto::search;
use super::config::{ConfigFile, config_toml};
use super::files::{CONFIG, FILES, Fitted};
use super::plan::{check, plan};
use crate::args::{FitArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::count;
use crate::interrupt;
use crate::output::Output;
use crate::pages::repeat_command;
use crate::request::{DataRequest, threads};
use crate::summary;
use crate::write::{OutFolder, out_of_space, refuse_replacing};

/// There while a fit runs, or after it was interrupted.
const CHECKPOINT: &str = "checkpoint.safetensors";

/// What to do about a checkpoint that is in the way.
const STALE: &str = "delete it to start over, or name another folder with --out DIR";

/// At most this much work is lost by a crash; a checkpoint of every epoch would cost more than the epochs.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Fits a model, evaluates it on the parts it was not trained on and writes its folder.
pub(crate) fn run(args: &FitArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = ConfigFile::load(args.config.as_deref())?;
    let mut data = args.data.clone();
    file.fill(&mut data)?;
    let request = DataRequest::new(&data, global);
    let name = request.known.map_or("", |known| known.name);
    let plan = plan(args, &file, name)?;
    if args.print_config {
        let text = config_toml(&plan, &data)?;
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
    check(&plan, &dataset, &split).map_err(about)?;
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
    if !plan.has_checkpoint() && checkpoint.exists() {
        let found = anyhow!(
            "{}: an interrupted fit of a network is in this folder",
            checkpoint.display()
        );
        return Err(Failure::input(found).with_hint(STALE));
    }
    let fitted: Result<(Model, TrainInfo, Option<AutoInfo>), Failure> = match &plan {
        Plan::One { config, calibrate } => {
            train(&dataset, &split, config, &checkpoint, output).and_then(|(model, info)| {
                let model = match calibrate {
                    true => output
                        .working("calibrating on held-out blocks", || {
                            calibrate_on_blocks(&dataset, &split, model, threads(args.threads), interrupt::flag())
                        })
                        .map_err(not_calibrated)?,
                    false => model,
                };
                Ok((model, info, None))
            })
        }
        Plan::Search(config) => {
            search(args, config, &dataset, &split, output).map(|fit| (fit.model, fit.training, Some(fit.info)))
        }
    };
    let (model, info, search) = fitted.inspect_err(|_| folder.abandon()).map_err(about)?;
    let runs = FitRuns::simulate(&model, &dataset, &split, threads(args.threads))?;
    let baseline = Baseline::fit(&dataset, &split, model.config()).unwrap_or_else(|error| {
        output.warning(format_args!("no linear model to compare with: {error}"));
        None
    });
    let result = FitResult::new(
        &dataset,
        plan.preset(),
        (&model, &info),
        search,
        &runs,
        args.out.clone(),
    )?;
    output.detail(format_args!(
        "{}: {} in {:.1} s, {}",
        result.model,
        count(result.epochs_run, "epoch"),
        result.train_seconds,
        result.stopped_because
    ));

    let finished = Fitted {
        dataset: &dataset,
        split: &split,
        model: &model,
        info: &info,
        runs: &runs,
        baseline: baseline.as_ref(),
        config: &config_toml(&plan.repeatable(&model, result.search.as_ref()), &data)?,
        command: repeat_command(&data, global, &folder.path().join(CONFIG).display().to_string()),
        result: &result,
    };
    finished.write(&folder)?;
    // The fit is whole; a leftover would only be taken up to do nothing.
    let _ = std::fs::remove_file(checkpoint);
    if output.is_json() {
        return output.json(&result);
    }
    summary::fit(&result, &model, output)
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

fn not_calibrated(error: ModelError) -> Failure {
    match error {
        ModelError::Interrupted { .. } => Failure::run(anyhow!("interrupted while calibrating"))
            .with_hint("run the same command again: training is not repeated"),
        error => error.into(),
    }
}

fn interrupted(epochs: usize) -> Failure {
    let failure = Failure::run(anyhow!("interrupted after {}", count(epochs, "epoch")));
    failure.with_hint("run the same command again to go on from there")
}
