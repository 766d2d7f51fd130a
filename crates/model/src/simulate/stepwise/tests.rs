//! Step by step against whole records: the same bits.

use intervalid_data::{ArxModel, Dataset, InitialState, Normaliser, Part, Segment, Split, SplitFractions};

use super::{History, HistoryNeeds, Simulator, SimulatorState};
use crate::band::calibration::{Calibration, Scaling};
use crate::band::limits::OutputRange;
use crate::band::monitor::{Monitor, MonitorConfig, MonitorSample};
use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::ModelError;
use crate::fixtures::{Recipe, recipes};
use crate::kind::{ModelKind, Precision};
use crate::model::Model;
use crate::train::FitOptions;

/// Rows of samples `from..to`.
fn rows(dataset: &Dataset, from: usize, to: usize) -> (Vec<f64>, Vec<f64>) {
    let record = &dataset.experiments()[0];
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for k in from..to {
        inputs.extend((0..dataset.inputs().len()).map(|channel| record.input(channel)[k]));
        outputs.extend((0..dataset.outputs().len()).map(|channel| record.output(channel)[k]));
    }
    (inputs, outputs)
}

fn segment(start: usize, end: usize) -> Part {
    Part::from_segments(vec![Segment {
        experiment: 0,
        start,
        end,
    }])
}

/// The first scored step of a band and what was known before it.
fn history(dataset: &Dataset, band: &Band) -> (usize, Vec<f64>, Vec<f64>) {
    let first = band.first + band.warmup;
    let (inputs, outputs) = rows(dataset, 0, first);
    (first, inputs, outputs)
}

fn assert_same(model: &Model, dataset: &Dataset, part: &Part, what: &str) {
    let bands = model.simulate(dataset, part).unwrap();
    let online = model.online(dataset, &bands).unwrap();
    let mut simulator = Simulator::new(model).unwrap();
    for (band, online) in bands.iter().zip(&online) {
        let (first, inputs, outputs) = history(dataset, band);
        let past = History {
            inputs: &inputs,
            outputs: &outputs,
        };
        simulator.reset(past).unwrap();
        for step in band.warmup..band.len() {
            let (u, measured) = rows(dataset, first + step - band.warmup, first + step - band.warmup + 1);
            let prediction = simulator.step(&u).unwrap();
            for output in 0..measured.len() {
                let found = [
                    prediction.y[output],
                    prediction.lower[output],
                    prediction.upper[output],
                    prediction.online_lower[output],
                    prediction.online_upper[output],
                ];
                let expected = [
                    band.centre[output][step],
                    band.lower[output][step],
                    band.upper[output][step],
                    online.lower[output][step],
                    online.upper[output][step],
                ];
                assert_eq!(
                    found.map(f64::to_bits),
                    expected.map(f64::to_bits),
                    "{what} step {step}"
                );
            }
            simulator.observe(&measured).unwrap();
        }
    }
}

fn calibration(outputs: usize) -> Calibration {
    let scaling = |output: usize| Scaling {
        lower: 1.3 + output as f64,
        upper: 0.8,
        floor: 0.05,
        spread: Some(0.7 + output as f64),
        online_start: Some(0.6),
    };
    Calibration {
        outputs: (0..outputs).map(scaling).collect(),
        level: 0.9,
        blocks: 1,
        samples: 10,
        effective_samples: 10.0,
        block_coverage: vec![0.9],
        cuts: 0,
        cut_coverage: Vec::new(),
        renewal: None,
        together: false,
        expected: None,
        levels: Vec::new(),
    }
}

fn more_recipes() -> Vec<Recipe> {
    let mut all = recipes(0.1);
    // Wider than one register and one chunk, deeper, a long dead time.
    for index in 0..all.len() {
        let mut wide = all[index].clone();
        wide.hidden = vec![60, 17, 3];
        wide.lags.nd = 9;
        wide.seed += 100;
        all.push(wide);
    }
    all
}

