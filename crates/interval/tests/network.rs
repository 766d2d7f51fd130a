//! Small networks with interval weights: sampled weights stay inside, and widths shrink at first order.

use intervalid_interval::{Enclosure, EnclosureMatrix, Interval};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Crisp parameters of a dense layer, row-major `[outputs, inputs]`, and its bias.
struct Layer {
    inputs: usize,
    weights: Vec<f64>,
    bias: Vec<f64>,
}

impl Layer {
    fn random(random: &mut ChaCha8Rng, outputs: usize, inputs: usize) -> Self {
        let mut draw = |count| (0..count).map(|_| random.random_range(-1.0..1.0)).collect();
        Self {
            inputs,
            weights: draw(outputs * inputs),
            bias: draw(outputs),
        }
    }

    /// The layer with each parameter somewhere within `radius` of its centre.
    fn perturbed(&self, random: &mut ChaCha8Rng, radius: f64) -> Self {
        let mut perturb = |values: &[f64]| -> Vec<f64> {
            values
                .iter()
                .map(|value| (value + random.random_range(-1.0..=1.0) * radius).clamp(value - radius, value + radius))
                .collect()
        };
        Self {
            inputs: self.inputs,
            weights: perturb(&self.weights),
            bias: perturb(&self.bias),
        }
    }

    fn enclose(&self, radius: f64) -> (EnclosureMatrix, Vec<Enclosure>) {
        let widen = |values: &[f64]| -> Vec<_> {
            values
                .iter()
                .map(|&value| Enclosure::from_margins(value, radius, radius).unwrap())
                .collect()
        };
        let weights = EnclosureMatrix::new(self.bias.len(), self.inputs, widen(&self.weights)).unwrap();
        (weights, widen(&self.bias))
    }

    fn affine(&self, input: &[f64]) -> Vec<f64> {
        let rows = self.weights.chunks_exact(self.inputs);
        rows.zip(&self.bias)
            .map(|(row, bias)| bias + row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>())
            .collect()
    }

    fn affine_interval(&self, radius: f64, input: &[Interval<f64>]) -> Vec<Interval<f64>> {
        let widen = |value: f64| Interval::new(value - radius, value + radius).unwrap();
        let rows = self.weights.chunks_exact(self.inputs);
        rows.zip(&self.bias)
            .map(|(row, &bias)| {
                row.iter()
                    .zip(input)
                    .fold(widen(bias), |sum, (&w, &x)| sum + widen(w) * x)
            })
            .collect()
    }
}

fn layers(seed: u64) -> [Layer; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    [Layer::random(&mut random, 6, 4), Layer::random(&mut random, 1, 6)]
}

const INPUT: [f64; 4] = [0.3, -1.2, 0.0, 2.5];

fn enclose_output(layers: &[Layer; 2], radius: f64) -> Enclosure {
    let [hidden, output] = layers.each_ref().map(|layer| layer.enclose(radius));
    let input = INPUT.map(|value| Enclosure::from_point(value).unwrap());
    let hidden: Vec<_> = hidden
        .0
        .affine(&input, &hidden.1)
        .unwrap()
        .into_iter()
        .map(Enclosure::tanh)
        .collect();
    output.0.affine(&hidden, &output.1).unwrap()[0]
}

fn interval_output(layers: &[Layer; 2], radius: f64) -> Interval<f64> {
    let input = INPUT.map(|value| Interval::point(value).unwrap());
    let hidden: Vec<_> = layers[0]
        .affine_interval(radius, &input)
        .into_iter()
        .map(Interval::tanh)
        .collect();
    layers[1].affine_interval(radius, &hidden)[0]
}

fn crisp_output(layers: &[Layer; 2]) -> f64 {
    let hidden: Vec<_> = layers[0].affine(&INPUT).into_iter().map(libm::tanh).collect();
    layers[1].affine(&hidden)[0]
}

