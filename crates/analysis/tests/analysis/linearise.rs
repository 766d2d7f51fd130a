//! Linearisations against closed forms and finite differences.

use intervalid_analysis::{AnalysisError, Linearisation, PointRequest, mat_file, python_code};
use intervalid_model::{FitConfig, History, Model, ModelError, ModelKind, Simulator};

use crate::models::{config, every_kind, fitted, known_linear, plant, split};

fn at(values: &[(&str, f64)]) -> PointRequest {
    PointRequest {
        values: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
    }
}

#[test]
fn a_known_system_has_its_closed_form() {
    let model = known_linear(&[1.0], Some(0.2));
    let found = Linearisation::new(&model, &at(&[("valve", 60.0)])).unwrap();
    // 0.2 y = 1.5·60 + 3
    assert!(
        (found.operating_point.outputs[0] - 465.0).abs() < 1e-6,
        "{:?}",
        found.operating_point
    );
    assert!(found.operating_point.is_steady && found.is_stable);
    assert_eq!(found.states, ["valve(k-1)", "valve(k-2)", "level(k-1)", "level(k-2)"]);
    for (found, expected) in found.c[0].iter().zip([1.0, 0.5, 1.5, -0.7]) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    assert!(found.d[0][0].abs() < 1e-15);
    let channel = &found.channels[0];
    assert!((channel.gain.unwrap() - 7.5).abs() < 1e-9 && channel.delay == 1);
    assert!((channel.zeros[0].re + 0.5).abs() < 1e-6 && channel.zeros.len() == 1);
    let pole = found.poles[0];
    assert!((pole.place.re - 0.75).abs() < 1e-9 && (pole.magnitude - 0.7_f64.sqrt()).abs() < 1e-9);
    assert!((pole.time_constant.unwrap() + 0.2 / 0.7_f64.sqrt().ln()).abs() < 1e-9);
    assert_eq!(
        found.intervals, None,
        "a single ARX says nothing about its coefficients"
    );
}

#[test]
fn the_mean_of_members_has_the_mean_gain_and_their_range() {
    let found = Linearisation::new(&known_linear(&[1.0, 0.8, 1.5], None), &PointRequest::default()).unwrap();
    let channel = &found.channels[0];
    assert!((channel.gain.unwrap() - 7.5 * 1.1).abs() < 1e-9, "{channel:?}");
    let [least, most] = channel.gain_range.unwrap();
    assert!((least - 6.0).abs() < 1e-9 && (most - 11.25).abs() < 1e-9);
    let intervals = found.intervals.as_ref().unwrap();
    assert_eq!(
        (intervals.from, intervals.samples, found.time_unit),
        ("members", 0, "samples")
    );
    assert!(found.notes()[0].contains("mean of 3 members"), "{:?}", found.notes());
    // Coefficient of valve(k-1) in the first member's newest output.
    let (row, column) = (2, 0);
    assert!((intervals.a[0][row][column] - 0.8).abs() < 1e-9 && (intervals.a[1][row][column] - 1.5).abs() < 1e-9);
}

#[test]
fn a_point_where_nothing_was_learnt_is_told() {
    let plant = plant();
    let model = fitted(&plant, &config(ModelKind::Arx, (2, 1, 2), &[]));
    let unknown = Linearisation::new(&model, &PointRequest::default()).unwrap();
    assert_eq!(unknown.operating_point.is_extrapolated, None);
    let model = model.with_region(&plant, &split(&plant).train).unwrap();
    let told = |valve: f64| {
        let found = Linearisation::new(&model, &at(&[("valve", valve), ("heater", 50.0)])).unwrap();
        let words = found
            .notes()
            .iter()
            .any(|note| note.contains("outside the region of the training data"));
        assert_eq!(found.operating_point.is_extrapolated, Some(words));
        words
    };
    assert!(!told(0.5) && told(3.0) && told(-2.0));
}

/// ŷ(k) of the model itself for the last of these inputs, after its past.
fn next(model: &Model, inputs: &[f64], outputs: &[f64], now: &[f64]) -> Vec<f64> {
    let mut simulator = Simulator::new(model).unwrap();
    simulator.reset(History { inputs, outputs }).unwrap();
    simulator.step(now).unwrap().y.to_vec()
}

