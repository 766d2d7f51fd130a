//! Runs a study: workers take jobs, what they finish is recorded at once.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use intervalid_model::Metrics;
use serde::Serialize;

use crate::cell::Cell;
use crate::error::{Result, StudyError};
use crate::plan::{Job, MissingDataset, Plan, Run};
use crate::progress::{StudyProgress, Tracker};
use crate::record::Outcome;
use crate::spec::Spec;
use crate::store::Store;

/// What happens while a study runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StudyEvent<'a> {
    /// A data set cannot be found; its runs are left out.
    MissingDataset(&'a MissingDataset),
    /// All is read, work begins.
    Started {
        /// Runs of the study, without those left out.
        runs: usize,
        /// Runs that are done already.
        done: usize,
        /// Runs that were removed because data, settings or the program have changed since.
        outdated: usize,
        /// Jobs to do.
        jobs: usize,
    },
    /// A worker takes a job.
    JobStarted {
        /// Index of the worker.
        worker: usize,
        /// First run of the job.
        cell: &'a Cell,
        /// Its runs.
        runs: usize,
    },
    /// An epoch of a job is done.
    Epoch {
        /// Index of the worker.
        worker: usize,
        /// First run of the job.
        cell: &'a Cell,
        /// Epochs done of all fits of the job.
        epochs_done: usize,
        /// All of them, if none stops early.
        epochs_total: usize,
        /// The study.
        progress: StudyProgress,
    },
    /// A run is recorded.
    Finished {
        /// Index of the worker.
        worker: usize,
        /// The run.
        cell: &'a Cell,
        /// Metrics of the test part.
        test: &'a Metrics,
        /// Training time.
        seconds: f64,
        /// The study.
        progress: StudyProgress,
    },
    /// A run failed, which is recorded too.
    Failed {
        /// Index of the worker.
        worker: usize,
        /// The run.
        cell: &'a Cell,
        /// Why.
        reason: &'a str,
        /// The study.
        progress: StudyProgress,
    },
}

/// How to run a study. None of it changes results.
pub struct RunOptions<'a> {
    /// Jobs at a time; at least one.
    pub jobs: usize,
    /// Folder of further data sets.
    pub data_dir: Option<&'a Path>,
    /// Set from elsewhere (Ctrl-C) to end the study after the current epochs. Unfinished runs are not recorded.
    pub stop: &'a AtomicBool,
    /// Told of events, by several threads.
    pub observer: &'a (dyn Fn(&StudyEvent<'_>) + Sync),
}

/// What a call of [`run_study`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudySummary {
    /// Runs finished in this call.
    pub done: usize,
    /// Runs that failed in this call.
    pub failed: usize,
    /// Runs that were done before.
    pub resumed: usize,
    /// Runs left out because their data set is missing.
    pub skipped: usize,
    /// Runs left because the study was stopped.
    pub left: usize,
    /// Runs removed because data, settings or the program had changed.
    pub outdated: usize,
    /// Names of the missing data sets.
    pub missing_datasets: Vec<String>,
    /// Time of this call.
    pub seconds: f64,
}

