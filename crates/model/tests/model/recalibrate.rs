//! Bands that are scaled anew by recordings after the fit.

use intervalid_data::{Dataset, Experiment, Part, Split, SplitFractions};
use intervalid_model::{Calibration, FitConfig, FitOptions, Model, ModelError, ModelKind, OutputRange, evaluate};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// A first-order plant whose output is measured with noise of this standard deviation.
fn record(samples: usize, noise: f64, seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut level = 0.0;
    let u: Vec<f64> = (0..samples)
        .map(|k| f64::from(u8::from((k / 7 + k / 11) % 2 == 0)))
        .collect();
    let respond = |u: &f64| {
        let e: f64 = rng.sample(StandardNormal);
        let y = level + noise * e;
        level = 0.8 * level + u;
        y
    };
    let y: Vec<f64> = u.iter().map(respond).collect();
    let [inputs, outputs] = ["u", "y"].map(|name| vec![intervalid_data::Channel::new(name)]);
    Dataset::new(
        "plant",
        inputs,
        outputs,
        None,
        vec![Experiment::new("run", vec![u], vec![y])],
    )
    .expect("a record")
}

fn fitted() -> Model {
    fitted_to(&record(900, 0.2, 1))
}

fn fitted_to(data: &Dataset) -> Model {
    let split = Split::new(data, SplitFractions::default()).expect("parts");
    let config = FitConfig::default().with(|config| {
        config.model = ModelKind::Arx;
        config.lags = intervalid_data::Lags { nx: 1, nd: 1, ny: 3 };
    });
    Model::fit(data, &split, &config, FitOptions::default())
        .expect("a fit")
        .0
}

fn coverage(model: &Model, data: &Dataset) -> f64 {
    let bands = model.simulate(data, &Part::whole(data)).expect("free runs");
    let found = evaluate(data, &bands, 0.9).expect("metrics").all;
    found.picp.expect("a share")
}

#[test]
fn a_band_holds_again_after_the_noise_has_doubled() {
    let model = fitted();
    let [new, later] = [2, 3].map(|seed| record(600, 0.4, seed));
    let found = model
        .recalibrated(&new, &Part::whole(&new), 1.0)
        .expect("enough samples");
    let (before, after) = (coverage(&model, &later), coverage(&found.model, &later));
    assert!(before < 0.75, "{before}");
    assert!((after - 0.9).abs() < 0.06, "{after}");
    // What was promised of it on held-out halves is what later data show.
    assert!((found.after.coverage - after).abs() < 0.06, "{:?} {after}", found.after);
    assert!(
        (found.before.coverage - before).abs() < 0.06,
        "{:?} {before}",
        found.before
    );
    assert!(found.after.width > 1.6 * found.before.width, "{:?}", found.after);
    // Point predictions stay to the bit, and the file says where the band comes from.
    let runs = |model: &Model| {
        model
            .simulate(&later, &Part::whole(&later))
            .expect("free runs")
            .remove(0)
            .centre
    };
    assert_eq!(runs(&model), runs(&found.model));
    let read = Model::from_bytes(found.model.to_bytes().expect("bytes")).expect("its own file");
    assert_eq!(read, found.model);
    let calibration = read.interface().calibration.as_ref().expect("calibrated");
    let renewal = calibration.renewal.expect("renewed");
    assert_eq!(renewal.new_samples, 599);
    assert!((renewal.new_weight + renewal.old_weight - 1.0).abs() < 1e-12);
    assert!(
        calibration.in_words().contains("recalibrated by errors on 599 samples"),
        "{}",
        calibration.in_words()
    );
    assert_ne!(model.fingerprint().expect("hash"), read.fingerprint().expect("hash"));
}

