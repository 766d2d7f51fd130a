//! A small nonlinear ARX model in double precision, with derivatives.

use intervalid_data::{ArxModel, InitialState, Lags, PastOutputs, Regressor, Scaled, ScaledExperiment, Window};
use intervalid_model::DIVERGED;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::doubt::whole_windows;
use crate::state_space::tanh;

/// ŷ(k) = A x(k) + b + W tanh(… tanh(W₀ x(k) + b₀)); without hidden layers ŷ(k) = A x(k) + b.
///
/// θ lies as in [`Architecture::layout`](intervalid_model::Architecture::layout) of a NODE with a linear path: weights and bias of
/// every layer, the read-out's, then A.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Narx {
    pub(crate) lags: Lags,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) hidden: Vec<usize>,
    pub(crate) theta: Vec<f64>,
}

/// Buffers of one step and its derivatives.
pub(crate) struct Tape {
    /// Outputs of every hidden layer.
    activations: Vec<Vec<f64>>,
    /// Adjoints of the layer at hand and of the one before it.
    adjoints: [Vec<f64>; 2],
    pub(crate) regressor: Vec<f64>,
    /// `[output][parameter]`
    pub(crate) by_theta: Vec<f64>,
    /// `[output][regressor entry]`
    pub(crate) by_regressor: Vec<f64>,
}

impl Narx {
    /// The linear model of a least-squares fit.
    pub(crate) fn linear(arx: &ArxModel, inputs: usize) -> Self {
        let mut theta = arx.bias.clone();
        theta.extend(arx.coefficients.iter().flatten());
        Self {
            lags: arx.lags,
            inputs,
            outputs: arx.outputs(),
            hidden: Vec::new(),
            theta,
        }
    }

    /// This linear model with a nearly silent random network beside it.
    pub(crate) fn with_network(&self, hidden: &[usize], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut theta = Vec::new();
        let mut inner = self.regressor_len();
        for &width in hidden {
            let limit = (6.0 / (inner + width) as f64).sqrt();
            theta.extend((0..width * inner).map(|_| rng.random_range(-limit..limit)));
            // Different kinks from the start, or all units would bend at the mean of the data.
            theta.extend((0..width).map(|_| rng.random_range(-1.0..1.0)));
            inner = width;
        }
        let limit = 0.01 * (6.0 / (inner + self.outputs) as f64).sqrt();
        theta.extend((0..self.outputs * inner).map(|_| rng.random_range(-limit..limit)));
        theta.extend(&self.theta);
        Self {
            hidden: hidden.to_vec(),
            theta,
            ..self.clone()
        }
    }

    pub(crate) fn regressor(&self) -> Regressor {
        Regressor::new(self.lags, self.inputs, self.outputs)
    }

    pub(crate) fn regressor_len(&self) -> usize {
        self.regressor().len()
    }

    /// As an ARX model, where there is no network.
    pub(crate) fn to_arx(&self) -> ArxModel {
        let (bias, coefficients) = self.theta.split_at(self.outputs);
        ArxModel {
            lags: self.lags,
            coefficients: coefficients.chunks(self.regressor_len()).map(<[f64]>::to_vec).collect(),
            bias: bias.to_vec(),
        }
    }

    /// Which parameters are weights of the network: those that a penalty holds back.
    pub(crate) fn is_penalised(&self) -> Vec<bool> {
        let mut mask = Vec::with_capacity(self.theta.len());
        let mut inner = self.regressor_len();
        for &width in &self.hidden {
            mask.extend(std::iter::repeat_n(true, width * inner));
            mask.extend(std::iter::repeat_n(false, width));
            inner = width;
        }
        if !self.hidden.is_empty() {
            mask.extend(std::iter::repeat_n(true, self.outputs * inner));
        }
        mask.resize(self.theta.len(), false);
        mask
    }

