//! Levenberg–Marquardt on the error of whole free runs, first states included.
//!
//! Minimised is Σ (y - ŷ)² + N λ ‖w‖² + ρ Σ ‖x(0)‖² over the samples that count, N being their number times the outputs.

use super::linear::{LARGEST_RADIUS, Linear};
use super::model::{StateSpace, Step};
use super::normal::NormalEquations;
use super::run::{Run, Scored};

/// Settings of [`descend`].
///
/// | field | symbol | default | purpose |
/// |---|---|---|---|
/// | `iterations` | | 60 | most accepted steps |
/// | `weight_penalty` | λ | 1e-4 | weight of ‖w‖² of the networks' weights against the mean squared error, in normalised units |
/// | `linear_share` | | 1 | share of λ that holds back the linear paths; keeps redundant coordinates in place |
/// | `x0_weight` | ρ | 0.01 | weight of ‖x(0)‖² against the sum of squared errors |
/// | `with_states` | | true | whether first states are fitted as well |
/// | `damping` | μ | 0.01 | of the first step; [`Descent::damping`] continues a descent as if it had not been interrupted |
/// | `largest_radius` | | 0.9999 | steps that leave a pole of a linear model outside are refused; networks are free |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentConfig {
    /// Most accepted steps.
    pub iterations: usize,
    /// λ, fixed along the descent.
    pub weight_penalty: f64,
    /// Share of λ for linear paths.
    pub linear_share: f64,
    /// ρ
    pub x0_weight: f64,
    /// Whether first states are fitted.
    pub with_states: bool,
    /// μ of the first step.
    pub damping: f64,
    /// Bound on the poles of linear models.
    pub largest_radius: f64,
}

impl Default for DescentConfig {
    fn default() -> Self {
        Self {
            iterations: 60,
            weight_penalty: 1e-4,
            linear_share: 1.0,
            x0_weight: 0.01,
            with_states: true,
            damping: 1e-2,
            largest_radius: LARGEST_RADIUS,
        }
    }
}

/// A model with the first state of every run it was fitted on.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The model.
    pub model: StateSpace,
    /// x(0) of every run.
    pub x0: Vec<Vec<f64>>,
}

/// How a descent went.
#[derive(Clone, Debug)]
pub struct Descent {
    /// Where it ended.
    pub fitted: Fitted,
    /// Mean squared error there.
    pub mse: f64,
    /// Accepted steps.
    pub steps: usize,
    /// μ of the step that would come next.
    pub damping: f64,
    /// Whether it ended because steps no longer gained.
    pub converged: bool,
}

/// Steps that gain less than this share in a row end a descent.
const FLAT: f64 = 1e-4;
const FLAT_STEPS: usize = 4;

/// Minimises the penalised error of free runs by damped Gauss–Newton steps. None if the start diverges, which is an answer and
/// no error: random starts may.
///
/// **Method.** A step δ solves (SᵀS + Λ + μ diag) δ = Sᵀe - Λ w with the sensitivities S of whole free runs; μ falls with
/// success and grows with failure. Λ does not change along the way.
///
/// **Reference.** D. W. Marquardt, J. SIAM 11(2), 1963, doi:10.1137/0111030; L. Ljung, *System Identification*, 2nd ed.,
/// 1999, section 10.2.
///
/// `keep_on(steps, mse)` is asked before every step; false ends the descent.
pub fn descend(
    start: Fitted,
    runs: &[Run],
    scored: &Scored,
    config: DescentConfig,
    mut keep_on: impl FnMut(usize, f64) -> bool,
) -> Option<Descent> {
    let mut now = start;
    let count = (scored.samples() * now.model.shape.outputs).max(1) as f64;
    let mut weights = now.model.penalty_weights(config.linear_share);
    weights
        .iter_mut()
        .for_each(|weight| *weight *= count * config.weight_penalty);
    let penalty = |fitted: &Fitted| {
        let theta = fitted
            .model
            .theta
            .iter()
            .zip(&weights)
            .map(|(t, w)| w * t * t)
            .sum::<f64>();
        theta + config.x0_weight * fitted.x0.iter().flatten().map(|x| x * x).sum::<f64>()
    };
    let mut step = Step::new(now.model.shape);
    let mut squares = squared_error(&now, runs, scored, &mut step)?;
    let (mut damping, mut flat, mut steps) = (config.damping, 0, 0);
    let mut trial = now.clone();
    let is_linear = now.model.shape.state_hidden + now.model.shape.output_hidden == 0;
    while steps < config.iterations && flat < FLAT_STEPS && keep_on(steps, squares / count) {
        let Some(mut equations) = NormalEquations::gather(&now.model, &now.x0, runs, scored) else {
            break;
        };
        for (index, weight) in weights.iter().enumerate() {
            equations.theta[(index, index)] += weight;
            equations.right[index] -= weight * now.model.theta[index];
        }
        for (local, x0) in equations.locals.iter_mut().zip(&now.x0) {
            for (state, x0) in x0.iter().enumerate() {
                local.normal[(state, state)] += config.x0_weight;
                local.right[state] -= config.x0_weight * x0;
            }
        }
        let before = squares + penalty(&now);
        let mut accepted = None;
        for _ in 0..10 {
            if let Some(solution) = equations.solve(damping, config.with_states) {
                let theta = trial.model.theta.iter_mut().zip(&now.model.theta);
                theta.zip(solution.theta.iter()).for_each(|((to, t), d)| *to = t + d);
                for ((to, x0), delta) in trial.x0.iter_mut().zip(&now.x0).zip(&solution.x0) {
                    to.iter_mut()
                        .zip(x0)
                        .zip(delta.iter())
                        .for_each(|((to, x), d)| *to = x + d);
                }
                let found = squared_error(&trial, runs, scored, &mut step);
                accepted = found.filter(|found| {
                    found + penalty(&trial) < before && (!is_linear || is_inside(&trial.model, config.largest_radius))
                });
                if accepted.is_some() {
                    break;
                }
            }
            damping *= 4.0;
        }
        let Some(found) = accepted else {
            flat = FLAT_STEPS;
            break;
        };
        let gain = 1.0 - (found + penalty(&trial)) / before;
        flat = if gain < FLAT { flat + 1 } else { 0 };
        damping = (damping / 4.0).max(1e-9);
        squares = found;
        std::mem::swap(&mut now, &mut trial);
        steps += 1;
    }
    Some(Descent {
        fitted: now,
        mse: squares / count,
        steps,
        damping,
        converged: flat >= FLAT_STEPS,
    })
}

