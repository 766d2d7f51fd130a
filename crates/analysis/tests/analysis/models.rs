//! Small models: hand-made linear ones, and barely trained networks of every kind.

use intervalid_data::{
    ArxModel, Channel, Dataset, Experiment, InitialState, Lags, Normaliser, Scale, Split, SplitFractions,
};
use intervalid_model::{FitConfig, FitOptions, Model, ModelKind, Precision, Strategy};

/// A record of two inputs and two outputs far from zero, nonlinear, every half second.
pub(crate) fn plant() -> Dataset {
    let (mut u1, mut u2) = (Vec::new(), Vec::new());
    let (mut y1, mut y2) = (vec![0.0], vec![20.0]);
    for k in 0..300_usize {
        u1.push((k / 13 * 7919 % 17) as f64 / 17.0);
        u2.push(3.0 * (0.05 * k as f64).sin() + 50.0);
        let (a, b) = (y1[k], y2[k]);
        y1.push(0.8 * a + 0.3 * u1[k.saturating_sub(2)] + 0.02 * (b - 20.0));
        y2.push(20.0 + 0.7 * (b - 20.0) + 0.1 * (u2[k] - 50.0) - 0.5 * (a * 0.5).tanh());
    }
    y1.truncate(300);
    y2.truncate(300);
    let channels = |names: [&str; 2]| names.map(Channel::new).to_vec();
    let record = Experiment::new("plant", vec![u1, u2], vec![y1, y2]);
    let (inputs, outputs) = (channels(["valve", "heater"]), channels(["flow", "temperature"]));
    Dataset::new("plant", inputs, outputs, Some(0.5), vec![record]).unwrap()
}

pub(crate) fn split(dataset: &Dataset) -> Split {
    Split::new(dataset, SplitFractions::new(0.6, 0.2, 0.2).unwrap()).unwrap()
}

pub(crate) fn fitted(dataset: &Dataset, config: &FitConfig) -> Model {
    Model::fit(dataset, &split(dataset), config, FitOptions::default())
        .unwrap()
        .0
}

pub(crate) fn config(kind: ModelKind, lags: (usize, usize, usize), hidden: &[usize]) -> FitConfig {
    FitConfig::default().with(|config| {
        config.model = kind;
        config.precision = Precision::F64;
        config.lags = Lags::new(lags.0, lags.1, lags.2).unwrap();
        config.initial = InitialState::Measured;
        config.network.hidden = hidden.to_vec();
        config.training.epochs = 2;
        config.training.learning_rate = 1e-4;
        config.interval.strategy = Strategy::Joint;
        if kind == ModelKind::Iss {
            config.network.states = Some(3);
        }
    })
}

/// One model of every family that can run step by step, and averages of some.
pub(crate) fn every_kind() -> Vec<(&'static str, Model)> {
    let plant = plant();
    let linear_path = |config: FitConfig| config.with(|config| config.network.linear_path = true);
    let ensemble = |config: &FitConfig| {
        let members = (1..3).map(|seed| fitted(&plant, &FitConfig { seed, ..config.clone() }));
        Model::ensemble(members.collect()).unwrap()
    };
    let iss = config(ModelKind::Iss, (1, 1, 1), &[5, 4]);
    vec![
        ("arx", fitted(&plant, &config(ModelKind::Arx, (2, 1, 2), &[]))),
        ("inode", fitted(&plant, &config(ModelKind::Inode, (1, 0, 2), &[6, 4]))),
        (
            "inode, linear path",
            fitted(&plant, &linear_path(config(ModelKind::Inode, (1, 2, 2), &[5]))),
        ),
        ("ilstm", fitted(&plant, &config(ModelKind::Ilstm, (1, 1, 2), &[4, 3]))),
        ("iss", fitted(&plant, &iss)),
        ("mean of iss", ensemble(&iss)),
        (
            "mean of inode",
            ensemble(&linear_path(config(ModelKind::Inode, (1, 1, 2), &[4]))),
        ),
    ]
}

/// y(k) = a y(k-1) + (1 - a) `gain` u(k-1) with a = e^(-1/τ): a first-order lag of this gain and this time constant in samples.
pub(crate) fn first_order(gain: f64, time_constant: f64) -> Model {
    let pole = (-1.0 / time_constant).exp();
    linear(&["u"], Lags { nx: 0, nd: 1, ny: 1 }, vec![pole, (1.0 - pole) * gain])
}

/// ŷ(k) = the product of these coefficients and x(k), on scales of one.
pub(crate) fn linear(inputs: &[&str], lags: Lags, coefficients: Vec<f64>) -> Model {
    let channels = |names: &[&str]| names.iter().copied().map(Channel::new).collect();
    let record = Experiment::new("e", vec![vec![0.0; 40]; inputs.len()], vec![vec![0.0; 40]]);
    let dataset = Dataset::new("d", channels(inputs), channels(&["y"]), None, vec![record]).unwrap();
    let member = ArxModel {
        lags,
        coefficients: vec![coefficients],
        bias: vec![0.0],
    };
    let scale = Scale { mean: 0.0, std: 1.0 };
    let normaliser = Normaliser {
        inputs: vec![scale; inputs.len()],
        outputs: vec![scale],
    };
    let config = FitConfig::default().with(|config| config.initial = InitialState::Measured);
    Model::from_arx(&dataset, normaliser, vec![member], vec![0.5], &config)
}

/// y(k) = 1.5 y(k-1) - 0.7 y(k-2) + u(k-1) + 0.5 u(k-2) + 3 in units that are far from normalised; `shares` of it are averaged.
pub(crate) fn known_linear(shares: &[f64], sample_time: Option<f64>) -> Model {
    let (u, y) = (Scale { mean: 50.0, std: 20.0 }, Scale { mean: 390.0, std: 80.0 });
    let channels = |name: &str| vec![Channel::new(name)];
    let record = Experiment::new("e", vec![vec![50.0; 40]], vec![vec![390.0; 40]]);
    let dataset = Dataset::new("d", channels("valve"), channels("level"), sample_time, vec![record]).unwrap();
    let member = |share: &f64| {
        // The constant is what the normalisation leaves of 3 at the two means.
        let constant = 1.5 * y.mean - 0.7 * y.mean + share * 1.5 * u.mean + 3.0 - y.mean;
        ArxModel {
            lags: Lags { nx: 1, nd: 1, ny: 2 },
            coefficients: vec![vec![1.5, -0.7, share * u.std / y.std, share * 0.5 * u.std / y.std]],
            bias: vec![constant / y.std],
        }
    };
    let normaliser = Normaliser {
        inputs: vec![u],
        outputs: vec![y],
    };
    let config = FitConfig::default().with(|config| config.initial = InitialState::Measured);
    Model::from_arx(
        &dataset,
        normaliser,
        shares.iter().map(member).collect(),
        vec![2.0],
        &config,
    )
}