    pub(crate) fn tape(&self) -> Tape {
        let widest = self.hidden.iter().copied().max().unwrap_or(0);
        Tape {
            activations: self.hidden.iter().map(|&width| vec![0.0; width]).collect(),
            adjoints: [vec![0.0; widest], vec![0.0; widest]],
            regressor: vec![0.0; self.regressor_len()],
            by_theta: vec![0.0; self.outputs * self.theta.len()],
            by_regressor: vec![0.0; self.outputs * self.regressor_len()],
        }
    }

    /// y for the regressor on the tape.
    pub(crate) fn step(&self, tape: &mut Tape, y: &mut [f64]) {
        let mut at = 0;
        for layer in 0..self.hidden.len() {
            let (before, rest) = tape.activations.split_at_mut(layer);
            let from = before.last().unwrap_or(&tape.regressor);
            let (weights, bias) = self.theta[at..].split_at(rest[0].len() * from.len());
            for ((to, row), bias) in rest[0].iter_mut().zip(weights.chunks_exact(from.len())).zip(bias) {
                *to = dot(row, from) + bias;
            }
            tanh(&mut rest[0]);
            at += rest[0].len() * (from.len() + 1);
        }
        let last = tape.activations.last().map_or([].as_slice(), Vec::as_slice);
        let (readout, rest) = self.theta[at..].split_at(self.outputs * last.len());
        let (bias, linear) = rest.split_at(self.outputs);
        let width = tape.regressor.len();
        for (output, y) in y.iter_mut().enumerate() {
            *y = bias[output]
                + dot(&linear[output * width..(output + 1) * width], &tape.regressor)
                + dot(&readout[output * last.len()..(output + 1) * last.len()], last);
        }
    }

    /// Derivatives of the step just made, in the tape.
    pub(crate) fn differentiate(&self, tape: &mut Tape) {
        let parameters = self.theta.len();
        let width = tape.regressor.len();
        let linear = parameters - self.outputs * width;
        let bias = linear - self.outputs;
        let last = self.hidden.last().copied().unwrap_or(0);
        let readout = bias - self.outputs * last;
        tape.by_theta.fill(0.0);
        for output in 0..self.outputs {
            let gradient = &mut tape.by_theta[output * parameters..(output + 1) * parameters];
            let slope = &mut tape.by_regressor[output * width..(output + 1) * width];
            let row = linear + output * width;
            gradient[row..row + width].copy_from_slice(&tape.regressor);
            slope.copy_from_slice(&self.theta[row..row + width]);
            gradient[bias + output] = 1.0;
            let Some(top) = tape.activations.last() else { continue };
            let row = readout + output * last;
            gradient[row..row + last].copy_from_slice(top);
            let [now, before] = &mut tape.adjoints;
            now[..last].copy_from_slice(&self.theta[row..row + last]);
            let mut end = readout;
            for layer in (0..self.hidden.len()).rev() {
                let out = self.hidden[layer];
                let input = match layer {
                    0 => tape.regressor.as_slice(),
                    _ => tape.activations[layer - 1].as_slice(),
                };
                let start = end - out * (input.len() + 1);
                for (adjoint, a) in now[..out].iter_mut().zip(&tape.activations[layer]) {
                    *adjoint *= 1.0 - a * a;
                }
                gradient[end - out..end].copy_from_slice(&now[..out]);
                for (unit, &adjoint) in now[..out].iter().enumerate() {
                    let row = start + unit * input.len();
                    for (to, x) in gradient[row..row + input.len()].iter_mut().zip(input) {
                        *to = adjoint * x;
                    }
                    let weights = &self.theta[row..row + input.len()];
                    let to = match layer {
                        0 => &mut *slope,
                        _ => {
                            if unit == 0 {
                                before[..input.len()].fill(0.0);
                            }
                            &mut before[..input.len()]
                        }
                    };
                    for (to, weight) in to.iter_mut().zip(weights) {
                        *to += adjoint * weight;
                    }
                }
                core::mem::swap(now, before);
                end = start;
            }
        }
    }