#[test]
fn a_weight_lies_between_the_old_band_and_the_new() {
    let model = fitted();
    let new = record(600, 0.4, 2);
    let width = |weight: f64| {
        let found = model
            .recalibrated(&new, &Part::whole(&new), weight)
            .expect("enough samples");
        let bands = found.model.simulate(&new, &Part::whole(&new)).expect("free runs");
        bands[0].upper[0][50] - bands[0].lower[0][50]
    };
    let bands = model.simulate(&new, &Part::whole(&new)).expect("free runs");
    let old = bands[0].upper[0][50] - bands[0].lower[0][50];
    let (half, whole) = (width(0.5), width(1.0));
    assert!(old < half && half < whole, "{old} {half} {whole}");
    assert!(
        (half / (old * whole).sqrt() - 1.0).abs() < 0.05,
        "the geometric mean: {half}"
    );
    for weight in [0.0, -1.0, 1.5, f64::NAN] {
        let error = model
            .recalibrated(&new, &Part::whole(&new), weight)
            .expect_err("out of range");
        assert!(matches!(error, ModelError::Option { option: "weight", .. }), "{error}");
    }
}

#[test]
fn what_to_expect_is_that_of_the_band_that_was_made() {
    let model = fitted();
    let new = record(600, 2.0, 2);
    let renewed = |weight: f64| {
        let found = model.recalibrated(&new, &Part::whole(&new), weight);
        let found = found.expect("enough samples").model;
        let inside = coverage(&found, &new);
        (found.interface().calibration.clone().expect("calibrated"), inside)
    };
    // Noise of ten times the size, hardly looked at: the band stays far too narrow, and is known to.
    let (hardly, inside) = renewed(0.05);
    let (least, most) = hardly.expected.expect("six stretches");
    assert!(
        most < 0.5 && least <= inside && inside <= most,
        "{least} to {most}, {inside}"
    );
    let (wholly, inside) = renewed(1.0);
    let (least, most) = wholly.expected.expect("six stretches");
    assert!(
        least > 0.8 && least <= inside && inside <= most,
        "{least} to {most}, {inside}"
    );
    // The online band starts with what the stretches needed without caution, as far as they were looked at: a model that was not
    // calibrated started with all of its band.
    let start = |calibration: &Calibration| calibration.outputs[0].online_start.expect("a share");
    let (hardly, wholly) = (start(&hardly), start(&wholly));
    assert!(
        wholly < 1.0 && (hardly / wholly.powf(0.05) - 1.0).abs() < 1e-9,
        "{hardly} {wholly}"
    );
}

#[test]
fn too_little_data_are_refused() {
    let model = fitted();
    for samples in [5, 12, 25] {
        let new = record(samples, 0.4, 2);
        let error = model.recalibrated(&new, &Part::whole(&new), 1.0).expect_err("too few");
        assert!(matches!(error, ModelError::TooFewSamples { .. }), "{error}");
    }
    // Many samples that all tell the same are few as well.
    let still = Dataset::new(
        "still",
        model.interface().inputs.clone(),
        model.interface().outputs.clone(),
        None,
        vec![Experiment::new("run", vec![vec![0.5; 400]], vec![slow(400)])],
    )
    .expect("a record");
    let found = model.recalibrated(&still, &Part::whole(&still), 1.0);
    assert!(matches!(found, Err(ModelError::TooFewSamples { .. })), "{found:?}");
}

/// One slow swing around where the plant rests.
fn slow(samples: u32) -> Vec<f64> {
    (0..samples)
        .map(|k| 2.5 + 3.0 * (f64::from(k) * std::f64::consts::TAU / f64::from(samples)).sin())
        .collect()
}

#[test]
fn a_recalibrated_model_is_taken_for_another_by_its_monitor() {
    let model = fitted();
    let new = record(600, 0.4, 2);
    let found = model
        .recalibrated(&new, &Part::whole(&new), 1.0)
        .expect("enough samples");
    let config = intervalid_model::MonitorConfig::default();
    let old = intervalid_model::Monitor::new(&model, config).expect("sound settings");
    let mut watch = intervalid_model::Monitor::new(&found.model, config).expect("sound settings");
    assert!(watch.restore(old.state().clone()).is_err());
}

