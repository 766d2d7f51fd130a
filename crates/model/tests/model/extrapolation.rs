//! Samples outside the region of the training data are told.

use intervalid_data::{Channel, Dataset, Experiment, Lags, Part, Split, SplitFractions};
use intervalid_model::{FitConfig, FitOptions, Model, ModelKind};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// A first-order plant driven by an input that switches between two levels.
fn switched(samples: usize, size: f64) -> Dataset {
    let switch = |k: usize| {
        if (k / 7 + k / 11).is_multiple_of(2) {
            size
        } else {
            -size
        }
    };
    let u: Vec<f64> = (0..samples).map(switch).collect();
    let mut level = 0.0;
    let y = u.iter().map(|u| {
        let y = level;
        level = 0.9 * level + 0.1 * u;
        y
    });
    let experiment = Experiment::new("run", vec![u.clone()], vec![y.collect()]);
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("plant", inputs, outputs, None, vec![experiment]).expect("a record")
}

fn fitted(dataset: &Dataset, split: &Split) -> Model {
    let config = FitConfig::default().with(|config| {
        config.model = ModelKind::Arx;
        config.lags = Lags { nx: 2, nd: 0, ny: 2 };
    });
    let (model, _) = Model::fit(dataset, split, &config, FitOptions::default()).expect("fits");
    model.with_region(dataset, &split.train).expect("knows its region")
}

/// The share of samples that are told to be outside.
fn outside(model: &Model, dataset: &Dataset, part: &Part) -> f64 {
    let bands = model.simulate(dataset, part).expect("runs");
    let flags = model.extrapolated(dataset, &bands).expect("fits").expect("a region");
    let flags: Vec<bool> = flags.concat();
    flags.iter().filter(|&&flag| flag).count() as f64 / flags.len() as f64
}

/// A switch is farther from the mean, for an ellipsoid, than twice the level: sizes are told apart by the box.
#[test]
fn inputs_of_twice_the_size_are_outside_and_those_of_the_fit_are_not() {
    let dataset = switched(600, 1.0);
    let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
    let model = fitted(&dataset, &split);
    assert!(outside(&model, &dataset, &split.train) < 1e-9);
    assert!(outside(&model, &dataset, &split.test) < 0.02);
    let larger = switched(200, 2.0);
    assert!(outside(&model, &larger, &Part::whole(&larger)) > 0.99);
    let read = Model::from_bytes(model.to_bytes().expect("writes")).expect("reads");
    assert_eq!(read.interface().region, model.interface().region);
}

/// A plant without inputs, which noise keeps moving; one sample in five hundred is an outlier.
fn shaken(samples: usize) -> Dataset {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut last, mut before) = (0.0, 0.0);
    let y = (0..samples).map(|k| {
        let level = 1.6 * last - 0.8 * before + random.random_range(-1.0..1.0);
        (before, last) = (last, level);
        if k % 500 == 499 { 40.0 } else { level }
    });
    let experiment = Experiment::new("run", Vec::new(), vec![y.collect()]);
    Dataset::new("plant", Vec::new(), vec![Channel::new("y")], None, vec![experiment]).expect("a record")
}

/// A free run without inputs comes to rest; predictions that follow measurements go where the plant has been.
#[test]
fn what_the_plant_has_measured_is_no_extrapolation_and_outliers_are() {
    let dataset = shaken(3000);
    let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
    let model = fitted(&dataset, &split);
    let share_ahead = |dataset: &Dataset| {
        let bands = model
            .predict_ahead(dataset, &Part::whole(dataset), 2)
            .expect("follows the measurements");
        let flags = model.extrapolated(dataset, &bands).expect("fits").expect("a region");
        let flags: Vec<bool> = flags.concat();
        flags.iter().filter(|&&flag| flag).count() as f64 / flags.len() as f64
    };
    let ahead = share_ahead(&dataset);
    assert!(ahead < 0.03, "{ahead}");
    assert!(outside(&model, &dataset, &split.test) < 0.02);
    let region = model.interface().region.as_ref().expect("a region");
    let of_outlier = model.interface().normaliser.output_to_normalised(0, 40.0);
    assert!(region.highest[0] < of_outlier, "{} {of_outlier}", region.highest[0]);
}
