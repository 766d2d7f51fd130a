//! The order of events of `fit`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::anyhow;
use intervalid_data::{Dataset, Split, SplitFractions, display_name};
use intervalid_model::{Control, Method, Model, ModelError, Progress};
use intervalid_report::FitReport;
use intervalid_report::folder::{
    CHECKPOINT, CONFIG, FILES, FitJson, JOURNAL, MODEL_ALL, config_toml, fit_files, repeat_command,
};
use intervalid_search::SearchError;
use intervalid_workflow::{FitOutcome, FitRequest, Settings, TrainOptions, Trained, WorkflowError};

use super::config::ConfigFile;
use super::folder::FitFolder;
use crate::args::{FitArgs, GlobalArgs};
use crate::error::Failure;
use crate::format::count;
use crate::interrupt;
use crate::output::Output;
use crate::request::{files, record, settings, threads};
use crate::summary;
use crate::write::{out_of_space, refuse_replacing};

/// The same of the fit to everything.
const CHECKPOINT_ALL: [&str; 2] = ["checkpoint-all.safetensors", "checkpoint-all.search"];

/// Where the work of a request is kept while it runs: of names for a network and for a search, the right one.
fn kept_in(request: &FitRequest, [of_network, of_search]: [&'static str; 2]) -> &'static str {
    match request {
        FitRequest::One { .. } => of_network,
        FitRequest::Search(..) => of_search,
    }
}

/// What to do about a checkpoint that is in the way.
const STALE: &str = "delete it to start over, or name another folder with --out DIR";

/// Fits a model, evaluates it on the parts it was not trained on and writes its folder.
pub(crate) fn run(args: &FitArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = ConfigFile::load(args.config.as_deref())?;
    let mut data = args.data.clone();
    let mut prepare = args.prepare.clone();
    file.fill(&mut data.options, &mut prepare)?;
    let preparation = prepare.preparation();
    preparation.check()?;
    let record = record(&data, global)
        .with_test(args.test.clone())
        .with_preparation(preparation);
    if let Some(name) = args.range_given_twice() {
        let problem = anyhow::anyhow!("--output-range has two ranges for '{}'", display_name(name));
        return Err(Failure::input(problem).with_hint("give both ends at once, such as level=0:10"));
    }
    let flags = settings(args);
    let settings = flags.clone().over(file.settings);
    let request = FitRequest::new(&settings, record.known_name())?;
    warn_of_idle(&flags, &settings, &request, output);
    if args.budget.is_some() && matches!(request, FitRequest::One { .. }) {
        return Err(WorkflowError::BudgetWithoutSearch.into());
    }
    if args.print_config {
        return print_config(&config_toml(&request, &record)?, output);
    }
    let about = |failure: Failure| failure.about(&record.label());
    let dataset = record.load()?;
    output.warnings(&dataset);
    let split = record.split(&dataset).map_err(|error| about(error.into()))?;
    request.check(&dataset, &split).map_err(|error| about(error.into()))?;
    if args.refit_all {
        // Its training part is larger, and what fails there should not do so after the first fit.
        let everything = split_of_everything(&dataset).map_err(about)?;
        request
            .check(&dataset, &everything)
            .map_err(|error| about(error.into()))?;
    }
    for name in FILES {
        let sources = data.data.iter().chain(&args.test);
        refuse_replacing("--out", &args.out.join(name), files(sources, global))?;
    }
    let folder = FitFolder::open(&args.out, args.force)?;
    output.detail(format_args!(
        "{}: {} samples to train, {} to validate, {} to test",
        dataset.name(),
        split.train.samples(),
        split.validation.samples(),
        split.test.samples()
    ));

    let own = kept_in(&request, [CHECKPOINT, JOURNAL]);
    for (name, what) in [(CHECKPOINT, "fit of a network"), (JOURNAL, "search")] {
        let other = folder.path().join(name);
        if (name != own || !request.has_checkpoint()) && other.exists() {
            let found = anyhow!("{}: an interrupted {what} is in this folder", other.display());
            return Err(Failure::input(found).with_hint(STALE));
        }
    }
    let checkpoint = folder.path().join(own);
    let trained = train(&request, &dataset, &split, &checkpoint, args, output).map_err(about)?;
    let outcome = trained.evaluate(&dataset, &split, threads(args.threads))?;
    if let Some(error) = &outcome.baseline_error {
        output.warning(format_args!("no linear model to compare with: {error}"));
    }
    output.detail(format_args!(
        "{}: {}, {}",
        outcome.metrics.model,
        summary::effort(&outcome.metrics),
        outcome.metrics.stopped_because
    ));

    let report = FitReport {
        dataset: &dataset,
        split: &split,
        outcome: &outcome,
        config: &config_toml(&outcome.request, &record)?,
        commands: &[repeat_command(
            &record,
            &folder.path().join(CONFIG).display().to_string(),
        )],
    };
    let mut files = fit_files(&report, &args.out)?;
    folder.write(&files)?;
    if args.refit_all {
        let (everything, checkpoint) = refit_all(&outcome, &dataset, args, &folder, output)?;
        files.push((MODEL_ALL, everything.to_bytes()?));
        // Once more, so that all files are of one fit.
        folder.write(&files)?;
        let _ = std::fs::remove_file(checkpoint);
    }
    // The fit is whole; a leftover would only be taken up to do nothing.
    let _ = std::fs::remove_file(checkpoint);
    if output.is_json() {
        return output.json(&FitJson {
            metrics: &outcome.metrics,
            out: &args.out,
        });
    }
    summary::fit(&outcome, &args.out, output)
}

/// Says which setting does nothing to the model that is fitted. The file of a fit holds all settings: of those that come with a preset, flags alone
/// are somebody's wish.
fn warn_of_idle(flags: &Settings, settings: &Settings, request: &FitRequest, output: &Output) {
    let FitRequest::One { config, .. } = request else {
        return;
    };
    let model = config.model;
    let flag = flags.without_effect(model).map(|key| match key {
        "learning_rate" => "--lr".to_owned(),
        key => format!("--{}", key.replace('_', "-")),
    });
    if let Some((key, model)) = settings.not_for_linear() {
        let key = flag.unwrap_or_else(|| key.to_owned());
        output.warning(format_args!(
            "{key} says how a network is trained: all it does to {model} is to leave out the search and its calibration"
        ));
    } else if let Some(flag) = flag {
        let what = match model.method() {
            Method::Linear => "a network",
            _ => "an interval network",
        };
        output.warning(format_args!(
            "{flag} says how {what} is trained: it does nothing to {model}"
        ));
    }
}

/// Parts of a fit to everything: as much for choosing the epoch as by default, the rest to train on.
fn split_of_everything(dataset: &Dataset) -> Result<Split, Failure> {
    let SplitFractions { validation, .. } = SplitFractions::default();
    let fractions = SplitFractions {
        train: 1.0 - validation,
        validation,
        test: 0.0,
    };
    Ok(Split::new(dataset, fractions)?)
}

/// One more fit, to everything: what is known of its errors is what the fit before it has shown. With the model, the checkpoint that is of
/// use until the model is written.
fn refit_all(
    judged: &FitOutcome,
    dataset: &Dataset,
    args: &FitArgs,
    folder: &FitFolder,
    output: &Output,
) -> Result<(Model, PathBuf), Failure> {
    let request = judged.request.of_kind(judged.model.kind());
    let split = split_of_everything(dataset)?;
    let checkpoint = folder.path().join(kept_in(&request, CHECKPOINT_ALL));
    let trained = train(&request, dataset, &split, &checkpoint, args, output)?;
    output.story(format_args!(
        "Fitted once more to all {}: {} is for use; no data are left to judge it by.\n",
        count(dataset.samples(), "sample"),
        folder.path().join(MODEL_ALL).display()
    ))?;
    let [new, old] = [&trained.model, &judged.model].map(|model| {
        let words = model.memory_in_words();
        format!(
            "{} with {words} and {}",
            model.kind(),
            count(model.parameters(), "parameter")
        )
    });
    if new != old {
        output.warning(format_args!(
            "{MODEL_ALL} is another model than the one that was judged: {new}, not {old}"
        ));
    }
    Ok((trained.model, checkpoint))
}

fn print_config(text: &str, output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        let table: toml::Table = text.parse().map_err(Failure::run)?;
        return output.json(&table);
    }
    Ok(output.content(text.trim_end())?)
}

fn train(
    request: &FitRequest,
    dataset: &Dataset,
    split: &Split,
    checkpoint: &Path,
    args: &FitArgs,
    output: &Output,
) -> Result<Trained, Failure> {
    interrupt::listen();
    let was_there = checkpoint.exists();
    let bars = output.bars();
    let bar = match request {
        FitRequest::One { config, .. } => bars.add(config.model.name()),
        FitRequest::Search(..) => bars.add_search(),
    };
    let observer = |progress: &Progress| bar.observe(progress);
    let options = TrainOptions {
        control: Control {
            observer: Some(&observer),
            cancel: Some(interrupt::flag()),
            // A time beyond all clocks is no limit.
            deadline: args.budget.and_then(|budget| Instant::now().checked_add(budget)),
        },
        threads: threads(args.threads),
        checkpoint: request.has_checkpoint().then_some(checkpoint),
        ..TrainOptions::default()
    };
    request.train(dataset, split, options).map_err(|error| {
        let is_worth_keeping = match &error {
            WorkflowError::Interrupted { .. } | WorkflowError::Cancelled { .. } => true,
            // What the disk held before it was full is worth going on from.
            WorkflowError::Model(ModelError::File { source, .. })
            | WorkflowError::Search(SearchError::JournalFile { source, .. }) => out_of_space(source),
            error => error.is_of_kept_work(),
        };
        if !was_there && !is_worth_keeping {
            let _ = std::fs::remove_file(checkpoint);
        }
        failure(error)
    })
}

/// What to do about training that failed.
fn failure(error: WorkflowError) -> Failure {
    let hint = match &error {
        WorkflowError::Interrupted { .. } => "run the same command again to go on from there",
        WorkflowError::Cancelled { stage: "calibration" } => "run the same command again: training is not repeated",
        WorkflowError::Cancelled { .. } => "run the same command again to go on: what was finished is not fitted again",
        error if error.is_of_kept_work() => STALE,
        WorkflowError::Model(ModelError::File { source, .. })
        | WorkflowError::Search(SearchError::JournalFile { source, .. })
            if out_of_space(source) =>
        {
            "free some space and run the same command again, or name another folder with --out DIR"
        }
        _ => return error.into(),
    };
    Failure::from(error).with_hint(hint)
}
