//! How simulations start: candidates are judged, bands sized and promises made from the starts that users will have.

use intervalid_data::{
    Channel, Dataset, Experiment, InitialState, Lags, LinearSystem, Part, Segment, Split, SplitFractions,
};
use intervalid_model::{
    Control, CoverageTarget, FitConfig, FitOptions, Metrics, Model, ModelError, ModelKind, Strategy, evaluate,
};
use intervalid_search::{SearchConfig, SearchError, SearchOptions, calibrate_on_blocks, search};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn metrics(model: &Model, dataset: &Dataset, part: &Part) -> Metrics {
    let bands = model.simulate(dataset, part).expect("simulates");
    evaluate(dataset, &bands, 0.9).expect("belongs").all
}

/// A slow plant whose output is measured with noise.
fn slow() -> Dataset {
    let plant = LinearSystem {
        feedback: vec![1.9, -0.905],
        ..LinearSystem::default()
    };
    plant.generate(700, 3).expect("generates").into_dataset()
}

#[test]
fn models_with_hidden_states_promise_what_they_do_from_a_start_that_was_set() {
    let dataset = slow();
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let config = SearchConfig {
        model: Some(ModelKind::Iss),
        hidden: Some([0, 0]),
        initial: Some(InitialState::Warmup(1)),
        ..SearchConfig::default()
    };
    let found = search(&dataset, &split, &config, &SearchOptions::default()).expect("a model");
    assert_eq!(found.model.config().initial, InitialState::Warmup(1));
    let scale = found.model.interface().normaliser.outputs[0].std;
    let test = metrics(&found.model, &dataset, &split.test);
    let (rmse, promise) = (test.rmse.expect("a number") / scale, found.info.promise.expect("made"));
    assert!(
        rmse < 1.5 * promise.promised,
        "{rmse} {promise:?} {:?}",
        found.info.warning
    );
    assert!(test.picp.is_some_and(|picp| picp > 0.7), "{test:?}");
}

#[test]
fn a_start_without_history_is_no_start_of_a_search_of_hidden_states() {
    let dataset = slow();
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    for initial in [InitialState::ZeroPadded, InitialState::Measured] {
        let config = SearchConfig {
            model: Some(ModelKind::Iss),
            initial: Some(initial),
            ..SearchConfig::default()
        };
        let error = search(&dataset, &split, &config, &SearchOptions::default()).expect_err("no history");
        let SearchError::Model(ModelError::Option { option: "initial", .. }) = error else {
            panic!("{error:?}");
        };
    }
}

/// Experiments of a lightly damped plant, each from a state of its own, measured with noise.
fn short_experiments(count: usize, samples: usize) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = || -> f64 { rng.sample(StandardNormal) };
    let experiments = (0..count).map(|index| {
        let mut state = [10.0 * normal(), 10.0 * normal()];
        let (mut u, mut y) = (Vec::new(), Vec::new());
        for k in 0..samples {
            u.push(f64::from(u8::from((k / 5 + k / 7 + index) % 2 == 0)));
            y.push(state[0] + 0.05 * normal());
            let next = 1.5 * state[0] - 0.6 * state[1] + u[k];
            state = [next, state[0]];
        }
        Experiment::new(format!("e{index}"), vec![u], vec![y])
    });
    let experiments = experiments.collect();
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("plant", inputs, outputs, None, experiments).expect("a record")
}

#[test]
fn bands_of_many_short_experiments_hold_from_their_beginnings() {
    let dataset = short_experiments(30, 45);
    let part = |range: std::ops::Range<usize>| {
        let whole = |experiment| Segment {
            experiment,
            start: 0,
            end: 45,
        };
        Part::from_segments(range.map(whole).collect())
    };
    let split = Split {
        train: part(0..11),
        validation: part(11..14),
        test: part(14..30),
    };
    // Models on lagged outputs alone, and then those with hidden states, which find theirs in a history that the experiments have room for.
    for (model, rounds) in [(Some(ModelKind::Arx), 1), (Some(ModelKind::Iss), 2)] {
        let config = SearchConfig {
            model,
            rounds,
            ..SearchConfig::default()
        };
        let found = search(&dataset, &split, &config, &SearchOptions::default()).expect("a model");
        let test = metrics(&found.model, &dataset, &split.test);
        assert_eq!(Some(found.model.kind()), model, "{:?}", found.info.warning);
        let (picp, rmse) = test.picp.zip(test.rmse).expect("numbers");
        assert!(
            picp > 0.85 && rmse < 1.0,
            "{model:?}: {test:?} {:?}",
            found.info.warning
        );
    }
}

