//! One fit, from the order to its folder: what `intervalid fit --out` does, with the same library.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Split};
use intervalid_files::{OwnedFolder, make_folder};
use intervalid_model::{Control, Progress};
use intervalid_report::FitReport;
use intervalid_report::folder::{CHECKPOINT, CONFIG, JOURNAL, config_toml, fit_files, repeat_command, write_fit};
use intervalid_workflow::{FitRequest, RecordRequest, Settings, TrainOptions, WhenInterrupted, WorkflowError};
use serde_json::{Map, Value};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::queue::{Job, Order};

/// How a fit ended that did not fail.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its folder is written.
    Done { message: Option<String> },
    /// Somebody ended it before there was anything to keep.
    Cancelled { message: String },
}

/// An order, checked against its data.
pub(crate) struct Checked {
    record: RecordRequest,
    request: FitRequest,
    dataset: std::sync::Arc<Dataset>,
    split: Split,
}

/// What an order asks for.
pub(crate) fn resolve(order: &Order, record: &RecordRequest) -> ApiResult<FitRequest> {
    let settings = Settings::from_table(&table(&order.all_settings())?).map_err(|error| match error {
        WorkflowError::UnknownSetting {
            key,
            nearest: Some(near),
        } => ApiError::bad(format!("unknown setting '{key}': did you mean '{near}'?")),
        error => error.into(),
    })?;
    Ok(FitRequest::new(&settings, record.known_name())?)
}

/// Finds out before the queue what would fail after it.
pub(crate) fn check(app: &App, order: &Order) -> ApiResult<Checked> {
    let record = app.request(&order.data, &order.choice)?;
    let request = resolve(order, &record)?;
    if let Some(seconds) = order.budget {
        if matches!(request, FitRequest::One { .. }) {
            return Err(WorkflowError::BudgetWithoutSearch.into());
        }
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(ApiError::bad(format!(
                "budget {seconds}: expected a positive number of seconds"
            )));
        }
    }
    let dataset = app.dataset(&record)?;
    let split = record.split(&dataset)?;
    request.check(&dataset, &split)?;
    Ok(Checked {
        record,
        request,
        dataset,
        split,
    })
}

/// Settings as a configuration file has them.
fn table(settings: &Map<String, Value>) -> ApiResult<toml::Table> {
    toml::Table::try_from(settings).map_err(|error| ApiError::bad(format!("the settings cannot be read: {error}")))
}

/// Fits, judges and writes the folder.
pub(crate) fn fit(app: &App, job: &Job, threads: usize, cancel: &AtomicBool) -> ApiResult<Ended> {
    let Checked {
        record,
        request,
        dataset,
        split,
    } = check(app, &job.order)?;
    let path = app.workspace.root().join(&job.name);
    if path.is_symlink() {
        return Err(ApiError::bad(format!("'{}' leads out of the workspace", job.name)));
    }
    if app.workspace.fit(&job.name).is_ok() {
        // It came while this job waited.
        return Err(ApiError::conflict(format!(
            "there is a fit named '{}' now: rename it, or order this one under another name",
            job.name
        )));
    }
    let is_new = !path.exists();
    make_folder(&path).map_err(|error| ApiError::io(&job.name, &error))?;
    let result = in_folder(
        app,
        job,
        (&record, &request),
        (&dataset, &split),
        (&path, threads, cancel),
    );
    if !matches!(result, Ok(Ended::Done { .. })) && !app.queue.is_stopping() {
        // Nobody goes on from what failed.
        let _ = std::fs::remove_file(path.join(kept_in(&request)));
        if is_new {
            remove_if_empty(&path);
        }
    }
    result
}

/// Where the work of a request is kept while it runs.
fn kept_in(request: &FitRequest) -> &'static str {
    match request {
        FitRequest::One { .. } => CHECKPOINT,
        FitRequest::Search(..) => JOURNAL,
    }
}

fn in_folder(
    app: &App,
    job: &Job,
    (record, request): (&RecordRequest, &FitRequest),
    (dataset, split): (&Dataset, &Split),
    (path, threads, cancel): (&Path, usize, &AtomicBool),
) -> ApiResult<Ended> {
    let folder = OwnedFolder::take(path)?;
    let started = Instant::now();
    let budget = job.order.budget;
    let observer = |progress: &Progress| {
        app.queue.observe(progress, started, budget);
        ControlFlow::Continue(())
    };
    let checkpoint = path.join(kept_in(request));
    let options = TrainOptions {
        control: Control {
            observer: Some(&observer),
            cancel: Some(cancel),
            deadline: budget
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .and_then(|budget| started.checked_add(budget)),
        },
        threads,
        checkpoint: request.has_checkpoint().then_some(checkpoint.as_path()),
        when_interrupted: WhenInterrupted::KeepBest,
    };
    let trained = match request.train(dataset, split, options) {
        Ok(trained) => trained,
        Err(WorkflowError::Interrupted { .. } | WorkflowError::Cancelled { .. }) => {
            return Ok(Ended::Cancelled {
                message: "ended before there was a model to keep".to_owned(),
            });
        }
        Err(error) => return Err(error.into()),
    };
    if app.queue.is_stopping() {
        // The next studio shows it as interrupted, and can go on from its checkpoint.
        return Err(ApiError::internal("the studio is stopping"));
    }
    let ended_early = trained.training.is_interrupted();
    let outcome = trained.evaluate(dataset, split, threads)?;
    let report = FitReport {
        dataset,
        split,
        outcome: &outcome,
        config: &config_toml(&outcome.request, record)?,
        commands: &[repeat_command(record, &path.join(CONFIG).display().to_string())],
    };
    write_fit(&folder, &fit_files(&report, path)?)?;
    // The fit is whole; a leftover would only be taken up to do nothing.
    let _ = std::fs::remove_file(checkpoint);
    Ok(Ended::Done {
        message: ended_early.then(|| "ended early: this is the best so far".to_owned()),
    })
}

/// Takes a folder away that holds nothing but the mark of its owner.
fn remove_if_empty(path: &Path) {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    if names.iter().all(|name| name.to_string_lossy().starts_with('.')) {
        for name in &names {
            let _ = std::fs::remove_file(path.join(name));
        }
        let _ = std::fs::remove_dir(path);
    }
}
