//! An observer that follows measured outputs: how a deployed model finds its state.
//!
//! x(k+1) = f(x(k), u(k)) + K (y(k) - ŷ(k)), the innovations form, beside a model that stays as it is. K can have two aims. One is
//! to keep a state that is known: it is fitted to one-step errors, is next to nothing where a model is accurate, and then never finds
//! a state. The other is to find one: again and again the state is lost, K follows the outputs for a while, and then errors of one
//! step and of a free run count; where slow states hardly show in the outputs it can do harm. A third is computed, not fitted (`recall`).
//! Held-out data choose.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::descent::Fitted;
use super::divisions::HISTORY;
use super::model::{DIVERGED, StateSpace, Step};
use super::normal::combine;
use super::recall::recalling_gain;
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
/// | `weight` | 1e-6 | weight of ‖K‖² against the mean squared error |
/// | `aim` | lost for 100 samples | what the gain is for |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObserverConfig {
    /// Most Gauss–Newton steps.
    pub iterations: usize,
    /// Weight of ‖K‖².
    pub weight: f64,
    /// What the gain is for.
    pub aim: Aim,
}

/// What a gain is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// To keep a state that is known: one-step errors along the whole run count.
    Keep,
    /// To find a state that is lost: outputs are followed for so many samples (fewer in short records), then as many of a free run count.
    Find(usize),
    /// To have the state that explains the last so many samples best; it is computed, not fitted.
    Recall(usize),
}

impl ObserverConfig {
    /// A gain that keeps a known state, and is small where one-step errors are.
    pub fn keeping() -> Self {
        Self {
            weight: 1e-4,
            aim: Aim::Keep,
            ..Self::default()
        }
    }

    /// A gain that recalls so many samples.
    pub fn recalling(window: usize) -> Self {
        Self {
            aim: Aim::Recall(window),
            ..Self::default()
        }
    }
}

impl Default for ObserverConfig {
    fn default() -> Self {
        Self {
            iterations: 20,
            weight: 1e-6,
            aim: Aim::Find(HISTORY),
        }
    }
}

/// Variances of the noise of states that first gains are computed for, that of outputs being 1.
const NOISES: [f64; 4] = [1e-4, 1e-2, 1.0, 100.0];
/// Free runs that a record should have at the least.
const FEWEST_RUNS: usize = 5;
/// Steps after which a Kalman gain has settled.
const RICCATI_STEPS: usize = 200;

/// What a gain is fitted to.
#[derive(Clone, Copy)]
struct Follow<'a> {
    runs: &'a [Run],
    scored: &'a Scored,
    aim: Aim,
}

impl Follow<'_> {
    /// What becomes of sample k of a run.
    fn phase(self, k: usize) -> Phase {
        let Aim::Find(history) = self.aim else {
            return Phase::Followed;
        };
        match k % (2 * history) {
            0 => Phase::Lost,
            place if place < history / 2 => Phase::Searching,
            place if place < history => Phase::Followed,
            _ => Phase::Free,
        }
    }
}

/// What becomes of a sample.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The state is zero, and outputs are followed from here on.
    Lost,
    Searching,
    /// By now the state should be found: errors of one step count.
    Followed,
    /// The state is left alone, and errors count.
    Free,
}

impl Phase {
    fn counts(self) -> bool {
        matches!(self, Self::Followed | Self::Free)
    }
}

impl Observer {
    /// An observer that does not look at outputs.
    fn blind(model: &StateSpace) -> Self {
        Self {
            gain: vec![0.0; model.shape.states * model.shape.outputs],
        }
    }

