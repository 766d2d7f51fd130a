//! A training iteration for benchmarks: the code that a fit runs, on arrays that other programs can be given too.

use intervalid_data::{BoucWenDamper, Normaliser, Part, Regressor, Scaled, Window};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::iteration::{Crisp, Joint};
use super::part::{BatchShape, Team};
use crate::config::{FitConfig, Strategy};
use crate::error::{ModelError, Result};
use crate::kind::ModelKind;
use crate::network::initialise::initial_parameters;
use crate::network::{Architecture, Layout, NetworkKind, Role};
use crate::train::loss::{RqrW, mean_squared_error};
use crate::train::margin::RawMargins;
use crate::train::optim::{Adam, GradNorm, LEAST_SCALE, clip};

/// Windows of the mini-batch, samples of each, and samples between their starts.
const WINDOWS: usize = 64;
const LENGTH: usize = 40;
const STRIDE: usize = 5;
/// Of data and initial parameters.
const SEED: u64 = 1;
/// Iterations from one start to the next: weights straddle zero as training goes on, and that changes what an iteration costs.
const ITERATIONS: usize = 100;

/// Iterations of training from the same start, over and over, on one mini-batch of a simulated damper, with the threads of the pool
/// that it is called in.
pub struct IterationBench {
    crisp: Crisp<f32>,
    joint: Joint<f32>,
    config: FitConfig,
    network: NetworkKind,
    layout: Layout,
    scaled: Scaled<f32>,
    windows: Vec<Window>,
    loss: RqrW,
    start: (Vec<f32>, RawMargins<f32>),
    theta: Vec<f32>,
    raw: RawMargins<f32>,
    adam: [Adam<f32>; 3],
    gradnorm: GradNorm,
}

/// All that a program needs in order to do the same work, as `bench/peers` reads it.
#[derive(Clone, Debug, Serialize)]
pub struct IterationProblem {
    /// `node` or `lstm`.
    pub network: NetworkKind,
    /// Iterations of one pass from the start.
    pub iterations: usize,
    /// Adam's step size, of θ, of margins and of GradNorm's scales.
    pub learning_rate: f64,
    /// Longest gradient: of θ, of the margins below, of those above.
    pub clip: f64,
    /// α.
    pub coverage: f64,
    /// λ.
    pub width_penalty: f64,
    /// GradNorm's exponent.
    pub beta: f64,
    /// Least scale of GradNorm.
    pub least_scale: f64,
    /// Input taps `[window][step][tap]` of the predicted steps.
    pub inputs: Vec<Vec<Vec<f32>>>,
    /// Measured outputs `[window][sample]`, of which the first starts the free run.
    pub outputs: Vec<Vec<f32>>,
    /// θ at the start, layer by layer.
    pub theta: Vec<LayerArrays>,
    /// Δ' at the start, the same below and above.
    pub margins: Vec<LayerArrays>,
}

/// The arrays of one layer; gates of a cell in the order i, f, q, o.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LayerArrays {
    /// `[out][in]`
    #[serde(rename = "W")]
    weight: Vec<Vec<f32>>,
    /// `[4h][h]`, in LSTM cells only.
    #[serde(rename = "U", skip_serializing_if = "Vec::is_empty")]
    recurrent: Vec<Vec<f32>>,
    /// `[out]`
    #[serde(rename = "b")]
    bias: Vec<f32>,
}

impl IterationBench {
    /// An interval network as the preset `paper` has it, trained jointly, at the MR damper's regressor.
    ///
    /// # Errors
    /// If the model is no network, or the damper's record cannot be made.
    pub fn new(model: ModelKind) -> Result<Self> {
        let config = FitConfig {
            lags: FitConfig::paper("mr-damper", model, Strategy::Joint).lags,
            // Not the settings that were found for the damper's own record.
            ..FitConfig::paper("", model, Strategy::Joint)
        };
        let architecture = Architecture::of(&config, 1, 1)
            .ok_or_else(|| ModelError::option("model", model.name(), "a network, such as inode"))?;
        let first = config.lags.nx + config.lags.nd;
        let record = BoucWenDamper::default()
            .generate(first + WINDOWS * STRIDE + LENGTH, SEED)?
            .into_dataset();
        let scaled = Normaliser::fit(&record, &Part::whole(&record))?.scale(&record);
        let theta = initial_parameters::<f32>(&architecture, SEED);
        let layout = architecture.layout();
        let raw = RawMargins::initial(&config.interval, &layout, &theta);
        let windows = (0..WINDOWS).map(|w| Window {
            experiment: 0,
            start: first + STRIDE * w,
            len: LENGTH,
        });
        let shape = BatchShape {
            windows: WINDOWS,
            steps: LENGTH - 1,
            warmup: 0,
        };
        Ok(Self {
            crisp: Crisp::new(&architecture, shape, mean_squared_error, Team::Pool),
            joint: Joint::new(&architecture, shape, Team::Pool),
            windows: windows.collect(),
            loss: RqrW::new(config.coverage, config.interval.width_penalty, config.interval.level),
            adam: core::array::from_fn(|_| Adam::new(theta.len())),
            gradnorm: new_gradnorm(&config),
            start: (theta.clone(), raw.clone()),
            network: architecture.kind,
            layout,
            scaled,
            config,
            theta,
            raw,
        })
    }

