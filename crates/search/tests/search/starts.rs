//! How simulations start: candidates are judged, bands sized and promises made from the starts that users will have.

use intervalid_data::{Channel, Dataset, Experiment, InitialState, LinearSystem, Part, Segment, Split, SplitFractions};
use intervalid_model::{Metrics, Model, ModelError, ModelKind, evaluate};
use intervalid_search::{SearchConfig, SearchError, SearchOptions, search};
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
