//! First-order steps on windows of a long record, whose states come from free runs over all of it.
//!
//! A step of Adam descends (1/M) Σ (y - ŷ)² + λ ‖w‖² over the M samples of some windows; the window at k₀ starts at the x(k₀) of
//! the latest free run over the whole record.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::descent::Fitted;
use super::lane_run::{LaneData, LaneTape, run_and_differentiate};
use super::lanes::{Lane, MODELS, Models};
use super::model::Step;
use super::run::{Run, Scored};

/// Settings of [`descend_windows`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `steps` | 2000 | steps of Adam |
/// | `length` | 200 | samples of a window; gradients reach back to its start |
/// | `batch` | 32 | windows per step, rounded up to whole sixteens |
/// | `refresh` | 50 | steps after which the windows' states are computed anew |
/// | `learning_rate` | 0.003 | step size; falls to a hundredth |
/// | `weight_penalty`, `linear_share` | 1e-6, 1 | λ and the share of it for linear paths |
/// | `seed` | 0 | of the choice of windows |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowsConfig {
    /// Steps of Adam.
    pub steps: usize,
    /// Samples of a window.
    pub length: usize,
    /// Windows per step.
    pub batch: usize,
    /// Steps between free runs over everything.
    pub refresh: usize,
    /// Step size.
    pub learning_rate: f64,
    /// λ
    pub weight_penalty: f64,
    /// Share of λ for linear paths.
    pub linear_share: f64,
    /// Seed of the choice of windows.
    pub seed: u64,
}

impl Default for WindowsConfig {
    fn default() -> Self {
        Self {
            steps: 2000,
            length: 200,
            batch: 32,
            refresh: 50,
            learning_rate: 3e-3,
            weight_penalty: 1e-6,
            linear_share: 1.0,
            seed: 0,
        }
    }
}

/// A stretch that may be drawn, and the state of the last free run at its start.
struct Place {
    run: usize,
    start: usize,
    state: Vec<f64>,
}