#[test]
fn jacobians_are_those_of_the_model_by_central_differences() {
    for (name, model) in every_kind() {
        // Models on past samples alone: the simulator's history is their state.
        if matches!(model.kind(), ModelKind::Iss | ModelKind::Ilstm) || model.members() > 1 {
            continue;
        }
        let point = [("valve", 0.4), ("heater", 51.0), ("flow", 0.7), ("temperature", 20.5)];
        let found = Linearisation::new(&model, &at(&point)).unwrap();
        let lags = model.config().lags;
        let remembered = lags.nd + lags.nx;
        let mut past = Vec::new();
        (0..remembered).for_each(|_| past.extend([0.4, 51.0]));
        let outputs = [0.7, 20.5].repeat(lags.ny);
        let step = 1e-4;
        for state in 0..found.states.len() {
            let moved = |by: f64| {
                let (mut past, mut outputs) = (past.clone(), outputs.clone());
                // States are newest first, histories oldest first.
                match state.checked_sub(2 * remembered) {
                    None => past[2 * (remembered - 1 - state / 2) + state % 2] += by,
                    Some(own) => outputs[2 * (lags.ny - 1 - own / 2) + own % 2] += by,
                }
                next(&model, &past, &outputs, &[0.4, 51.0])
            };
            for (output, (up, down)) in moved(step).iter().zip(moved(-step)).enumerate() {
                let (expected, found) = ((up - down) / (2.0 * step), found.c[output][state]);
                assert!(
                    (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{name}, {state}: {found} {expected}"
                );
            }
        }
        for input in 0..2 {
            let moved = |by: f64| {
                let mut now = [0.4, 51.0];
                now[input] += by;
                next(&model, &past, &outputs, &now)
            };
            for (output, (up, down)) in moved(step).iter().zip(moved(-step)).enumerate() {
                let (expected, found) = ((up - down) / (2.0 * step), found.d[output][input]);
                assert!(
                    (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{name}: {found} {expected}"
                );
            }
        }
        assert!(!found.operating_point.is_steady && found.notes()[0].contains("not steady"));
    }
}

/// A small step from rest: the linear system and the model agree, whatever the states are.
#[test]
fn a_small_step_of_every_kind_is_that_of_its_linear_system() {
    let mut checked = 0;
    for (name, model) in every_kind() {
        let found = match Linearisation::new(&model, &at(&[("valve", 0.4), ("heater", 51.0)])) {
            // So short a training leaves a network that adds to its last output where it began: nowhere at rest.
            Err(AnalysisError::NoSteadyState { .. }) => continue,
            found => found.unwrap(),
        };
        checked += 1;
        assert!(found.operating_point.is_steady, "{name}");
        let y0 = &found.operating_point.outputs;
        let mut simulator = Simulator::new(&model).unwrap();
        let rest = [0.4, 51.0].repeat(60);
        simulator
            .reset(History {
                inputs: &rest,
                outputs: &y0.repeat(60),
            })
            .unwrap();
        // Hidden states start at zero and find their rest.
        let mut settled = [0.0; 2];
        for _ in 0..4000 {
            settled.copy_from_slice(simulator.step(&[0.4, 51.0]).unwrap().y);
        }
        for (settled, expected) in settled.iter().zip(y0) {
            assert!(
                (settled - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                "{name}: {settled} {expected}"
            );
        }
        // Beside one that goes on as before: a slow state may still move a little.
        let mut unmoved = simulator.clone();
        // So small that curvature is far below the answer, even where two inputs cancel.
        let change = [1e-5, 2e-5];
        let mut x = vec![0.0; found.states.len()];
        for k in 0..12 {
            let y = simulator.step(&[0.4 + change[0], 51.0 + change[1]]).unwrap().y;
            let before = unmoved.step(&[0.4, 51.0]).unwrap().y;
            let row = |rows: &[Vec<f64>], input: &[Vec<f64>], row: usize| -> f64 {
                let own: f64 = rows[row].iter().zip(&x).map(|(a, x)| a * x).sum();
                own + input[row].iter().zip(&change).map(|(b, u)| b * u).sum::<f64>()
            };
            for output in 0..2 {
                let (expected, found) = (row(&found.c, &found.d, output), y[output] - before[output]);
                assert!(
                    (found - expected).abs() < 2e-9 + 1e-3 * expected.abs(),
                    "{name}, {k}: {found} {expected}"
                );
            }
            x = (0..x.len()).map(|state| row(&found.a, &found.b, state)).collect();
        }
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn intervals_hold_the_matrices_and_have_a_width() {
    for (name, model) in every_kind() {
        // Named, since not every barely trained network has a rest.
        let point = at(&[("flow", 0.7), ("temperature", 20.5)]);
        let found = Linearisation::new(&model, &point).unwrap();
        let Some(intervals) = &found.intervals else {
            assert_eq!(name, "arx");
            continue;
        };
        let mut width = 0.0;
        for (matrix, [least, most]) in [(&found.a, &intervals.a), (&found.c, &intervals.c)] {
            for ((row, least), most) in matrix.iter().zip(least).zip(most) {
                for ((value, least), most) in row.iter().zip(least).zip(most) {
                    assert!(least <= value && value <= most, "{name}");
                    width += most - least;
                }
            }
        }
        assert!(width > 0.0, "{name}");
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_its_reason() {
    let model = known_linear(&[1.0], None);
    let reason = |request: &PointRequest| Linearisation::new(&model, request).unwrap_err().to_string();
    assert!(
        reason(&at(&[("vlave", 1.0)])).contains("'vlave'") && reason(&at(&[("vlave", 1.0)])).contains("valve, level")
    );
    assert!(reason(&at(&[("valve", f64::NAN)])).contains("NaN"));
    assert!(reason(&at(&[("valve", 1e9)])).contains("expected a number from"));
    // y(k) = y(k-1) + …: an integrator has no rest but at one input.
    let (members, width) = model.arx().unwrap();
    let mut integrator = members[0].clone();
    integrator.coefficients[0][..2].copy_from_slice(&[1.0, 0.0]);
    let dataset = {
        use intervalid_data::{Channel, Dataset, Experiment};
        let record = Experiment::new("e", vec![vec![50.0; 9]], vec![vec![390.0; 9]]);
        Dataset::new(
            "d",
            vec![Channel::new("valve")],
            vec![Channel::new("level")],
            None,
            vec![record],
        )
        .unwrap()
    };
    let normaliser = model.interface().normaliser.clone();
    let integrating = Model::from_arx(
        &dataset,
        normaliser,
        vec![integrator],
        width.to_vec(),
        &FitConfig::default(),
    );
    match Linearisation::new(&integrating, &at(&[("valve", 60.0)])) {
        Err(AnalysisError::NoSteadyState { output, drift, .. }) => assert!(output == "level" && drift > 1.0, "{drift}"),
        other => panic!("{other:?}"),
    }
    // Where it is told to be, it can be looked at.
    let found = Linearisation::new(&integrating, &at(&[("valve", 60.0), ("level", 390.0)])).unwrap();
    assert!(!found.operating_point.is_steady && found.operating_point.drift[0].abs() > 1.0);
    let plant = plant();
    let dropout = fitted(&plant, &config(ModelKind::DropoutNode, (1, 0, 2), &[4]));
    let refused = Linearisation::new(&dropout, &PointRequest::default()).unwrap_err();
    assert!(refused.to_string().contains("cannot run step by step"), "{refused}");
    assert!(!matches!(refused, AnalysisError::Model(ModelError::Data(_))));
    let arx = fitted(&plant, &config(ModelKind::Arx, (1, 0, 2), &[]));
    let partly = Linearisation::new(&arx, &at(&[("flow", 1.0)])).unwrap_err();
    assert!(partly.to_string().contains("'temperature'"), "{partly}");
}

#[test]
fn files_hold_the_system() {
    let found = Linearisation::new(&known_linear(&[1.0, 0.9], Some(0.2)), &PointRequest::default()).unwrap();
    let code = python_code(&found);
    assert!(
        code.contains("control.ss(") && code.contains("A, B, C, D, 0.2,"),
        "{code}"
    );
    let bytes = mat_file(&found);
    assert!(bytes.len().is_multiple_of(8) && bytes[124..128] == [0, 1, b'I', b'M']);
    // The variables one after the other: their lengths lead exactly to the end.
    let mut at = 128;
    let mut names = Vec::new();
    while at < bytes.len() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(word(at), 14);
        let name = word(at + 8 + 16 + 16 + 4);
        names.push(String::from_utf8(bytes[at + 48..at + 48 + name].to_vec()).unwrap());
        at += 8 + word(at + 4);
    }
    assert_eq!(&names[..5], ["A", "B", "C", "D", "Ts"]);
    assert!(names.contains(&"A_lower".to_owned()) && at == bytes.len());
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["a"].as_array().unwrap().len(), found.states.len());
}
