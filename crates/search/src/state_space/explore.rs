//! First-order exploration: many starts side by side, the worse half of each group dropped after every round.
//!
//! A walker minimises (1/N) Σ (y - ŷ)² + λ ‖w‖² + (ρ/N) Σ ‖x(0)‖² by Adam: with g the gradient, shortened to length one at most,
//! m ← 0.9 m + 0.1 g, v ← 0.99 v + 0.01 g², θ ← θ - rate · m̂ / √v̂, hats for means without the bias of their start.

use super::descent::Fitted;
use super::lane_run::{LaneData, LaneTape, run_and_differentiate};
use super::lanes::{Lane, MODELS, Models};
use super::model::Shape;
use super::run::{Run, Scored};

/// One start of an exploration.
#[derive(Clone, Debug)]
pub struct Walker {
    /// Where it is.
    pub fitted: Fitted,
    /// Walkers of a group compete with each other; groups have their own samples that count.
    pub group: usize,
    /// λ: weight of ‖w‖² against the mean squared error.
    pub weight_penalty: f64,
    /// The least penalised mean squared error it has seen, where [`Walker::fitted`] is after a round.
    pub loss: f64,
    momentum: Moments,
}

/// Adam's running means, θ first, then the first states.
#[derive(Clone, Debug)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
    /// Where the walker is now; the best place is in `fitted`.
    now: Vec<f32>,
}

impl Walker {
    /// A walker at its start.
    pub fn new(start: Fitted, group: usize, weight_penalty: f64) -> Self {
        let now: Vec<f32> = start
            .model
            .theta
            .iter()
            .chain(start.x0.iter().flatten())
            .map(|value| *value as f32)
            .collect();
        Self {
            momentum: Moments {
                first: vec![0.0; now.len()],
                second: vec![0.0; now.len()],
                steps: 0,
                now,
            },
            fitted: start,
            group,
            weight_penalty,
            loss: f64::INFINITY,
        }
    }
}

/// Settings of [`explore`].
///
/// | field | default | purpose |
/// |---|---|---|
/// | `rounds` | 200/½, 400/½, 900/1 | steps of each round and the share of each group that goes on after it |
/// | `learning_rate` | 0.01 | step size; falls along the last round to a hundredth |
/// | `linear_share` | 1 | share of λ that holds back the linear paths |
/// | `x0_weight` | 0.01 | weight of ‖x(0)‖² against the sum of squared errors |
#[derive(Clone, Debug, PartialEq)]
pub struct ExploreConfig {
    /// Steps and share kept.
    pub rounds: Vec<(usize, f64)>,
    /// Step size.
    pub learning_rate: f64,
    /// Share of λ for linear paths.
    pub linear_share: f64,
    /// Weight of first states.
    pub x0_weight: f64,
}

impl Default for ExploreConfig {
    fn default() -> Self {
        Self {
            rounds: vec![(200, 0.5), (400, 0.5), (900, 1.0)],
            learning_rate: 0.01,
            linear_share: 1.0,
            x0_weight: 0.01,
        }
    }
}

/// Lets walkers go downhill by Adam on whole free runs, group g judged on the samples of `scored[g]`; returns those that
/// are left, the best of each group first.
///
/// All walkers have the same shape. Results depend on the walkers and their order only. `keep_on()` is asked before every
/// step of every sixteen walkers; after a false what has been found is returned.
///
/// **Reference.** D. P. Kingma, J. Ba, ICLR 2015, arXiv:1412.6980; K. Jamieson, A. Talwalkar, AISTATS 2016 (halving).
///
/// # Panics
/// If shapes or groups do not fit.
pub fn explore(
    mut walkers: Vec<Walker>,
    runs: &[Run],
    scored: &[Scored],
    config: &ExploreConfig,
    mut keep_on: impl FnMut() -> bool,
) -> Vec<Walker> {
    let flags: Vec<Vec<Vec<bool>>> = scored
        .iter()
        .map(|scored| {
            runs.iter()
                .enumerate()
                .map(|(i, run)| scored.flags(i, run.len()))
                .collect()
        })
        .collect();
    for (index, &(steps, keep)) in config.rounds.iter().enumerate() {
        let is_last = index + 1 == config.rounds.len();
        for pack in walkers.chunks_mut(MODELS) {
            let mut lanes = Pack::new(pack, runs, scored, &flags, config);
            for step in 0..steps {
                if !keep_on() {
                    break;
                }
                let along = if is_last { step as f64 / steps as f64 } else { 0.0 };
                let fall = 0.505 + 0.495 * (std::f64::consts::PI * along).cos();
                lanes.step((config.learning_rate * fall) as f32);
            }
            lanes.unpack(pack);
        }
        walkers.sort_by(|a, b| a.group.cmp(&b.group).then(a.loss.total_cmp(&b.loss)));
        let mut kept = Vec::with_capacity(walkers.len());
        for group in walkers.chunk_by(|a, b| a.group == b.group) {
            let most = (group.len() as f64 * keep).ceil().max(1.0) as usize;
            kept.extend_from_slice(&group[..most.min(group.len())]);
        }
        walkers = kept;
    }
    walkers
}

