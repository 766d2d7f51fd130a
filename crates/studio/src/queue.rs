//! Fits that were asked for: one runs, the others wait. Nobody needs to watch.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use intervalid_model::Progress;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::choice::Choice;
use crate::job::{self, Ended};
use crate::live::Live;
use crate::state::Store;

/// Jobs that have ended are remembered as long as there are no more than this.
const MOST_ENDED: usize = 50;

/// How far a fit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Queued,
    Running,
    Done,
    Cancelled,
    Failed,
    /// The studio ended before it.
    Interrupted,
}

impl Status {
    fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// What is to be fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// The recording.
    pub(crate) data: String,
    /// How it is read.
    pub(crate) choice: Choice,
    /// Settings by name, as in a configuration file.
    pub(crate) settings: Map<String, Value>,
    /// Most seconds of a search.
    pub(crate) budget: Option<f64>,
}

impl Order {
    /// Settings, with the drifts that are taken out of the recording: they are a matter of the fit.
    pub(crate) fn all_settings(&self) -> Map<String, Value> {
        let mut settings = self.settings.clone();
        if !self.choice.detrend.is_empty() && !settings.contains_key("detrend") {
            settings.insert("detrend".to_owned(), self.choice.detrend.clone().into());
        }
        settings
    }
}

/// A fit that was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// Name of the fit's folder.
    pub(crate) name: String,
    pub(crate) order: Order,
    pub(crate) status: Status,
    /// Why it failed, or what else is worth knowing.
    pub(crate) message: Option<String>,
    /// How long it took.
    pub(crate) seconds: Option<f64>,
    /// What tells the fit that came of it from others of its name; jobs of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
}

/// What browsers are told.
#[derive(Debug, Serialize)]
pub(crate) struct Snapshot {
    jobs: Vec<Job>,
    live: Option<Live>,
    /// Counts changes of the folder: when it is another one, fits and recordings are read again.
    listing: u64,
}

#[derive(Debug, Default)]
struct Inner {
    listing: u64,
    jobs: VecDeque<Job>,
    next_id: u64,
    live: Option<Live>,
    /// Of the running job, to end it.
    cancel: Arc<AtomicBool>,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    wake: Condvar,
    most: usize,
    stopping: AtomicBool,
    changed: watch::Sender<u64>,
}

