//! Predictions some samples ahead start where a run's warm-up ends, not within it.

use intervalid_data::{Channel, Dataset, Experiment, InitialState, Lags, Split, SplitFractions};
use intervalid_model::{Band, FitConfig, FitOptions, Model, ModelKind};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// A plant that swings for hundreds of samples after each push.
fn swinging(samples: usize) -> Dataset {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let u: Vec<f64> = (0..samples).map(|_| random.random_range(-1.0..1.0)).collect();
    let (mut last, mut before) = (0.0, 0.0);
    let y = u.iter().map(|u| {
        let y = 1.9 * last - 0.98 * before + u;
        (before, last) = (last, y);
        y + random.random_range(-0.05..0.05)
    });
    let y = y.collect();
    let experiment = Experiment::new("run", vec![u.clone()], vec![y]);
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("swing", inputs, outputs, None, vec![experiment]).expect("a record")
}

/// Root mean square error over the first scored samples.
fn error_of_the_first(dataset: &Dataset, band: &Band, count: usize) -> f64 {
    let y = &dataset.experiments()[0].output(0)[band.first..];
    let errors = (band.warmup..band.warmup + count).map(|step| y[step] - band.centre[0][step]);
    (errors.map(|error| error * error).sum::<f64>() / count as f64).sqrt()
}

#[test]
fn a_far_prediction_is_no_worse_than_the_free_run_after_a_warm_up() {
    let dataset = swinging(1200);
    let split = Split::new(&dataset, SplitFractions::default()).expect("parts");
    for initial in [InitialState::Warmup(20), InitialState::History(20)] {
        let config = FitConfig::default().with(|config| {
            config.model = ModelKind::Arx;
            config.lags = Lags { nx: 2, nd: 0, ny: 8 };
            config.initial = initial;
        });
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
        let free = &model.simulate(&dataset, &split.test).expect("runs")[0];
        let far = &model.predict_ahead(&dataset, &split.test, 100).expect("runs")[0];
        let [of_free, of_far] = [free, far].map(|band| error_of_the_first(&dataset, band, 80));
        assert!(of_far < 1.01 * of_free, "{initial}: {of_far}, free run {of_free}");

        let model = model.with_horizons(&dataset, &split.train).expect("learns");
        let scales = model.interface().horizons.as_ref().expect("learnt");
        assert!(
            scales.at(100, 0) < 1.5 && scales.at(1000, 0) < 1.5,
            "{initial}: {scales:?}"
        );
    }
}