#[test]
fn steps_have_the_bits_of_whole_records() {
    for recipe in more_recipes() {
        let (dataset, whole) = recipe.dataset(90);
        let models: [Model; 2] = [recipe.model::<f32>().into(), recipe.model::<f64>().into()];
        for model in models {
            let what = format!("{recipe:?} {}", model.config().precision.name());
            assert_same(&model, &dataset, &whole, &what);
            let calibrated = model.calibrated(Some(calibration(recipe.outputs))).unwrap();
            assert_same(&calibrated, &dataset, &segment(17, 80), &what);
        }
    }
}

fn ensemble(recipe: &Recipe) -> Model {
    let members = (0..3).map(|seed| {
        let mut recipe = recipe.clone();
        recipe.seed = 50 + seed;
        recipe.model::<f32>().into()
    });
    Model::ensemble(members.collect()).unwrap()
}

#[test]
fn ensembles_and_arx_step_like_their_records() {
    for recipe in recipes(0.1) {
        let (dataset, whole) = recipe.dataset(70);
        let model = ensemble(&recipe);
        assert_same(&model, &dataset, &whole, "ensemble");
        let calibrated = model.calibrated(Some(calibration(recipe.outputs))).unwrap();
        assert_same(&calibrated, &dataset, &segment(20, 60), "ensemble");
        let linear = linear(&recipe);
        assert_same(&linear, &dataset, &whole, "arx");
        let averaged = averaged_arx(&linear, &dataset);
        assert_eq!(averaged.members(), 3);
        assert_same(&averaged, &dataset, &whole, "mean of arx");
        let calibrated = averaged.calibrated(Some(calibration(recipe.outputs))).unwrap();
        assert_same(&calibrated, &dataset, &segment(20, 60), "mean of arx");
    }
}

/// A range that cuts off both ends of the first output's predictions, and the lower end of the others.
fn inner_ranges(bands: &[Band]) -> Vec<OutputRange> {
    let range = |(output, values): (usize, &Vec<f64>)| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        OutputRange {
            least: Some(least + 0.3 * (most - least)),
            most: (output == 0).then_some(most - 0.3 * (most - least)),
        }
    };
    bands[0].centre.iter().enumerate().map(range).collect()
}

#[test]
fn physical_limits_hold_everywhere_and_change_nothing_inside() {
    for recipe in recipes(0.1) {
        let (dataset, whole) = recipe.dataset(70);
        let calibrated = ensemble(&recipe).calibrated(Some(calibration(recipe.outputs))).unwrap();
        for model in [calibrated, linear(&recipe), recipe.model::<f32>().into()] {
            let model = model.with_horizons(&dataset, &whole).unwrap();
            let free = model.simulate(&dataset, &whole).unwrap();
            let ranges = inner_ranges(&free);
            let limited = model.clone().with_output_ranges(ranges.clone()).unwrap();
            assert_same(&limited, &dataset, &whole, "limited");
            assert_ne!(limited.fingerprint().unwrap(), model.fingerprint().unwrap());
            assert_eq!(Model::from_bytes(limited.to_bytes().unwrap()).unwrap(), limited);
            let bands = limited.simulate(&dataset, &whole).unwrap();
            let mut cut = 0;
            for (output, range) in ranges.iter().enumerate() {
                for (free, found) in [
                    (&free[0].lower, &bands[0].lower),
                    (&free[0].centre, &bands[0].centre),
                    (&free[0].upper, &bands[0].upper),
                ] {
                    for (free, found) in free[output].iter().zip(&found[output]) {
                        assert_eq!(range.clipped(*free).to_bits(), found.to_bits());
                        cut += usize::from(free.to_bits() != found.to_bits());
                    }
                }
            }
            assert!(cut > 10, "the limits do something");
            for bands in [
                limited.predict_ahead(&dataset, &whole, 3).unwrap(),
                limited.online(&dataset, &bands).unwrap(),
                limited.online_after(None, &dataset, &bands).unwrap().0,
            ] {
                for (output, range) in ranges.iter().enumerate() {
                    let inside = |columns: &[Vec<f64>]| columns[output].iter().all(|value| range.contains(*value));
                    let Band {
                        lower, centre, upper, ..
                    } = &bands[0];
                    assert!(inside(lower) && inside(centre) && inside(upper));
                }
            }
        }
    }
}