    /// Back to the first iteration.
    pub fn restart(&mut self) {
        (self.theta, self.raw) = self.start.clone();
        self.adam = core::array::from_fn(|_| Adam::new(self.theta.len()));
        self.gradnorm = new_gradnorm(&self.config);
    }

    /// One crisp iteration: gather, forward, L_MSE, gradient, clip, Adam.
    pub fn crisp(&mut self) -> f64 {
        let (lags, initial) = (self.config.lags, self.config.initial);
        self.crisp.fill(&self.scaled, lags, initial, &self.windows);
        let loss = self.crisp.gradient(&self.theta);
        let training = &self.config.training;
        clip(&mut self.crisp.gradient, training.gradient_clip);
        self.adam[0].update(&mut self.theta, &self.crisp.gradient, training.learning_rate);
        loss
    }

    /// One joint iteration: gather, forward, both losses, all gradients, GradNorm, clip, Adam.
    pub fn joint(&mut self) -> [f64; 2] {
        let (lags, initial) = (self.config.lags, self.config.initial);
        self.joint.fill(&self.scaled, lags, initial, &self.windows);
        let margin = self.config.interval.margin;
        let losses = self
            .joint
            .gradients(&self.theta, &self.raw, margin, &self.loss, &mut self.gradnorm);
        let training = &self.config.training;
        let [of_theta, lower, upper] = &mut self.adam;
        clip(&mut self.joint.gradient, training.gradient_clip);
        of_theta.update(&mut self.theta, &self.joint.gradient, training.learning_rate);
        let sides = [(lower, &mut self.raw.lower), (upper, &mut self.raw.upper)];
        for (gradient, (adam, raw)) in self.joint.margin_gradients.iter_mut().zip(sides) {
            clip(gradient, training.gradient_clip);
            adam.update(raw, gradient, training.learning_rate);
        }
        losses
    }

    /// Share of the weights on bounds whose own bounds now lie on both sides of zero.
    #[must_use]
    pub fn straddling(&self) -> f64 {
        let mut margins = [vec![0.0; self.theta.len()], vec![0.0; self.theta.len()]];
        for (raw, margins) in [&self.raw.lower, &self.raw.upper].into_iter().zip(&mut margins) {
            self.config.interval.margin.apply(raw, margins);
        }
        let matrices = self.layout.interval_input();
        let weights = || matrices.iter().flat_map(|matrix| matrix.range.clone());
        let straddles = |&at: &usize| self.theta[at] < margins[0][at] && self.theta[at] > -margins[1][at];
        weights().filter(straddles).count() as f64 / weights().count() as f64
    }

    /// The work as data: the mini-batch, and the start.
    #[must_use]
    pub fn problem(&self) -> IterationProblem {
        let record = &self.scaled.experiments()[0];
        let regressor = Regressor::new(self.config.lags, record.inputs(), record.outputs());
        let taps_at = |k: usize| {
            let mut taps = vec![0.0; regressor.len() - regressor.output_len()];
            regressor.for_each_input(record, k, |row, value| taps[row - regressor.output_len()] = value);
            taps
        };
        let samples = |window: &Window| window.start..window.start + window.len;
        let windows = self.windows.iter();
        IterationProblem {
            network: self.network,
            iterations: ITERATIONS,
            learning_rate: self.config.training.learning_rate,
            clip: self.config.training.gradient_clip,
            coverage: self.config.coverage,
            width_penalty: self.config.interval.width_penalty,
            beta: self.config.interval.gradnorm_beta,
            least_scale: LEAST_SCALE,
            inputs: windows
                .clone()
                .map(|window| samples(window).skip(1).map(taps_at).collect())
                .collect(),
            outputs: windows
                .map(|window| record.output(0)[samples(window)].to_vec())
                .collect(),
            theta: layers(&self.layout, &self.start.0),
            margins: layers(&self.layout, &self.start.1.lower),
        }
    }
}

