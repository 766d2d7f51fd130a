//! Where fits start: networks beside a linear model, and models that are random altogether.
//!
//! W₁ ~ N(0, 1/width), b₁ ~ U(-1, 1), W₂ ~ N(0, s²/hidden): with inputs of unit variance the units bend in different places of
//! the range that matters. Beside a linear model s = 10⁻³; at random s = 0.3, and A has modes exp(-1/τ) with log τ uniform.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::map::Map;
use super::model::{Shape, StateSpace};

/// s of a network that is to change a linear model little at first. A plant that integrates makes much of little: with 0.05 the
/// linear start of a double integrator is lost at once.
const QUIET: f64 = 1e-3;

/// `linear` with random networks of the given sizes beside its linear paths, nearly silent at first.
///
/// Units bend in different places of the unit-variance range of [x; u].
pub fn beside_linear(linear: &StateSpace, state_hidden: usize, output_hidden: usize, seed: u64) -> StateSpace {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let shape = Shape {
        state_hidden,
        output_hidden,
        ..linear.shape
    };
    let [state, output] = [shape.state_map(), shape.output_map()].map(|map| network(map, QUIET, &mut rng));
    linear.with_networks(state_hidden, output_hidden, &state, &output)
}

/// `model` with networks of the given, larger sizes: the new units bend in different places, and count for nothing at first.
pub(crate) fn with_more_units(model: &StateSpace, state_hidden: usize, output_hidden: usize, seed: u64) -> StateSpace {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let before = model.shape;
    let shape = Shape {
        state_hidden,
        output_hidden,
        ..before
    };
    let mut grown = model.widened(shape);
    let (state, output) = grown.theta.split_at_mut(shape.state_map().parameters());
    let maps = [
        (state, shape.state_map(), before.state_hidden),
        (output, shape.output_map(), before.output_hidden),
    ];
    for (theta, map, known) in maps {
        let random = network(map, 0.0, &mut rng);
        let new_weights = map.inner().start + known * map.width..map.inner().end;
        let new_biases = map.inner_bias().start + known..map.inner_bias().end;
        for range in [new_weights, new_biases] {
            theta[range.clone()].copy_from_slice(&random[range]);
        }
    }
    grown
}

/// A random stable model: decaying and oscillating modes with time constants spread over 1 to `horizon` samples, inputs
/// scaled so that states are of order one, and random networks.
pub fn at_random(shape: Shape, horizon: f64, seed: u64) -> StateSpace {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (nx, nu, ny) = (shape.states, shape.inputs, shape.outputs);
    let width = nx + nu;
    let mut ab = vec![0.0; nx * width];
    let mut speed = vec![0.0; nx];
    let mut at = 0;
    while at < nx {
        let time = horizon.max(2.0).powf(rng.random_range(0.0..1.0));
        let decay = (-1.0 / time).exp();
        let is_pair = at + 1 < nx && rng.random_range(0.0..1.0) < 0.4;
        if is_pair {
            // At most a few radians before the mode has decayed, at least a quarter of one.
            let angle: f64 = (rng.random_range(0.25..4.0) / time).min(2.5);
            let (sine, cosine) = angle.sin_cos();
            for (row, column, value) in [(0, 0, cosine), (0, 1, -sine), (1, 0, sine), (1, 1, cosine)] {
                ab[(at + row) * width + at + column] = decay * value;
            }
        } else {
            ab[at * width + at] = decay;
        }
        let size = if is_pair { 2 } else { 1 };
        speed[at..at + size].fill((1.0 - decay).powf(0.75));
        at += size;
    }
    for state in 0..nx {
        for input in 0..nu {
            ab[state * width + nx + input] = speed[state] * normal(&mut rng);
        }
    }
    let scale = 0.5 / (nx as f64).sqrt();
    let mut cd = vec![0.0; ny * width];
    for output in 0..ny {
        for state in 0..nx {
            cd[output * width + state] = scale * normal(&mut rng);
        }
    }
    let linear = StateSpace::linear((nx, nu, ny), &ab, &cd);
    let mut state = network(shape.state_map(), 0.3, &mut rng);
    let outer = shape.state_map().outer();
    for (row, weights) in state[outer].chunks_exact_mut(shape.state_hidden.max(1)).enumerate() {
        // Slow states are driven slowly by their network as well.
        weights.iter_mut().for_each(|weight| *weight *= speed[row]);
    }
    let output = network(shape.output_map(), 0.3, &mut rng);
    linear.with_networks(shape.state_hidden, shape.output_hidden, &state, &output)
}

