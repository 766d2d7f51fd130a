//! An observer that follows measured outputs: how a deployed model finds its state.
//!
//! x(k+1) = f(x(k), u(k)) + K (y(k) - ŷ(k)), the innovations form, beside a model that stays as it is. Its gain recalls the last samples: it
//! keeps the state that explains them best, older ones counting less and less, which is the least-squares state of a window that fades.
//! A gain fitted to one-step errors is next to nothing where a model is accurate, and then never finds a state; one fitted to errors
//! soon after a start misses slow states, which hardly show at first and decide where a long free run goes.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::descent::Fitted;
use super::model::{DIVERGED, StateSpace, Step};
use super::run::{Run, Scored};

/// The gain K beside a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Observer {
    /// `[state][output]`
    gain: Vec<f64>,
}

/// Samples that slopes, states and errors are averaged over, at most.
const SAMPLES: usize = 4000;
/// Windows after which a gain has settled, at the latest.
const WINDOWS: usize = 20;
/// A gain that changes by less than this share of itself over a window has settled.
const SETTLED: f64 = 1e-6;
/// The least variance of errors and states, in units of the outputs'.
const LEAST_VARIANCE: f64 = 1e-8;

impl Observer {
    /// The observer that recalls `window` samples; none where the model diverges on its own runs. Outputs that do not count are not
    /// looked at.
    ///
    /// **Formula.** With λ² = e^(-2/window), mean slopes A = ∂f/∂x and C = ∂g/∂x along the model's own runs, and P the covariance of the state
    /// in units of the errors' variance: K = A P Cᵀ (C P Cᵀ + I)⁻¹, P ← (A - K C) P Aᵀ/λ², held below the variance that the
    /// states have in these runs.
    ///
    /// **Reference.** A. Jazwinski, *Stochastic Processes and Filtering Theory*, Academic Press 1970, section 8.8 (limited memory).
    pub fn recalling(fitted: &Fitted, runs: &[Run], scored: &Scored, window: usize) -> Option<Self> {
        let Averages { a, c, prior } = Averages::of(fitted, runs, scored)?;
        let (nx, ny) = (a.nrows(), c.nrows());
        let window = window.max(1);
        let forgetting = (-2.0 / window as f64).exp();
        let mut covariance = DMatrix::from_diagonal(&prior);
        let pull = DMatrix::from_diagonal(&prior.map(|variance| (1.0 - forgetting) / variance));
        let mut gain = DMatrix::zeros(nx, ny);
        for _ in 0..WINDOWS {
            let before = gain.clone();
            for _ in 0..window {
                let of_output = &covariance * c.transpose();
                let innovation = &c * &of_output + DMatrix::identity(ny, ny);
                gain = &a * &of_output * Cholesky::new(innovation)?.inverse();
                covariance = (&a - &gain * &c) * &covariance * a.transpose() / forgetting;
                // What the states are known to be, however little of it shows: (P⁻¹ + pull)⁻¹.
                let held = (DMatrix::identity(nx, nx) + &covariance * &pull).try_inverse()?;
                covariance = held * &covariance;
                covariance = 0.5 * (&covariance + covariance.transpose());
            }
            if (&gain - before).norm() <= SETTLED * gain.norm() {
                break;
            }
        }
        let gain: Vec<f64> = gain.transpose().iter().copied().collect();
        gain.iter().all(|k| k.is_finite()).then_some(Self { gain })
    }

    /// The observer with this K, `[state][output]`.
    pub(crate) fn of_gain(gain: Vec<f64>) -> Self {
        Self { gain }
    }

    /// K, `[state][output]`.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// The state after `run`, followed from `x`; none if it diverges.
    pub fn follow(&self, model: &StateSpace, run: &Run, x: &[f64]) -> Option<Vec<f64>> {
        let (nx, ny) = (model.shape.states, model.shape.outputs);
        let mut step = Step::new(model.shape);
        step.next.copy_from_slice(x);
        for k in 0..run.len() {
            let (z, next) = (&mut step.z, &step.next);
            z[..nx].copy_from_slice(next);
            z[nx..].copy_from_slice(run.u(k));
            model.step(&mut step);
            for (state, row) in self.gain.chunks_exact(ny).enumerate() {
                let errors = row.iter().zip(run.y(k)).zip(&step.output);
                step.next[state] += errors.map(|((gain, y), p)| gain * (y - p)).sum::<f64>();
            }
            if step.next.iter().any(|x| x.is_nan() || x.abs() > DIVERGED) {
                return None;
            }
        }
        Some(step.next)
    }
}

/// What a model is like along its own free runs.
struct Averages {
    a: DMatrix<f64>,
    c: DMatrix<f64>,
    /// Variance of every state in units of the errors'.
    prior: DVector<f64>,
}