/// Rounding of a crisp forward pass of these sizes, generously: 24 operations on values below 16.
const CRISP_ROUNDING: f64 = 24.0 * 16.0 * f64::EPSILON;

proptest! {
    #[test]
    fn sampled_weights_stay_inside(seed in any::<u64>(), radius in 0.0..0.5_f64) {
        let centre = layers(seed);
        let (rigorous, ordinary) = (enclose_output(&centre, radius), interval_output(&centre, radius));
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 1);
        for _ in 0..8 {
            let output = crisp_output(&centre.each_ref().map(|layer| layer.perturbed(&mut random, radius)));
            prop_assert!(rigorous.inf() - CRISP_ROUNDING <= output && output <= rigorous.sup() + CRISP_ROUNDING);
            prop_assert!(ordinary.inf() - CRISP_ROUNDING <= output && output <= ordinary.sup() + CRISP_ROUNDING);
        }
        // The twins differ by rounding only.
        prop_assert!((rigorous.inf() - ordinary.inf()).abs() <= CRISP_ROUNDING);
        prop_assert!((rigorous.sup() - ordinary.sup()).abs() <= CRISP_ROUNDING);
    }

    #[test]
    fn a_crisp_network_has_an_output_of_rounding_width(seed in any::<u64>()) {
        let centre = layers(seed);
        prop_assert!(enclose_output(&centre, 0.0).wid() <= CRISP_ROUNDING);
        prop_assert!(interval_output(&centre, 0.0).wid() <= 0.0);
    }

    #[test]
    fn width_halves_with_the_radius(seed in any::<u64>()) {
        // Width is c r + O(r^2): each halving must bring the ratio towards 2.
        let centre = layers(seed);
        for width in [|l: &[Layer; 2], r| enclose_output(l, r).wid(), |l: &[Layer; 2], r| interval_output(l, r).wid()] {
            let ratio = |radius: f64| width(&centre, radius) / width(&centre, radius / 2.0);
            // Second-order terms are below 100 r relative to the first for these sizes; 1e-6 keeps rounding away.
            prop_assert!((ratio(1e-3) - 2.0).abs() < 0.1);
            prop_assert!((ratio(1e-6) - 2.0).abs() < 1e-4);
        }
    }
}

/// One LSTM cell with one unit: gates `i`, `f`, `o` and candidate `q` of `W x + U h + b`.
#[test]
fn lstm_step_can_be_enclosed() {
    let point = |value: f64| Enclosure::from_point(value).unwrap();
    let (x, h, c) = (0.7, -0.2, 0.4);
    let (w, u, b) = ([0.5, -0.3, 0.8, 1.1], [0.2, 0.4, -0.6, 0.9], [0.0, 1.0, 0.0, 0.1]);
    let weights = EnclosureMatrix::from_bounds(4, 1, &w, &w).unwrap();
    let recurrent = EnclosureMatrix::from_bounds(4, 1, &u, &u).unwrap();
    let gates = recurrent
        .affine(&[point(h)], &weights.affine(&[point(x)], &b.map(point)).unwrap())
        .unwrap();
    let (i, f, o, q) = (
        gates[0].sigmoid(),
        gates[1].sigmoid(),
        gates[2].sigmoid(),
        gates[3].tanh(),
    );
    let cell = f * point(c) + i * q;
    let output = o * cell.tanh();

    let sigmoid = |z: f64| 1.0 / (1.0 + libm::exp(-z));
    let z: Vec<_> = (0..4).map(|gate| w[gate] * x + u[gate] * h + b[gate]).collect();
    let crisp = sigmoid(z[2]) * libm::tanh(sigmoid(z[1]) * c + sigmoid(z[0]) * libm::tanh(z[3]));
    assert!((output.mid() - crisp).abs() <= 32.0 * f64::EPSILON);
    assert!(output.wid() <= 64.0 * f64::EPSILON);
}
