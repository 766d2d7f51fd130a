//! Samples outside the region of the training data are told.

use intervalid_data::{Channel, Dataset, Experiment, Lags, Part, Split, SplitFractions};
use intervalid_model::{FitConfig, FitOptions, Model, ModelKind};

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