/// Three linear models that differ a little.
fn averaged_arx(model: &Model, dataset: &Dataset) -> Model {
    let (arx, half_width) = model.arx().unwrap();
    let like = |share: f64| {
        let mut arx = arx[0].clone();
        arx.coefficients.iter_mut().flatten().for_each(|value| *value *= share);
        arx
    };
    let members = [1.0, 0.97, 0.9].map(like).to_vec();
    let normaliser = model.interface().normaliser.clone();
    Model::from_arx(dataset, normaliser, members, half_width.to_vec(), model.config())
}

fn linear(recipe: &Recipe) -> Model {
    let (dataset, _) = recipe.dataset(200);
    let split = Split::new(&dataset, SplitFractions::default()).unwrap();
    let config = FitConfig {
        model: ModelKind::Arx,
        precision: Precision::F64,
        lags: recipe.lags,
        initial: recipe.initial,
        ..FitConfig::default()
    };
    Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap().0
}

#[test]
fn a_restored_state_goes_on_to_the_bit() {
    for recipe in recipes(0.1) {
        let (dataset, whole) = recipe.dataset(60);
        for model in [recipe.model::<f32>().into(), ensemble(&recipe), linear(&recipe)] {
            let band = model.simulate(&dataset, &whole).unwrap().remove(0);
            let (first, inputs, outputs) = history(&dataset, &band);
            let mut one = Simulator::new(&model).unwrap();
            let unstarted = one.state();
            one.reset(History {
                inputs: &inputs,
                outputs: &outputs,
            })
            .unwrap();
            let go = |simulator: &mut Simulator, from: usize, to: usize| -> Vec<u64> {
                let mut bits = Vec::new();
                for k in from..to {
                    let (u, y) = rows(&dataset, k, k + 1);
                    let step = simulator.step(&u).unwrap();
                    bits.extend(step.online_lower.iter().chain(step.y).map(|value| value.to_bits()));
                    simulator.observe(&y).unwrap();
                }
                bits
            };
            go(&mut one, first, 30);
            let text = serde_json::to_string(&one.state()).unwrap();
            let mut copy = one.clone();
            let rest = go(&mut one, 30, 50);
            assert_eq!(rest, go(&mut copy, 30, 50));
            let state: SimulatorState = serde_json::from_str(&text).unwrap();
            let mut other = Simulator::new(&model).unwrap();
            other.restore(&state).unwrap();
            assert_eq!(rest, go(&mut other, 30, 50));
            other.restore(&unstarted).unwrap();
            assert!(other.step(&vec![0.0; recipe.inputs]).is_err());
        }
    }
}

#[test]
fn wrong_states_are_refused() {
    let recipe = &recipes(0.1)[0];
    let model: Model = recipe.model::<f32>().into();
    let mut simulator = Simulator::new(&model).unwrap();
    let state = simulator.state();
    let other = Recipe {
        seed: 77,
        ..recipe.clone()
    };
    let foreign = Simulator::new(&other.model::<f32>().into()).unwrap().state();
    let message = simulator.restore(&foreign).unwrap_err().to_string();
    assert!(
        message.contains("belongs to model") && message.contains(simulator.fingerprint()),
        "{message}"
    );
    let breaks: [fn(&mut SimulatorState); 5] = [
        |state| state.inputs.push(0.0),
        |state| state.inputs[0] = f64::NAN,
        |state| state.members[0].outputs.clear(),
        |state| state.members.clear(),
        |state| state.online[0].scales[0] = -1.0,
    ];
    for damage in breaks {
        let mut damaged = state.clone();
        damage(&mut damaged);
        let message = simulator.restore(&damaged).unwrap_err().to_string();
        assert!(message.contains("not those of this model's state"), "{message}");
    }
    simulator.restore(&state).unwrap();
}

