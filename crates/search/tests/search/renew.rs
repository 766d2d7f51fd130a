//! Models that a search found, fitted once more to a plant that has changed, and to one that has not.

use intervalid_data::{
    Channel, Dataset, Experiment, InitialState, Lags, Normaliser, Part, Segment, Split, SplitFractions,
};
use intervalid_model::{Control, FitConfig, FitOptions, Metrics, Model, ModelKind, evaluate, initial_margins};
use intervalid_search::{SearchConfig, SearchError, SearchOptions, renew, search};

/// A first-order plant with this gain, driven by steps.
fn plant(samples: usize, gain: f64) -> Experiment {
    let u: Vec<f64> = (0..samples)
        .map(|k| f64::from(u8::from((k / 7 + k / 11) % 2 == 0)))
        .collect();
    let (mut level, mut state) = (0.0, 7_u32);
    let respond = |u: &f64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let y = level + 0.05 * (f64::from(state >> 20) / 4096.0 - 0.5);
        level = 0.8 * level + 0.2 * gain * u;
        y
    };
    let y = u.iter().map(respond).collect();
    Experiment::new("plant", vec![u], vec![y])
}

fn record(experiment: Experiment) -> Dataset {
    let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
    Dataset::new("plant", inputs, outputs, None, vec![experiment]).expect("a record")
}

/// The mean of several linear models, as a search makes it.
fn linear() -> Model {
    let data = record(plant(300, 1.0));
    let split = Split::new(&data, SplitFractions::default()).expect("parts");
    let config = SearchConfig {
        model: Some(ModelKind::Arx),
        ..SearchConfig::default()
    };
    let found = search(&data, &split, &config, &SearchOptions::default()).expect("a search");
    assert!(found.model.members() > 1, "{}", found.model.members());
    found.model
}

/// The mean of two models with hidden states, with so many units in their maps.
fn hidden(units: [usize; 2]) -> Model {
    let data = record(plant(300, 1.0));
    let split = Split::new(&data, SplitFractions::default()).expect("parts");
    let member = |seed: u64| {
        let config = FitConfig {
            seed,
            ..FitConfig::default().with(|config| {
                config.model = ModelKind::Iss;
                config.lags = Lags { nx: 1, nd: 1, ny: 1 };
                config.initial = InitialState::History(15);
                config.network.states = Some(2);
                config.network.hidden = units.to_vec();
                config.training.epochs = 60;
            })
        };
        Model::fit(&data, &split, &config, FitOptions::default())
            .expect("a fit")
            .0
    };
    Model::ensemble(vec![member(1), member(2)]).expect("alike")
}

/// A pool as a search makes it: a model of two states, and one of one state with another that does nothing.
fn pool() -> Model {
    let data = record(plant(300, 1.0));
    let split = Split::new(&data, SplitFractions::default()).expect("parts");
    let config = FitConfig::default().with(|config| {
        config.model = ModelKind::Iss;
        config.lags = Lags { nx: 1, nd: 1, ny: 1 };
        config.initial = InitialState::History(15);
        config.network.states = Some(2);
        config.network.hidden = vec![0, 0];
    });
    let normaliser = Normaliser::fit(&data, &split.train).expect("varies");
    // L (states × [states, input]), b, then L and b of the output, then the observer's gain.
    let member = |second: [f64; 3], seen: f64| {
        let theta = [
            0.8, 0.0, 0.2, second[0], second[1], second[2], 0.0, 0.0, 1.0, seen, 0.0, 0.0, 0.3, 0.0,
        ];
        initial_margins(normaliser.clone(), &data, &split, &config, &theta).expect("a model")
    };
    Model::ensemble(vec![member([0.1, 0.3, 0.1], 0.1), member([0.0; 3], 0.0)]).expect("alike")
}

/// Members of a model that use both of its states.
fn of_two_states(model: &Model) -> usize {
    let members = model.network_parameters();
    members.iter().filter(|member| member.theta[4] != 0.0).count()
}

#[test]
fn every_recipe_of_a_pool_is_fitted_again_with_equal_shares() {
    let model = pool();
    assert_eq!((model.members(), of_two_states(&model)), (2, 1));
    let data = record(plant(400, 1.5));
    let renewed = renew(&model, &data, &known(), &SearchOptions::default());
    let renewed = renewed.expect("fits").expect("a pool is renewed");
    assert_eq!(renewed.architecture(), model.architecture());
    // As many of each: a recipe that had half of the pool has half of the new one.
    assert_eq!(2 * of_two_states(&renewed), renewed.members());
    let [before, after] = [&model, &renewed].map(|model| judged(model, &data));
    assert!(
        after.rmse.expect("finite") < 0.7 * before.rmse.expect("finite"),
        "{after:?}"
    );
    assert!(after.picp.is_some_and(|share| share > 0.7), "{after:?}");
}

fn judged(model: &Model, data: &Dataset) -> Metrics {
    let end = Part::from_segments(vec![Segment {
        experiment: 0,
        start: 280,
        end: 400,
    }]);
    let bands = model.simulate(data, &end).expect("simulates");
    evaluate(data, &bands, 0.9).expect("belongs").all
}

/// Training and validation samples of a record of 400, without the end that judges.
fn known() -> Split {
    let part = |start: usize, end: usize| {
        Part::from_segments(vec![Segment {
            experiment: 0,
            start,
            end,
        }])
    };
    Split {
        train: part(0, 240),
        validation: part(240, 280),
        test: Part::default(),
    }
}

#[test]
fn a_mean_of_several_models_follows_a_plant_and_stays_one() {
    for model in [linear(), hidden([0, 0]), hidden([3, 0])] {
        let kind = model.kind();
        for (gain, most) in [(1.5, 0.7), (1.0, 1.3)] {
            let data = record(plant(400, gain));
            let renewed = renew(&model, &data, &known(), &SearchOptions::default()).expect("fits");
            let renewed = renewed.expect("means of linear models and models with hidden states are renewed");
            let [before, after] = [&model, &renewed].map(|model| judged(model, &data));
            let ratio = after.rmse.expect("finite") / before.rmse.expect("finite");
            assert!(ratio < most, "{kind}, gain {gain}: {ratio}");
            let scores = after.interval_score.expect("finite") / before.interval_score.expect("finite");
            assert!(scores < most.max(0.9), "{kind}, gain {gain}: {scores}");
            assert!(
                after.picp.is_some_and(|share| share > 0.7),
                "{kind}, gain {gain}: {after:?}"
            );
            assert_eq!((renewed.kind(), renewed.architecture()), (kind, model.architecture()));
            assert_eq!(renewed.config().lags, model.config().lags);
            assert_eq!(renewed.interface().normaliser, model.interface().normaliser);
            assert!(renewed.members() > 1 && renewed.interface().calibration.is_some());
        }
    }
}

#[test]
fn what_training_goes_on_with_is_left_to_it_and_a_user_can_stop() {
    let data = record(plant(400, 1.0));
    let config = FitConfig::default().with(|config| config.model = ModelKind::Arx);
    let (single, _) = Model::fit(&data, &known(), &config, FitOptions::default()).expect("fits");
    let none = renew(&single, &data, &known(), &SearchOptions::default()).expect("no work");
    assert!(none.is_none(), "one linear model is solved for again");
    let cancelled = std::sync::atomic::AtomicBool::new(true);
    let options = SearchOptions {
        control: Control {
            cancel: Some(&cancelled),
            ..Control::default()
        },
        ..SearchOptions::default()
    };
    let stopped = renew(&linear(), &data, &known(), &options);
    assert!(matches!(stopped, Err(SearchError::Cancelled)), "{stopped:?}");
}
