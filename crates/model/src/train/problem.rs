//! Everything about a fit that training does not change: data in network form, checked once.

use intervalid_data::{ArxModel, Dataset, Normaliser, Scaled, Split, Window, Windows, free_run_windows};
use intervalid_interval::{Real, SimdLevel};
use rand::{Rng as _, RngExt as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::part::BatchShape;
use super::state::State;
use crate::config::CheckedConfig;
use crate::error::{ModelError, Result};
use crate::family::body::{Networks, OfPrecision};
use crate::family::gaussian::{GaussianNetworks, Posterior, initial_posterior};
use crate::family::interval::IntervalNetwork;
use crate::interface::ModelInterface;
use crate::kind::{Method, Precision};
use crate::memory;
use crate::model::Model;
use crate::network::initialise::{Purpose, generator, initial_parameters};
use crate::network::{Architecture, Block, Layout, Role};
use crate::train::loss::RqrW;

pub(super) struct Problem<T> {
    pub(super) config: CheckedConfig,
    pub(super) architecture: Architecture,
    pub(super) layout: Layout,
    pub(super) normaliser: Normaliser,
    pub(super) scaled: Scaled<T>,
    pub(super) windows: Windows,
    pub(super) validation: Vec<Window>,
    pub(super) loss: RqrW,
    /// Training and validation part, as JSON.
    parts: String,
    /// Of an ensemble; none otherwise.
    member_seeds: Vec<u64>,
    /// Least-squares ARX on the training part: rows of A and the bias, where there is a linear path.
    arx: Option<ArxModel>,
}

impl<T: Real> Problem<T> {
    pub(super) fn new(dataset: &Dataset, split: &Split, config: &CheckedConfig) -> Result<Self> {
        let normaliser = Normaliser::fit(dataset, &split.train)?;
        Self::in_units(normaliser, dataset, split, config)
    }

    /// A problem whose numbers are in other units than those of its training part.
    pub(super) fn in_units(
        normaliser: Normaliser,
        dataset: &Dataset,
        split: &Split,
        config: &CheckedConfig,
    ) -> Result<Self> {
        let method = config.model.method();
        let channels = (dataset.inputs().len(), dataset.outputs().len());
        let Some(architecture) = Architecture::of(config, channels.0, channels.1) else {
            return Err(ModelError::option("model", config.model, "a network"));
        };
        architecture.check()?;
        if config.network.linear_path {
            memory::check_linear(config.lags, channels.0, channels.1)?;
        }
        let trained = match config.training.train_on_validation {
            true => &split.train_and_validation(),
            false => &split.train,
        };
        let windows = Windows::new(dataset, trained, config.lags, config.initial, config.training.window)?;
        memory::check_training::<T>(config, &architecture, windows.len())?;
        let validation = free_run_windows(dataset, &split.validation, config.lags, config.initial)?;
        let arx = match config.network.linear_path {
            true => Some(ArxModel::fit(
                &normaliser.scale::<f64>(dataset),
                &split.train,
                config.lags,
                true,
            )?),
            false => None,
        };
        let mut seeds = generator(config.seed, Purpose::Members, 0);
        let members = match method {
            Method::Ensemble => config.gaussian.members,
            _ => 0,
        };
        Ok(Self {
            config: config.clone().with_precision(Precision::of::<T>()),
            parts: as_json("the parts of a record", &[&split.train, &split.validation])?,
            member_seeds: (0..members).map(|_| seeds.next_u64()).collect(),
            layout: architecture.layout(),
            scaled: normaliser.scale(dataset),
            loss: RqrW::new(
                config.trained_coverage(),
                config.interval.width_penalty,
                config.interval.level,
            ),
            architecture,
            normaliser,
            windows,
            validation,
            arx,
        })
    }

    /// Seed of a stage: the configured one, or that of an ensemble's member.
    pub(super) fn seed(&self, stage: usize) -> u64 {
        match self.config.model.method() {
            Method::Ensemble => self.member_seeds[stage.min(self.member_seeds.len() - 1)],
            _ => self.config.seed,
        }
    }

    /// Numbers that training moves, besides margins.
    pub(super) fn theta_len(&self) -> usize {
        match self.config.model.method() {
            Method::Bayesian => 2 * self.layout.len(),
            _ => self.layout.len(),
        }
    }

    /// Margins on each side; only interval networks have them.
    pub(super) fn margins_len(&self) -> usize {
        match self.config.model.method() {
            Method::Interval => self.layout.len(),
            _ => 0,
        }
    }

    /// What training starts a stage from.
    pub(super) fn initial_theta(&self, stage: usize) -> Vec<T> {
        let theta = self.initial_network(self.seed(stage));
        match self.config.model.method() {
            Method::Bayesian => initial_posterior(theta),
            _ => theta,
        }
    }

    fn initial_network(&self, seed: u64) -> Vec<T> {
        let mut theta = initial_parameters::<T>(&self.architecture, seed);
        if let (Some(arx), Some(readout)) = (&self.arx, self.layout.layers.last()) {
            for (to, from) in theta[self.layout.linear.clone()]
                .iter_mut()
                .zip(arx.coefficients.iter().flatten())
            {
                *to = T::of(*from);
            }
            for (to, from) in theta[readout.bias.clone()].iter_mut().zip(&arx.bias) {
                *to = T::of(*from);
            }
            // Nearly silent at first, so that training starts from the linear fit and not beside it.
            for weight in &mut theta[readout.weight.clone()] {
                *weight *= T::of(0.01);
            }
        }
        theta
    }

    /// Predicted samples of a window.
    pub(super) fn steps(&self) -> usize {
        self.config.training.window.length - 1
    }

    /// Windows per mini-batch: what was asked, or all there are.
    pub(super) fn batch_windows(&self) -> usize {
        self.config.training.batch.min(self.windows.len())
    }

    /// Sizes of a mini-batch.
    pub(super) fn batch_shape(&self) -> BatchShape {
        BatchShape {
            windows: self.batch_windows(),
            steps: self.steps(),
            warmup: self.config.initial.unscored(),
        }
    }

    /// As [`Problem::batch_windows`], for the cascade's second stage.
    pub(super) fn margin_batch_windows(&self) -> usize {
        let windows = self.config.interval.margin_batch.unwrap_or(self.config.training.batch);
        windows.min(self.windows.len())
    }

    /// θ, or where weight noise is asked for `noisy`, filled with θ and noise on its weights.
    pub(super) fn perturbed<'a>(&self, theta: &'a [T], rng: &mut ChaCha8Rng, noisy: &'a mut Vec<T>) -> &'a [T] {
        let scale = self.config.training.weight_noise;
        if scale <= 0.0 {
            return theta;
        }
        noisy.clear();
        noisy.extend_from_slice(theta);
        for weight in self.weights().flat_map(|block| block.range.clone()) {
            noisy[weight] += T::of(scale * rng.sample::<f64, _>(StandardNormal));
        }
        noisy
    }

    /// Takes `rate` times `weight_decay` of every weight away, and times `hidden_decay` of those before the read-out; biases stay,
    /// and of a Bayesian network all, since it has a prior.
    pub(super) fn decay(&self, theta: &mut [T], rate: f64) {
        if self.config.model.method() == Method::Bayesian {
            return;
        }
        let training = &self.config.training;
        for block in self.weights() {
            let decay = match self.layout.is_output(block) {
                true => training.weight_decay,
                false => training.weight_decay + training.hidden_decay,
            };
            if decay > 0.0 {
                let keep = T::of(1.0 - rate * decay);
                theta[block.range.clone()].iter_mut().for_each(|weight| *weight *= keep);
            }
        }
    }

    fn weights(&self) -> impl Iterator<Item = &Block> {
        self.layout.blocks().iter().filter(|block| block.role != Role::Bias)
    }

    /// What must agree for a checkpoint to belong to this fit. Instruction sets round differently, and versions may train differently:
    /// what one of them has begun, another would not end with the same model.
    pub(super) fn fingerprint(&self) -> Result<String> {
        let config = as_json("a configuration", &*self.config)?;
        let mut hash = Fnv::default();
        for experiment in self.scaled.experiments() {
            for channel in 0..experiment.inputs() {
                hash.add(experiment.input(channel));
            }
            for channel in 0..experiment.outputs() {
                hash.add(experiment.output(channel));
            }
        }
        Ok(format!(
            "{config} {} data {:016x} parts {} version {} at {}",
            T::NAME,
            hash.0,
            self.parts,
            env!("CARGO_PKG_VERSION"),
            SimdLevel::current()
        ))
    }
}

impl<T: OfPrecision> Problem<T> {
    /// The model that training has arrived at.
    pub(super) fn into_model(self, dataset: &Dataset, state: State<T>) -> Model {
        let interface = ModelInterface::new(dataset, self.normaliser.clone());
        let mut config = self.config.clone().into_inner();
        let networks = match config.model.method() {
            Method::Interval => Networks::Interval(vec![self.interval_network(state)]),
            method => {
                let networks = self.gaussian_networks(state);
                // Fewer than asked for where training was interrupted.
                if method == Method::Ensemble {
                    config.gaussian.members = networks.members.len();
                }
                Networks::Gaussian(networks)
            }
        };
        Model::new(interface, config, T::body(networks))
    }

    fn interval_network(self, state: State<T>) -> IntervalNetwork<T> {
        let mut margin_lower = vec![T::zero(); state.theta.len()];
        let mut margin_upper = margin_lower.clone();
        self.config.interval.margin.apply(&state.raw.lower, &mut margin_lower);
        self.config.interval.margin.apply(&state.raw.upper, &mut margin_upper);
        IntervalNetwork {
            architecture: self.architecture,
            theta: state.theta,
            margin_lower,
            margin_upper,
        }
    }

    fn gaussian_networks(self, state: State<T>) -> GaussianNetworks<T> {
        let mut members = state.members;
        let mut spread = Vec::new();
        if self.config.model.method() == Method::Bayesian {
            spread = Posterior::new(&members[0]).spread();
            members[0].truncate(self.layout.len());
        }
        GaussianNetworks {
            architecture: self.architecture,
            members,
            spread,
        }
    }
}

fn as_json(what: &'static str, value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|source| ModelError::Serialise { what, source })
}

/// FNV-1a: enough to notice that a checkpoint is of other data, stable across platforms and releases.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add<T: Real>(&mut self, values: &[T]) {
        for value in values {
            for byte in value.as_f64().to_le_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}
