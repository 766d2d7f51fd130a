//! Training: a checked configuration and a record in, a fitted [`IntervalModel`] and a [`TrainInfo`] out.

mod cascades;
mod checkpoint;
mod info;
mod iteration;
mod likelihood;
pub(crate) mod loss;
pub(crate) mod margin;
pub(crate) mod optim;
mod problem;
mod stage;
mod state;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Normaliser, Split};
use intervalid_interval::Real;

use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::family::gaussian::GaussianModel;
use crate::family::interval::IntervalModel;
use crate::kind::Method;

pub use cascades::fit_cascades;
pub use info::{EpochRecord, Progress, Stage, StageInfo, StopReason, TrainInfo};
pub use iteration::IterationBench;
use problem::Problem;
use stage::Worker;
use state::State;

/// Told of every epoch; `Break` ends training with the best model so far.
pub type Observer<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// Who watches a fit, and where it can be taken up again.
#[derive(Default)]
pub struct FitOptions<'a> {
    /// Called after every epoch.
    pub observer: Option<&'a mut Observer<'a>>,
    /// Written after epochs and taken up if it exists: a fit killed at any point ends in the same bits.
    pub checkpoint: Option<&'a Path>,
    /// Least time between two checkpoints; when the observer breaks off, one is written whatever the time.
    pub checkpoint_every: Duration,
}

/// Fits an interval network to the training part of a record, choosing the epoch by free runs over the validation part.
///
/// The test part is not looked at.
///
/// # Errors
/// [`ModelError`] if an option is out of range, the record is too short for what was asked, a checkpoint is damaged or
/// of another fit, or no epoch gave a finite result.
pub fn fit<T: Real>(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    options: FitOptions<'_>,
) -> Result<(IntervalModel<T>, TrainInfo)> {
    check_interval(config)?;
    let (problem, state, info) = train(dataset, split, config, options)?;
    Ok((problem.into_interval(dataset, state), info))
}

/// Fits a network with Gaussian likelihood, as [`fit`] does an interval network.
///
/// # Errors
/// Those of [`fit`].
pub fn fit_gaussian<T: Real>(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    options: FitOptions<'_>,
) -> Result<(GaussianModel<T>, TrainInfo)> {
    if !matches!(
        config.model.method(),
        Method::Bayesian | Method::Dropout | Method::Ensemble
    ) {
        return Err(ModelError::option(
            "model",
            config.model,
            "a Bayesian, dropout or ensemble network",
        ));
    }
    let (problem, state, info) = train(dataset, split, config, options)?;
    Ok((problem.into_gaussian(dataset, state), info))
}

/// The cascade's first stage alone, in units of `normaliser`: θ of the best epoch on the validation part.
pub(crate) fn fit_crisp<T: Real>(
    dataset: &Dataset,
    split: &Split,
    normaliser: Normaliser,
    config: &FitConfig,
    observer: &mut Observer<'_>,
) -> Result<Vec<T>> {
    check_interval(config)?;
    let problem = Problem::<T>::in_units(normaliser, dataset, split, config)?;
    let mut state = State::new(&problem)?;
    let clock = Clock {
        started: Instant::now(),
        epochs_before: 0,
    };
    let mut options = FitOptions {
        observer: Some(observer),
        ..FitOptions::default()
    };
    advance(&problem, &mut state, &mut options, &clock, 1)?;
    Ok(state.theta)
}

/// The cascade's second stage alone: margins around a θ that was found elsewhere, started on the scale of its errors.
///
/// θ is in units of the training part of `split`.
pub(crate) fn fit_margins<T: Real>(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    theta: Vec<T>,
) -> Result<IntervalModel<T>> {
    check_interval(config)?;
    let problem = Problem::<T>::new(dataset, split, config)?;
    let mut state = State::new(&problem)?;
    state.start_margins(&problem, theta);
    let clock = Clock {
        started: Instant::now(),
        epochs_before: 0,
    };
    advance(&problem, &mut state, &mut FitOptions::default(), &clock, usize::MAX)?;
    Ok(problem.into_interval(dataset, state))
}

fn check_interval(config: &FitConfig) -> Result<()> {
    match config.model.method() {
        Method::Interval => Ok(()),
        _ => Err(ModelError::option("model", config.model, "inode or ilstm")),
    }
}

