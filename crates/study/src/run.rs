//! Runs a study on this machine: threads take tasks from a driver, what they finish is recorded at once.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use intervalid_model::Metrics;

use crate::cell::Cell;
use crate::driver::{Driver, DriverOptions, Next, StudySummary};
use crate::error::{Result, StudyError};
use crate::output::RunOutput;
use crate::plan::MissingDataset;
use crate::progress::{StudyProgress, Tracker};
use crate::record::RunState;
use crate::shard::Shard;
use crate::spec::Spec;
use crate::task::Task;
use crate::worker::Worker;

/// How often a study looks whether another process has finished, or left, the runs it waits for.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

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
    /// Some runs are done by other versions of the program and kept: they may have been trained or evaluated otherwise.
    OtherVersions {
        /// Such runs.
        runs: usize,
        /// The versions, sorted.
        versions: &'a [String],
    },
    /// Other processes compute all that is left; said once.
    Waiting {
        /// Runs that are waited for.
        runs: usize,
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
        /// Metrics of the test part, as [`RunMetrics::judged`](crate::RunMetrics::judged) has them.
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
    /// One share of the study only.
    pub shard: Option<Shard>,
    /// Set from elsewhere (Ctrl-C) to end the study after the current epochs. Unfinished runs are not recorded.
    pub stop: &'a AtomicBool,
    /// Told of events, by several threads.
    pub observer: &'a (dyn Fn(&StudyEvent<'_>) + Sync),
}

/// Runs what `folder` does not hold yet of a study; failed runs are tried again. Runs that another process computes are left
/// to it, and waited for.
///
/// Results depend on the study and the data only, not on [`RunOptions::jobs`] or on how often it was stopped.
///
/// # Errors
/// If the study, its data or the folder cannot be used, or the database cannot be written. A run that fails is recorded
/// with its reason and is no error.
pub fn run_study(spec: &Spec, folder: impl AsRef<Path>, options: &RunOptions<'_>) -> Result<StudySummary> {
    let driver_options = DriverOptions {
        data_dir: options.data_dir,
        shard: options.shard,
        ..DriverOptions::default()
    };
    let driver = Driver::open(spec, folder, &driver_options)?;
    let plan = driver.plan();
    for missing in &plan.missing {
        (options.observer)(&StudyEvent::MissingDataset(missing));
    }
    let jobs = driver.pending().count();
    (options.observer)(&StudyEvent::Started {
        runs: driver.runs(),
        done: driver.runs_ended(),
        outdated: driver.summary().outdated,
        jobs,
    });
    if !driver.other_versions().is_empty() {
        (options.observer)(&StudyEvent::OtherVersions {
            runs: driver.summary().other_versions,
            versions: driver.other_versions(),
        });
    }
    let workers = options.jobs.clamp(1, jobs.max(1));
    let costs = driver.pending().map(|job| job.cost(plan.data_of(job))).sum();
    let study = Study {
        options,
        worker: Worker::with_data(&plan.data),
        broken: AtomicBool::new(false),
        waiting: AtomicBool::new(false),
        shared: Mutex::new(Shared {
            tracker: Tracker::new(driver.runs(), costs, workers),
            driver,
            error: None,
        }),
    };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let study = &study;
            scope.spawn(move || study.work(worker));
        }
    });
    let shared = study.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    match shared.error {
        Some(error) => Err(error),
        None => shared.driver.close(),
    }
}

/// What the threads have in common.
struct Study<'a> {
    options: &'a RunOptions<'a>,
    worker: Worker,
    /// The database cannot be written: nothing is worth going on.
    broken: AtomicBool,
    /// Whether it was said that others are waited for.
    waiting: AtomicBool,
    shared: Mutex<Shared>,
}

struct Shared {
    driver: Driver,
    tracker: Tracker,
    error: Option<StudyError>,
}

impl Shared {
    fn progress(&self) -> StudyProgress {
        self.tracker.now(self.driver.runs_ended())
    }
}

impl Study<'_> {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed) || self.broken.load(Ordering::Relaxed)
    }

    fn fail(&self, error: StudyError) {
        self.broken.store(true, Ordering::Relaxed);
        self.shared().error.get_or_insert(error);
    }

    fn work(&self, index: usize) {
        while !self.stopped() {
            let next = self.shared().driver.next();
            match next {
                Ok(Next::Task(task)) => self.run_task(index, &task),
                Ok(Next::Busy) => self.wait(),
                Ok(Next::Finished) => break,
                Err(error) => self.fail(error),
            }
        }
    }

    fn wait(&self) {
        if !self.waiting.swap(true, Ordering::Relaxed) {
            let runs = self.shared().driver.pending().map(|job| job.runs.len()).sum();
            (self.options.observer)(&StudyEvent::Waiting { runs });
        }
        std::thread::sleep(LOOK_AGAIN);
    }

    fn run_task(&self, worker: usize, task: &Task) {
        let (job, cell) = (&task.job, &task.job.runs[0].cell);
        let cost = {
            let shared = self.shared();
            job.cost(shared.driver.plan().data_of(job))
        };
        let (runs, epochs_total) = (job.runs.len(), job.epochs());
        (self.options.observer)(&StudyEvent::JobStarted { worker, cell, runs });
        let ticks = AtomicUsize::new(0);
        let tick = || {
            // A job whose runs had to be fitted one by one has more epochs than planned.
            let epochs_done = (ticks.fetch_add(1, Ordering::Relaxed) + 1).min(epochs_total);
            let mut shared = self.shared();
            shared
                .tracker
                .advance(worker, cost * epochs_done as f64 / epochs_total.max(1) as f64);
            let progress = shared.progress();
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
        let mut finish = |output: RunOutput| self.record(worker, &output);
        if let Err(error) = self.worker.execute(task, &tick, &mut finish) {
            self.fail(error);
        }
        let mut shared = self.shared();
        shared.driver.release(task);
        shared.tracker.finish_job(worker, cost);
    }

    fn record(&self, worker: usize, output: &RunOutput) {
        let mut shared = self.shared();
        let recorded = shared.driver.put(output);
        let progress = shared.progress();
        drop(shared);
        if let Err(error) = recorded {
            self.fail(error);
            return;
        }
        let cell = &output.cell;
        match &output.state {
            RunState::Done(result) => (self.options.observer)(&StudyEvent::Finished {
                worker,
                cell,
                test: &result.test.judged(),
                seconds: result.train_seconds,
                progress,
            }),
            RunState::Failed { reason } => (self.options.observer)(&StudyEvent::Failed {
                worker,
                cell,
                reason,
                progress,
            }),
        }
    }
}
