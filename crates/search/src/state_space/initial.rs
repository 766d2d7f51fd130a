//! The state that measured history implies: least squares through the model.
//!
//! x̂ = argmin Σ ‖y(k) - ŷ(k; x)‖² + ρ ‖x - centre‖² over the samples of the history.

use std::ops::Range;

use nalgebra::{Cholesky, DMatrix, DVector};

use super::model::{StateSpace, Step};
use super::normal::combine;
use super::run::Run;

/// Settings of [`state_before`].
///
/// | field | symbol | default | purpose |
/// |---|---|---|---|
/// | `iterations` | | 15 | most Gauss–Newton steps; a linear model needs one |
/// | `weight` | ρ | 0.01 | weight of ‖x - centre‖²: the noise variance of the outputs against that of the states |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialConfig {
    /// Most Gauss–Newton steps.
    pub iterations: usize,
    /// ρ
    pub weight: f64,
}

impl Default for InitialConfig {
    fn default() -> Self {
        Self {
            iterations: 15,
            weight: 0.01,
        }
    }
}

/// The state at the start of `range` from which the free run over it fits the measured outputs best:
/// the argmin above. None if the run from the centre diverges.
///
/// **Method.** Damped Gauss–Newton with the sensitivities S(k+1) = ∂f/∂x S(k), S(0) = I, from the centre; where the model is
/// linear the first step is the solution.
fn estimate_state(
    model: &StateSpace,
    run: &Run,
    range: Range<usize>,
    centre: &[f64],
    config: InitialConfig,
) -> Option<Vec<f64>> {
    let nx = model.shape.states;
    let history = run.slice(range);
    let mut now = centre.to_vec();
    let mut cost = error(model, &history, &now, centre, config.weight)?;
    let mut damping = 0.0;
    for _ in 0..config.iterations {
        let (normal, right) = equations(model, &history, &now, centre, config.weight)?;
        let mut accepted = None;
        for _ in 0..8 {
            let mut damped = normal.clone();
            (0..nx).for_each(|i| damped[(i, i)] += damping * normal[(i, i)] + 1e-12);
            let trial = Cholesky::new(damped).map(|factor| {
                let step = factor.solve(&right);
                now.iter().zip(step.iter()).map(|(x, d)| x + d).collect::<Vec<_>>()
            });
            let found = trial.and_then(|trial| {
                let cost = error(model, &history, &trial, centre, config.weight)?;
                Some((trial, cost))
            });
            accepted = found.filter(|(_, found)| *found < cost);
            if accepted.is_some() {
                damping *= 0.2;
                break;
            }
            damping = f64::max(4.0 * damping, 1e-3);
        }
        let Some((trial, found)) = accepted else { break };
        let gain = 1.0 - found / cost;
        (now, cost) = (trial, found);
        if gain < 1e-6 {
            break;
        }
    }
    Some(now)
}

/// The state before sample `k` from the `history` samples before it, or fewer where the run begins; zero where there are
/// none. Of several `centres` to start the search from, the one that fits best. None if all of them diverge.
pub fn state_before(
    model: &StateSpace,
    run: &Run,
    k: usize,
    history: usize,
    centres: &[Vec<f64>],
    config: InitialConfig,
) -> Option<Vec<f64>> {
    let range = k.saturating_sub(history)..k;
    let past = run.slice(range.clone());
    let found = centres.iter().filter_map(|centre| {
        let x = estimate_state(model, run, range.clone(), centre, config)?;
        let cost = error(model, &past, &x, &x, 0.0)?;
        Some((cost, x))
    });
    let (_, x) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
    model.state_after(&past, &x, past.len())
}

/// What is minimised; none if the run diverges.
fn error(model: &StateSpace, history: &Run, x: &[f64], centre: &[f64], weight: f64) -> Option<f64> {
    let mut step = Step::new(model.shape);
    let mut squares = weight * x.iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>();
    let is_finite = model.run(history, x, history.len(), &mut step, |k, step| {
        squares += history
            .y(k)
            .iter()
            .zip(&step.output)
            .map(|(y, p)| (y - p) * (y - p))
            .sum::<f64>();
    });
    (is_finite && squares.is_finite()).then_some(squares)
}

/// SᵀS + ρ and Sᵀe + ρ (centre - x); none if the run diverges.
fn equations(
    model: &StateSpace,
    history: &Run,
    x: &[f64],
    centre: &[f64],
    weight: f64,
) -> Option<(DMatrix<f64>, DVector<f64>)> {
    let (nx, ny) = (model.shape.states, model.shape.outputs);
    let mut normal = DMatrix::identity(nx, nx) * weight;
    let mut right = DVector::from_iterator(nx, x.iter().zip(centre).map(|(x, c)| weight * (c - x)));
    // S row by row, and the rows it acts on the outputs with.
    let (mut now, mut next) = (vec![0.0; nx * nx], vec![0.0; nx * nx]);
    (0..nx).for_each(|i| now[i * nx + i] = 1.0);
    let mut of_output = vec![0.0; nx];
    let (mut by_state, mut output_by_state) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
    let mut step = Step::new(model.shape);
    let is_finite = model.run(history, x, history.len(), &mut step, |k, step| {
        let output_map = model.shape.output_map();
        output_map.slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
        for (output, y) in history.y(k).iter().enumerate() {
            of_output.fill(0.0);
            combine(&output_by_state[output * nx..(output + 1) * nx], &now, &mut of_output);
            let error = y - step.output[output];
            for (i, s) in of_output.iter().enumerate() {
                right[i] += s * error;
                (0..nx).for_each(|j| normal[(i, j)] += s * of_output[j]);
            }
        }
        let state_map = model.shape.state_map();
        state_map.slope(model.state_theta(), &step.state_units, nx, &mut by_state);
        next.fill(0.0);
        for (row, to) in by_state.chunks_exact(nx).zip(next.chunks_exact_mut(nx)) {
            combine(row, &now, to);
        }
        std::mem::swap(&mut now, &mut next);
    });
    (is_finite && normal.iter().chain(right.iter()).all(|value| value.is_finite())).then_some((normal, right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::model::Shape;
    use crate::state_space::start::at_random;

    #[test]
    fn the_state_of_noise_free_data_is_found() {
        let u: Vec<f64> = (0..120).map(|k| (0.3 * k as f64).sin()).collect();
        for (hidden, seed) in [(0, 1), (6, 2), (6, 3)] {
            let shape = Shape {
                states: 3,
                inputs: 1,
                outputs: 1,
                state_hidden: hidden,
                output_hidden: hidden,
            };
            let model = at_random(shape, 30.0, seed);
            let blank = Run::new(1, 1, u.clone(), vec![0.0; 120]);
            let truth = [0.8, -0.5, 0.3];
            let y = model.simulate(&blank, &truth).expect("stable");
            let run = Run::new(1, 1, u.clone(), y);
            let config = InitialConfig {
                iterations: 30,
                weight: 1e-12,
            };
            let after = model.state_after(&run, &truth, 60).expect("stable");
            let found = state_before(&model, &run, 60, 60, &[vec![0.0; 3]], config).expect("stable");
            let left = run.slice(60..120);
            let expected = model.simulate(&left, &after).expect("stable");
            let found = model.simulate(&left, &found).expect("stable");
            let largest = found
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(largest < 1e-6, "{hidden} {seed}: {largest}");
        }
    }
}
