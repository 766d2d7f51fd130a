//! Random models and records for the tests of this crate.

use std::collections::HashMap;

use intervalid_data::{Channel, Dataset, Experiment, InitialState, Lags, Normaliser, Part, Preparation, Scale};
use intervalid_interval::Real;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::Result;
use crate::family::body::{Networks, OfPrecision};
use crate::family::interval::IntervalNetwork;
use crate::interface::ModelInterface;
use crate::kind::{ModelKind, Precision};
use crate::model::Model;
use crate::network::initialise::initial_parameters;
use crate::network::{Architecture, Head, NetworkKind};
use crate::simulate::certified::CertifiedBand;
use crate::simulate::recursion::RecursionMode;

/// What varies between test models.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) kind: NetworkKind,
    pub(crate) linear_path: bool,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) hidden: Vec<usize>,
    pub(crate) states: usize,
    pub(crate) lags: Lags,
    pub(crate) initial: InitialState,
    /// Largest margin.
    pub(crate) margin: f64,
    pub(crate) seed: u64,
}

/// An interval network whose parts tests may look at and change; a [`Model`] keeps them to itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestModel<T> {
    pub(crate) network: IntervalNetwork<T>,
    pub(crate) interface: ModelInterface,
    pub(crate) config: FitConfig,
}

impl<T> std::ops::Deref for TestModel<T> {
    type Target = IntervalNetwork<T>;

    fn deref(&self) -> &IntervalNetwork<T> {
        &self.network
    }
}

impl<T> std::ops::DerefMut for TestModel<T> {
    fn deref_mut(&mut self) -> &mut IntervalNetwork<T> {
        &mut self.network
    }
}

impl<T: OfPrecision> From<TestModel<T>> for Model {
    fn from(model: TestModel<T>) -> Self {
        Self::new(
            model.interface,
            model.config,
            T::body(Networks::Interval(vec![model.network])),
        )
    }
}

impl<T: OfPrecision> TestModel<T> {
    pub(crate) fn to_model(&self) -> Model {
        self.clone().into()
    }

    pub(crate) fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        self.to_model().simulate(dataset, part)
    }

    pub(crate) fn simulate_with(&self, dataset: &Dataset, part: &Part, mode: RecursionMode) -> Result<Vec<Band>> {
        self.to_model().simulate_with(dataset, part, mode)
    }

    pub(crate) fn simulate_certified(&self, dataset: &Dataset, part: &Part) -> Result<Vec<CertifiedBand>> {
        self.to_model().simulate_certified(dataset, part)
    }
}

/// NODE and LSTM, with and without a linear path, state-space models with and without networks, one and several channels, all
/// initial states.
pub(crate) fn recipes(margin: f64) -> Vec<Recipe> {
    let lags = |nx, nd, ny| Lags { nx, nd, ny };
    let mut recipes = Vec::new();
    for kind in [NetworkKind::Node, NetworkKind::Lstm] {
        for (linear_path, inputs, outputs, lags, initial) in [
            (false, 1, 1, lags(2, 1, 3), InitialState::ZeroPadded),
            (true, 2, 1, lags(0, 0, 1), InitialState::Measured),
            (false, 2, 3, lags(1, 0, 2), InitialState::Warmup(4)),
            (true, 1, 2, lags(1, 2, 2), InitialState::Measured),
        ] {
            recipes.push(Recipe {
                kind,
                linear_path,
                inputs,
                outputs,
                hidden: vec![5, 4],
                states: 0,
                lags,
                initial,
                margin,
                seed: recipes.len() as u64,
            });
        }
    }
    for (inputs, outputs, states, hidden, nd, initial) in [
        (1, 1, 3, [5, 4], 1, InitialState::ZeroPadded),
        (2, 1, 2, [4, 0], 0, InitialState::Warmup(4)),
        (2, 3, 4, [0, 5], 0, InitialState::History(5)),
        (1, 2, 2, [0, 0], 2, InitialState::Measured),
    ] {
        recipes.push(Recipe {
            kind: NetworkKind::StateSpace,
            linear_path: false,
            inputs,
            outputs,
            hidden: hidden.to_vec(),
            states,
            lags: lags(1, nd, 1),
            initial,
            margin,
            seed: recipes.len() as u64,
        });
    }
    recipes
}

