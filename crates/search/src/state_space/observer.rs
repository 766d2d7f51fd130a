//! An observer that follows measured outputs: how a deployed model finds its state.
//!
//! x(k+1) = f(x(k), u(k)) + K (y(k) - ŷ(k)), the innovations form, with K from the one-step errors of a model that stays as it
//! is.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::descent::Fitted;
use super::model::{DIVERGED, StateSpace, Step};
use super::normal::combine;
use super::run::{Run, Scored};

/// The gain K beside a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Observer {
    /// `[state][output]`
    gain: Vec<f64>,
}

/// Settings of [`Observer::fit`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `iterations` | 20 | most Gauss–Newton steps |
/// | `weight` | 1e-4 | weight of ‖K‖² against the mean squared one-step error |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObserverConfig {
    /// Most Gauss–Newton steps.
    pub iterations: usize,
    /// Weight of ‖K‖².
    pub weight: f64,
}

impl Default for ObserverConfig {
    fn default() -> Self {
        Self {
            iterations: 20,
            weight: 1e-4,
        }
    }
}

impl Observer {
    /// An observer that does not look at outputs.
    fn blind(model: &StateSpace) -> Self {
        Self {
            gain: vec![0.0; model.shape.states * model.shape.outputs],
        }
    }

    /// Fits K to one-step errors of a model that stays as it is, from the better of no gain and `guess`, a gain in the order of
    /// [`Observer::gain`]. Outputs that do not count are not looked at. None if the model diverges on its own.
    ///
    /// **Method.** Damped Gauss–Newton on e(k) = y(k) - ŷ(k) with ∂x(k+1) = (∂f/∂x - K ∂g/∂x) ∂x(k) + ∂K e(k).
    ///
    /// **Reference.** L. Ljung, *System Identification*, 2nd ed., 1999, section 4.3 (innovations form).
    pub fn fit(
        fitted: &Fitted,
        runs: &[Run],
        scored: &Scored,
        guess: Option<&[f64]>,
        config: ObserverConfig,
    ) -> Option<Self> {
        let model = &fitted.model;
        let count = (scored.samples() * model.shape.outputs).max(1) as f64;
        let weight = config.weight * count;
        let cost = |observer: &Self| {
            let penalty = weight * observer.gain.iter().map(|k| k * k).sum::<f64>();
            observer
                .squared_error(fitted, runs, scored)
                .map(|squares| squares + penalty)
        };
        let mut now = Self::blind(model);
        let mut least = cost(&now)?;
        if let Some(guess) = guess {
            let trial = Self { gain: guess.to_vec() };
            if let Some(found) = cost(&trial).filter(|found| *found < least) {
                (now, least) = (trial, found);
            }
        }
        let mut damping = 1e-2;
        for _ in 0..config.iterations {
            let Some((mut normal, mut right)) = now.equations(fitted, runs, scored) else {
                break;
            };
            for (i, k) in now.gain.iter().enumerate() {
                normal[(i, i)] += weight;
                right[i] -= weight * k;
            }
            let mut accepted = None;
            for _ in 0..8 {
                let mut damped = normal.clone();
                (0..damped.nrows()).for_each(|i| damped[(i, i)] += damping * normal[(i, i)] + 1e-12);
                if let Some(factor) = Cholesky::new(damped) {
                    let step = factor.solve(&right);
                    let trial = Self {
                        gain: now.gain.iter().zip(step.iter()).map(|(k, d)| k + d).collect(),
                    };
                    accepted = cost(&trial).filter(|found| *found < least).map(|found| (trial, found));
                    if accepted.is_some() {
                        break;
                    }
                }
                damping *= 4.0;
            }
            let Some((trial, found)) = accepted else { break };
            let gain = 1.0 - found / least;
            (now, least) = (trial, found);
            damping *= 0.25;
            if gain < 1e-5 {
                break;
            }
        }
        Some(now)
    }

    /// K, `[state][output]`.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// The state after `run`, followed from `x`; none if it diverges.
    pub fn follow(&self, model: &StateSpace, run: &Run, x: &[f64]) -> Option<Vec<f64>> {
        let mut step = Step::new(model.shape);
        step.next.copy_from_slice(x);
        self.walk(model, run, x, &mut step, |_| true, |_, _| {})
            .then_some(step.next)
    }

    /// Σ e² of one-step predictions; none if the observer diverges.
    pub(crate) fn squared_error(&self, fitted: &Fitted, runs: &[Run], scored: &Scored) -> Option<f64> {
        let mut step = Step::new(fitted.model.shape);
        let mut squares = 0.0;
        for (index, run) in runs.iter().enumerate() {
            let flags = scored.flags(index, run.len());
            let is_finite = self.walk(
                &fitted.model,
                run,
                &fitted.x0[index],
                &mut step,
                |k| flags[k],
                |k, step| {
                    if flags[k] {
                        squares += run
                            .y(k)
                            .iter()
                            .zip(&step.output)
                            .map(|(y, p)| (y - p) * (y - p))
                            .sum::<f64>();
                    }
                },
            );
            if !is_finite {
                return None;
            }
        }
        squares.is_finite().then_some(squares)
    }

