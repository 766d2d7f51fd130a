//! What a search may still do.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::config::{AutoObserver, AutoOptions, AutoProgress};
use crate::error::{ModelError, Result};

/// Work done, time left, and whether the user wants to stop. Shared by all threads.
pub(super) struct Budget<'a> {
    pub(super) threads: usize,
    deadline: Option<Instant>,
    observer: Option<&'a AutoObserver<'a>>,
    interrupted: AtomicBool,
    /// Whether the deadline has done its part.
    is_lifted: AtomicBool,
    /// Multiplications in normal equations, done and expected.
    work: Mutex<(f64, f64)>,
}

impl<'a> Budget<'a> {
    pub(super) fn new(options: &AutoOptions<'a>) -> Self {
        Self {
            threads: options.threads.max(1),
            // A time beyond all clocks is no limit.
            deadline: options.budget.and_then(|budget| Instant::now().checked_add(budget)),
            observer: options.observer,
            interrupted: AtomicBool::new(false),
            is_lifted: AtomicBool::new(false),
            work: Mutex::new((0.0, 0.0)),
        }
    }

    /// Announces work, for the share that is shown.
    pub(super) fn expect(&self, work: f64) {
        self.lock().1 += work;
    }

    /// Files work and tells the observer; false when the user wants to stop.
    pub(super) fn did(&self, work: f64, step: &'static str) -> bool {
        let share = {
            let mut all = self.lock();
            all.0 += work;
            (all.0 / all.1.max(f64::MIN_POSITIVE)).min(1.0)
        };
        if let Some(observer) = self.observer
            && observer(&AutoProgress { step, share }).is_break()
        {
            self.interrupted.store(true, Ordering::SeqCst);
        }
        !self.interrupted.load(Ordering::SeqCst)
    }

    /// From now on time does not matter: what is left must be the same whether it ran out or not.
    pub(super) fn lift(&self) {
        self.is_lifted.store(true, Ordering::SeqCst);
    }

    /// Whether the time is up.
    pub(super) fn is_over(&self) -> bool {
        !self.is_lifted.load(Ordering::SeqCst) && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Fails once the user wants to stop.
    pub(super) fn check(&self) -> Result<()> {
        match self.interrupted.load(Ordering::SeqCst) {
            true => Err(ModelError::Interrupted { epoch: 0 }),
            false => Ok(()),
        }
    }

    /// Work done so far.
    pub(super) fn work(&self) -> f64 {
        self.lock().0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (f64, f64)> {
        self.work.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
