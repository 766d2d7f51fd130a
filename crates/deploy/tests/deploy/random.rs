//! Rust against C against ONNX on models and records that are drawn at random. A few in the ordinary suite; `INTERVALID_RANDOM_MODELS=N` asks
//! for more, as `cargo xtask soak` does.

use intervalid_data::{Channel, Dataset, Experiment, InitialState};
use intervalid_deploy::StepProgram;
use intervalid_model::{Band, FitConfig, ModelKind, Precision};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::models::{Case, calibration, config, ensemble_if_it_converges, fitted_if_it_converges, limited, split};
use crate::tools::tool;
use crate::{c, onnx};

fn wanted() -> u64 {
    let named = std::env::var("INTERVALID_RANDOM_MODELS");
    named.map_or(3, |text| text.parse().expect("a number of models"))
}

/// A stable plant with up to two inputs and outputs, some of it saturated, in odd units.
fn plant(rng: &mut ChaCha8Rng) -> Dataset {
    let (inputs, outputs) = (rng.random_range(1..=2), rng.random_range(1..=2));
    let samples = 300;
    let pole = rng.random_range(0.3..0.95);
    let (scale, offset) = (10_f64.powi(rng.random_range(-4..5)), rng.random_range(-100.0..100.0));
    // Steps with float arguments see rounded inputs: so does `predict` here.
    let single = |value: f64| f64::from(value as f32);
    let u: Vec<Vec<f64>> = (0..inputs)
        .map(|_| {
            let mut level = 0.0;
            let mut draw = |k: usize| {
                if k.is_multiple_of(7) {
                    level = rng.random_range(-1.0..1.0);
                }
                single(level * scale + offset)
            };
            (0..samples).map(&mut draw).collect()
        })
        .collect();
    let y: Vec<Vec<f64>> = (0..outputs)
        .map(|output| {
            let mut state = 0.0_f64;
            (0..samples)
                .map(|k| {
                    let drive: f64 = u.iter().map(|u| (u[k] - offset) / scale).sum();
                    state = pole * state + drive.tanh() + 0.01 * rng.random_range(-1.0..1.0);
                    single(state * (1.0 + output as f64) / scale - offset)
                })
                .collect()
        })
        .collect();
    let channels = |name: &str, count: usize| (0..count).map(|index| Channel::new(format!("{name}{index}"))).collect();
    let record = Experiment::new("random", u, y);
    Dataset::new(
        "random",
        channels("u", inputs),
        channels("y", outputs),
        Some(0.1),
        vec![record],
    )
    .unwrap()
}

fn settings(rng: &mut ChaCha8Rng) -> FitConfig {
    let kind = [ModelKind::Inode, ModelKind::Ilstm, ModelKind::Iss, ModelKind::Arx][rng.random_range(0..4)];
    let precision = if rng.random() { Precision::F32 } else { Precision::F64 };
    let initial = match rng.random_range(0..4) {
        0 => InitialState::ZeroPadded,
        1 => InitialState::Measured,
        2 => InitialState::Warmup(rng.random_range(1..12)),
        // Only models with hidden states recall a history.
        _ if kind == ModelKind::Iss => InitialState::History(rng.random_range(2..20)),
        _ => InitialState::Measured,
    };
    let lags = match kind {
        ModelKind::Iss => (1, rng.random_range(0..3), 1),
        _ => (rng.random_range(0..4), rng.random_range(0..3), rng.random_range(1..5)),
    };
    let units = [rng.random_range(0..7), rng.random_range(0..7)];
    let (states, linear_path) = (rng.random_range(1..5), rng.random());
    config(kind, precision, lags, initial).with(|config| {
        match kind {
            ModelKind::Iss => {
                config.network.hidden = units.to_vec();
                config.network.states = Some(states);
            }
            _ => {
                config.network.hidden = units.map(|units| units + 1).to_vec();
                config.network.linear_path = linear_path && kind != ModelKind::Arx;
            }
        }
        config.training.epochs = 2;
        // At the usual rate, so short a training may end with a free run that leaves every sensible range.
        config.training.learning_rate = 1e-4;
    })
}

/// One model of its seed; none if its training diverges, or its free run leaves every sensible range, where rounding decides how.
fn draw(seed: u64) -> Option<Case> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dataset = plant(&mut rng);
    let config = settings(&mut rng);
    let outputs = dataset.outputs().len();
    let is_averaged = config.model != ModelKind::Arx && config.precision == Precision::F32 && rng.random();
    let mut model = match is_averaged {
        true => ensemble_if_it_converges(&dataset, &config)?,
        false => fitted_if_it_converges(&dataset, &config)?,
    };
    if rng.random() {
        model = model.calibrated(calibration(outputs)).unwrap();
    }
    if rng.random() {
        model = limited(model);
    }
    let case = Case {
        name: Box::leak(format!("seed {seed}: {} {:?}", config.model, config.lags).into_boxed_str()),
        part: split(&dataset).test,
        model,
        dataset,
    };
    let bands = case.model.simulate(&case.dataset, &case.part).unwrap();
    let is_steady = bands.iter().all(|band| band.diverged_at.is_none()) && !amplifies(&case, &bands);
    is_steady.then_some(case)
}

/// Whether a free run turns a change of its inputs in the sixth digit into one of its outputs in the fifth: then rounding decides where
/// it goes, in Rust as elsewhere.
fn amplifies(case: &Case, bands: &[Band]) -> bool {
    let scales = &case.model.interface().normaliser;
    let record = &case.dataset.experiments()[0];
    let shaken = scales.inputs.iter().enumerate().map(|(input, scale)| {
        let shake = |(k, u): (usize, &f64)| u + 1e-6 * scale.std * if k.is_multiple_of(3) { 1.0 } else { -0.5 };
        record.input(input).iter().enumerate().map(shake).collect()
    });
    let outputs = (0..scales.outputs.len()).map(|output| record.output(output).to_vec());
    let shaken = Experiment::new("shaken", shaken.collect(), outputs.collect());
    let shaken = Dataset::new(
        "shaken",
        case.dataset.inputs().to_vec(),
        case.dataset.outputs().to_vec(),
        case.dataset.sample_time(),
        vec![shaken],
    )
    .unwrap();
    let others = case.model.simulate(&shaken, &case.part).unwrap();
    let pairs = bands
        .iter()
        .zip(&others)
        .flat_map(|(band, other)| band.centre.iter().zip(&other.centre));
    pairs.zip(scales.outputs.iter().cycle()).any(|((one, other), scale)| {
        let differs = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-5 * scale.std;
        one.iter().zip(other).any(differs)
    })
}

#[test]
fn rust_c_and_onnx_agree_on_random_models() {
    let wanted = wanted();
    let cases: Vec<Case> = (0..wanted).filter_map(draw).collect();
    assert!(
        cases.len() as u64 * 2 > wanted,
        "too many models run away: {} are left",
        cases.len()
    );
    if let Some(gcc) = tool("gcc", "gcc") {
        for case in &cases {
            c::assert_agrees(case, &gcc);
        }
    }
    let tasks = cases.iter().enumerate().map(|(index, case)| {
        let plan = StepProgram::new(&case.model).unwrap();
        onnx::task(case, &plan, None, 1000 + index)
    });
    onnx::script(tasks.collect(), "random.json");
}
