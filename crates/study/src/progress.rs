//! How far a study is, and how long it will take.

use std::time::Instant;

/// Progress of a study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyProgress {
    /// Runs in the database or failed, without those left out.
    pub runs_done: usize,
    /// Runs of the study, without those left out.
    pub runs_total: usize,
    /// Share of this call's work that is done, weighted by its estimated time.
    pub share: f64,
    /// Estimate of the time left; none before anything is known.
    pub seconds_left: Option<f64>,
}

/// Keeps count of this call's work.
#[derive(Debug)]
pub(crate) struct Tracker {
    started: Instant,
    runs_total: usize,
    cost_total: f64,
    cost_done: f64,
    /// Cost of what each worker has done of its job.
    running: Vec<f64>,
}

impl Tracker {
    pub(crate) fn new(runs_total: usize, cost_total: f64, workers: usize) -> Self {
        Self {
            started: Instant::now(),
            runs_total,
            cost_total,
            cost_done: 0.0,
            running: vec![0.0; workers],
        }
    }

    pub(crate) fn advance(&mut self, worker: usize, cost: f64) {
        self.running[worker] = cost;
    }

    pub(crate) fn finish_job(&mut self, worker: usize, cost: f64) {
        self.cost_done += cost;
        self.running[worker] = 0.0;
    }

    pub(crate) fn now(&self, runs_done: usize) -> StudyProgress {
        let done = self.cost_done + self.running.iter().sum::<f64>();
        let share = if self.cost_total > 0.0 {
            (done / self.cost_total).min(1.0)
        } else {
            1.0
        };
        StudyProgress {
            runs_done,
            runs_total: self.runs_total,
            share,
            // The first per cent says too little about the rest.
            seconds_left: (share > 0.01).then(|| self.started.elapsed().as_secs_f64() * (1.0 - share) / share),
        }
    }
}
