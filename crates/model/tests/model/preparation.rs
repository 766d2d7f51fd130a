//! Trends and preparation belong to a model: stored with it, wanted of data, undone in predictions.

use intervalid_data::{Channel, Dataset, Experiment, Lags, Part, Preparation, Split, SplitFractions, Trend};
use intervalid_model::{FitConfig, FitOptions, Model, ModelError, ModelKind, Simulator};

/// A first-order plant driven by steps, whose sensor gains this much from sample to sample.
fn drifting(samples: usize, slope: f64) -> Dataset {
    let u: Vec<f64> = (0..samples)
        .map(|k| f64::from(u8::from((k / 7 + k / 11) % 2 == 0)))
        .collect();
    let (mut level, mut state) = (0.0, 7_u32);
    let y = u.iter().enumerate().map(|(k, u)| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = 0.05 * (f64::from(state >> 20) / 4096.0 - 0.5);
        let y = level + noise + slope * k as f64;
        level = 0.8 * level + 0.2 * u;
        y
    });
    let experiment = Experiment::new("run", vec![u.clone()], vec![y.collect()]);
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("plant", inputs, outputs, None, vec![experiment]).expect("a record")
}

fn fit(dataset: &Dataset, split: &Split) -> Model {
    let config = FitConfig::default().with(|config| {
        config.model = ModelKind::Arx;
        config.lags = Lags { nx: 1, nd: 0, ny: 1 };
    });
    Model::fit(dataset, split, &config, FitOptions::default())
        .expect("fits")
        .0
}

#[test]
fn a_model_with_a_trend_is_the_model_without_it_on_levelled_data() {
    let dataset = drifting(400, 0.01);
    let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
    let trend = Trend::fit(&dataset, &split.train, &["y"]).expect("fits");
    let level = trend.remove(&dataset);
    let bare = fit(&level, &split)
        .with_region(&level, &split.train)
        .expect("knows its region");
    let bare = bare.with_horizons(&level, &split.train).expect("learns");
    let model = bare.clone().with_trend(Some(trend.clone())).expect("of one output");
    assert_eq!(model.bare(), bare);
    assert_ne!(
        model.fingerprint().expect("hashes"),
        bare.fingerprint().expect("hashes")
    );
    // To the bit through a file.
    let bytes = model.to_bytes().expect("writes");
    assert_eq!(Model::from_bytes(bytes).expect("reads"), model);

    let pairs = [
        (
            model.simulate(&dataset, &split.test),
            bare.simulate(&level, &split.test),
        ),
        (
            model.predict_ahead(&dataset, &split.test, 3),
            bare.predict_ahead(&level, &split.test, 3),
        ),
    ];
    for (with, without) in pairs {
        let (with, without) = (with.expect("runs"), without.expect("runs"));
        for (one, other) in with.iter().zip(&without) {
            for step in 0..one.len() {
                let added = trend.output_at(&dataset, one.experiment, 0, one.first + step);
                assert!(
                    (one.centre[0][step] - other.centre[0][step] - added).abs() < 1e-9,
                    "{step}"
                );
                assert!(
                    (one.upper[0][step] - other.upper[0][step] - added).abs() < 1e-9,
                    "{step}"
                );
            }
        }
    }
    // Where the model has been does not depend on how far the sensor has drifted.
    let with = model.simulate(&dataset, &split.test).expect("runs");
    let without = bare.simulate(&level, &split.test).expect("runs");
    assert_eq!(
        model.extrapolated(&dataset, &with).expect("flags"),
        bare.extrapolated(&level, &without).expect("flags")
    );
    assert!(matches!(Simulator::new(&model), Err(ModelError::PreparedStep { .. })));
    assert!(Simulator::new(&model.bare()).is_ok());
}

#[test]
fn data_that_were_not_prepared_alike_are_refused() {
    let recorded = drifting(400, 0.0);
    let thinned = Preparation {
        decimate: Some(2),
        ..Preparation::default()
    };
    let dataset = thinned.apply(recorded.clone()).expect("applies");
    let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
    let model = fit(&dataset, &split);
    let refused = model
        .simulate(&recorded, &Part::whole(&recorded))
        .expect_err("every sample");
    assert_eq!(
        refused.to_string(),
        "the record was not prepared as the model's own: expected 'One sample in 2 is kept, after a low-pass filter without \
         delay', found 'nothing done to it'"
    );
    let prepared = model.prepare(recorded).expect("prepares");
    assert_eq!(prepared, dataset);
    assert_eq!(model.prepare(prepared).expect("is prepared"), dataset);
    let bytes = model.to_bytes().expect("writes");
    assert_eq!(
        Model::from_bytes(bytes).expect("reads").interface().preparation,
        thinned
    );
}