impl IterationProblem {
    /// The first digits of SHA-256 over all arrays in the order of the fields, as little-endian floats.
    #[must_use]
    pub fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |values: &[f32]| values.iter().for_each(|value| hash.update(value.to_le_bytes()));
        self.inputs.iter().flatten().for_each(|taps| add(taps));
        self.outputs.iter().for_each(|window| add(window));
        for layer in self.theta.iter().chain(&self.margins) {
            layer.weight.iter().chain(&layer.recurrent).for_each(|row| add(row));
            add(&layer.bias);
        }
        hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn new_gradnorm(config: &FitConfig) -> GradNorm {
    let interval = &config.interval;
    GradNorm::new(
        interval.gradnorm_beta,
        config.training.learning_rate,
        interval.gradnorm_optimiser,
    )
}

/// A flat vector of parameters, layer by layer.
fn layers(layout: &Layout, flat: &[f32]) -> Vec<LayerArrays> {
    let mut layers: Vec<LayerArrays> = Vec::new();
    let mut last = None;
    for block in layout.blocks() {
        if last != Some(block.layer) {
            layers.push(LayerArrays::default());
            last = Some(block.layer);
        }
        let values = &flat[block.range.clone()];
        let rows = || values.chunks(block.columns).map(<[f32]>::to_vec).collect();
        if let Some(layer) = layers.last_mut() {
            match block.role {
                Role::Weight => layer.weight = rows(),
                Role::Recurrent => layer.recurrent = rows(),
                Role::Bias => layer.bias = values.to_vec(),
            }
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_repeats_the_work_and_the_problem_is_that_of_the_start() {
        for model in [ModelKind::Inode, ModelKind::Ilstm] {
            let mut bench = IterationBench::new(model).unwrap();
            let (checksum, straddling) = (bench.problem().checksum(), bench.straddling());
            let mut run = || [bench.joint(), bench.joint(), bench.joint()];
            let first = run();
            assert_ne!(
                first[0].map(f64::to_bits),
                first[2].map(f64::to_bits),
                "training goes on"
            );
            assert_eq!(bench.problem().checksum(), checksum);
            bench.restart();
            assert!((bench.straddling() - straddling).abs() < f64::EPSILON);
            assert_eq!([bench.joint(), bench.joint(), bench.joint()], first);
        }
    }

    /// Taps newest first; the free run starts from the sample before the first prediction; every parameter is in a layer.
    #[test]
    fn a_problem_holds_the_windows_of_the_record() {
        let bench = IterationBench::new(ModelKind::Ilstm).unwrap();
        let problem = bench.problem();
        let record = &bench.scaled.experiments()[0];
        assert_eq!((problem.inputs.len(), problem.outputs.len()), (WINDOWS, WINDOWS));
        for (window, place) in bench.windows.iter().enumerate() {
            let (k, u) = (place.start + 1, record.input(0));
            assert_eq!(problem.inputs[window][0], [u[k], u[k - 1], u[k - 2]]);
            assert_eq!(problem.inputs[window].len(), LENGTH - 1);
            assert_eq!(problem.outputs[window][..2], record.output(0)[k - 1..=k]);
        }
        let sizes: usize = problem
            .theta
            .iter()
            .map(|layer| layer.bias.len() + layer.weight.iter().chain(&layer.recurrent).flatten().count())
            .sum();
        assert_eq!(sizes, bench.theta.len());
    }

    #[test]
    fn a_checksum_sees_every_array() {
        let problem = IterationBench::new(ModelKind::Ilstm).unwrap().problem();
        let changes: [fn(&mut IterationProblem); 5] = [
            |problem| problem.inputs[63][38][2] += 1.0,
            |problem| problem.outputs[63][39] += 1.0,
            |problem| problem.theta[1].recurrent[3][2] += 1.0,
            |problem| problem.theta[2].bias[0] += 1.0,
            |problem| problem.margins[0].weight[0][0] += 1.0,
        ];
        for change in changes {
            let mut changed = problem.clone();
            change(&mut changed);
            assert_ne!(changed.checksum(), problem.checksum());
        }
    }
}