impl Averages {
    fn of(fitted: &Fitted, runs: &[Run], scored: &Scored) -> Option<Self> {
        let (model, shape) = (&fitted.model, fitted.model.shape);
        let (nx, ny) = (shape.states, shape.outputs);
        let (mut a, mut c) = (DMatrix::zeros(nx, nx), DMatrix::zeros(ny, nx));
        let (mut by_state, mut output_by_state) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
        let (mut states, mut steps) = (DVector::zeros(nx), 0.0);
        let (mut errors, mut counted) = (0.0, 0.0);
        let mut step = Step::new(shape);
        let each = SAMPLES / runs.len().max(1);
        for (index, (run, x0)) in runs.iter().zip(&fitted.x0).enumerate() {
            let flags = scored.flags(index, run.len());
            let is_finite = model.run(run, x0, each, &mut step, |k, step| {
                let (state_map, output_map) = (shape.state_map(), shape.output_map());
                state_map.slope(model.state_theta(), &step.state_units, nx, &mut by_state);
                output_map.slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
                a += DMatrix::from_row_slice(nx, nx, &by_state);
                c += DMatrix::from_row_slice(ny, nx, &output_by_state);
                states.iter_mut().zip(&step.z).for_each(|(sum, x)| *sum += x * x);
                steps += 1.0;
                if flags[k] {
                    let squares = run.y(k).iter().zip(&step.output).map(|(y, p)| (y - p) * (y - p));
                    errors += squares.sum::<f64>();
                    counted += ny as f64;
                }
            });
            if !is_finite {
                return None;
            }
        }
        let error = (errors / f64::max(counted, 1.0)).max(LEAST_VARIANCE);
        (steps > 0.0).then(|| Self {
            a: a / steps,
            c: c / steps,
            prior: states.map(|sum: f64| (sum / steps).max(LEAST_VARIANCE) / error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excitation(samples: usize) -> Vec<f64> {
        (0..samples).map(|k| (0.37 * (k * k % 97) as f64).sin()).collect()
    }

    /// A run of the model from `x0` with a little noise, and the model fitted to it.
    fn recorded(model: &StateSpace, x0: &[f64], samples: usize, noise: f64) -> ([Run; 1], Fitted) {
        let u = excitation(samples);
        let blank = Run::new(1, 1, u.clone(), vec![0.0; u.len()]);
        let y = model.simulate(&blank, x0).expect("stable").into_iter().enumerate();
        let y = y.map(|(k, y)| y + noise * (1.7 * (k * k % 89) as f64).sin()).collect();
        let fitted = Fitted {
            model: model.clone(),
            x0: vec![x0.to_vec()],
        };
        ([Run::new(1, 1, u, y)], fitted)
    }

    /// Without noise nothing has to be filtered, and yet the state of an integrator has to be found.
    #[test]
    fn an_observer_of_a_perfect_model_finds_the_state() {
        let model = StateSpace::linear((2, 1, 1), &[1.0, 0.1, 0.0, 0.0, 0.9, 0.1], &[1.0, 0.0, 0.0]);
        let x0 = [3.0, 0.5];
        let (runs, fitted) = recorded(&model, &x0, 2000, 0.0);
        let observer = Observer::recalling(&fitted, &runs, &Scored::all(&runs), 15).expect("stable");
        let found = observer
            .follow(&model, &runs[0].slice(1000..1100), &[0.0; 2])
            .expect("stable");
        let truth = model.state_after(&runs[0], &x0, 1100).expect("stable");
        let distance = found.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-3, "{found:?} {truth:?}");
    }

    /// A mode that hardly decays and hardly shows beside a fast one: it decides where a free run goes.
    #[test]
    fn slow_states_that_hardly_show_are_found() {
        let model = StateSpace::linear((2, 1, 1), &[0.6, 0.0, 1.0, 0.0, 0.999, 0.01], &[1.0, 0.05, 0.0]);
        let x0 = [0.0, 20.0];
        let (runs, fitted) = recorded(&model, &x0, 4000, 0.01);
        let truth = model.state_after(&runs[0], &x0, 1400).expect("stable");
        let distance = |window: usize| {
            let observer = Observer::recalling(&fitted, &runs, &Scored::all(&runs), window).expect("stable");
            let found = observer.follow(&model, &runs[0].slice(1000..1400), &[0.0; 2]);
            (found.expect("stable")[1] - truth[1]).abs()
        };
        // A longer window averages more of the noise.
        let (short, long) = (distance(5), distance(40));
        assert!(long < 0.1 && long < short, "{long} {short}");
    }
}