#[test]
fn misuse_is_answered_in_words() {
    let recipe = &recipes(0.1)[2];
    assert_eq!(recipe.initial, InitialState::Warmup(4));
    let mut simulator = Simulator::new(&recipe.model::<f64>().into()).unwrap();
    let needs = HistoryNeeds {
        inputs: 5,
        least_inputs: 4,
        outputs: 5,
    };
    assert_eq!(simulator.needs(), needs);
    let message = |result: crate::Result<()>| result.unwrap_err().to_string();
    let mut step = |inputs: &[f64]| message(simulator.step(inputs).map(|_| ()));
    assert_eq!(
        step(&[0.0, 0.0]),
        "the simulation has not started: give it the past with reset first"
    );
    let outputs = [0.5; 15];
    let reset = |simulator: &mut Simulator, inputs: &[f64], outputs: &[f64]| {
        message(simulator.reset(History { inputs, outputs }))
    };
    assert_eq!(
        reset(&mut simulator, &[0.0; 10], &outputs[..12]),
        "past outputs: got 4 samples, expected at least 5, the last before the first step"
    );
    assert_eq!(
        reset(&mut simulator, &[0.0; 7], &outputs),
        "past inputs: got 7 numbers, expected a multiple of 2, one number per channel and sample"
    );
    assert_eq!(
        reset(&mut simulator, &[0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], &outputs),
        "past inputs of channel 'u1' is NaN, expected a finite number"
    );
    simulator
        .reset(History {
            inputs: &[0.0; 8],
            outputs: &outputs,
        })
        .unwrap();
    let before = simulator.state();
    assert_eq!(
        message(simulator.observe(&[0.0; 3])),
        "a measurement belongs to the step before it: call step first, then observe once"
    );
    assert_eq!(
        message(simulator.step(&[0.0]).map(|_| ())),
        "inputs of a step: got 1, expected 2, one per channel"
    );
    assert_eq!(
        message(simulator.step(&[0.0, f64::INFINITY]).map(|_| ())),
        "input of channel 'u1' is inf, expected a finite number"
    );
    assert_eq!(simulator.state(), before);
    simulator.step(&[0.0; 2]).unwrap();
    assert_eq!(
        message(simulator.observe(&[f64::NAN; 3])),
        "measured output of channel 'y0' is NaN, expected a finite number"
    );
    simulator.observe(&[0.0; 3]).unwrap();
    assert!(simulator.observe(&[0.0; 3]).is_err());
}

#[test]
fn a_runaway_is_reported_until_the_next_start() {
    let mut recipe = recipes(0.1)[0].clone();
    recipe.lags.ny = 1;
    let mut model = recipe.model::<f64>();
    // y(k) = y(k-1) + W·tanh(…) + b with b = 3000 standard deviations.
    let bias = model.theta.len() - 1;
    model.theta[bias] = 3000.0;
    let mut simulator = Simulator::new(&model.into()).unwrap();
    let past = History {
        inputs: &[],
        outputs: &[0.0],
    };
    simulator.reset(past).unwrap();
    for _ in 0..3 {
        simulator.step(&[0.0]).unwrap();
    }
    for _ in 0..2 {
        let message = simulator.step(&[0.0]).unwrap_err().to_string();
        assert!(message.contains("left every reasonable range at step 4"), "{message}");
    }
    simulator.reset(past).unwrap();
    simulator.step(&[0.0]).unwrap();
}