impl Recipe {
    pub(crate) fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.seed)
    }

    /// A network with random parameters that simulates without blowing up.
    pub(crate) fn model<T: Real>(&self) -> TestModel<T> {
        let mut rng = self.rng();
        let architecture = Architecture {
            kind: self.kind,
            inputs: self.inputs,
            outputs: self.outputs,
            lags: self.lags,
            hidden: self.hidden.clone(),
            linear_path: self.linear_path,
            states: self.states,
            head: Head::Point,
        };
        let layout = architecture.layout();
        let mut theta = initial_parameters::<T>(&architecture, self.seed);
        for block in layout.blocks() {
            for value in &mut theta[block.range.clone()] {
                // A NODE adds its output to the last one: small steps keep it bounded.
                let scale = if layout.is_output(block) { 0.2 } else { 1.0 };
                *value = T::of(scale * (value.as_f64() + rng.random_range(-0.1..0.1)));
            }
        }
        let mut margins = || -> Vec<T> {
            let draw = |_: &T| T::of(self.margin * rng.random_range(0.0..1.0));
            theta.iter().map(draw).collect()
        };
        let (margin_lower, margin_upper) = (margins(), margins());
        let scales = |count: usize| -> Vec<Scale> {
            let scale = |index| Scale {
                mean: 0.1 + index as f64 / 3.0,
                std: 0.7 + index as f64 / 7.0,
            };
            (0..count).map(scale).collect()
        };
        let (inputs, outputs) = self.channels();
        TestModel {
            network: IntervalNetwork {
                architecture,
                theta,
                margin_lower,
                margin_upper,
            },
            interface: ModelInterface {
                inputs,
                outputs,
                sample_time: Some(0.1),
                experiment: None,
                normaliser: Normaliser {
                    inputs: scales(self.inputs),
                    outputs: scales(self.outputs),
                },
                calibration: None,
                region: None,
                horizons: None,
                light: None,
                output_ranges: Vec::new(),
                preparation: Preparation::default(),
                trend: None,
            },
            config: FitConfig::default().with(|config| {
                config.model = match self.kind {
                    NetworkKind::Node => ModelKind::Inode,
                    NetworkKind::Lstm => ModelKind::Ilstm,
                    NetworkKind::StateSpace => ModelKind::Iss,
                };
                config.precision = Precision::of::<T>();
                config.network.hidden = self.hidden.clone();
                config.network.states = (self.states > 0).then_some(self.states);
                config.lags = self.lags;
                config.network.linear_path = self.linear_path;
                config.initial = self.initial;
                config.training.learning_rate = 0.1 + 0.2;
            }),
        }
    }

    fn channels(&self) -> (Vec<Channel>, Vec<Channel>) {
        let named = |prefix: &str, count| (0..count).map(|i| Channel::new(format!("{prefix}{i}"))).collect();
        let (inputs, mut outputs): (_, Vec<Channel>) = (named("u", self.inputs), named("y", self.outputs));
        outputs[0].unit = Some("m/s²".to_owned());
        (inputs, outputs)
    }

    /// A random record of these channels.
    pub(crate) fn dataset(&self, samples: usize) -> (Dataset, Part) {
        let mut rng = self.rng();
        let mut columns = |count| -> Vec<Vec<f64>> {
            let mut column = |_| (0..samples).map(|_| rng.random_range(-1.0..1.0)).collect();
            (0..count).map(&mut column).collect()
        };
        let experiment = Experiment::new("e", columns(self.inputs), columns(self.outputs));
        let (inputs, outputs) = self.channels();
        let dataset = Dataset::new("d", inputs, outputs, Some(0.1), vec![experiment]).expect("valid");
        let part = Part::whole(&dataset);
        (dataset, part)
    }
}

/// Lower and upper end.
pub(crate) type Pair = (f64, f64);

/// Interval network by the formulas of docs/method.md, section 3 and nothing else: scalar loops over named tensors, everything an
/// interval. Equal ends give the crisp network.
#[derive(Debug)]
pub(crate) struct NaiveNetwork {
    /// Shape and row-major values, by the name in a model file without its prefix.
    pub(crate) tensors: HashMap<String, (Vec<usize>, Vec<Pair>)>,
    pub(crate) kind: NetworkKind,
    pub(crate) hidden: usize,
}

impl NaiveNetwork {
    /// The network of a model with the parameters that `value` gives.
    pub(crate) fn of<T: Real>(model: &TestModel<T>, value: impl FnMut(usize) -> Pair) -> Self {
        let layout = model.architecture.layout();
        let values: Vec<Pair> = (0..layout.len()).map(value).collect();
        let blocks = layout.blocks().iter();
        Self {
            tensors: blocks
                .map(|block| (block.name(), (block.shape(), values[block.range.clone()].to_vec())))
                .collect(),
            kind: model.architecture.kind,
            hidden: model.architecture.hidden.len(),
        }
    }

