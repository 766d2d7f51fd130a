//! Training: a checked configuration and a record in, a fitted [`Model`] and a [`TrainInfo`] out.

mod again;
mod bounds;
mod cascades;
mod checkpoint;
mod info;
mod iteration;
mod iteration_bench;
mod likelihood;
pub(crate) mod loss;
pub(crate) mod margin;
mod margin_stage;
pub(crate) mod optim;
mod part;
mod problem;
mod stage;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Normaliser, Part, Split};
use intervalid_interval::Real;

use crate::config::{CheckedConfig, FitConfig};
use crate::control::{Control, Progress};
use crate::error::{ModelError, Result};
use crate::family::body::OfPrecision;
use crate::kind::{Method, Precision};
use crate::model::Model;

pub use again::refit;
pub use cascades::fit_cascades;
pub use info::{EpochProgress, EpochRecord, Stage, StageInfo, StopReason, TrainInfo};
pub use iteration_bench::{IterationBench, IterationProblem};
use part::Team;
use problem::Problem;
use stage::Worker;
use state::State;

/// Who watches a fit, where it can be taken up again, and in what units it computes.
#[derive(Default)]
pub struct FitOptions<'a> {
    /// Told of every epoch; a wish to stop ends training with the best model so far.
    pub control: Control<'a>,
    /// Written after epochs and taken up if it exists: a fit killed at any point ends in the same bits.
    pub checkpoint: Option<&'a Path>,
    /// Least time between two checkpoints; at the end of a stage, and when training is ended early, one is written whatever the
    /// time.
    pub checkpoint_every: Duration,
    /// Most threads that training of one network uses; 0 is one. It never changes a result, and gains nothing where a mini-batch has
    /// no more than 32 windows.
    pub threads: usize,
    /// Units that were fitted elsewhere, so that channels may be at rest over the whole training part; none: those of that part. A search
    /// of lags always uses those of the part.
    pub units: Option<&'a Normaliser>,
}

impl FitOptions<'_> {
    /// The units that a fit to this part of a record computes in.
    pub(crate) fn normaliser(&self, dataset: &Dataset, train: &Part) -> Result<Normaliser> {
        match self.units {
            Some(units) => Ok(units.clone()),
            None => Ok(Normaliser::fit(dataset, train)?),
        }
    }
}

/// Fits a network to the training part of a record, choosing the epoch by free runs over the validation part.
pub(crate) fn fit_network(
    dataset: &Dataset,
    split: &Split,
    config: &CheckedConfig,
    options: FitOptions<'_>,
) -> Result<(Model, TrainInfo)> {
    match config.precision {
        Precision::F32 => train::<f32>(dataset, split, config, options),
        Precision::F64 => train::<f64>(dataset, split, config, options),
    }
}

/// The cascade's first stage alone, in single precision and in units of `normaliser`: θ of the best epoch on the validation
/// part.
///
/// # Errors
/// Those of [`Model::fit`].
pub fn fit_crisp(
    dataset: &Dataset,
    split: &Split,
    normaliser: Normaliser,
    config: &FitConfig,
    control: Control<'_>,
) -> Result<Vec<f64>> {
    check_interval(config)?;
    let problem = Problem::<f32>::in_units(normaliser, dataset, split, &config.checked()?)?;
    let mut state = State::new(&problem)?;
    let mut clock = Clock::start(0);
    let mut options = FitOptions {
        control,
        ..FitOptions::default()
    };
    advance(&problem, &mut state, &mut options, &mut clock, 1)?;
    Ok(state.theta.into_iter().map(f64::from).collect())
}

/// The cascade's second stage alone: margins around a θ that was found elsewhere, in units of `normaliser`, started as the
/// configuration says.
///
/// # Errors
/// Those of [`Model::fit`].
pub fn fit_margins(
    normaliser: Normaliser,
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    theta: &[f64],
) -> Result<Model> {
    match config.precision {
        Precision::F32 => margins_around::<f32>(normaliser, dataset, split, config, theta, true),
        Precision::F64 => margins_around::<f64>(normaliser, dataset, split, config, theta, true),
    }
}

/// The model that [`fit_margins`] starts from: θ with its initial margins.
///
/// # Errors
/// Those of [`Model::fit`].
pub fn initial_margins(
    normaliser: Normaliser,
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    theta: &[f64],
) -> Result<Model> {
    match config.precision {
        Precision::F32 => margins_around::<f32>(normaliser, dataset, split, config, theta, false),
        Precision::F64 => margins_around::<f64>(normaliser, dataset, split, config, theta, false),
    }
}

fn margins_around<T: OfPrecision>(
    normaliser: Normaliser,
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    theta: &[f64],
    trained: bool,
) -> Result<Model> {
    check_interval(config)?;
    let problem = Problem::<T>::in_units(normaliser, dataset, split, &config.checked()?)?;
    let mut state = State::new(&problem)?;
    state.start_margins(&problem, theta.iter().map(|&value| T::of(value)).collect());
    if trained {
        let mut clock = Clock::start(0);
        advance(&problem, &mut state, &mut FitOptions::default(), &mut clock, usize::MAX)?;
    }
    Ok(problem.into_model(dataset, state))
}