/// The rule of the networks: no frozen prediction, and the same step in a record and step by step.
#[test]
fn an_unstable_arx_diverges_like_a_network() {
    let recipe = &recipes(0.1)[0];
    let (dataset, whole) = recipe.dataset(60);
    let outputs = dataset.outputs().len();
    let width = recipe.lags.regressor_len(dataset.inputs().len(), outputs);
    let rows = (0..outputs).map(|output| {
        let mut row = vec![0.1; width];
        row[output] = 2.0;
        row
    });
    let arx = ArxModel {
        lags: recipe.lags,
        coefficients: rows.collect(),
        bias: vec![1.0; outputs],
    };
    let normaliser = Normaliser::fit(&dataset, &whole).unwrap();
    let config = FitConfig {
        initial: recipe.initial,
        ..FitConfig::default()
    };
    let model = Model::from_arx(&dataset, normaliser, vec![arx], vec![0.1; outputs], &config);
    let band = model.simulate(&dataset, &whole).unwrap().remove(0);
    let step = band.diverged_at.unwrap();
    assert!(step > 3 && step < 20 && band.len() == step, "{band:?}");
    let (first, inputs, outputs) = history(&dataset, &band);
    let mut simulator = Simulator::new(&model).unwrap();
    let past = History {
        inputs: &inputs,
        outputs: &outputs,
    };
    simulator.reset(past).unwrap();
    for k in 0..step {
        let (u, _) = self::rows(&dataset, first + k, first + k + 1);
        assert_eq!(simulator.step(&u).unwrap().y[0].to_bits(), band.centre[0][k].to_bits());
    }
    let (u, _) = self::rows(&dataset, first + step, first + step + 1);
    for _ in 0..2 {
        let found = simulator.step(&u).unwrap_err();
        assert!(
            matches!(found, ModelError::RunDiverged { step: at } if at == step as u64 + 1),
            "{found}"
        );
    }
    let state: SimulatorState = serde_json::from_str(&serde_json::to_string(&simulator.state()).unwrap()).unwrap();
    simulator.reset(past).unwrap();
    simulator.restore(&state).unwrap();
    assert!(simulator.step(&u).is_err(), "it is remembered");
}

#[test]
fn samples_beyond_all_reason_are_refused_and_change_nothing() {
    let recipe = &recipes(0.1)[0];
    for model in [recipe.model::<f32>().into(), linear(recipe)] {
        let mut simulator = Simulator::new(&model).unwrap();
        let scale = model.interface().normaliser.inputs[0];
        let far = scale.to_physical(1.001e6);
        let ny = model.interface().outputs.len();
        let needs = simulator.needs();
        let (inputs, outputs) = (vec![0.0; needs.inputs * recipe.inputs], vec![0.0; needs.outputs * ny]);
        let past = History {
            inputs: &inputs,
            outputs: &outputs,
        };
        simulator.reset(past).unwrap();
        let before = simulator.state();
        let mut u = vec![scale.mean; recipe.inputs];
        u[0] = far;
        let message = simulator.step(&u).unwrap_err().to_string();
        assert!(
            message.starts_with("input 'u0' is ") && message.contains("1e6 standard"),
            "{message}"
        );
        let mut bad = outputs.clone();
        *bad.last_mut().unwrap() = 9.9e37;
        let reset = simulator.reset(History { outputs: &bad, ..past });
        assert!(matches!(
            reset,
            Err(ModelError::OutOfRange {
                what: "past output",
                ..
            })
        ));
        assert_eq!(simulator.state(), before);
        u[0] = scale.to_physical(0.999e6);
        // In range: a prediction, or a run that has diverged, never a refusal.
        assert!(!matches!(simulator.step(&u), Err(ModelError::OutOfRange { .. })));
    }
}