/// Minimises the error of free runs by Adam on randomly drawn windows, and returns the best model met with its mean squared
/// error over all samples that count. None if the start diverges or no window fits.
///
/// **Method.** Every `refresh` steps a free run over everything gives the state at the start of each window, as it will be in
/// use: no encoder has to be learnt, and no window has a state of its own to hide errors in. In between θ moves little, and so
/// would the states. Gradients are those of the window alone.
///
/// `keep_on(steps)` is asked at every refresh.
pub fn descend_windows(
    start: Fitted,
    runs: &[Run],
    scored: &Scored,
    config: WindowsConfig,
    mut keep_on: impl FnMut(usize) -> bool,
) -> Option<(Fitted, f64)> {
    let shape = start.model.shape;
    let parameters = shape.parameters();
    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    let mut places = Vec::new();
    for (run, _) in runs.iter().enumerate() {
        for range in scored.ranges(run) {
            let starts = (range.start..).step_by((config.length / 4).max(1));
            let inside = starts.take_while(|start| start + config.length <= range.end);
            places.extend(inside.map(|start| Place {
                run,
                start,
                state: vec![0.0; shape.states],
            }));
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut step = Step::new(shape);
    let mut now = start;
    let mut best = (now.clone(), refresh(&now, runs, scored, &mut places, &mut step)?);
    let mut latest = best.1;
    let weights = now.model.penalty_weights(config.linear_share);
    let (mut first, mut second) = (vec![0.0; parameters], vec![0.0; parameters]);
    let mut theta = vec![Lane::ZERO; parameters];
    let mut tape = LaneTape::new(shape);
    let mut gradient = vec![0.0; parameters];
    let packs = config.batch.div_ceil(MODELS).max(1);
    let weight = ((packs * MODELS * config.length * shape.outputs) as f64).recip();
    let lane_weights: [Vec<f64>; MODELS] = std::array::from_fn(|_| vec![weight; config.length]);
    for index in 0..config.steps {
        if index % config.refresh == 0 && index > 0 {
            match refresh(&now, runs, scored, &mut places, &mut step) {
                Some(mse) => {
                    latest = mse;
                    if mse < best.1 {
                        best = (now.clone(), mse);
                    }
                }
                // Too far: back to the best, more carefully.
                None => {
                    now.clone_from(&best.0);
                    first.fill(0.0);
                    latest = refresh(&now, runs, scored, &mut places, &mut step)?;
                }
            }
            if !keep_on(index) {
                break;
            }
        }
        theta
            .iter_mut()
            .zip(&now.model.theta)
            .for_each(|(to, t)| *to = Lane::splat(*t as f32));
        tape.gradient.fill(Lane::ZERO);
        for _ in 0..packs {
            let drawn: [&Place; MODELS] = std::array::from_fn(|_| &places[rng.random_range(0..places.len())]);
            let stretches = drawn.map(|place| (&runs[place.run], place.start));
            let data = LaneData::new(&stretches, &lane_weights, config.length);
            let x0: Vec<Models> = (0..shape.states)
                .map(|state| Lane(drawn.map(|place| place.state[state] as f32)))
                .collect();
            run_and_differentiate(shape, &theta, &x0, &data, &mut tape);
        }
        for (to, lanes) in gradient.iter_mut().zip(&tape.gradient) {
            *to = lanes.0.iter().copied().map(f64::from).sum();
        }
        for ((gradient, theta), weight) in gradient.iter_mut().zip(&now.model.theta).zip(&weights) {
            *gradient += 2.0 * config.weight_penalty * weight * theta;
        }
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if !length.is_finite() {
            now.clone_from(&best.0);
            continue;
        }
        // Relative to the error, since gradients shrink with it.
        let shorten = (latest.sqrt() / length.max(1e-300)).min(1.0);
        let along = index as f64 / config.steps as f64;
        let rate = config.learning_rate * (0.505 + 0.495 * (std::f64::consts::PI * along).cos());
        let count = index as f64 + 1.0;
        let unbias = (1.0 - 0.9_f64.powf(count), 1.0 - 0.999_f64.powf(count));
        for (entry, g) in gradient.iter().enumerate() {
            let g = g * shorten;
            first[entry] = 0.9 * first[entry] + 0.1 * g;
            second[entry] = 0.999 * second[entry] + 0.001 * g * g;
            let size = (second[entry] / unbias.1).sqrt() + 1e-12;
            now.model.theta[entry] -= rate * first[entry] / unbias.0 / size;
        }
    }
    if let Some(mse) = refresh(&now, runs, scored, &mut places, &mut step).filter(|mse| *mse < best.1) {
        best = (now, mse);
    }
    Some(best)
}

/// Puts the states of a free run into `places` and returns the mean squared error; none if it diverges.
fn refresh(fitted: &Fitted, runs: &[Run], scored: &Scored, places: &mut [Place], step: &mut Step) -> Option<f64> {
    let nx = fitted.model.shape.states;
    let mut squares = 0.0;
    let mut places = places.iter_mut().peekable();
    for (index, run) in runs.iter().enumerate() {
        let mut ranges = scored.ranges(index).iter().peekable();
        let is_finite = fitted
            .model
            .run(run, &fitted.x0[index], scored.end(index), step, |k, step| {
                while ranges.next_if(|range| range.end <= k).is_some() {}
                if ranges.peek().is_some_and(|range| range.start <= k) {
                    squares += run
                        .y(k)
                        .iter()
                        .zip(&step.output)
                        .map(|(y, p)| (y - p) * (y - p))
                        .sum::<f64>();
                }
                if let Some(place) = places.next_if(|place| place.run == index && place.start == k) {
                    place.state.copy_from_slice(&step.z[..nx]);
                }
            });
        if !is_finite {
            return None;
        }
    }
    let mse = squares / (scored.samples() * fitted.model.shape.outputs).max(1) as f64;
    mse.is_finite().then_some(mse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::descent::mean_squared_error;
    use crate::state_space::fit_linear::{LinearConfig, fit_linear};
    use crate::state_space::fixtures::saturating_plant;
    use crate::state_space::start::beside_linear;

    #[test]
    fn windows_improve_a_linear_start_on_a_saturating_plant() {
        let runs = [saturating_plant(3000)];
        let scored = Scored::outside(&runs, 1000..1200);
        let first_order = LinearConfig {
            states: 1,
            ..LinearConfig::default()
        };
        let linear = fit_linear(&runs, &scored, first_order).expect("fits");
        let before = mean_squared_error(&linear, &runs, &scored).expect("stable");
        let start = Fitted {
            model: beside_linear(&linear.model, 6, 0, 1),
            x0: linear.x0,
        };
        let config = WindowsConfig {
            steps: 600,
            length: 60,
            batch: 16,
            learning_rate: 1e-2,
            ..WindowsConfig::default()
        };
        let (found, mse) = descend_windows(start.clone(), &runs, &scored, config, |_| true).expect("stable");
        assert!(mse < 0.05 * before, "{mse} {before}");
        let again = descend_windows(start, &runs, &scored, config, |_| true).expect("stable");
        assert_eq!(found, again.0);
    }
}
