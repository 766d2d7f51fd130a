//! What a search may still do: work, time, and whether anybody still wants it.
//!
//! Work is counted in multiplications, so that it is the same on every machine; [`WORK`] ends a search that nobody limits. A
//! deadline ends it earlier, and leaves time for what must follow: the fits on everything, margins and held-out bands.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use intervalid_model::{Control, JudgedCandidate, Progress};

use crate::config::SearchOptions;
use crate::error::{Result, SearchError};
use crate::journal::{Journal, Stored};

/// Multiplications of a search without a deadline: about two minutes on two cores of 2026 that do nothing else.
pub(crate) const WORK: f64 = 2e12;
/// Seconds per multiplication before any has been timed, slow rather than fast.
const FIRST_PACE: f64 = 4e-10;
/// Progress by less than this is not told: a step of exploration takes a millisecond.
const NEWS: f64 = 5e-4;
/// Share of the time given that is kept for the end, at the least and at the most: on a slow machine a search that is cut short is
/// worth more than an end that surely comes in time.
const RESERVE: (f64, f64) = (0.03, 0.5);

/// Work done, time left, and whether the user wants to stop. Shared by all threads.
pub(crate) struct Budget<'a> {
    pub(crate) threads: usize,
    control: Control<'a>,
    started: Instant,
    cancelled: AtomicBool,
    /// Whether the deadline has done its part.
    is_lifted: AtomicBool,
    state: Mutex<State>,
    journal: Option<Journal>,
}

thread_local! {
    /// Work that this thread has done so far: a job runs on one.
    static WORKED: Cell<f64> = const { Cell::new(0.0) };
}

#[derive(Default)]
struct State {
    /// Multiplications so far.
    work: f64,
    /// Multiplications that were timed, and the seconds of one thread that they took.
    timed: (f64, f64),
    /// Multiplications that the end of the search will take, and how many threads can share them.
    reserved: f64,
    /// The largest share so far.
    share: f64,
    /// What the observer was told last.
    told: (&'static str, f64),
}

impl<'a> Budget<'a> {
    pub(crate) fn new(options: &SearchOptions<'a>) -> Self {
        Self {
            threads: options.threads.max(1),
            control: options.control,
            started: Instant::now(),
            cancelled: AtomicBool::new(false),
            is_lifted: AtomicBool::new(false),
            state: Mutex::new(State::default()),
            journal: None,
        }
    }

    /// The same, writing finished jobs down.
    pub(crate) fn with_journal(self, journal: Option<Journal>) -> Self {
        Self { journal, ..self }
    }

    /// The result of a job that depends on nothing but `key` and what all jobs of the search share: as it was written down, or by carrying it out.
    /// A job that was cut gives none, and is not written down.
    pub(crate) fn once<R: Stored>(
        &self,
        step: &'static str,
        key: impl FnOnce() -> String,
        job: impl FnOnce() -> Option<R>,
    ) -> Option<R> {
        let Some(journal) = &self.journal else {
            return job();
        };
        let key = format!("{step} {}", key());
        if let Some((work, result)) = journal.find(&key) {
            return self.did(work, step).then_some(result);
        }
        let before = WORKED.get();
        let result = job()?;
        journal.note(&key, WORKED.get() - before, &result);
        Some(result)
    }

    /// Files work and tells the observer; false when the user wants to stop.
    pub(crate) fn did(&self, work: f64, step: &'static str) -> bool {
        WORKED.set(WORKED.get() + work);
        let news = {
            let mut state = self.lock();
            state.work += work;
            let of_work = state.work / (WORK + state.reserved);
            state.share = of_work.max(self.share_of_time()).min(1.0).max(state.share);
            let (told_step, told_share) = state.told;
            let is_news = told_step != step || state.share >= told_share + NEWS;
            if is_news {
                state.told = (step, state.share);
            }
            is_news.then_some(state.share)
        };
        let goes_on = match news {
            Some(share) => self.control.tell(&Progress::Share { step, share }),
            None => !self.control.is_cancelled(),
        };
        if !goes_on {
            self.cancelled.store(true, Ordering::SeqCst);
        }
        !self.cancelled.load(Ordering::SeqCst)
    }