/// Runs what `folder` does not hold yet of a study; failed runs are tried again.
///
/// Results depend on the study and the data only, not on [`RunOptions::jobs`] or on how often it was stopped.
///
/// # Errors
/// If the study, its data or the folder cannot be used, or the database cannot be written. A run that fails is recorded
/// with its reason and is no error.
pub fn run_study(spec: &Spec, folder: impl AsRef<Path>, options: &RunOptions<'_>) -> Result<StudySummary> {
    spec.check()?;
    let plan = Plan::new(spec, options.data_dir)?;
    let mut store = Store::open_for_writing(folder.as_ref(), spec)?;
    let outdated = store.remove_outdated(&plan)?;
    let states = store.states()?;
    let is_done = |run: &Run| states.get(&run.key).copied().unwrap_or(false);
    let runs = plan.runs().count();
    let resumed = plan.runs().filter(|run| is_done(run)).count();
    let jobs: Vec<Job> = plan
        .jobs
        .iter()
        .filter_map(|job| job.clone().retain(|run| !is_done(run)))
        .collect();

    for missing in &plan.missing {
        (options.observer)(&StudyEvent::MissingDataset(missing));
    }
    (options.observer)(&StudyEvent::Started {
        runs,
        done: resumed,
        outdated,
        jobs: jobs.len(),
    });
    let workers = options.jobs.clamp(1, jobs.len().max(1));
    let costs = jobs.iter().map(|job| job.cost(&plan.data[job.data])).sum();
    let study = Study {
        plan: &plan,
        options,
        next: AtomicUsize::new(0),
        broken: AtomicBool::new(false),
        shared: Mutex::new(Shared {
            store,
            tracker: Tracker::new(resumed, runs, costs, workers),
            done: 0,
            failed: 0,
            error: None,
        }),
    };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (study, jobs) = (&study, &jobs);
            scope.spawn(move || study.work(worker, jobs));
        }
    });
    let shared = study.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = shared.error {
        return Err(error);
    }
    let seconds = shared.tracker.seconds();
    shared.store.close()?;
    Ok(StudySummary {
        done: shared.done,
        failed: shared.failed,
        resumed,
        skipped: plan.missing.iter().map(|missing| missing.runs).sum(),
        left: runs - resumed - shared.done - shared.failed,
        outdated,
        missing_datasets: plan.missing.into_iter().map(|missing| missing.name).collect(),
        seconds,
    })
}

/// What the workers have in common.
struct Study<'a> {
    plan: &'a Plan,
    options: &'a RunOptions<'a>,
    next: AtomicUsize,
    /// The database cannot be written: nothing is worth going on.
    broken: AtomicBool,
    shared: Mutex<Shared>,
}

struct Shared {
    store: Store,
    tracker: Tracker,
    done: usize,
    failed: usize,
    error: Option<StudyError>,
}

impl Study<'_> {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed) || self.broken.load(Ordering::Relaxed)
    }

    fn work(&self, worker: usize, jobs: &[Job]) {
        while !self.stopped() {
            let Some(job) = jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            self.run_job(worker, job);
        }
    }

    fn run_job(&self, worker: usize, job: &Job) {
        let (data, cell) = (&self.plan.data[job.data], &job.runs[0].cell);
        let (cost, epochs_total) = (job.cost(data), job.epochs());
        let runs = job.runs.len();
        (self.options.observer)(&StudyEvent::JobStarted { worker, cell, runs });
        let mut epochs_done = 0;
        let mut tick = || {
            // A job whose runs had to be fitted one by one has more epochs than planned.
            epochs_done = (epochs_done + 1).min(epochs_total);
            let mut shared = self.shared();
            shared
                .tracker
                .advance(worker, cost * epochs_done as f64 / epochs_total.max(1) as f64);
            let progress = shared.tracker.now();
            drop(shared);
            (self.options.observer)(&StudyEvent::Epoch {
                worker,
                cell,
                epochs_done,
                epochs_total,
                progress,
            });
            if self.stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut finish = |run: &Run, outcome: Result<Outcome, String>| self.record(worker, run, outcome);
        job.execute(data, &mut tick, &mut finish);
        self.shared().tracker.finish_job(worker, cost);
    }

    fn record(&self, worker: usize, run: &Run, outcome: Result<Outcome, String>) {
        let mut shared = self.shared();
        let recorded = match &outcome {
            Ok(outcome) => shared.store.record(run, outcome),
            Err(reason) => shared.store.record_failure(run, reason),
        };
        if let Err(error) = recorded {
            self.broken.store(true, Ordering::Relaxed);
            shared.error.get_or_insert(error);
            return;
        }
        shared.tracker.finish_run();
        *(if outcome.is_ok() {
            &mut shared.done
        } else {
            &mut shared.failed
        }) += 1;
        let progress = shared.tracker.now();
        drop(shared);
        let cell = &run.cell;
        (self.options.observer)(&match &outcome {
            Ok(outcome) => StudyEvent::Finished {
                worker,
                cell,
                test: &outcome.result.test.all,
                seconds: outcome.result.train_seconds,
                progress,
            },
            Err(reason) => StudyEvent::Failed {
                worker,
                cell,
                reason,
                progress,
            },
        });
    }
}