impl Queue {
    /// With the jobs of before: those that had not ended were interrupted.
    pub(crate) fn new(store: &Store, most: usize) -> Self {
        let mut jobs: VecDeque<Job> = store.read(|kept| kept.jobs.iter().cloned().collect());
        for job in jobs.iter_mut().filter(|job| job.status.is_open()) {
            job.message = Some(match job.status {
                Status::Running => "the studio ended while this was being fitted".to_owned(),
                _ => "the studio ended before this was begun".to_owned(),
            });
            job.status = Status::Interrupted;
        }
        let next_id = jobs.iter().map(|job| job.id + 1).max().unwrap_or(1);
        Self {
            inner: Mutex::new(Inner {
                jobs,
                next_id,
                ..Inner::default()
            }),
            wake: Condvar::new(),
            most,
            stopping: AtomicBool::new(false),
            changed: watch::channel(0).0,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Told whenever something has changed.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Something that browsers show has changed.
    pub(crate) fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// Fits or recordings have changed: browsers read them again.
    pub(crate) fn tell_listing(&self) {
        self.lock().listing += 1;
        self.tell();
    }

    /// Whether anybody looks.
    pub(crate) fn is_watched(&self) -> bool {
        self.changed.receiver_count() > 0
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let inner = self.lock();
        Snapshot {
            jobs: inner.jobs.iter().cloned().collect(),
            live: inner.live.clone(),
            listing: inner.listing,
        }
    }

    /// Name of the fit that is running.
    pub(crate) fn running(&self) -> Option<String> {
        let inner = self.lock();
        let job = inner.jobs.iter().find(|job| job.status == Status::Running)?;
        Some(job.name.clone())
    }

    /// A job by its number.
    pub(crate) fn job(&self, id: u64) -> ApiResult<Job> {
        let inner = self.lock();
        let job = inner.jobs.iter().find(|job| job.id == id).cloned();
        job.ok_or_else(|| ApiError::not_found(format!("there is no job {id}")))
    }

    /// The job that a fit came of, whatever the fit is called by now: names are used again.
    pub(crate) fn job_of(&self, result: &str) -> Option<Job> {
        let inner = self.lock();
        let mut jobs = inner.jobs.iter();
        let job = jobs.find(|job| job.status == Status::Done && job.result.as_deref() == Some(result));
        job.cloned()
    }

    /// Whether a fit of that name waits or runs.
    pub(crate) fn has_open(&self, name: &str) -> bool {
        self.lock()
            .jobs
            .iter()
            .any(|job| job.status.is_open() && job.name == name)
    }

    /// Keeps the list on disk.
    fn save(inner: &Inner, store: &Store) -> ApiResult<()> {
        let jobs: Vec<Job> = inner.jobs.iter().cloned().collect();
        store.change(|kept| kept.jobs = jobs)
    }

    /// Puts a fit at the end of the queue.
    pub(crate) fn push(&self, store: &Store, name: String, order: Order) -> ApiResult<u64> {
        let mut inner = self.lock();
        if inner.jobs.iter().filter(|job| job.status.is_open()).count() >= self.most {
            return Err(ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{} fits are waiting: wait for some to end, or cancel them", self.most),
            ));
        }
        let id = inner.next_id;
        inner.jobs.push_back(Job {
            id,
            name,
            order,
            status: Status::Queued,
            message: None,
            seconds: None,
            result: None,
        });
        let ended = inner.jobs.iter().filter(|job| !job.status.is_open()).count();
        for _ in MOST_ENDED..ended {
            if let Some(at) = inner.jobs.iter().position(|job| !job.status.is_open()) {
                inner.jobs.remove(at);
            }
        }
        if let Err(error) = Self::save(&inner, store) {
            inner.jobs.pop_back();
            return Err(error);
        }
        inner.next_id += 1;
        drop(inner);
        self.wake.notify_all();
        self.tell();
        Ok(id)
    }

    /// Ends a fit: one that waits is taken away, one that runs keeps the best so far.
    pub(crate) fn cancel(&self, store: &Store, id: u64) -> ApiResult<()> {
        let mut inner = self.lock();
        let cancel = Arc::clone(&inner.cancel);
        let job = inner.jobs.iter_mut().find(|job| job.id == id);
        match job {
            None => return Err(ApiError::not_found(format!("there is no job {id}"))),
            Some(job) if job.status == Status::Queued => {
                job.status = Status::Cancelled;
                job.message = Some("taken out of the queue".to_owned());
            }
            Some(job) if job.status == Status::Running => cancel.store(true, Ordering::SeqCst),
            Some(_) => {}
        }
        Self::save(&inner, store)?;
        drop(inner);
        self.tell();
        Ok(())
    }

    /// A finished fit has another name now.
    pub(crate) fn rename(&self, store: &Store, name: &str, new: &str) -> ApiResult<()> {
        let mut inner = self.lock();
        for job in inner.jobs.iter_mut().filter(|job| job.name == name) {
            new.clone_into(&mut job.name);
        }
        Self::save(&inner, store)
    }

    /// Forgets a job that has ended; its folder stays.
    pub(crate) fn forget(&self, store: &Store, id: u64) -> ApiResult<()> {
        let mut inner = self.lock();
        inner.jobs.retain(|job| job.id != id || job.status.is_open());
        Self::save(&inner, store)?;
        drop(inner);
        self.tell();
        Ok(())
    }

    /// The worker ends as soon as it can. What was running stays as such on disk.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.lock().cancel.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    /// Whether the studio ends.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Follows the running fit.
    pub(crate) fn observe(&self, progress: &Progress, started: Instant, budget: Option<f64>) {
        if let Some(live) = &mut self.lock().live {
            live.observe(progress, started.elapsed().as_secs_f64(), budget);
        }
        self.tell();
    }

    /// Takes fits from the queue until the studio stops.
    pub(crate) fn work(&self, app: &App, threads: usize) {
        while let Some((job, cancel)) = self.take(app) {
            let started = Instant::now();
            // A mistake in one fit must not end all that follow.
            let result = catch_unwind(AssertUnwindSafe(|| job::fit(app, &job, threads, &cancel)));
            if self.is_stopping() && !matches!(result, Ok(Ok(Ended::Done { .. }))) {
                // It stays as running on disk, which the next studio takes for interrupted.
                return;
            }
            let (status, message, result) = match result {
                Ok(Ok(Ended::Done { message, result })) => (Status::Done, message, result),
                Ok(Ok(Ended::Cancelled { message })) => (Status::Cancelled, Some(message), None),
                Ok(Err(error)) => (Status::Failed, Some(error.message), None),
                Err(_) => (
                    Status::Failed,
                    Some("the program made a mistake; its terminal has the details".to_owned()),
                    None,
                ),
            };
            let mut inner = self.lock();
            inner.live = None;
            inner.listing += 1;
            if let Some(found) = inner.jobs.iter_mut().find(|found| found.id == job.id) {
                found.status = status;
                found.message = message;
                found.result = result;
                found.seconds = Some(started.elapsed().as_secs_f64());
            }
            // The folder has the result; a list that cannot be written now is written with the next change.
            let _ = Self::save(&inner, &app.store);
            drop(inner);
            self.tell();
        }
    }

    /// The next fit, marked as running; none when the studio stops.
    fn take(&self, app: &App) -> Option<(Job, Arc<AtomicBool>)> {
        let mut inner = self.lock();
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(job) = inner.jobs.iter_mut().find(|job| job.status == Status::Queued) {
                job.status = Status::Running;
                let job = job.clone();
                let cancel = Arc::new(AtomicBool::new(false));
                inner.cancel = Arc::clone(&cancel);
                inner.live = Some(Live::new(job.id));
                let _ = Self::save(&inner, &app.store);
                drop(inner);
                self.tell();
                return Some((job, cancel));
            }
            inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