    /// Fits K to the free runs of a model that stays as it is. Outputs that do not count are not looked at. None if the model
    /// diverges on its own and with every gain tried.
    ///
    /// **Method.** Damped Gauss–Newton on e(k) = y(k) - ŷ(k) with ∂x(k+1) = (∂f/∂x - K ∂g/∂x) ∂x(k) + ∂K e(k) while outputs are followed
    /// and ∂x(k+1) = ∂f/∂x ∂x(k) afterwards, from the best of no gain and Kalman gains of the model's slope at rest, for four ratios of
    /// the noise of states and outputs.
    ///
    /// **Reference.** L. Ljung, *System Identification*, 2nd ed., 1999, section 4.3 (innovations form).
    pub fn fit(fitted: &Fitted, runs: &[Run], scored: &Scored, config: ObserverConfig) -> Option<Self> {
        let model = &fitted.model;
        if let Aim::Recall(window) = config.aim {
            let gain = recalling_gain(fitted, runs, window)?;
            return Some(Self { gain });
        }
        let count = (scored.samples() * model.shape.outputs).max(1) as f64;
        let weight = config.weight * count;
        let follow = Follow {
            runs,
            scored,
            aim: match config.aim {
                Aim::Keep | Aim::Recall(_) => Aim::Keep,
                Aim::Find(history) => Aim::Find(history.min(scored.samples() / (2 * FEWEST_RUNS)).max(1)),
            },
        };
        let cost = |observer: &Self| {
            let penalty = weight * observer.gain.iter().map(|k| k * k).sum::<f64>();
            observer.squared_error(fitted, follow).map(|squares| squares + penalty)
        };
        let kalman = NOISES.into_iter().filter_map(|noise| Self::kalman(model, noise));
        let starts = std::iter::once(Self::blind(model)).chain(kalman);
        let costs = starts.filter_map(|start| Some((cost(&start)?, start)));
        let (mut least, mut now) = costs.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut damping = 1e-2;
        for _ in 0..config.iterations {
            let Some((mut normal, mut right)) = now.equations(fitted, follow) else {
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

    /// The Kalman gain of the slope at rest, with this variance of each state's noise against that of each output's.
    fn kalman(model: &StateSpace, noise: f64) -> Option<Self> {
        let (nx, ny) = (model.shape.states, model.shape.outputs);
        let mut step = Step::new(model.shape);
        model.step(&mut step);
        let (mut a, mut c) = (vec![0.0; nx * nx], vec![0.0; ny * nx]);
        let (state_map, output_map) = (model.shape.state_map(), model.shape.output_map());
        state_map.slope(model.state_theta(), &step.state_units, nx, &mut a);
        output_map.slope(model.output_theta(), &step.output_units, nx, &mut c);
        let (a, c) = (DMatrix::from_row_slice(nx, nx, &a), DMatrix::from_row_slice(ny, nx, &c));
        let mut covariance = DMatrix::identity(nx, nx);
        let mut gain = DMatrix::zeros(nx, ny);
        for _ in 0..RICCATI_STEPS {
            let of_output = &covariance * c.transpose();
            let innovation = &c * &of_output + DMatrix::identity(ny, ny);
            gain = &a * &of_output * Cholesky::new(innovation)?.inverse();
            covariance = (&a - &gain * &c) * &covariance * a.transpose() + DMatrix::identity(nx, nx) * noise;
            covariance = 0.5 * (&covariance + covariance.transpose());
        }
        let gain: Vec<f64> = gain.transpose().iter().copied().collect();
        gain.iter().all(|k| k.is_finite()).then_some(Self { gain })
    }

    /// K, `[state][output]`.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// The state after `run`, followed from `x`; none if it diverges.
    pub fn follow(&self, model: &StateSpace, run: &Run, x: &[f64]) -> Option<Vec<f64>> {
        let mut step = Step::new(model.shape);
        step.next.copy_from_slice(x);
        let all = |_: usize| (Phase::Followed, true);
        self.walk(model, run, x, &mut step, all, |_, _, _| {})
            .then_some(step.next)
    }

    /// Σ e² of what counts; none if a run diverges.
    fn squared_error(&self, fitted: &Fitted, follow: Follow<'_>) -> Option<f64> {
        let mut step = Step::new(fitted.model.shape);
        let mut squares = 0.0;
        for (index, run) in follow.runs.iter().enumerate() {
            let flags = follow.scored.flags(index, run.len());
            let is_finite = self.walk(
                &fitted.model,
                run,
                &fitted.x0[index],
                &mut step,
                |k| (follow.phase(k), flags[k]),
                |k, step, phase| {
                    if flags[k] && phase.counts() {
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

    /// Follows a run from `x` with the phases and known outputs that `at(k)` tells; `visit(k, step, phase)` sees every prediction. False
    /// if it diverges.
    fn walk(
        &self,
        model: &StateSpace,
        run: &Run,
        x: &[f64],
        step: &mut Step,
        at: impl Fn(usize) -> (Phase, bool),
        mut visit: impl FnMut(usize, &Step, Phase),
    ) -> bool {
        let (nx, ny) = (model.shape.states, model.shape.outputs);
        step.z[..nx].copy_from_slice(x);
        for k in 0..run.len() {
            let (phase, is_known) = at(k);
            if phase == Phase::Lost {
                step.z[..nx].fill(0.0);
            }
            step.z[nx..].copy_from_slice(run.u(k));
            model.step(step);
            visit(k, step, phase);
            if is_known && phase != Phase::Free {
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
    fn equations(&self, fitted: &Fitted, follow: Follow<'_>) -> Option<(DMatrix<f64>, DVector<f64>)> {
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
        for (index, run) in follow.runs.iter().enumerate() {
            let flags = follow.scored.flags(index, run.len());
            now.fill(0.0);
            let x0 = &fitted.x0[index];
            let is_finite = self.walk(
                model,
                run,
                x0,
                &mut step,
                |k| (follow.phase(k), flags[k]),
                |k, step, phase| {
                    if phase == Phase::Lost {
                        now.fill(0.0);
                    }
                    let is_followed = flags[k] && phase != Phase::Free;
                    let (state_map, output_map) = (model.shape.state_map(), model.shape.output_map());
                    state_map.slope(model.state_theta(), &step.state_units, nx, &mut by_state);
                    if flags[k] {
                        output_map.slope(model.output_theta(), &step.output_units, nx, &mut output_by_state);
                        of_output.fill(0.0);
                        for (output, row) in output_by_state.chunks_exact(nx).enumerate() {
                            errors[output] = run.y(k)[output] - step.output[output];
                            let column = &mut of_output.as_mut_slice()[output * size..(output + 1) * size];
                            combine(row, &now, column);
                            if phase.counts() {
                                right.axpy(errors[output], &of_output.column(output), 1.0);
                                normal.ger(1.0, &of_output.column(output), &of_output.column(output), 1.0);
                            }
                        }
                    }
                    if is_followed {
                        for (row, gain) in by_state.chunks_exact_mut(nx).zip(self.gain.chunks_exact(ny)) {
                            for (gain, output) in gain.iter().zip(output_by_state.chunks_exact(nx)) {
                                row.iter_mut().zip(output).for_each(|(to, g)| *to -= gain * g);
                            }
                        }
                    }
                    next.fill(0.0);
                    for (state, to) in next.chunks_exact_mut(size).enumerate() {
                        combine(&by_state[state * nx..(state + 1) * nx], &now, to);
                        if is_followed {
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
        let found = Observer::fit(&fitted, &runs, &scored, config).expect("stable");
        for (found, truth) in found.gain.iter().zip(truth) {
            assert!((found - truth).abs() < 0.06, "{found} {truth}");
        }
        // A wrong state is forgotten along a warm-up.
        let warm = runs[0].slice(3900..4000);
        let (a, b) = (
            found.follow(&model, &warm, &[5.0, -5.0]),
            found.follow(&model, &warm, &[0.0; 2]),
        );
        let (a, b) = (a.expect("stable"), b.expect("stable"));
        assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6);
    }

    /// Without noise nothing has to be filtered, and yet the state of an integrator has to be found.
    #[test]
    fn an_observer_of_a_perfect_model_finds_the_state() {
        let model = StateSpace::linear((2, 1, 1), &[1.0, 0.1, 0.0, 0.0, 0.9, 0.1], &[1.0, 0.0, 0.0]);
        let u: Vec<f64> = (0..2000).map(|k| (0.37 * (k * k % 97) as f64).sin()).collect();
        let blank = Run::new(1, 1, u.clone(), vec![0.0; u.len()]);
        let x0 = [3.0, 0.5];
        let runs = [Run::new(1, 1, u, model.simulate(&blank, &x0).expect("stable"))];
        let fitted = Fitted {
            model: model.clone(),
            x0: vec![x0.to_vec()],
        };
        let found = Observer::fit(&fitted, &runs, &Scored::all(&runs), ObserverConfig::default()).expect("stable");
        let found = found
            .follow(&model, &runs[0].slice(1000..1100), &[0.0; 2])
            .expect("stable");
        let truth = model.state_after(&runs[0], &x0, 1100).expect("stable");
        let distance = found.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 1e-3, "{found:?} {truth:?}");
    }
}