/// Sixteen walkers as lanes.
struct Pack {
    shape: Shape,
    data: Vec<LaneData>,
    tape: LaneTape,
    /// θ and the first states.
    now: Vec<Models>,
    first: Vec<Models>,
    second: Vec<Models>,
    best: Vec<Models>,
    best_loss: Models,
    gradient: Vec<Models>,
    /// Factors of θ² and x(0)² in the loss.
    penalty: Vec<Models>,
    steps: Models,
}

const DECAY: (f32, f32) = (0.9, 0.99);
/// Gradients longer than this are shortened: one bad step must not throw a model out of its basin.
const LONGEST: f32 = 1.0;
/// Losses beyond this are those of a model that has left the data; it is drawn towards zero.
const LOST: f32 = 100.0;

impl Pack {
    fn new(pack: &[Walker], runs: &[Run], scored: &[Scored], flags: &[Vec<Vec<bool>>], config: &ExploreConfig) -> Self {
        let shape = pack[0].fitted.model.shape;
        // Idle lanes repeat the last walker.
        let of = |lane: usize| &pack[lane.min(pack.len() - 1)];
        let lane = |f: &dyn Fn(&Walker) -> f64| -> Models { Lane(std::array::from_fn(|lane| f(of(lane)) as f32)) };
        let count = |walker: &Walker| (scored[walker.group].samples() * shape.outputs).max(1) as f64;
        let data = runs.iter().enumerate().map(|(index, run)| {
            let weights = std::array::from_fn(|lane| {
                let walker = of(lane);
                let weight = count(walker).recip();
                flags[walker.group][index]
                    .iter()
                    .map(|&counts| if counts { weight } else { 0.0 })
                    .collect()
            });
            let len = (0..MODELS)
                .map(|lane| scored[of(lane).group].end(index))
                .max()
                .unwrap_or(0);
            LaneData::new(&[(run, 0); MODELS], &weights, len)
        });
        let entries = of(0).momentum.now.len();
        let gather = |from: &dyn Fn(&Walker, usize) -> f64| -> Vec<Models> {
            (0..entries).map(|entry| lane(&|walker| from(walker, entry))).collect()
        };
        let moments = |of: fn(&Moments) -> &[f32]| gather(&|walker, entry| of(&walker.momentum)[entry].into());
        let weights = of(0).fitted.model.penalty_weights(config.linear_share);
        let penalty = |walker: &Walker, entry: usize| match weights.get(entry) {
            Some(weight) => weight * walker.weight_penalty,
            None => config.x0_weight / count(walker),
        };
        Self {
            shape,
            data: data.collect(),
            tape: LaneTape::new(shape),
            now: moments(|moments| &moments.now),
            first: moments(|moments| &moments.first),
            second: moments(|moments| &moments.second),
            best: gather(&|walker, entry| {
                let parameters = walker.fitted.model.theta.len();
                match entry.checked_sub(parameters) {
                    None => walker.fitted.model.theta[entry],
                    Some(at) => walker.fitted.x0[at / shape.states][at % shape.states],
                }
            }),
            best_loss: lane(&|walker| walker.loss),
            gradient: vec![Lane::ZERO; entries],
            penalty: gather(&penalty),
            steps: lane(&|walker| f64::from(walker.momentum.steps)),
        }
    }

