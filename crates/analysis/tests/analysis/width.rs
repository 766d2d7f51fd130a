//! What bands are made of, and what to measure next.

use intervalid_analysis::{
    AnalysisError, FrequencyResponse, Linearisation, PointRequest, excitation, input_limits, next_recording,
    width_shares,
};
use intervalid_data::{Channel, Dataset, Experiment, Part};
use intervalid_model::{Calibration, Model, ModelKind, Scaling};

use crate::models::{config, every_kind, fitted, known_linear, plant};

fn calibrated(model: Model, floor: f64) -> Model {
    let outputs = model.interface().outputs.len();
    let scaling = Scaling {
        lower: 2.0,
        upper: 2.0,
        floor,
        spread: Some(1.5),
        online_start: None,
    };
    let calibration = Calibration {
        outputs: vec![scaling; outputs],
        level: 0.9,
        blocks: 3,
        samples: 300,
        effective_samples: 100.0,
        block_coverage: vec![0.9; 3],
        cuts: 0,
        cut_coverage: Vec::new(),
        expected: None,
        levels: Vec::new(),
        renewal: None,
        together: false,
    };
    model.calibrated(Some(calibration)).unwrap()
}

#[test]
fn shares_add_up_and_the_parts_make_the_band() {
    let plant = plant();
    let part = Part::whole(&plant);
    for (name, model) in every_kind() {
        let model = calibrated(model, 0.0);
        let bands = model.simulate(&plant, &part).unwrap();
        let found = width_shares(&model, &plant, &bands).unwrap();
        assert_eq!(found.len(), 2, "{name}");
        for shares in &found {
            assert!(
                shares.sample.len() > 100 && (shares.calibration - 2.0).abs() < 1e-12,
                "{name}"
            );
            for at in 0..shares.sample.len() {
                let sum: f64 = shares.parts.iter().map(|part| part.share[at]).sum();
                assert!((sum - 1.0).abs() < 1e-6, "{name}, {at}: {sum}");
            }
            let named = |word: &str| shares.parts.iter().any(|part| part.name.contains(word));
            assert_eq!(named("members"), model.members() > 1, "{name}: {:?}", shares.words);
            assert!(!named("least width"), "{name}");
            assert!(shares.words.contains("scales all of it by 2.00"), "{}", shares.words);
        }
    }
}

#[test]
fn a_floor_and_a_constant_width_are_named() {
    let plant = plant();
    let part = Part::whole(&plant);
    let arx = fitted(&plant, &config(ModelKind::Arx, (2, 1, 2), &[]));
    let bands = arx.simulate(&plant, &part).unwrap();
    let found = width_shares(&arx, &plant, &bands).unwrap();
    assert_eq!(
        (found[0].parts.len(), found[0].parts[0].name.as_str()),
        (1, "constant width")
    );
    let (_, half) = arx.arx().unwrap();
    assert!((found[0].half_width[0] - half[0]).abs() < 1e-9);
    // A floor far above what the margins give takes nearly all of it.
    let inode = calibrated(fitted(&plant, &config(ModelKind::Inode, (1, 0, 2), &[6, 4])), 1e3);
    let bands = inode.simulate(&plant, &part).unwrap();
    let found = width_shares(&inode, &plant, &bands).unwrap();
    assert_eq!(found[0].parts[0].name, "least width");
    assert!(found[0].parts[0].mean > 0.95);
}

#[test]
fn only_the_input_with_margins_widens_the_band() {
    // The members of the mean differ in the input's coefficient alone: the band is a constant and their disagreement.
    let u: Vec<f64> = (0..200).map(|k| 50.0 + 30.0 * (0.05 * f64::from(k)).sin()).collect();
    let record = Experiment::new("e", vec![u], vec![vec![390.0; 200]]);
    let dataset = Dataset::new(
        "d",
        vec![Channel::new("valve")],
        vec![Channel::new("level")],
        None,
        vec![record],
    )
    .unwrap();
    let model = known_linear(&[1.0, 0.8, 1.5], None);
    let bands = model.simulate(&dataset, &Part::whole(&dataset)).unwrap();
    let found = &width_shares(&model, &dataset, &bands).unwrap()[0];
    let share = |name: &str| &found.parts.iter().find(|part| part.name.contains(name)).unwrap().share;
    // half² = constant² + (factor·deviation)², and the constant is 2.
    for (at, half) in found.half_width.iter().enumerate().skip(20) {
        let constant = share("constant width")[at].sqrt() * half;
        assert!((constant - 2.0).abs() < 1e-6, "{at}: {constant}");
    }
    assert!(share("members").iter().copied().fold(0.0, f64::max) > 0.5);
}

#[test]
fn what_was_never_seen_is_proposed() {
    // The valve stays in the lower half of its limits.
    let u: Vec<f64> = (0..600).map(|k| 25.0 + 24.0 * f64::from(k * k % 97) / 97.0).collect();
    let record = Experiment::new("e", vec![u], vec![(0..600).map(|k| 300.0 + f64::from(k % 7)).collect()]);
    let dataset = Dataset::new(
        "d",
        vec![Channel::new("valve")],
        vec![Channel::new("level")],
        None,
        vec![record],
    )
    .unwrap();
    let model = known_linear(&[1.0], Some(0.5));
    let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
    let response = FrequencyResponse::new(&linear, Some(&dataset)).unwrap();
    let bands = model.simulate(&dataset, &Part::whole(&dataset)).unwrap();
    let scales = &model.interface().normaliser.inputs;
    let limits = input_limits(&linear, scales, Some(&dataset), &[("valve".to_owned(), [0.0, 100.0])]).unwrap();
    let next = next_recording(&linear, Some(&response), (&dataset, &bands), &limits);
    let rare: Vec<bool> = next.inputs[0].parts.iter().map(|part| part.is_rare).collect();
    assert_eq!(rare, [true, true, false, false, false, true, true, true, true, true]);
    assert!(
        next.words[0].contains("0.0000 to 20.0000") && next.words[0].contains("50.0000 to 100.0000"),
        "{:?}",
        next.words
    );
    assert_eq!(
        next.frequencies.len(),
        1,
        "the outputs have nothing to do with the inputs"
    );

    let proposal = excitation(&linear, &response, Some(&next), &limits, Some(2000)).unwrap();
    let column = &proposal.columns[0];
    assert_eq!((column.len(), proposal.steps), (2000, 800));
    assert!(column.iter().all(|value| (0.0..=100.0).contains(value)));
    // It goes first where nothing was seen, and later everywhere.
    assert!(column[0] < 20.0 || column[0] > 50.0);
    let seen = |from: f64| column[..800].iter().any(|value| (from..from + 10.0).contains(value));
    assert!((0..10).all(|bin| seen(10.0 * f64::from(bin))));
    let sines = &column[800..];
    let mean = sines.iter().sum::<f64>() / sines.len() as f64;
    assert!((mean - 50.0).abs() < 1.0, "{mean}");
    assert!(sines.iter().copied().fold(0.0, f64::max) > 80.0);
    let refused = input_limits(&linear, scales, None, &[("valve".to_owned(), [5.0, 1.0])]).unwrap_err();
    assert!(matches!(refused, AnalysisError::Option { .. }), "{refused}");
    assert!(excitation(&linear, &response, None, &limits, Some(3)).is_err());
}
