//! Levenberg–Marquardt on the error of whole free runs.

use intervalid_data::{InitialState, PastOutput, PastOutputs, Scaled, Window};
use nalgebra::{DMatrix, DVector};

use super::narx::Narx;
use crate::state_space::{Squares, cholesky};

/// Settings of [`descend`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DescentConfig {
    /// Most accepted steps.
    pub(crate) iterations: usize,
    /// Weight of ‖w‖² of the network's weights against the sum of squared errors; the same wherever a descent starts.
    pub(crate) ridge: f64,
    /// How runs start.
    pub(crate) initial: InitialState,
}

/// How a descent went: every accepted iterate, the start first.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    /// θ after each step.
    pub(crate) iterates: Vec<Vec<f64>>,
}

/// Steps that gain less than this share in a row end a descent.
const FLAT: f64 = 1e-4;
const FLAT_STEPS: usize = 3;

/// Minimises Σ (y - ŷ)² + λ‖w‖² over the free runs of `windows`, ŷ being the free run, by damped Gauss–Newton steps.
///
/// **Method.** The derivative of a free run obeys S(k) = ∂f/∂θ + Σ_j ∂f/∂y(k-j) S(k-j); a step δ solves
/// (SᵀS + λ + μ diag SᵀS) δ = Sᵀe - λw, and μ falls with success and grows with failure.
///
/// **Reference.** D. W. Marquardt, J. SIAM 11(2), 1963, doi:10.1137/0111030; L. Ljung, *System Identification*, 2nd ed.,
/// 1999, section 10.2.
///
/// `keep_on(iterations)` is asked before every step; false ends the descent.
pub(crate) fn descend(
    start: Narx,
    scaled: &Scaled<f64>,
    windows: &[Window],
    config: DescentConfig,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Descent {
    let mut model = start;
    let mut iterates = vec![model.theta.clone()];
    let samples: usize = windows.iter().map(|window| (window.len - 1) * model.outputs).sum();
    let error = |model: &Narx| free_run_error(model, scaled, windows, config.initial).map(|mse| mse * samples as f64);
    let Some(mut squares) = error(&model) else {
        return Descent { iterates };
    };
    let penalised = model.is_penalised();
    let ridge = config.ridge;
    let penalty = |theta: &[f64]| -> f64 {
        let weights = theta.iter().zip(&penalised).filter(|(_, is)| **is);
        ridge * weights.map(|(w, _)| w * w).sum::<f64>()
    };
    let mut damping = 1e-2;
    let mut flat = 0;
    while iterates.len() <= config.iterations && flat < FLAT_STEPS && keep_on(iterates.len()) {
        let Some((mut normal, mut right)) = normal_equations(&model, scaled, windows, config.initial) else {
            break;
        };
        for (index, _) in penalised.iter().enumerate().filter(|(_, is)| **is) {
            normal[(index, index)] += ridge;
            right[index] -= ridge * model.theta[index];
        }
        let before = squares + penalty(&model.theta);
        let mut accepted = None;
        for _ in 0..8 {
            let mut damped = normal.clone();
            let floor = 1e-8 * normal.diagonal().max();
            for index in 0..damped.nrows() {
                damped[(index, index)] += damping * normal[(index, index)].max(floor) + 1e-12;
            }
            if let Some(factor) = cholesky(damped) {
                let step = factor.solve(&right);
                let mut trial = model.clone();
                trial.theta.iter_mut().zip(step.iter()).for_each(|(t, d)| *t += d);
                if let Some(found) = error(&trial).filter(|found| found + penalty(&trial.theta) < before) {
                    accepted = Some((trial, found));
                    break;
                }
            }
            damping *= 5.0;
        }
        let Some((trial, found)) = accepted else { break };
        let gain = 1.0 - (found + penalty(&trial.theta)) / before;
        flat = if gain < FLAT { flat + 1 } else { 0 };
        damping = (damping / 4.0).max(1e-9);
        (model, squares) = (trial, found);
        iterates.push(model.theta.clone());
    }
    Descent { iterates }
}

/// Mean squared error of the free runs over all scored samples and outputs; none if one diverges.
pub(crate) fn free_run_error(
    model: &Narx,
    scaled: &Scaled<f64>,
    windows: &[Window],
    initial: InitialState,
) -> Option<f64> {
    let mut tape = model.tape();
    let (mut squares, mut count) = (0.0, 0_usize);
    for &window in windows {
        let experiment = &scaled.experiments()[window.experiment];
        let unscored = initial.unscored();
        let finite = model.run(experiment, window, initial, &mut tape, |step, _, y| {
            if step >= unscored {
                for (output, y) in y.iter().enumerate() {
                    squares += (experiment.output(output)[window.start + 1 + step] - y).powi(2);
                    count += 1;
                }
            }
        });
        if !finite {
            return None;
        }
    }
    Some(squares / count.max(1) as f64)
}

/// SᵀS and Sᵀe of the free runs; none if one diverges or a derivative overflows.
fn normal_equations(
    model: &Narx,
    scaled: &Scaled<f64>,
    windows: &[Window],
    initial: InitialState,
) -> Option<(DMatrix<f64>, DVector<f64>)> {
    let (parameters, outputs, ny) = (model.theta.len(), model.outputs, model.lags.ny);
    let regressor = model.regressor();
    let width = regressor.len();
    let mut squares = Squares::new(parameters);
    let mut tape = model.tape();
    // S of the last n_y samples, newest where the ring points.
    let mut ring = vec![vec![0.0; outputs * parameters]; ny + 1];
    for &window in windows {
        let experiment = &scaled.experiments()[window.experiment];
        let sources = PastOutputs::of_run(window, model.lags, initial);
        ring.iter_mut().for_each(|s| s.fill(0.0));
        let finite = model.run(experiment, window, initial, &mut tape, |step, tape, y| {
            model.differentiate(tape);
            let k = window.start + 1 + step;
            let mut now = core::mem::take(&mut ring[step % (ny + 1)]);
            now.copy_from_slice(&tape.by_theta);
            for lag in 1..=ny.min(step) {
                let PastOutput::Predicted(_) = sources.source(k, lag) else {
                    continue;
                };
                let past = &ring[(step - lag) % (ny + 1)];
                for output in 0..outputs {
                    for from in 0..outputs {
                        let slope = tape.by_regressor[output * width + regressor.output_row(lag, from)];
                        let to = &mut now[output * parameters..(output + 1) * parameters];
                        let past = &past[from * parameters..(from + 1) * parameters];
                        to.iter_mut().zip(past).for_each(|(to, s)| *to += slope * s);
                    }
                }
            }
            for output in 0..outputs {
                if step < initial.unscored() {
                    break;
                }
                let error = experiment.output(output)[k] - y[output];
                squares.push_numbers(&now[output * parameters..(output + 1) * parameters], error);
            }
            ring[step % (ny + 1)] = now;
        });
        if !finite {
            return None;
        }
    }
    squares.flush();
    let normal = DMatrix::from_fn(parameters, parameters, |row, column| squares.normal(row, column));
    let right = DVector::from_fn(parameters, |row, _| squares.right(row));
    normal.iter().all(|value| value.is_finite()).then_some((normal, right))
}

#[cfg(test)]
mod tests {
    use intervalid_data::{ArxModel, Lags, LinearSystem, Part, ScaledExperiment};

    use super::*;

    /// With noise on the output one-step least squares is biased; the simulation error is not.
    #[test]
    fn a_noisy_system_is_recovered_from_its_free_runs() {
        let system = LinearSystem {
            noise_std: 1.0,
            ..LinearSystem::default()
        };
        let dataset = system.generate(3000, 1).expect("generates").into_dataset();
        let experiment = &dataset.experiments()[0];
        let columns = (vec![experiment.input(0).to_vec()], vec![experiment.output(0).to_vec()]);
        let scaled = Scaled::new(vec![ScaledExperiment::new(columns.0, columns.1)]);
        let lags = Lags { nx: 1, nd: 1, ny: 2 };
        let arx = ArxModel::fit(&scaled, &Part::whole(&dataset), lags, true).expect("fits");
        let windows: Vec<Window> = (0..10)
            .map(|index| Window {
                experiment: 0,
                start: 2 + 290 * index,
                len: 290,
            })
            .collect();
        let settings = DescentConfig {
            iterations: 30,
            ridge: 0.0,
            initial: InitialState::Measured,
        };
        let start = Narx::linear(&arx, 1);
        let found = descend(start.clone(), &scaled, &windows, settings, |_| true);
        let error = |theta: &[f64]| -> f64 {
            let truth = [1.5, -0.7, 1.0, 0.5];
            theta[1..]
                .iter()
                .zip(truth)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max)
        };
        let last = found.iterates.last().expect("the start at least");
        assert!(error(&start.theta) > 0.2, "{}", error(&start.theta));
        assert!(error(last) < 0.05, "{}", error(last));
        let mse = |theta: &Vec<f64>| {
            let model = Narx {
                theta: theta.clone(),
                ..start.clone()
            };
            free_run_error(&model, &scaled, &windows, InitialState::Measured).expect("stable")
        };
        assert!(found.iterates.windows(2).all(|pair| mse(&pair[1]) < mse(&pair[0])));
    }
}