    /// Free runs over whole stretches, one after the other; none where one leaves every sensible range.
    pub(crate) fn whole_runs(&self, stretches: &Scaled<f64>, initial: InitialState) -> Option<Vec<f64>> {
        let mut tape = self.tape();
        let mut all = Vec::new();
        for window in whole_windows(stretches, initial) {
            let experiment = &stretches.experiments()[window.experiment];
            let keep = |_: usize, _: &mut Tape, y: &[f64]| all.extend_from_slice(y);
            if !self.run(experiment, window, initial, &mut tape, keep) {
                return None;
            }
        }
        Some(all)
    }

    /// Free run over `window` from measured outputs, told step by step: `visit(step, tape, prediction)` after each.
    ///
    /// Returns false if the run left every sensible range, where it ends.
    pub(crate) fn run(
        &self,
        experiment: &ScaledExperiment<f64>,
        window: Window,
        initial: InitialState,
        tape: &mut Tape,
        mut visit: impl FnMut(usize, &mut Tape, &[f64]),
    ) -> bool {
        let regressor = self.regressor();
        let sources = PastOutputs::of_run(window, self.lags, initial);
        let steps = window.len - 1;
        let mut past = vec![0.0; steps * self.outputs];
        for (step, k) in window.predicted().enumerate() {
            let predicted = |step: usize, output: usize| past[step * self.outputs + output];
            regressor.write_outputs(experiment, &sources, k, predicted, &mut tape.regressor);
            regressor.write_inputs(experiment, k, &mut tape.regressor);
            let now = &mut past[step * self.outputs..(step + 1) * self.outputs];
            self.step(tape, now);
            if now.iter().any(|y| y.is_nan() || y.abs() > DIVERGED) {
                return false;
            }
            visit(step, tape, &past[step * self.outputs..(step + 1) * self.outputs]);
        }
        true
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_central_differences() {
        for hidden in [vec![], vec![3], vec![4, 2]] {
            let arx = ArxModel {
                lags: Lags { nx: 1, nd: 0, ny: 2 },
                coefficients: vec![
                    vec![0.3, -0.2, 0.5, 0.1, 0.7, -0.4],
                    vec![0.1, 0.2, -0.3, 0.4, 0.5, 0.6],
                ],
                bias: vec![0.05, -0.1],
            };
            let linear = Narx::linear(&arx, 1);
            let mut model = match hidden.as_slice() {
                [] => linear,
                hidden => linear.with_network(hidden, 3),
            };
            model
                .theta
                .iter_mut()
                .enumerate()
                .for_each(|(i, t)| *t += 0.3 * (i as f64).sin());
            let x = [0.4, -0.7, 0.2, 0.9, -0.3, 0.6];
            let mut tape = model.tape();
            let y = |model: &Narx, x: &[f64]| {
                let mut tape = model.tape();
                tape.regressor.copy_from_slice(x);
                let mut y = [0.0; 2];
                model.step(&mut tape, &mut y);
                y
            };
            tape.regressor.copy_from_slice(&x);
            model.step(&mut tape, &mut [0.0; 2]);
            model.differentiate(&mut tape);
            let step = 1e-6;
            for index in 0..model.theta.len() {
                let (mut up, mut down) = (model.clone(), model.clone());
                up.theta[index] += step;
                down.theta[index] -= step;
                let (up, down) = (y(&up, &x), y(&down, &x));
                for output in 0..2 {
                    let expected = (up[output] - down[output]) / (2.0 * step);
                    let found = tape.by_theta[output * model.theta.len() + index];
                    assert!(
                        (found - expected).abs() < 1e-8,
                        "{hidden:?} {index}: {found} {expected}"
                    );
                }
            }
            for index in 0..x.len() {
                let (mut up, mut down) = (x, x);
                up[index] += step;
                down[index] -= step;
                let (up, down) = (y(&model, &up), y(&model, &down));
                for output in 0..2 {
                    let expected = (up[output] - down[output]) / (2.0 * step);
                    let found = tape.by_regressor[output * x.len() + index];
                    assert!(
                        (found - expected).abs() < 1e-8,
                        "{hidden:?} x{index}: {found} {expected}"
                    );
                }
            }
        }
    }
}
