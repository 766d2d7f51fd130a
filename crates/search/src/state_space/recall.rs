//! A gain whose observer recalls the last samples: the state that explains them best, older ones counting less and less.
//!
//! That is the least-squares state of a window that fades exponentially. Unlike a gain that is fitted to errors soon after a start, it
//! finds slow states, which hardly show at first and decide where a long free run goes.

use nalgebra::{Cholesky, DMatrix};

use super::descent::Fitted;
use super::model::Step;
use super::run::Run;

/// Samples that slopes, states and errors are averaged over, at most.
const SAMPLES: usize = 4000;
/// Windows after which a gain has settled.
const WINDOWS: usize = 20;
/// The least variance of errors, in units of the outputs'.
const LEAST_ERROR: f64 = 1e-8;

/// K `[state][output]` of a window of so many samples; none where the model diverges on its own runs.
///
/// **Formula.** With λ² = e^(-2/window), mean slopes A = ∂f/∂x and C = ∂g/∂x along the model's own runs, and P the covariance of the state in
/// units of the errors' variance: K = A P Cᵀ (C P Cᵀ + I)⁻¹, P ← (A - K C) P Aᵀ/λ², held below the variance that the states have
/// in these runs.
///
/// **Reference.** A. Jazwinski, *Stochastic Processes and Filtering Theory*, Academic Press 1970, section 8.8 (limited-memory filters).
pub(super) fn recalling_gain(fitted: &Fitted, runs: &[Run], window: usize) -> Option<Vec<f64>> {
    let Averages { a, c, prior } = averages(fitted, runs)?;
    let (nx, ny) = (a.nrows(), c.nrows());
    let forgetting = (-2.0 / window.max(1) as f64).exp();
    let mut covariance = DMatrix::from_diagonal(&prior.clone().into());
    let pull = DMatrix::from_diagonal(&prior.iter().map(|p| (1.0 - forgetting) / p).collect::<Vec<_>>().into());
    let mut gain = DMatrix::zeros(nx, ny);
    for _ in 0..WINDOWS * window {
        let of_output = &covariance * c.transpose();
        let innovation = &c * &of_output + DMatrix::identity(ny, ny);
        gain = &a * &of_output * Cholesky::new(innovation)?.inverse();
        covariance = (&a - &gain * &c) * &covariance * a.transpose() / forgetting;
        // What the states are known to be, however little of it shows: (P⁻¹ + pull)⁻¹.
        let held = (DMatrix::identity(nx, nx) + &covariance * &pull).try_inverse()?;
        covariance = held * &covariance;
        covariance = 0.5 * (&covariance + covariance.transpose());
    }
    let gain: Vec<f64> = gain.transpose().iter().copied().collect();
    gain.iter().all(|k| k.is_finite()).then_some(gain)
}

struct Averages {
    a: DMatrix<f64>,
    c: DMatrix<f64>,
    /// Variance of every state in units of the errors'.
    prior: Vec<f64>,
}

/// Along the model's own free runs.
fn averages(fitted: &Fitted, runs: &[Run]) -> Option<Averages> {
    let model = &fitted.model;
    let shape = model.shape;
    let (nx, ny) = (shape.states, shape.outputs);
    let (mut a, mut c) = (DMatrix::zeros(nx, nx), DMatrix::zeros(ny, nx));
    let (mut by_state, mut output_by_state) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
    let (mut states, mut errors, mut count) = (vec![0.0; nx], 0.0, 0.0);
    let mut step = Step::new(shape);
    let each = SAMPLES / runs.len().max(1);
    for (run, x0) in runs.iter().zip(&fitted.x0) {
        let is_finite = model.run(run, x0, each, &mut step, |k, step| {
            shape
                .state_map()
                .slope(model.state_theta(), &step.state_units, nx, &mut by_state);
            shape
                .output_map()
                .slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
            a += DMatrix::from_row_slice(nx, nx, &by_state);
            c += DMatrix::from_row_slice(ny, nx, &output_by_state);
            states.iter_mut().zip(&step.z).for_each(|(sum, x)| *sum += x * x);
            let squares = run.y(k).iter().zip(&step.output).map(|(y, p)| (y - p) * (y - p));
            errors += squares.sum::<f64>() / ny as f64;
            count += 1.0;
        });
        if !is_finite {
            return None;
        }
    }
    let error = (errors / count).max(LEAST_ERROR);
    let prior = states
        .iter()
        .map(|sum| (sum / count).max(LEAST_ERROR) / error)
        .collect();
    (count > 0.0).then(|| Averages {
        a: a / count,
        c: c / count,
        prior,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::{Observer, ObserverConfig, Scored, StateSpace};

    /// A mode that hardly decays and hardly shows beside a fast one: it decides where a free run goes.
    #[test]
    fn slow_states_that_hardly_show_are_found() {
        let model = StateSpace::linear((2, 1, 1), &[0.6, 0.0, 1.0, 0.0, 0.999, 0.01], &[1.0, 0.05, 0.0]);
        let u: Vec<f64> = (0..4000).map(|k| (0.37 * (k * k % 97) as f64).sin()).collect();
        let blank = Run::new(1, 1, u.clone(), vec![0.0; u.len()]);
        let x0 = [0.0, 20.0];
        let mut y = model.simulate(&blank, &x0).expect("stable");
        y.iter_mut()
            .enumerate()
            .for_each(|(k, y)| *y += 0.01 * (1.7 * (k * k % 89) as f64).sin());
        let runs = [Run::new(1, 1, u, y)];
        let fitted = Fitted {
            model: model.clone(),
            x0: vec![x0.to_vec()],
        };
        let truth = model.state_after(&runs[0], &x0, 1400).expect("stable");
        let distance = |config: ObserverConfig| {
            let observer = Observer::fit(&fitted, &runs, &Scored::all(&runs), config).expect("stable");
            let found = observer.follow(&model, &runs[0].slice(1000..1400), &[0.0; 2]);
            (found.expect("stable")[1] - truth[1]).abs()
        };
        let (recalled, kept) = (
            distance(ObserverConfig::recalling(40)),
            distance(ObserverConfig::keeping()),
        );
        assert!(recalled < 0.1, "{recalled}");
        assert!(recalled < 0.1 * kept, "{recalled} {kept}");
    }
}
