//! The work of one stage: an epoch of mini-batches, and the free run over the validation part.

use intervalid_data::Window;
use intervalid_interval::Real;
use rand::seq::SliceRandom;

use super::info::Stage;
use super::iteration::{Crisp, Joint};
use super::likelihood::{Likelihood, validate_likelihood};
use super::margin_stage::MarginWork;
use super::part::Team;
use super::problem::Problem;
use super::state::State;
use crate::network::initialise::{Purpose, generator};
use crate::network::{IntervalParameters, Network, Stepper};
use crate::simulate::free_run::FreeRun;
use crate::train::loss::mean_squared_error;
use crate::train::margin::RawMargins;
use crate::train::optim::clip;

/// L_MSE and the second loss; the one that a stage does not use is missing.
type Losses = [Option<f64>; 2];

/// Buffers of a stage.
pub(super) struct Worker<T> {
    stage: Work<T>,
    validation: Validation<T>,
}

enum Work<T> {
    Crisp(Box<Crisp<T>>),
    Margins(Box<MarginWork<T>>),
    Joint(Box<Joint<T>>),
    Likelihood(Box<Likelihood<T>>),
}

impl<T: Real> Worker<T> {
    pub(super) fn new(problem: &Problem<T>, stage: Stage, state: &State<T>, team: Team) -> Self {
        let shape = problem.batch_shape();
        let architecture = &problem.architecture;
        let mut validation = Validation::new(problem);
        let stage = match stage {
            Stage::Crisp => Work::Crisp(Box::new(Crisp::new(architecture, shape, mean_squared_error, team))),
            Stage::Joint => Work::Joint(Box::new(Joint::new(architecture, shape, team))),
            Stage::Likelihood => Work::Likelihood(Box::new(Likelihood::new(problem, team))),
            Stage::Margins => {
                // θ is frozen: one free run serves all epochs.
                validation.simulate(problem, &state.theta);
                Work::Margins(Box::new(MarginWork::new(problem, &state.theta, team)))
            }
        };
        Self { stage, validation }
    }

    /// One epoch; returns the mean L_MSE and L_RQR-W, or nothing if one of them or a gradient was not finite.
    pub(super) fn epoch(&mut self, problem: &Problem<T>, state: &mut State<T>, rate: f64) -> Option<Losses> {
        let config = &problem.config;
        let (mut sums, mut batches): (Losses, u32) = ([None, None], 0);
        let mut count = |losses: Losses| {
            for (sum, loss) in sums.iter_mut().zip(losses) {
                *sum = loss.map(|loss| sum.unwrap_or(0.0) + loss);
            }
            batches += 1;
        };
        let mut noise = generator(problem.seed(state.stage), Purpose::WeightNoise, state.epoch);
        let mut noisy = Vec::new();
        match &mut self.stage {
            Work::Crisp(work) => {
                for windows in shuffled(problem, Purpose::ShuffleCrisp, state) {
                    work.fill(&problem.scaled, config.lags, config.initial, &windows);
                    let loss = work.gradient(problem.perturbed(&state.theta, &mut noise, &mut noisy));
                    let norm = clip(&mut work.gradient, config.training.gradient_clip);
                    if !(loss.is_finite() && norm.is_finite()) {
                        return None;
                    }
                    state.adam[0].update(&mut state.theta, &work.gradient, rate);
                    problem.decay(&mut state.theta, rate);
                    state.average(config.training.averaging, config.interval.margin);
                    count([Some(loss), None]);
                }
            }
            Work::Joint(work) => {
                for windows in shuffled(problem, Purpose::ShuffleJoint, state) {
                    work.fill(&problem.scaled, config.lags, config.initial, &windows);
                    let (loss, gradnorm) = (&problem.loss, &mut state.gradnorm);
                    let theta = problem.perturbed(&state.theta, &mut noise, &mut noisy);
                    let losses = work.gradients(theta, &state.raw, config.interval.margin, loss, gradnorm);
                    let norm = clip(&mut work.gradient, config.training.gradient_clip);
                    if !(losses.iter().all(|l| l.is_finite()) && norm.is_finite()) {
                        return None;
                    }
                    state.adam[0].update(&mut state.theta, &work.gradient, rate);
                    problem.decay(&mut state.theta, rate);
                    let rate = rate * config.interval.margin_rate;
                    if !update_margins(state, &mut work.margin_gradients, config.training.gradient_clip, rate) {
                        return None;
                    }
                    state.average(config.training.averaging, config.interval.margin);
                    count(losses.map(Some));
                }
            }
            Work::Margins(work) => {
                for tiles in work.shuffled(config.seed, state.epoch) {
                    let loss = work.gradients(problem, state, &tiles);
                    let rate = rate * config.interval.margin_rate;
                    if !loss.is_finite()
                        || !update_margins(state, &mut work.gradients, config.training.gradient_clip, rate)
                    {
                        return None;
                    }
                    state.average(config.training.averaging, config.interval.margin);
                    count([None, Some(loss)]);
                }
            }
            Work::Likelihood(work) => {
                let mut rng = generator(problem.seed(state.stage), Purpose::TrainingDraws, state.epoch);
                for windows in shuffled(problem, Purpose::ShuffleLikelihood, state) {
                    let loss = work.gradient(problem, &state.theta, &windows, &mut rng);
                    let norm = clip(&mut work.gradient, config.training.gradient_clip);
                    if !(loss.is_finite() && norm.is_finite()) {
                        return None;
                    }
                    state.adam[0].update(&mut state.theta, &work.gradient, rate);
                    problem.decay(&mut state.theta, rate);
                    state.average(config.training.averaging, config.interval.margin);
                    count([None, Some(loss)]);
                }
            }
        }
        Some(sums.map(|sum| sum.map(|sum| sum / f64::from(batches))))
    }