    /// Follows a run and corrects the state where `is_known(k)`: `visit(k, step)` sees every prediction. False if it diverges.
    fn walk(
        &self,
        model: &StateSpace,
        run: &Run,
        x: &[f64],
        step: &mut Step,
        is_known: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, &Step),
    ) -> bool {
        let (nx, ny) = (model.shape.states, model.shape.outputs);
        step.z[..nx].copy_from_slice(x);
        for k in 0..run.len() {
            step.z[nx..].copy_from_slice(run.u(k));
            model.step(step);
            visit(k, step);
            if is_known(k) {
                for (state, row) in self.gain.chunks_exact(ny).enumerate() {
                    let errors = row.iter().zip(run.y(k)).zip(&step.output);
                    step.next[state] += errors.map(|((gain, y), p)| gain * (y - p)).sum::<f64>();
                }
            }
            if step.next.iter().any(|x| x.is_nan() || x.abs() > DIVERGED) {
                return false;
            }
            let (z, next) = (&mut step.z, &step.next);
            z[..nx].copy_from_slice(next);
        }
        true
    }

    /// SᵀS and Sᵀe for K; none if the observer diverges.
    fn equations(&self, fitted: &Fitted, runs: &[Run], scored: &Scored) -> Option<(DMatrix<f64>, DVector<f64>)> {
        let model = &fitted.model;
        let (nx, ny) = (model.shape.states, model.shape.outputs);
        let size = nx * ny;
        let mut normal = DMatrix::zeros(size, size);
        let mut right = DVector::zeros(size);
        let mut step = Step::new(model.shape);
        let (mut by_state, mut output_by_state) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
        // ∂x/∂K and ∂ŷ/∂K row by row.
        let (mut now, mut next) = (vec![0.0; nx * size], vec![0.0; nx * size]);
        let mut of_output = DMatrix::zeros(size, ny);
        let mut errors = DVector::zeros(ny);
        for (index, run) in runs.iter().enumerate() {
            let flags = scored.flags(index, run.len());
            now.fill(0.0);
            let x0 = &fitted.x0[index];
            let is_finite = self.walk(
                model,
                run,
                x0,
                &mut step,
                |k| flags[k],
                |k, step| {
                    let (state_map, output_map) = (model.shape.state_map(), model.shape.output_map());
                    state_map.slope(model.state_theta(), &step.state_units, nx, &mut by_state);
                    if flags[k] {
                        output_map.slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
                        of_output.fill(0.0);
                        for (output, row) in output_by_state.chunks_exact(nx).enumerate() {
                            errors[output] = run.y(k)[output] - step.output[output];
                            let column = &mut of_output.as_mut_slice()[output * size..(output + 1) * size];
                            combine(row, &now, column);
                            right.axpy(errors[output], &of_output.column(output), 1.0);
                            normal.ger(1.0, &of_output.column(output), &of_output.column(output), 1.0);
                        }
                        for (row, gain) in by_state.chunks_exact_mut(nx).zip(self.gain.chunks_exact(ny)) {
                            for (gain, output) in gain.iter().zip(output_by_state.chunks_exact(nx)) {
                                row.iter_mut().zip(output).for_each(|(to, g)| *to -= gain * g);
                            }
                        }
                    }
                    next.fill(0.0);
                    for (state, to) in next.chunks_exact_mut(size).enumerate() {
                        combine(&by_state[state * nx..(state + 1) * nx], &now, to);
                        if flags[k] {
                            (0..ny).for_each(|i| to[state * ny + i] += errors[i]);
                        }
                    }
                    std::mem::swap(&mut now, &mut next);
                },
            );
            if !is_finite {
                return None;
            }
        }
        (normal.iter().chain(right.iter()).all(|value| value.is_finite())).then_some((normal, right))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    /// Data of an innovations model with a known gain.
    #[test]
    fn the_gain_of_an_innovations_model_is_recovered() {
        let model = StateSpace::linear((2, 1, 1), &[0.9, 0.2, 0.3, -0.2, 0.8, 1.0], &[1.0, 0.5, 0.0]);
        let truth = [0.5, 0.2];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut step = Step::new(model.shape);
        let (mut u, mut y) = (Vec::new(), Vec::new());
        for _ in 0..12_000 {
            let (drive, noise): (f64, f64) = (StandardNormal.sample(&mut rng), StandardNormal.sample(&mut rng));
            step.z[2] = drive;
            model.step(&mut step);
            u.push(drive);
            y.push(step.output[0] + 0.1 * noise);
            for (i, gain) in truth.iter().enumerate() {
                step.z[i] = step.next[i] + 0.1 * gain * noise;
            }
        }
        let runs = [Run::new(1, 1, u, y)];
        let fitted = Fitted {
            model: model.clone(),
            x0: vec![vec![0.0; 2]],
        };
        let scored = Scored::outside(&runs, 1000..1200);
        let config = ObserverConfig {
            weight: 0.0,
            ..ObserverConfig::default()
        };
        let found = Observer::fit(&fitted, &runs, &scored, None, config).expect("stable");
        for (found, truth) in found.gain.iter().zip(truth) {
            assert!((found - truth).abs() < 0.04, "{found} {truth}");
        }
        let mse = found.squared_error(&fitted, &runs, &scored).expect("stable") / 11_800.0;
        assert!((mse - 0.01).abs() < 0.001, "{mse}");
        // A wrong state is forgotten along a warm-up.
        let warm = runs[0].slice(3900..4000);
        let (a, b) = (
            found.follow(&model, &warm, &[5.0, -5.0]),
            found.follow(&model, &warm, &[0.0; 2]),
        );
        let (a, b) = (a.expect("stable"), b.expect("stable"));
        assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6);
    }
}
