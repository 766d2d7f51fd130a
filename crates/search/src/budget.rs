//! What a search may still do.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use intervalid_model::{Control, Progress};

use crate::config::SearchOptions;
use crate::error::{Result, SearchError};

/// Work done, time left, and whether the user wants to stop. Shared by all threads.
pub(crate) struct Budget<'a> {
    pub(crate) threads: usize,
    control: Control<'a>,
    cancelled: AtomicBool,
    /// Whether the deadline has done its part.
    is_lifted: AtomicBool,
    /// Multiplications in normal equations, done and expected.
    work: Mutex<(f64, f64)>,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(options: &SearchOptions<'a>) -> Self {
        Self {
            threads: options.threads.max(1),
            control: options.control,
            cancelled: AtomicBool::new(false),
            is_lifted: AtomicBool::new(false),
            work: Mutex::new((0.0, 0.0)),
        }
    }

    /// Announces work, for the share that is shown.
    pub(crate) fn expect(&self, work: f64) {
        self.lock().1 += work;
    }

    /// Files work and tells the observer; false when the user wants to stop.
    pub(crate) fn did(&self, work: f64, step: &'static str) -> bool {
        let share = {
            let mut all = self.lock();
            all.0 += work;
            (all.0 / all.1.max(f64::MIN_POSITIVE)).min(1.0)
        };
        if !self.control.tell(&Progress::Share { step, share }) {
            self.cancelled.store(true, Ordering::SeqCst);
        }
        !self.cancelled.load(Ordering::SeqCst)
    }

    /// From now on time does not matter: what is left must be the same whether it ran out or not.
    pub(crate) fn lift(&self) {
        self.is_lifted.store(true, Ordering::SeqCst);
    }

    /// Whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_lifted.load(Ordering::SeqCst) && self.control.is_late()
    }

    /// Fails once the user wants to stop.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancelled.load(Ordering::SeqCst) {
            true => Err(SearchError::Cancelled),
            false => Ok(()),
        }
    }

    /// Work done so far.
    pub(crate) fn work(&self) -> f64 {
        self.lock().0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (f64, f64)> {
        self.work.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