#[test]
fn a_gap_near_the_end_of_a_record_changes_little() {
    let whole = slow();
    let [one] = whole.experiments() else { panic!("one run") };
    let piece = |name: &str, range: std::ops::Range<usize>| {
        let columns = [one.input(0), one.output(0)].map(|column| vec![column[range.clone()].to_vec()]);
        let [inputs, outputs] = columns;
        Experiment::new(name, inputs, outputs)
    };
    let len = one.len();
    let pieces = vec![piece("a", 0..1), piece("b", 2..len - 9), piece("c", len - 8..len)];
    let dataset =
        Dataset::new("gap", whole.inputs().to_vec(), whole.outputs().to_vec(), None, pieces).expect("a record");
    for model in [ModelKind::Arx, ModelKind::Iss] {
        let config = SearchConfig {
            model: Some(model),
            hidden: (model == ModelKind::Iss).then_some([0, 0]),
            ..SearchConfig::default()
        };
        let rmse = |dataset: &Dataset| {
            let split = Split::new(dataset, SplitFractions::default()).expect("splits");
            let found = search(dataset, &split, &config, &SearchOptions::default()).expect("a model");
            metrics(&found.model, &whole, &Part::whole(&whole))
                .rmse
                .expect("a number")
        };
        let (with_gaps, without) = (rmse(&dataset), rmse(&whole));
        // Other lags may be taken, but nothing is refused.
        assert!(with_gaps < 1.5 * without, "{model}: {with_gaps} {without}");
    }
}

/// Its runs cannot even begin there.
#[test]
fn an_experiment_that_is_shorter_than_the_dead_time_is_no_hindrance() {
    const DEAD_TIME: usize = 45;
    let run = |name: &str, samples: usize| {
        let u: Vec<f64> = (0..samples)
            .map(|k| f64::from(u8::from((k / 37 + k / 53) % 2 == 0)))
            .collect();
        let mut y = vec![0.0; samples];
        for k in 1..samples {
            let wave = 0.01 * (k as f64 * 1.7).sin();
            y[k] = 0.9 * y[k - 1] + 0.1 * k.checked_sub(DEAD_TIME).map_or(0.0, |before| u[before]) + wave;
        }
        Experiment::new(name, vec![u], vec![y])
    };
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    let runs = vec![run("long", 1500), run("short", 40)];
    let dataset = Dataset::new("two", inputs, outputs, None, runs).expect("a record");
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let config = SearchConfig {
        model: Some(ModelKind::Arx),
        ..SearchConfig::default()
    };
    let found = search(&dataset, &split, &config, &SearchOptions::default()).expect("a model");
    assert!(found.model.config().lags.nd >= 40, "{}", found.model.config().lags);
}

#[test]
fn a_dead_time_does_not_begin_with_guesses() {
    const DEAD_TIME: usize = 12;
    // Runs that begin at rest, far from the mean of all.
    let experiment = |index: usize| {
        let level = 20.0 + 15.0 * (index % 5) as f64;
        let u: Vec<f64> = (0..120)
            .map(|k| {
                if k < 40 {
                    level
                } else {
                    80.0 - level * (k / 40) as f64 / 3.0
                }
            })
            .collect();
        let mut y = vec![0.7 * level];
        for k in 1..u.len() {
            y.push(0.9 * y[k - 1] + 0.07 * u[k.saturating_sub(DEAD_TIME)]);
        }
        Experiment::new(format!("run {index}"), vec![u], vec![y])
    };
    let of = |name: &str, runs: std::ops::Range<usize>| {
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        Dataset::new(name, inputs, outputs, None, runs.map(experiment).collect()).expect("a record")
    };
    let (dataset, next) = (of("runs", 0..12), of("next", 13..14));
    let config = intervalid_model::FitConfig::default().with(|config| {
        config.model = ModelKind::Arx;
        config.lags = intervalid_data::Lags {
            nx: 0,
            nd: DEAD_TIME,
            ny: 1,
        };
        config.initial = InitialState::Measured;
    });
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let (model, _) = Model::fit(&dataset, &split, &config, intervalid_model::FitOptions::default()).expect("fits");
    let bands = model.simulate(&next, &Part::whole(&next)).expect("simulates");
    assert_eq!(bands[0].first, DEAD_TIME, "the first sample that sees an input");
    let rmse = metrics(&model, &next, &Part::whole(&next)).rmse.expect("a number");
    assert!(rmse < 1e-6, "{rmse}");
}

#[test]
fn a_record_of_short_pieces_calibrates_a_band() {
    let plant = LinearSystem {
        noise_std: 0.05,
        ..LinearSystem::default()
    };
    let record = plant.generate(1900, 7).expect("generates");
    let one = &record.dataset().experiments()[0];
    let piece = |k: usize| {
        let range = 19 * k..19 * (k + 1);
        let [u, y] = [one.input(0), one.output(0)].map(|column| vec![column[range.clone()].to_vec()]);
        Experiment::new(format!("{k}"), u, y)
    };
    let channels = |name| vec![Channel::new(name)];
    let pieces = (0..100).map(piece).collect();
    let dataset = Dataset::new("pieces", channels("u"), channels("y"), None, pieces).expect("a record");
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let config = FitConfig::paper("", ModelKind::Arx, Strategy::Cascade).with(|config| {
        (config.lags, config.lag_search) = (Lags { nx: 1, nd: 1, ny: 2 }, false);
        config.initial = InitialState::Measured;
    });
    let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
    let target = CoverageTarget::of_each(config.coverage);
    let calibrated = calibrate_on_blocks(&dataset, &split, model, target, 1, Control::default()).expect("calibrates");
    let picp = metrics(&calibrated, &dataset, &split.test).picp.expect("a share");
    assert!((0.85..0.99).contains(&picp), "{picp}");
}