#[test]
fn limits_do_not_change_the_scale_of_a_band_and_are_part_of_what_is_judged() {
    // Half of the samples rest at the lower limit, where predictions and bounds are cut off.
    let at_rest = |data: &Dataset| {
        let experiment = &data.experiments()[0];
        let y = experiment.output(0).iter().map(|y| y.max(2.5)).collect();
        let experiment = Experiment::new("run", vec![experiment.input(0).to_vec()], vec![y]);
        Dataset::new(
            "cut",
            data.inputs().to_vec(),
            data.outputs().to_vec(),
            None,
            vec![experiment],
        )
        .expect("a record")
    };
    let free = fitted();
    let limits = OutputRange {
        least: Some(2.5),
        most: None,
    };
    let limited = free.clone().with_output_ranges(vec![limits]).expect("a range");
    let new = at_rest(&record(600, 0.4, 2));
    let renewed = |model: &Model| {
        let found = model.recalibrated(&new, &Part::whole(&new), 1.0);
        found.expect("enough samples")
    };
    let (found, without) = (renewed(&limited), renewed(&free));
    assert_eq!(
        found.model.interface().calibration,
        without.model.interface().calibration
    );
    let inside = coverage(&limited, &new);
    assert!(
        (found.before.coverage - inside).abs() < 1e-12,
        "{:?} {inside}",
        found.before
    );
    assert!(
        found.before.coverage > without.before.coverage,
        "cut bounds hold what rests there"
    );
    let width = found.after.width;
    assert!(width > 0.0 && width < without.after.width, "{width}");
}

#[test]
fn a_band_for_all_outputs_together_is_judged_by_all_together() {
    // Two plants side by side.
    let both = |noise: f64, seed: u64| {
        let [one, two] = [seed, seed + 10].map(|seed| record(900, noise, seed));
        let experiments = [&one, &two].map(|data| &data.experiments()[0]);
        let [inputs, outputs] = [["u", "v"], ["y", "z"]].map(|names| names.map(intervalid_data::Channel::new).to_vec());
        let columns = |of: fn(&Experiment) -> &[f64]| experiments.map(|experiment| of(experiment).to_vec()).to_vec();
        // Inputs that are not the same.
        let mut u = columns(|experiment| experiment.input(0));
        u[1].iter_mut()
            .enumerate()
            .for_each(|(k, v)| *v += f64::from(u8::from(k % 5 == 0)));
        let experiment = Experiment::new("run", u, columns(|experiment| experiment.output(0)));
        Dataset::new("plants", inputs, outputs, None, vec![experiment]).expect("a record")
    };
    let model = crate::monitor::calibrated(&fitted_to(&both(0.2, 1)), true);
    let new = both(0.25, 2);
    let found = model
        .recalibrated(&new, &Part::whole(&new), 1.0)
        .expect("enough samples");
    let inside = |model: &Model| {
        let bands = model.simulate(&new, &Part::whole(&new)).expect("free runs");
        let found = evaluate(&new, &bands, 0.9).expect("metrics");
        (found.together.expect("two outputs"), found.all.picp.expect("a share"))
    };
    let (together, each) = inside(&model);
    assert!(together < each - 0.05, "{together} {each}");
    assert!(
        (found.before.coverage - together).abs() < 1e-12,
        "{:?} {together}",
        found.before
    );
    assert!((found.after.coverage - 0.9).abs() < 0.05, "{:?}", found.after);
    // What to expect is of all together as well.
    let expected = |weight: f64, noise: f64| {
        let wild = both(noise, 3);
        let found = model.recalibrated(&wild, &Part::whole(&wild), weight);
        let calibration = found.expect("enough samples").model.interface().calibration.clone();
        calibration
            .and_then(|calibration| calibration.expected)
            .expect("six stretches")
    };
    assert!(expected(1.0, 2.0).0 > 0.8 && expected(0.05, 2.0).1 < 0.3);
    // A model of each output alone that takes over what another has promised of all together.
    let target = intervalid_model::CoverageTarget {
        share: 0.9,
        together: true,
    };
    let part = Part::whole(&new);
    let bare = fitted_to(&both(0.2, 1));
    let taken = bare.recalibrated_for(target, &new, &part, 1.0).expect("enough samples");
    let again = taken.model.recalibrated(&new, &part, 1.0).expect("enough samples");
    let of = |model: &Model| model.interface().calibration.clone().and_then(|found| found.expected);
    assert_eq!(of(&taken.model), of(&again.model));
}