    /// L_MSE and the second loss of free runs over the validation part; infinite if one diverges.
    pub(super) fn validate(&mut self, problem: &Problem<T>, state: &State<T>) -> Losses {
        let (theta, raw) = state.kept();
        match &self.stage {
            Work::Likelihood(_) => validate_likelihood(problem, theta).map(Some),
            Work::Crisp(_) => {
                self.validation.simulate(problem, theta);
                [Some(self.validation.mse(problem)), None]
            }
            Work::Margins(_) => [self.validation.mse(problem), self.validation.rqr_w(problem, theta, raw)].map(Some),
            Work::Joint(_) => {
                self.validation.simulate(problem, theta);
                [self.validation.mse(problem), self.validation.rqr_w(problem, theta, raw)].map(Some)
            }
        }
    }
}

/// Mini-batches of windows in the order of one epoch; the last incomplete one is dropped.
fn shuffled<'a, T: Real>(
    problem: &'a Problem<T>,
    purpose: Purpose,
    state: &State<T>,
) -> impl Iterator<Item = Vec<Window>> + use<'a, T> {
    let mut order: Vec<usize> = (0..problem.windows.len()).collect();
    order.shuffle(&mut generator(problem.seed(state.stage), purpose, state.epoch));
    let size = problem.batch_windows();
    let batches = order.len() / size;
    (0..batches).map(move |b| {
        order[b * size..(b + 1) * size]
            .iter()
            .map(|&w| problem.windows.get(w))
            .collect()
    })
}

/// Clips and applies the margins' gradients; false if they are not finite.
fn update_margins<T: Real>(state: &mut State<T>, gradients: &mut [Vec<T>; 2], limit: f64, rate: f64) -> bool {
    let [_, lower, upper] = &mut state.adam;
    let sides = [(lower, &mut state.raw.lower), (upper, &mut state.raw.upper)];
    for (gradient, (adam, raw)) in gradients.iter_mut().zip(sides) {
        if !clip(gradient, limit).is_finite() {
            return false;
        }
        adam.update(raw, gradient, rate);
    }
    true
}

/// Free runs over the validation part.
struct Validation<T> {
    runs: Vec<FreeRun<T>>,
    network: Network<T>,
    parameters: IntervalParameters<T>,
    margins: [Vec<T>; 2],
}

impl<T: Real> Validation<T> {
    fn new(problem: &Problem<T>) -> Self {
        let run = |&window: &Window| FreeRun::new(&problem.architecture, window, problem.config.initial);
        let zeros = vec![T::zero(); problem.layout.len()];
        Self {
            runs: problem.validation.iter().map(run).collect(),
            network: Network::new(&problem.architecture),
            parameters: IntervalParameters::new(&problem.layout),
            margins: [zeros.clone(), zeros],
        }
    }

    fn simulate(&mut self, problem: &Problem<T>, theta: &[T]) {
        let mut stepper = Stepper::new(&problem.architecture, theta);
        for run in &mut self.runs {
            run.simulate(
                &mut stepper,
                &problem.architecture,
                &problem.scaled,
                problem.config.initial,
            );
        }
    }

    fn mse(&self, problem: &Problem<T>) -> f64 {
        self.mean(problem, |run, at, target| (target - run.y[at].as_f64()).powi(2))
    }

    fn rqr_w(&mut self, problem: &Problem<T>, theta: &[T], raw: &RawMargins<T>) -> f64 {
        let [lower, upper] = &mut self.margins;
        problem.config.interval.margin.apply(&raw.lower, lower);
        problem.config.interval.margin.apply(&raw.upper, upper);
        self.parameters.update(theta, lower, upper);
        for run in &mut self.runs {
            if run.diverged_at.is_none() {
                run.bound(&mut self.network, &self.parameters);
            }
        }
        if self.runs.iter().any(|run| run.unbounded_at.is_some()) {
            return f64::INFINITY;
        }
        self.mean(problem, |run, at, target| {
            problem
                .loss
                .value(run.lower[at].as_f64(), run.upper[at].as_f64(), target)
        })
    }

    fn mean(&self, problem: &Problem<T>, loss: impl Fn(&FreeRun<T>, usize, f64) -> f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for run in &self.runs {
            if run.diverged_at.is_some() {
                return f64::INFINITY;
            }
            for (at, target) in run.targets(&problem.scaled) {
                sum += loss(run, at, target.as_f64());
                count += 1;
            }
        }
        sum / f64::from(count)
    }
}