/// W₁, b₁, W₂ of a network on inputs of unit variance.
fn network(map: Map, outer: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut theta = vec![0.0; map.outer().end];
    let scale = 1.0 / (map.width as f64).sqrt();
    theta[map.inner()].iter_mut().for_each(|w| *w = scale * normal(rng));
    theta[map.inner_bias()]
        .iter_mut()
        .for_each(|b| *b = rng.random_range(-1.0..1.0));
    let scale = outer / (map.hidden.max(1) as f64).sqrt();
    theta[map.outer()].iter_mut().for_each(|w| *w = scale * normal(rng));
    theta
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::linear::Linear;
    use crate::state_space::run::Run;

    #[test]
    fn random_models_are_stable_and_their_states_of_order_one() {
        let u: Vec<f64> = (0..2000).map(|k| 1.4 * (0.02 * k as f64).sin()).collect();
        let run = Run::new(1, 1, u, vec![0.0; 2000]);
        let shape = Shape {
            states: 4,
            inputs: 1,
            outputs: 1,
            state_hidden: 6,
            output_hidden: 3,
        };
        for seed in 0..50 {
            let model = at_random(shape, 200.0, seed);
            assert!(Linear::from_model(&model).radius() < 1.0);
            let x = model.state_after(&run, &[0.0; 4], 1000).expect("stable");
            assert!(x.iter().all(|x| x.abs() < 60.0), "{seed}: {x:?}");
            assert_eq!(model, at_random(shape, 200.0, seed));
        }
    }

    /// New units have no effect, and one derivative or the other that is not zero, or they would never have one.
    #[test]
    fn a_model_that_grows_does_what_it_did() {
        let shape = Shape {
            states: 3,
            inputs: 1,
            outputs: 2,
            state_hidden: 4,
            output_hidden: 0,
        };
        let model = at_random(shape, 50.0, 3);
        let u: Vec<f64> = (0..200).map(|k| (0.3 * k as f64).sin()).collect();
        let run = Run::new(1, 2, u, vec![0.0; 400]);
        let before = model.simulate(&run, &[0.1; 3]).expect("stable");
        let grown = with_more_units(&model, 7, 5, 8);
        assert_eq!((grown.shape.state_hidden, grown.shape.output_hidden), (7, 5));
        assert_eq!(before, grown.simulate(&run, &[0.1; 3]).expect("stable"));
        for (theta, map, known) in [
            (grown.state_theta(), grown.shape.state_map(), 4),
            (grown.output_theta(), grown.shape.output_map(), 0),
        ] {
            let new = &theta[map.inner()][known * map.width..];
            assert!(new.iter().all(|w| *w != 0.0));
        }
    }

    #[test]
    fn quiet_networks_leave_a_linear_model_nearly_as_it_was() {
        let linear = StateSpace::linear((2, 1, 1), &[0.9, 0.1, 0.3, -0.1, 0.8, 0.2], &[1.0, 0.5, 0.0]);
        let u: Vec<f64> = (0..200).map(|k| (0.3 * k as f64).sin()).collect();
        let run = Run::new(1, 1, u, vec![0.0; 200]);
        let before = linear.simulate(&run, &[0.0; 2]).expect("stable");
        let after = beside_linear(&linear, 8, 8, 5)
            .simulate(&run, &[0.0; 2])
            .expect("stable");
        let largest = before
            .iter()
            .zip(&after)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(largest > 0.0 && largest < 1.0, "{largest}");
    }
}