    /// One step of Adam in every lane.
    fn step(&mut self, rate: f32) {
        let parameters = self.shape.parameters();
        let nx = self.shape.states;
        self.tape.squares = Lane::ZERO;
        self.tape.gradient.fill(Lane::ZERO);
        let (theta, x0) = self.now.split_at(parameters);
        for (index, data) in self.data.iter().enumerate() {
            run_and_differentiate(
                self.shape,
                theta,
                &x0[index * nx..(index + 1) * nx],
                data,
                &mut self.tape,
            );
            let at = parameters + index * nx;
            self.gradient[at..at + nx].copy_from_slice(&self.tape.x0_gradient);
        }
        self.gradient[..parameters].copy_from_slice(&self.tape.gradient);
        let mut loss = self.tape.squares;
        let mut length = Models::ZERO;
        for ((gradient, now), penalty) in self.gradient.iter_mut().zip(&self.now).zip(&self.penalty) {
            let pull = penalty.times(*now);
            loss = loss.plus(pull.times(*now));
            *gradient = gradient.plus(pull.plus(pull));
            length = length.plus(gradient.times(*gradient));
        }
        let mut factor = Models::ZERO;
        for lane in 0..MODELS {
            let is_lost = !(loss.0[lane] < LOST && length.0[lane].is_finite());
            if loss.0[lane] < self.best_loss.0[lane] {
                self.best_loss.0[lane] = loss.0[lane];
                self.best
                    .iter_mut()
                    .zip(&self.now)
                    .for_each(|(best, now)| best.0[lane] = now.0[lane]);
            }
            if is_lost {
                self.gradient.iter_mut().for_each(|gradient| gradient.0[lane] = 0.0);
                self.now.iter_mut().for_each(|now| now.0[lane] *= 0.97);
            }
            factor.0[lane] = if is_lost {
                0.0
            } else {
                (LONGEST / length.0[lane].sqrt()).min(1.0)
            };
            self.steps.0[lane] += 1.0;
        }
        let unbias = |decay: f32| self.steps.map(|steps| (1.0 - decay.powf(steps)).recip());
        let (first_scale, second_scale) = (unbias(DECAY.0), unbias(DECAY.1));
        for (entry, gradient) in self.gradient.iter().enumerate() {
            let gradient = gradient.times(factor);
            for lane in 0..MODELS {
                let g = gradient.0[lane];
                let first = &mut self.first[entry].0[lane];
                *first = DECAY.0 * *first + (1.0 - DECAY.0) * g;
                let second = &mut self.second[entry].0[lane];
                *second = DECAY.1 * *second + (1.0 - DECAY.1) * g * g;
                let size = (*second * second_scale.0[lane]).sqrt() + 1e-10;
                self.now[entry].0[lane] -= rate * *first * first_scale.0[lane] / size;
            }
        }
    }

    /// Back into the walkers.
    fn unpack(&self, pack: &mut [Walker]) {
        let parameters = self.shape.parameters();
        for (lane, walker) in pack.iter_mut().enumerate() {
            let column = |from: &[Models]| from.iter().map(|value| value.0[lane]).collect::<Vec<_>>();
            walker.momentum = Moments {
                first: column(&self.first),
                second: column(&self.second),
                steps: self.steps.0[lane] as i32,
                now: column(&self.now),
            };
            let best: Vec<f64> = column(&self.best).into_iter().map(f64::from).collect();
            walker.fitted.model.theta.copy_from_slice(&best[..parameters]);
            for (to, from) in walker
                .fitted
                .x0
                .iter_mut()
                .zip(best[parameters..].chunks_exact(self.shape.states))
            {
                to.copy_from_slice(from);
            }
            walker.loss = self.best_loss.0[lane].into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::descent::mean_squared_error;
    use crate::state_space::start::at_random;

    /// The output shows the size of a state only: no linear start helps, random ones do.
    #[test]
    fn random_starts_find_a_rectified_output() {
        let len = 400;
        let u: Vec<f64> = (0..len)
            .map(|k| (0.11 * k as f64).sin() + (0.041 * k as f64).cos())
            .collect();
        let mut x = 0.0;
        let y: Vec<f64> = u
            .iter()
            .map(|u| {
                let y = f64::abs(x) - 0.7;
                x = 0.8 * x + 0.3 * u;
                y
            })
            .collect();
        let runs = [Run::new(1, 1, u, y)];
        let scored = [Scored::all(&runs)];
        let shape = Shape {
            states: 2,
            inputs: 1,
            outputs: 1,
            state_hidden: 4,
            output_hidden: 4,
        };
        let start = |seed| Fitted {
            model: at_random(shape, 20.0, seed),
            x0: vec![vec![0.0; 2]],
        };
        let walkers = (0..16).map(|seed| Walker::new(start(seed), 0, 1e-5)).collect();
        let found = explore(walkers, &runs, &scored, &ExploreConfig::default(), || true);
        assert_eq!(found.len(), 4);
        assert!(
            found[0].loss < 0.02 && found[0].loss <= found[1].loss,
            "{}",
            found[0].loss
        );
        let mse = mean_squared_error(&found[0].fitted, &runs, &scored[0]).expect("stable");
        assert!(mse < found[0].loss);
    }
}