    /// y(k) from x(k), with the states h and c of each cell moved on.
    pub(crate) fn step(&self, x: &[Pair], states: &mut [(Vec<Pair>, Vec<Pair>)]) -> Vec<Pair> {
        if let (NetworkKind::StateSpace, [(state, _), (predicted, _)]) = (self.kind, &mut *states) {
            return self.state_space_step(x, state, predicted);
        }
        let is_lstm = self.kind == NetworkKind::Lstm;
        let mut values = x.to_vec();
        for layer in 0..self.hidden {
            let mut z = self.affine(&format!("{layer}.weight"), &values);
            z = add(&z, &self.tensors[&format!("{layer}.bias")].1);
            if let Some((h, c)) = states.get_mut(layer).filter(|_| is_lstm) {
                z = add(&z, &self.affine(&format!("{layer}.recurrent"), h));
                let n = h.len();
                for j in 0..n {
                    let i = map(z[j], sigmoid);
                    let f = map(z[n + j], sigmoid);
                    let q = map(z[2 * n + j], f64::tanh);
                    let o = map(z[3 * n + j], sigmoid);
                    let (kept, new) = (times(f, c[j]), times(i, q));
                    c[j] = (kept.0 + new.0, kept.1 + new.1);
                    h[j] = times(o, map(c[j], f64::tanh));
                }
                values.clone_from(h);
            } else {
                values = z.into_iter().map(|z| map(z, f64::tanh)).collect();
            }
        }
        let mut y = self.affine(&format!("{}.weight", self.hidden), &values);
        y = add(&y, &self.tensors[&format!("{}.bias", self.hidden)].1);
        if self.tensors.contains_key("linear.weight") {
            y = add(&y, &self.affine("linear.weight", x));
        } else if !is_lstm {
            y = add(&y, &x[..y.len()]);
        }
        y
    }

    /// Equal measured and predicted y(k-1) leave nothing to correct: then both are the model's own.
    fn state_space_step(&self, x: &[Pair], state: &mut Vec<Pair>, predicted: &mut Vec<Pair>) -> Vec<Pair> {
        let (measured, inputs) = x.split_at(predicted.len());
        let (now, past) = inputs.split_at(inputs.len() / 2);
        let innovation = measured.iter().zip(&*predicted).map(|(y, y_hat)| match y == y_hat {
            true => (0.0, 0.0),
            false => (y.0 - y_hat.1, y.1 - y_hat.0),
        });
        let innovation: Vec<Pair> = innovation.collect();
        let next = self.map("state", &[state.as_slice(), past].concat());
        *state = add(&next, &self.affine("observer.weight", &innovation));
        *predicted = self.map("output", &[state.as_slice(), now].concat());
        predicted.clone()
    }

    fn map(&self, name: &str, z: &[Pair]) -> Vec<Pair> {
        let mut sum = self.affine(&format!("{name}.linear.weight"), z);
        sum = add(&sum, &self.tensors[&format!("{name}.1.bias")].1);
        if self.tensors.contains_key(&format!("{name}.0.weight")) {
            let units = self.affine(&format!("{name}.0.weight"), z);
            let units = add(&units, &self.tensors[&format!("{name}.0.bias")].1);
            let units: Vec<Pair> = units.into_iter().map(|unit| map(unit, f64::tanh)).collect();
            sum = add(&sum, &self.affine(&format!("{name}.1.weight"), &units));
        }
        sum
    }

    fn affine(&self, name: &str, x: &[Pair]) -> Vec<Pair> {
        let (shape, weights) = &self.tensors[name];
        assert_eq!(shape[1], x.len(), "{name}");
        let row = |row: &[Pair]| {
            let products = row.iter().zip(x).map(|(&w, &x)| times(w, x));
            products.fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1))
        };
        weights.chunks(shape[1]).map(row).collect()
    }
}

fn add(a: &[Pair], b: &[Pair]) -> Vec<Pair> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a.0 + b.0, a.1 + b.1)).collect()
}

fn times(a: Pair, b: Pair) -> Pair {
    let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    products
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lower, upper), &p| {
            (lower.min(p), upper.max(p))
        })
}

fn map(a: Pair, f: fn(f64) -> f64) -> Pair {
    (f(a.0), f(a.1))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