fn train<T: Real>(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    mut options: FitOptions<'_>,
) -> Result<(Problem<T>, State<T>, TrainInfo)> {
    let started = Instant::now();
    let problem = Problem::<T>::new(dataset, split, config)?;
    let mut state = match options.checkpoint {
        Some(path) if path.exists() => checkpoint::read(path, &problem)?,
        _ => State::new(&problem)?,
    };
    if let Some(path) = options.checkpoint {
        // Before any work: a folder that cannot be written is found out now, not after the first epoch.
        checkpoint::write(path, &problem, &state)?;
    }
    let clock = Clock {
        started,
        epochs_before: state.history.len(),
    };
    advance(&problem, &mut state, &mut options, &clock, usize::MAX)?;
    let info = state.info(started.elapsed());
    Ok((problem, state, info))
}

/// Runs stages until `end` of them are done or the observer breaks off.
fn advance<T: Real>(
    problem: &Problem<T>,
    state: &mut State<T>,
    options: &mut FitOptions<'_>,
    clock: &Clock,
    end: usize,
) -> Result<()> {
    let stages = Stage::of(&problem.config);
    while state.stage < stages.len().min(end) {
        let reason = run_stage(problem, &stages, state, options, clock)?;
        let interrupted = matches!(reason, StopReason::Interrupted { .. });
        state.finish_stage(problem, stages[state.stage], reason)?;
        if interrupted {
            break;
        }
    }
    Ok(())
}

/// Since when this call has been training, and after how many epochs of earlier calls.
struct Clock {
    started: Instant,
    epochs_before: usize,
}

fn run_stage<T: Real>(
    problem: &Problem<T>,
    stages: &[Stage],
    state: &mut State<T>,
    options: &mut FitOptions<'_>,
    clock: &Clock,
) -> Result<StopReason> {
    let config = &problem.config;
    let stage = stages[state.stage];
    let mut worker = Worker::new(problem, stage, state);
    let mut written = Instant::now();
    let epochs = config.stage_epochs(stage);
    while state.epoch < epochs {
        // Asked before an epoch and not after it: a resumed fit then stops where the whole one did.
        let since_best = state.best.as_ref().map_or(0, |best| state.epoch - best.epoch);
        if config.patience.is_some_and(|patience| since_best >= patience) {
            return Ok(StopReason::Patience { epoch: state.epoch });
        }
        let learning_rate = config.learning_rate * config.stage_schedule(stage).factor(state.epoch, epochs);
        let Some(train) = worker.epoch(problem, state, learning_rate) else {
            let epoch = state.epoch + 1;
            if state.best.is_none() {
                return Err(ModelError::Diverged {
                    epoch,
                    stage: stage.name(),
                    learning_rate,
                });
            }
            return Ok(StopReason::NonFinite { epoch });
        };
        let validation = worker.validate(problem, state);
        state.epoch += 1;
        let record = EpochRecord {
            stage,
            epoch: state.epoch,
            train,
            validation,
            learning_rate,
            scales: state.gradnorm.scales,
        };
        let improved = state.record(record, stage);
        let is_due = written.elapsed() >= options.checkpoint_every;
        if let Some(path) = options.checkpoint.filter(|_| is_due) {
            checkpoint::write(path, problem, state)?;
            written = Instant::now();
        }
        if let Some(observer) = &mut options.observer {
            let done = state.history.len();
            let left: usize = stages[state.stage..]
                .iter()
                .map(|&stage| config.stage_epochs(stage))
                .sum();
            let total = left + done - state.epoch;
            let per_epoch = clock.started.elapsed().as_secs_f64() / (done - clock.epochs_before) as f64;
            let progress = Progress {
                record,
                improved,
                epochs_done: done,
                epochs_total: total,
                seconds_left: per_epoch * (total - done) as f64,
            };
            if observer(&progress).is_break() {
                if let Some(path) = options.checkpoint.filter(|_| !is_due) {
                    checkpoint::write(path, problem, state)?;
                }
                return Ok(StopReason::Interrupted { epoch: state.epoch });
            }
        }
    }
    Ok(StopReason::Epochs)
}
