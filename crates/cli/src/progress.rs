//! Progress bars of training on standard error.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use intervalid_model::{EpochProgress, Progress};

use crate::output::Output;

/// One bar per fit. On anything but a terminal, and with `--quiet`, nothing is drawn.
pub(crate) struct Bars(MultiProgress);

impl Bars {
    /// Bars, visible if `visible` and standard error is a terminal.
    pub(crate) fn new(visible: bool) -> Self {
        let target = if visible {
            // Hides itself where standard error is no terminal.
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self(MultiProgress::with_draw_target(target))
    }

    /// The bar of one fit.
    pub(crate) fn add(&self, name: &str) -> Bar {
        let style = ProgressStyle::with_template("{prefix:13} {bar:12} epoch {pos}/{len} {wide_msg}");
        let bar = ProgressBar::new(0).with_prefix(name.to_owned());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar(self.0.add(bar))
    }
}

impl Bars {
    /// The bar of a search.
    pub(crate) fn add_search(&self) -> Bar {
        let style = ProgressStyle::with_template("{msg:18} {bar:30} {percent:>3} % after {elapsed}");
        let bar = ProgressBar::new(1000).with_message("looking");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Bar(self.0.add(bar))
    }
}

/// The bar of one fit; gone when dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Shows how far a fit is. Whether the user wants to end it, its control asks.
    pub(crate) fn observe(&self, progress: &Progress) -> ControlFlow<()> {
        match progress {
            Progress::Epoch(epoch) => {
                self.0.set_length(epoch.epochs_total as u64);
                self.0.set_position(epoch.epochs_done as u64);
                self.0.set_message(message(epoch));
            }
            Progress::Share { step, share } => {
                self.0.set_message(*step);
                self.0.set_position((1000.0 * share) as u64);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Bars of a study: runs done and time left, and what every worker does.
pub(crate) struct StudyBars {
    all: MultiProgress,
    runs: ProgressBar,
    workers: Mutex<Vec<ProgressBar>>,
}

impl StudyBars {
    /// Nothing yet; invisible if `visible` is false.
    pub(crate) fn new(visible: bool) -> Self {
        let Bars(all) = Bars::new(visible);
        let runs = all.add(ProgressBar::new(0));
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {msg}");
        runs.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self {
            all,
            runs,
            workers: Mutex::default(),
        }
    }

    /// Work begins.
    pub(crate) fn start(&self, runs: usize, done: usize) {
        self.runs.set_length(runs as u64);
        self.runs.set_position(done as u64);
        self.runs.set_message("time left is not known yet");
    }

    /// A worker takes a job.
    pub(crate) fn job(&self, worker: usize, name: &str) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        while workers.len() <= worker {
            let bar = self.all.add(ProgressBar::new(0));
            let style = ProgressStyle::with_template("  {prefix:45} epoch {pos}/{len}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            workers.push(bar);
        }
        workers[worker].set_prefix(name.to_owned());
        workers[worker].set_position(0);
    }

    /// A worker did an epoch.
    pub(crate) fn epoch(&self, worker: usize, done: usize, total: usize) {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = workers.get(worker) {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
    }

    /// Runs done and time left.
    pub(crate) fn progress(&self, runs_done: usize, seconds_left: Option<f64>) {
        self.runs.set_position(runs_done as u64);
        if let Some(Ok(left)) = seconds_left.map(Duration::try_from_secs_f64) {
            self.runs.set_message(format!("{:#} left", HumanDuration(left)));
        }
    }

    /// A line for `--verbose`, above the bars.
    pub(crate) fn detail(&self, output: &Output, line: &str) {
        if output.is_verbose() {
            self.suspend(|| output.detail(line));
        }
    }

    /// Runs something that prints while no bar is drawn.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    /// Takes all bars away.
    pub(crate) fn clear(&self) {
        // A terminal that is gone needs no clearing.
        let _ = self.all.clear();
    }
}

/// Validation losses and time left, short enough for 80 columns. The band has no loss before its stage.
fn message(progress: &EpochProgress) -> String {
    let [mse, rqrw] = progress.record.validation;
    let mse = mse.unwrap_or(f64::NAN);
    let band = rqrw.map_or_else(String::new, |rqrw| format!(", band {rqrw:.4}"));
    let left = Duration::try_from_secs_f64(progress.seconds_left).unwrap_or_default();
    let left = HumanDuration(left);
    format!("loss {mse:.4}{band}, {left:#} left")
}

#[cfg(test)]
mod tests {
    use intervalid_model::{EpochRecord, Stage};

    use super::*;

    #[test]
    fn unused_losses_are_not_shown() {
        let mut progress = EpochProgress {
            record: EpochRecord {
                stage: Stage::Crisp,
                epoch: 3,
                train: [Some(0.5), None],
                validation: [Some(0.25), None],
                learning_rate: 0.005,
                scales: [0.5, 0.5],
            },
            improved: true,
            epochs_done: 3,
            epochs_total: 10,
            seconds_left: 7.2,
        };
        assert_eq!(message(&progress), "loss 0.2500, 7s left");
        progress.record.stage = Stage::Joint;
        progress.record.validation = [Some(0.25), Some(0.125)];
        progress.seconds_left = f64::NAN;
        assert_eq!(message(&progress), "loss 0.2500, band 0.1250, 0s left");
    }
}