/// Whether all poles of the linear path are within a radius.
fn is_inside(model: &StateSpace, radius: f64) -> bool {
    Linear::from_model(model).radius() <= radius + 1e-12
}

/// Σ e² over the samples that count; none if a run diverges.
pub(crate) fn squared_error(fitted: &Fitted, runs: &[Run], scored: &Scored, step: &mut Step) -> Option<f64> {
    let mut squares = 0.0;
    for (index, run) in runs.iter().enumerate() {
        let mut ranges = scored.ranges(index).iter().peekable();
        let is_finite = fitted
            .model
            .run(run, &fitted.x0[index], scored.end(index), step, |k, step| {
                while ranges.next_if(|range| range.end <= k).is_some() {}
                if ranges.peek().is_some_and(|range| range.start <= k) {
                    let errors = run.y(k).iter().zip(&step.output);
                    squares += errors
                        .map(|(y, predicted)| (y - predicted) * (y - predicted))
                        .sum::<f64>();
                }
            });
        if !is_finite {
            return None;
        }
    }
    squares.is_finite().then_some(squares)
}

/// Mean squared error over the samples that count; none if a run diverges.
pub fn mean_squared_error(fitted: &Fitted, runs: &[Run], scored: &Scored) -> Option<f64> {
    let count = (scored.samples() * fitted.model.shape.outputs).max(1) as f64;
    squared_error(fitted, runs, scored, &mut Step::new(fitted.model.shape)).map(|squares| squares / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::model::Shape;

    /// A saturating second-order system whose input-output data determine it; the start is near.
    #[test]
    fn a_known_system_is_recovered_from_its_free_runs() {
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 1,
            state_hidden: 1,
            output_hidden: 0,
        };
        // W₁, b₁, W₂, [A B], b_x, [C D], b_y
        let truth = StateSpace {
            shape,
            theta: vec![
                1.2, -0.4, 0.3, 0.2, 0.5, -0.3, 0.6, 0.2, 0.4, -0.3, 0.5, 0.7, 0.0, 0.1, 1.0, 0.5, 0.0, 0.0,
            ],
        };
        let u: Vec<f64> = (0..600)
            .map(|k| (0.37 * (k * k % 97) as f64).sin() + (0.05 * k as f64).cos())
            .collect();
        let blank = Run::new(1, 1, u.clone(), vec![0.0; 600]);
        let y = truth.simulate(&blank, &[0.4, -0.6]).expect("stable");
        let runs = [Run::new(1, 1, u, y)];
        let mut start = truth.clone();
        start
            .theta
            .iter_mut()
            .enumerate()
            .for_each(|(i, t)| *t += 0.05 * (i as f64 * 2.3).sin());
        let scored = Scored::outside(&runs, 300..400);
        let config = DescentConfig {
            iterations: 100,
            weight_penalty: 0.0,
            x0_weight: 0.0,
            ..DescentConfig::default()
        };
        let start = Fitted {
            model: start,
            x0: vec![vec![0.0; 2]],
        };
        let before = mean_squared_error(&start, &runs, &scored).expect("stable");
        let mut seen = f64::INFINITY;
        let found = descend(start, &runs, &scored, config, |_, mse| {
            assert!(mse < seen);
            seen = mse;
            true
        });
        let found = found.expect("stable");
        assert!(before > 1e-3 && found.mse < 1e-8, "{before} {}", found.mse);
        let held_out = Scored::between(&runs, 300..400);
        let apart = mean_squared_error(&found.fitted, &runs, &held_out).expect("stable");
        assert!(apart < 1e-7, "{apart}");
    }
}