    /// Tells the observer of a candidate that was judged; told again after more work, it is the same one.
    pub(crate) fn judged(&self, candidate: JudgedCandidate) {
        if !self.control.tell(&Progress::Candidate(candidate)) {
            self.cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Files how long a thread took for some work, for the estimate of what the end will take.
    pub(crate) fn took(&self, work: f64, time: Duration) {
        let mut state = self.lock();
        state.timed.0 += work;
        state.timed.1 += time.as_secs_f64();
    }

    /// Carries out a job on this thread, and files how long its work took. Inside [`Budget::once`]: what is read from the journal takes no
    /// time, and would make the end look short.
    pub(crate) fn timed<R>(&self, job: impl FnOnce() -> R) -> R {
        let (started, before) = (Instant::now(), WORKED.get());
        let result = job();
        self.took(WORKED.get() - before, started.elapsed());
        result
    }

    /// Keeps time for so many multiplications of one thread after another at the end.
    pub(crate) fn reserve(&self, work: f64) {
        self.lock().reserved = work;
    }

    /// From now on time does not matter: what is left must be the same whether it ran out or not.
    pub(crate) fn lift(&self) {
        self.is_lifted.store(true, Ordering::SeqCst);
    }

    /// Whether the time is up, but for what the end will take.
    pub(crate) fn is_over(&self) -> bool {
        let Some(deadline) = self.control.deadline else {
            return false;
        };
        if self.is_lifted.load(Ordering::SeqCst) {
            return false;
        }
        let kept = {
            let state = self.lock();
            let pace = match state.timed.0 > 0.0 {
                true => state.timed.1 / state.timed.0,
                false => FIRST_PACE,
            };
            state.reserved * pace
        };
        let given = deadline.saturating_duration_since(self.started).as_secs_f64();
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        left <= kept.clamp(RESERVE.0 * given, RESERVE.1 * given)
    }

    /// Whether a search has done what it does where nobody limits it; the same on every machine.
    pub(crate) fn is_spent(&self) -> bool {
        self.lock().work >= WORK
    }

    /// Fails once the user wants to stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.journal.as_ref().map_or(Ok(()), Journal::check)?;
        match self.cancelled.load(Ordering::SeqCst) {
            true => Err(SearchError::Cancelled),
            false => Ok(()),
        }
    }

    /// Work done so far.
    pub(crate) fn work(&self) -> f64 {
        self.lock().work
    }

    /// Work whose time is known.
    #[cfg(test)]
    pub(crate) fn timed_work(&self) -> f64 {
        self.lock().timed.0
    }

    fn share_of_time(&self) -> f64 {
        self.control.deadline.map_or(0.0, |deadline| {
            let given = deadline.saturating_duration_since(self.started).as_secs_f64();
            self.started.elapsed().as_secs_f64() / given.max(f64::MIN_POSITIVE)
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_end_takes_is_kept_back_and_work_ends_a_search_without_a_deadline() {
        let deadline = Instant::now() + Duration::from_secs(400);
        let options = SearchOptions {
            control: Control {
                deadline: Some(deadline),
                ..Control::default()
            },
            ..SearchOptions::default()
        };
        let mut budget = Budget::new(&options);
        // At a millisecond per multiplication. Before anything was done, at most half of the time is kept back.
        budget.took(10.0, Duration::from_millis(10));
        budget.reserve(1_100_000.0);
        assert!(!budget.is_over());
        // With 600 of 1000 seconds gone, 300 000 multiplications can still be waited for, and 450 000 cannot.
        budget.started = deadline
            .checked_sub(Duration::from_secs(1000))
            .expect("a clock that has run for long");
        budget.reserve(300_000.0);
        assert!(!budget.is_over());
        budget.reserve(450_000.0);
        assert!(budget.is_over());
        budget.lift();
        assert!(!budget.is_over());
        assert!(budget.did(0.99 * WORK, "networks") && !budget.is_spent());
        assert!(budget.did(0.02 * WORK, "networks") && budget.is_spent());
    }
}
