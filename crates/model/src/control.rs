//! How a caller follows long work and ends it early.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::kind::ModelKind;
use crate::train::EpochProgress;

/// How far long work is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Progress {
    /// An epoch of training is done.
    Epoch(EpochProgress),
    /// A share of a search or a calibration is done.
    Share {
        /// What is being done, in words.
        step: &'static str,
        /// From 0 to 1.
        share: f64,
    },
    /// A search has judged a candidate.
    Candidate(JudgedCandidate),
}

/// A candidate of a search and what it is worth so far. One that is judged again after more work keeps its name.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCandidate {
    /// Its name in words.
    pub name: String,
    /// Kind of model.
    pub model: ModelKind,
    /// Coefficients or weights.
    pub parameters: usize,
    /// Error of free runs over samples that it has not seen, in standard deviations of the outputs; less is better.
    pub error: f64,
    /// Whether that is over all held-out data; candidates that leave early are tried on some of them only.
    pub is_whole: bool,
}

/// Told of progress, from any thread; `Break` ends the work.
pub type Observer<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;

/// Who follows long work, and what ends it early. Following it never changes a result.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use intervalid_model::Control;
///
/// let stop = AtomicBool::new(false);
/// let control = Control { cancel: Some(&stop), ..Control::default() };
/// assert!(!control.is_cancelled());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Told of progress.
    pub observer: Option<&'a Observer<'a>>,
    /// Set from elsewhere (Ctrl-C, another thread), it ends the work.
    pub cancel: Option<&'a AtomicBool>,
    /// When a search must come to its end; training of one network has epochs instead.
    pub deadline: Option<Instant>,
}

impl Control<'_> {
    /// Tells of progress; whether the work may go on.
    #[must_use]
    pub fn tell(&self, progress: &Progress) -> bool {
        let goes_on = self.observer.is_none_or(|observer| observer(progress).is_continue());
        goes_on && !self.is_cancelled()
    }

    /// Whether somebody wants the work to end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::SeqCst))
    }

    /// Whether the time is up.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
