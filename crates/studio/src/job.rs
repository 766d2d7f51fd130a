//! One fit, from the order to its folder: what `intervalid fit --out` does, with the same library.

use std::error::Error;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Split};
use intervalid_files::{Manifest, OwnedFolder, make_folder};
use intervalid_model::{Control, Progress};
use intervalid_report::FitReport;
use intervalid_report::folder::{
    CHECKPOINT, CONFIG, JOURNAL, METRICS, config_toml, fit_files, repeat_command, write_fit,
};
use intervalid_workflow::{FitRequest, RecordRequest, Settings, TrainOptions, Trained, WhenInterrupted, WorkflowError};
use serde_json::{Map, Value};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::queue::{Job, Order};

/// How a fit ended that did not fail.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its folder is written; `result` tells its files from those of any other fit.
    Done {
        message: Option<String>,
        result: Option<String>,
    },
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
    let is_new = !path.exists();
    make_folder(&path).map_err(|error| ApiError::io(&job.name, &error))?;
    let result = in_folder(
        app,
        job,
        (&record, &request),
        (&dataset, &split),
        (&path, threads, cancel),
    );
    if is_new && !matches!(result, Ok(Ended::Done { .. })) && !app.queue.is_stopping() {
        // Only where it is empty: what is in it by now is to be kept, or somebody else's.
        let _ = std::fs::remove_dir(&path);
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
    if app.workspace.fit(&job.name).is_ok() {
        // It came while this job waited.
        return Err(ApiError::conflict(format!(
            "there is a fit named '{}' now: rename it, or order this one under another name",
            job.name
        )));
    }
    let started = Instant::now();
    let budget = job.order.budget;
    let observer = |progress: &Progress| {
        app.queue.observe(progress, started, budget);
        ControlFlow::Continue(())
    };
    let checkpoint = path.join(kept_in(request));
    let was_there = checkpoint.exists();
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
        Err(error) => {
            // The folder is ours as long as it is owned, and so is what this job has begun in it.
            if !was_there && !app.queue.is_stopping() && !is_worth_keeping(&error) {
                let _ = std::fs::remove_file(&checkpoint);
            }
            return match error {
                WorkflowError::Interrupted { .. } | WorkflowError::Cancelled { .. } => Ok(Ended::Cancelled {
                    message: "ended before there was a model to keep".to_owned(),
                }),
                error if error.is_of_kept_work() => Err(ApiError::conflict(format!(
                    "{}: order the fit under another name, or delete this file to start over",
                    ApiError::from(error).message
                ))),
                error => Err(error.into()),
            };
        }
    };
    if app.queue.is_stopping() {
        // The next studio shows it as interrupted, and can go on from its checkpoint.
        return Err(ApiError::internal("the studio is stopping"));
    }
    let message = how_it_ended(&trained);
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
        message,
        result: result_of(path),
    })
}

/// What tells the files of a fit from those of any other: the hash of its numbers, which hold how long it took.
pub(crate) fn result_of(folder: &Path) -> Option<String> {
    let manifest = serde_json::to_value(Manifest::read(folder).ok()??).ok()?;
    Some(manifest["files"][METRICS]["sha256"].as_str()?.to_owned())
}

/// Whether what a job has kept is worth going on from although training failed: where there was no room for more. Who ended a job
/// before it had a model wants nothing of it, and of other errors the next try would fail the same way.
fn is_worth_keeping(error: &WorkflowError) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(is_out_of_space) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Whether a write failed for want of room: disk, quota, or a limit on the size of files.
fn is_out_of_space(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// What there is to say of a fit that was ended early; nothing of one that ran to its end.
fn how_it_ended(trained: &Trained) -> Option<String> {
    let missing: Vec<String> = trained.unfinished().iter().map(ToString::to_string).collect();
    match missing.as_slice() {
        [] if !trained.training.is_interrupted() => None,
        [] => Some("ended early: this is the best so far".to_owned()),
        missing => Some(format!(
            "ended early: this is the best so far, and {}",
            missing.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use intervalid_model::ModelError;

    use super::*;

    #[test]
    fn work_is_worth_keeping_where_there_was_no_room_for_more() {
        let failed = |kind: io::ErrorKind| {
            WorkflowError::Model(ModelError::File {
                action: "write",
                path: "checkpoint.safetensors".into(),
                source: io::Error::from(kind),
            })
        };
        assert!(is_worth_keeping(&failed(io::ErrorKind::StorageFull)));
        assert!(is_worth_keeping(&failed(io::ErrorKind::QuotaExceeded)));
        assert!(!is_worth_keeping(&failed(io::ErrorKind::PermissionDenied)));
        assert!(!is_worth_keeping(&WorkflowError::Cancelled { stage: "search" }));
    }
}