#[test]
fn baselines_are_refused_with_a_reason() {
    let recipe = &recipes(0.1)[0];
    let (dataset, _) = recipe.dataset(300);
    let split = Split::new(&dataset, SplitFractions::default()).unwrap();
    for (model, reason) in [
        (ModelKind::Bnode, "random draws"),
        (ModelKind::DropoutLstm, "randomly thinned"),
        (ModelKind::EnsembleNode, "common mean"),
    ] {
        let config = FitConfig::default().with(|config| {
            config.model = model;
            config.training.epochs = 1;
            config.network.hidden = vec![3, 3];
            config.gaussian.members = 2;
            config.gaussian.samples = 2;
        });
        let (fitted, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
        let message = Simulator::new(&fitted).unwrap_err().to_string();
        assert!(
            message.contains(model.name()) && message.contains(reason) && message.contains("fit inode or ilstm"),
            "{message}"
        );
    }
}

/// Against the point prediction, a bound that is not a number would become a side of no width.
#[test]
fn a_bound_that_overflows_ends_the_band_and_never_has_no_width() {
    let recipe = &recipes(0.1)[0];
    let mut model = recipe.model::<f32>();
    model.margin_lower.fill(2e38);
    model.margin_upper.fill(2e38);
    let model = model.to_model();
    let (dataset, whole) = recipe.dataset(30);
    let band = model.simulate(&dataset, &whole).unwrap().remove(0);
    assert_eq!((band.diverged_at, band.len()), (Some(0), 0));
    let (_, inputs, outputs) = history(&dataset, &band);
    let mut simulator = Simulator::new(&model).unwrap();
    simulator
        .reset(History {
            inputs: &inputs,
            outputs: &outputs,
        })
        .unwrap();
    let (u, _) = rows(&dataset, band.first, band.first + 1);
    assert!(matches!(simulator.step(&u), Err(ModelError::RunDiverged { step: 1 })));
}

#[test]
fn the_monitor_of_a_simulation_sees_what_whole_records_extrapolate() {
    let mut seen = [0_usize; 2];
    for recipe in recipes(0.1) {
        let (dataset, whole) = recipe.dataset(400);
        for model in [Model::from(recipe.model::<f64>()), ensemble(&recipe)] {
            let model = model.with_region(&dataset, &segment(0, 150)).unwrap();
            let band = model.simulate(&dataset, &whole).unwrap().remove(0);
            let flags = model
                .extrapolated(&dataset, std::slice::from_ref(&band))
                .unwrap()
                .unwrap()
                .remove(0);
            let mut expected = Monitor::new(&model, MonitorConfig::default()).unwrap();
            let mut simulator = Simulator::monitored(&model, MonitorConfig::default()).unwrap();
            let (first, inputs, outputs) = history(&dataset, &band);
            let past = History {
                inputs: &inputs,
                outputs: &outputs,
            };
            simulator.reset(past).unwrap();
            for step in band.warmup..band.len() {
                let (u, measured) = rows(&dataset, first + step - band.warmup, first + step - band.warmup + 1);
                simulator.step(&u).unwrap();
                if step % 50 == 0 {
                    let text = serde_json::to_string(&simulator.state()).unwrap();
                    simulator = Simulator::monitored(&model, MonitorConfig::default()).unwrap();
                    simulator.restore(&serde_json::from_str(&text).unwrap()).unwrap();
                    let unwatched = Simulator::new(&model).unwrap().restore(&simulator.state());
                    assert_eq!(
                        unwatched.unwrap_err().to_string().split(": ").last(),
                        Some("it has a monitor, this simulation has none")
                    );
                }
                simulator.observe(&measured).unwrap();
                let at = |columns: &[Vec<f64>]| columns.iter().map(|column| column[step]).collect::<Vec<f64>>();
                expected
                    .observe(MonitorSample {
                        predicted: &at(&band.centre),
                        lower: &at(&band.lower),
                        upper: &at(&band.upper),
                        measured: &measured,
                        extrapolated: Some(flags[step]),
                    })
                    .unwrap();
                seen[usize::from(flags[step])] += 1;
                assert_eq!(
                    simulator.monitor().unwrap().state(),
                    expected.state(),
                    "{recipe:?} step {step}"
                );
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}