fn check_interval(config: &FitConfig) -> Result<()> {
    match config.model.method() {
        Method::Interval => Ok(()),
        _ => Err(ModelError::option("model", config.model, "inode, ilstm or iss")),
    }
}

fn train<T: OfPrecision>(
    dataset: &Dataset,
    split: &Split,
    config: &CheckedConfig,
    mut options: FitOptions<'_>,
) -> Result<(Model, TrainInfo)> {
    let started = Instant::now();
    let normaliser = options.normaliser(dataset, &split.train)?;
    let problem = Problem::<T>::in_units(normaliser, dataset, split, config)?;
    let mut state = match options.checkpoint {
        Some(path) if path.exists() => checkpoint::read(path, &problem)?,
        _ => State::new(&problem)?,
    };
    if let Some(path) = options.checkpoint {
        // Before any work: a folder that cannot be written is found out now, not after the first epoch.
        checkpoint::write(path, &problem, &state)?;
    }
    let mut clock = Clock::start(state.history.len());
    advance(&problem, &mut state, &mut options, &mut clock, usize::MAX)?;
    let info = state.info(started.elapsed());
    Ok((problem.into_model(dataset, state), info))
}

/// Runs stages until `end` of them are done or somebody ends it.
fn advance<T: Real>(
    problem: &Problem<T>,
    state: &mut State<T>,
    options: &mut FitOptions<'_>,
    clock: &mut Clock,
    end: usize,
) -> Result<()> {
    // A pool of its own: in one that trains other networks too, a thread that waits for its part would begin with another network.
    let pool = (options.threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(options.threads).build());
    match pool {
        Some(Ok(pool)) => pool.install(|| run_stages(problem, state, options, clock, end, Team::Pool)),
        None | Some(Err(_)) => run_stages(problem, state, options, clock, end, Team::Alone),
    }
}

fn run_stages<T: Real>(
    problem: &Problem<T>,
    state: &mut State<T>,
    options: &mut FitOptions<'_>,
    clock: &mut Clock,
    end: usize,
    team: Team,
) -> Result<()> {
    let stages = Stage::of(&problem.config);
    while state.stage < stages.len().min(end) {
        let reason = run_stage(problem, &stages, state, options, clock, team)?;
        let interrupted = matches!(reason, StopReason::Interrupted { .. });
        state.finish_stage(problem, stages[state.stage], reason)?;
        if interrupted {
            break;
        }
        // Stages can be shorter than the time between checkpoints, such as members of an ensemble.
        if let Some(path) = options.checkpoint {
            clock.save(path, problem, state)?;
        }
    }
    Ok(())
}

/// Since when this call has been training, after how many epochs of earlier calls, and when it last wrote a checkpoint, in
/// whatever stage.
struct Clock {
    started: Instant,
    epochs_before: usize,
    saved: Instant,
}

impl Clock {
    fn start(epochs_before: usize) -> Self {
        let started = Instant::now();
        Self {
            started,
            epochs_before,
            saved: started,
        }
    }

    fn save<T: Real>(&mut self, path: &Path, problem: &Problem<T>, state: &State<T>) -> Result<()> {
        checkpoint::write(path, problem, state)?;
        self.saved = Instant::now();
        Ok(())
    }
}

fn run_stage<T: Real>(
    problem: &Problem<T>,
    stages: &[Stage],
    state: &mut State<T>,
    options: &mut FitOptions<'_>,
    clock: &mut Clock,
    team: Team,
) -> Result<StopReason> {
    let config = &problem.config;
    let stage = stages[state.stage];
    let mut worker = Worker::new(problem, stage, state, team);
    let epochs = config.stage_epochs(stage);
    while state.epoch < epochs {
        // Asked before an epoch and not after it: a resumed fit then stops where the whole one did.
        let since_best = state.epochs_since_best(stage, epochs);
        if config.training.patience.is_some_and(|patience| since_best >= patience) {
            return Ok(StopReason::Patience { epoch: state.epoch });
        }
        let learning_rate = config.training.learning_rate * config.stage_schedule(stage).factor(state.epoch, epochs);
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
        let improved = state.record(record, stage, epochs);
        let is_due = clock.saved.elapsed() >= options.checkpoint_every;
        if let Some(path) = options.checkpoint.filter(|_| is_due) {
            clock.save(path, problem, state)?;
        }
        let done = state.history.len();
        let left: usize = stages[state.stage..]
            .iter()
            .map(|&stage| config.stage_epochs(stage))
            .sum();
        let total = left + done - state.epoch;
        let per_epoch = clock.started.elapsed().as_secs_f64() / (done - clock.epochs_before) as f64;
        let progress = Progress::Epoch(EpochProgress {
            record,
            improved,
            epochs_done: done,
            epochs_total: total,
            seconds_left: per_epoch * (total - done) as f64,
        });
        if !options.control.tell(&progress) {
            if let Some(path) = options.checkpoint.filter(|_| !is_due) {
                clock.save(path, problem, state)?;
            }
            return Ok(StopReason::Interrupted { epoch: state.epoch });
        }
    }
    Ok(StopReason::Epochs)
}
