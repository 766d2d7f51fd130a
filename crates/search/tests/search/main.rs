//! `auto` on systems whose truth is known, and on records of awkward shapes.

mod at_rest;
mod renew;
mod starts;

use std::sync::atomic::AtomicBool;

use intervalid_data::{
    Channel, Dataset, Experiment, InitialState, LinearSystem, ReadOptions, Split, SplitFractions, SyntheticRecord,
    WienerSystem, load,
};
use intervalid_model::{
    Control, CoverageTarget, Feedback, FitConfig, FitOptions, Metrics, Model, ModelKind, Progress, Strategy, evaluate,
};
use intervalid_search::{
    SearchConfig, SearchEnd, SearchError, SearchOptions, SearchOutcome, calibrate_on_blocks, search,
};

fn searched(dataset: &Dataset, config: &SearchConfig, threads: usize) -> (SearchOutcome, Split) {
    let split = Split::new(dataset, SplitFractions::default()).expect("splits");
    let options = SearchOptions {
        threads,
        ..SearchOptions::default()
    };
    (search(dataset, &split, config, &options).expect("fits"), split)
}

fn test_metrics(fit: &SearchOutcome, dataset: &Dataset, split: &Split) -> [Metrics; 2] {
    let bands = fit.model.simulate(dataset, &split.test).expect("simulates");
    let online = fit.model.online(dataset, &bands).expect("adapts");
    let coverage = fit.model.config().coverage;
    [&bands, &online].map(|bands| evaluate(dataset, bands, coverage).expect("belongs").all)
}

/// Coverage within two points and three binomial standard deviations, width at most 1.25 times the ideal band's; the online
/// band, which pays for its reaction to drift where there is none, 1.4 times.
fn check_truth(record: &SyntheticRecord, coverage: f64, rounds: usize) {
    let dataset = record.dataset();
    let config = SearchConfig {
        coverage,
        rounds,
        ..SearchConfig::default()
    };
    let (fit, split) = searched(dataset, &config, 2);
    let [offline, online] = test_metrics(&fit, dataset, &split);
    let (low, high) = (
        record.quantile(0.5 - 0.5 * coverage),
        record.quantile(0.5 + 0.5 * coverage),
    );
    let test = split.test.segments()[0];
    let widths = (test.start + 1..test.end).map(|k| high[k] - low[k]);
    let ideal = widths.sum::<f64>() / (test.len() - 1) as f64;
    let measured = &dataset.experiments()[0].output(0)[test.start + 1..test.end];
    let range = measured.iter().copied().fold(f64::MIN, f64::max) - measured.iter().copied().fold(f64::MAX, f64::min);
    // Few of the members, with a band of their own size.
    let light = fit.model.light().expect("a search stores one");
    let few = light.members();
    assert!(2 * few < fit.model.members(), "{few} of {}", fit.model.members());
    let bands = light.simulate(dataset, &split.test).expect("simulates");
    let light = evaluate(dataset, &bands, coverage).expect("belongs").all;
    let rmse = |metrics: &Metrics| metrics.rmse.expect("a number");
    assert!(rmse(&light) < 1.05 * rmse(&offline), "{light:?} {offline:?}");
    for (name, metrics, widest) in [
        ("offline", offline, 1.25),
        ("light", light, 1.25),
        ("online", online, 1.4),
    ] {
        let picp = metrics.picp.expect("a share");
        let margin = 0.02 + 3.0 * (coverage * (1.0 - coverage) / metrics.n as f64).sqrt();
        assert!(
            (picp - coverage).abs() < margin,
            "{name}: {picp} for {coverage} ± {margin}"
        );
        let width = metrics.pinaw.expect("a width") * range;
        assert!(
            width < widest * ideal,
            "{name}: {width} against {ideal}, {:?}",
            fit.info.candidates[0]
        );
    }
}

#[test]
fn a_linear_system_gets_its_ideal_band() {
    let record = LinearSystem::default().generate(3000, 11).expect("generates");
    check_truth(&record, 0.9, 3);
}

#[test]
fn a_wiener_system_gets_nearly_its_ideal_band() {
    let record = WienerSystem::default().generate(3000, 12).expect("generates");
    check_truth(&record, 0.95, 5);
}

#[test]
fn a_linear_model_wins_where_it_should() {
    let record = LinearSystem::default().generate(1200, 5).expect("generates");
    let (fit, _) = searched(
        record.dataset(),
        &SearchConfig {
            rounds: 2,
            ..SearchConfig::default()
        },
        2,
    );
    assert_eq!(fit.model.kind(), ModelKind::Arx, "{}", fit.info.why);
    assert!(fit.info.candidates[0].chosen && !fit.info.candidates[1].chosen);
    // Linear state-space models were tried as well, and judged on the same samples.
    let orders = fit.info.candidates.iter().filter(|c| c.model == ModelKind::Iss);
    assert!(orders.clone().count() > 8 && orders.clone().all(|c| c.hidden == [0, 0] && c.forward.is_some()));
    assert!(fit.info.promise.is_some_and(|promise| promise.is_kept()));
}

#[test]
fn threads_change_nothing_and_a_saved_model_is_the_same() {
    let record = WienerSystem::default().generate(600, 3).expect("generates");
    let config = SearchConfig {
        model: Some(ModelKind::Inode),
        rounds: 3,
        ..SearchConfig::default()
    };
    let (one, split) = searched(record.dataset(), &config, 1);
    let (two, _) = searched(record.dataset(), &config, 2);
    assert_eq!(one.model, two.model);
    // Five without a block each, three of everything.
    assert_eq!(one.model.members(), 8);
    assert_eq!(one.info.members, 8);
    let light = one.model.light().expect("stored");
    assert_eq!(light.members(), 1);
    let scale = |model: &Model| model.interface().calibration.as_ref().map(|found| found.outputs[0]);
    // Nothing is added for disagreement where there is nobody to disagree with.
    let (of_all, of_one) = (
        scale(&one.model).expect("calibrated"),
        scale(&light).expect("calibrated"),
    );
    assert!(
        of_all.spread > Some(0.0) && of_one.spread == Some(0.0),
        "{of_all:?} {of_one:?}"
    );

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.safetensors");
    one.model.save(&path).expect("saves");
    let again = Model::load(&path).expect("loads");
    assert_eq!(again, one.model);
    let simulate = |model: &Model| model.simulate(record.dataset(), &split.test).expect("simulates");
    assert_eq!(simulate(&again), simulate(&one.model));
    let flags = |model: &Model| model.extrapolated(record.dataset(), &simulate(model)).expect("fits");
    assert!(flags(&one.model).is_some());
    assert_eq!(flags(&again), flags(&one.model));
}

/// The size of a hidden state is seen: no linear model and no lagged one knows its sign.
fn rectified(samples: usize) -> Dataset {
    let input: Vec<f64> = (0..samples)
        .map(|k| (0.11 * k as f64).sin() + (0.041 * k as f64).cos() + 0.4 * (0.53 * (k * k % 97) as f64).sin())
        .collect();
    let mut state = 0.0;
    let output: Vec<f64> = input
        .iter()
        .enumerate()
        .map(|(k, u)| {
            let y = f64::abs(state) + 0.01 * ((k * 7919) as f64).sin();
            state = 0.8 * state + 0.3 * u;
            y
        })
        .collect();
    let experiment = Experiment::new("e", vec![input], vec![output]);
    let channels = (vec![Channel::new("u")], vec![Channel::new("y")]);
    Dataset::new("rectified", channels.0, channels.1, None, vec![experiment]).expect("valid")
}

#[test]
fn a_hidden_state_is_found_whatever_the_threads() {
    let dataset = rectified(700);
    let config = SearchConfig {
        rounds: 5,
        ..SearchConfig::default()
    };
    let (one, split) = searched(&dataset, &config, 1);
    let (two, _) = searched(&dataset, &config, 2);
    assert_eq!(one.model, two.model);
    assert_eq!(one.model.kind(), ModelKind::Iss, "{}", one.info.why);
    assert!(matches!(one.model.config().initial, InitialState::History(_)));
    let chosen = &one.info.candidates[0];
    assert!(chosen.states > 0 && chosen.chosen && chosen.model == ModelKind::Iss);
    let promise = one.info.promise.expect("compared");
    assert!(promise.is_kept() && promise.held_out.is_some(), "{promise:?}");
    let [offline, _] = test_metrics(&one, &dataset, &split);
    assert!(offline.fit_percent.expect("a fit") > 80.0, "{offline:?}");
    assert!(offline.picp.expect("a share") > 0.8, "{offline:?}");
}

#[test]
fn more_rounds_are_more_work_and_the_first_ones_are_the_same() {
    let dataset = rectified(400);
    let with = |rounds| {
        let config = SearchConfig {
            rounds,
            ..SearchConfig::default()
        };
        searched(&dataset, &config, 2).0.info
    };
    let (few, more) = (with(3), with(4));
    assert_eq!((few.rounds, more.rounds), (3, 4));
    assert!(few.work < more.work);
    let names = |info: &intervalid_search::SearchInfo| -> Vec<(String, Option<f64>)> {
        info.candidates.iter().map(|c| (c.name.clone(), c.score)).collect()
    };
    assert!(names(&few).iter().all(|row| names(&more).contains(row)));
}

#[test]
fn harder_driven_data_are_flagged_and_calmer_ones_not() {
    let system = LinearSystem::default();
    let record = system.generate(1000, 4).expect("generates");
    let config = SearchConfig {
        model: Some(ModelKind::Arx),
        ..SearchConfig::default()
    };
    let (fit, _) = searched(record.dataset(), &config, 2);
    let scaled = |factor: f64| {
        let input: Vec<f64> = record.dataset().experiments()[0]
            .input(0)
            .iter()
            .map(|u| factor * u)
            .collect();
        let output = system.respond(&input);
        let experiment = Experiment::new("e", vec![input], vec![output]);
        let channels = (vec![Channel::new("u")], vec![Channel::new("y")]);
        Dataset::new("d", channels.0, channels.1, None, vec![experiment]).expect("valid")
    };
    let share = |factor: f64| {
        let dataset = scaled(factor);
        let part = intervalid_data::Part::whole(&dataset);
        let bands = fit.model.simulate(&dataset, &part).expect("simulates");
        let flags = fit
            .model
            .extrapolated(&dataset, &bands)
            .expect("fits")
            .expect("knows its region");
        flags[0].iter().filter(|is| **is).count() as f64 / flags[0].len() as f64
    };
    assert!(share(0.5) < 1e-9, "{}", share(0.5));
    assert!(share(4.0) > 0.2, "{}", share(4.0));
}

/// Two inputs, two outputs, coupled; noise from a sine that no input explains.
fn coupled(samples: usize, phase: f64) -> Experiment {
    let wave = |rate: f64| -> Vec<f64> { (0..samples).map(|k| ((k * k) as f64 * rate + phase).sin()).collect() };
    let (u, v) = (wave(0.37), wave(0.11));
    let (mut y, mut z) = (vec![0.0; samples], vec![0.0; samples]);
    for k in 1..samples {
        y[k] = 0.8 * y[k - 1] + 0.1 * z[k - 1] + u[k - 1];
        z[k] = 0.6 * z[k - 1] + 0.5 * v[k] - 0.2 * u[k - 1];
    }
    let noise = |k: usize| 0.05 * ((k * 7919) as f64).sin();
    y.iter_mut().chain(&mut z).enumerate().for_each(|(k, y)| *y += noise(k));
    Experiment::new(format!("e{phase}"), vec![u, v], vec![y, z])
}

fn dataset(experiments: Vec<Experiment>) -> Dataset {
    let named = |names: [&str; 2]| names.map(Channel::new).to_vec();
    Dataset::new("coupled", named(["u", "v"]), named(["y", "z"]), None, experiments).expect("valid")
}

#[test]
fn several_outputs_and_experiments_are_fitted() {
    let dataset = dataset(vec![coupled(250, 0.0), coupled(200, 1.0), coupled(150, 2.0)]);
    let (fit, split) = searched(
        &dataset,
        &SearchConfig {
            rounds: 2,
            ..SearchConfig::default()
        },
        2,
    );
    assert_eq!(fit.info.calibration.outputs.len(), 2);
    let [offline, online] = test_metrics(&fit, &dataset, &split);
    assert_eq!(offline.n, split.test.samples() - split.test.segments().len());
    assert!(offline.fit_percent.expect("a fit") > 80.0, "{offline:?}");
    assert!(online.picp.expect("a share") > 0.8);
}

/// Orders and penalties that hardly matter: none is taken for the best by chance, and the reason says so.
#[test]
fn linear_models_that_are_as_good_are_averaged() {
    let record = LinearSystem::default().generate(500, 4).expect("generates");
    let config = SearchConfig {
        model: Some(ModelKind::Iss),
        hidden: Some([0, 0]),
        rounds: 2,
        ..SearchConfig::default()
    };
    let (fit, _) = searched(record.dataset(), &config, 2);
    let chosen = &fit.info.candidates[0];
    assert!(chosen.name.starts_with("mean of state space"), "{}", chosen.name);
    assert!(
        fit.info.why.starts_with("the mean of state space, "),
        "{}",
        fit.info.why
    );
    assert!(fit.info.members > 6, "{}", fit.info.members);
}

/// The robot arm's state shows in past outputs, so that models on lags and models with hidden states are equally good, and err differently.
#[test]
fn models_on_lags_and_with_hidden_states_are_averaged() {
    let dataset = load(&["robot-arm"], None, &ReadOptions::default()).expect("built in");
    let split = Split::new(&dataset, SplitFractions::new(0.25, 0.05, 0.7).expect("valid")).expect("splits");
    let config = SearchConfig {
        rounds: 17,
        ..SearchConfig::default()
    };
    let options = SearchOptions {
        threads: 2,
        ..SearchOptions::default()
    };
    let found = search(&dataset, &split, &config, &options).expect("finds");
    let chosen = &found.info.candidates[0];
    assert!(
        chosen.name.starts_with("mean of ") && chosen.name.contains("INODE") && chosen.name.contains("state space"),
        "{}",
        chosen.name
    );
    assert_eq!((chosen.model, found.model.kind()), (ModelKind::Iss, ModelKind::Iss));
    assert_eq!(Some(chosen.states), found.model.config().network.states);
    assert!(found.info.promise.is_some_and(|promise| promise.is_kept()));
}

#[test]
fn short_records_without_inputs_and_long_ones_are_fitted() {
    let short = LinearSystem::default()
        .generate(80, 2)
        .expect("generates")
        .into_dataset();
    let few = SearchConfig {
        rounds: 4,
        ..SearchConfig::default()
    };
    let (fit, _) = searched(&short, &few, 1);
    assert!(fit.info.calibration.level >= 0.9);

    let output: Vec<f64> = (0..400)
        .map(|k| (0.3 * f64::from(k)).sin() + 0.1 * (f64::from(k) * 1.7).cos())
        .collect();
    let alone = Experiment::new("e", vec![], vec![output]);
    let alone = Dataset::new("alone", vec![], vec![Channel::new("y")], None, vec![alone]).expect("valid");
    searched(
        &alone,
        &SearchConfig {
            rounds: 4,
            ..SearchConfig::default()
        },
        1,
    );
}

#[test]
fn recurrent_networks_are_searched_on_request() {
    let record = WienerSystem::default().generate(700, 8).expect("generates");
    let config = SearchConfig {
        model: Some(ModelKind::Ilstm),
        rounds: 3,
        ..SearchConfig::default()
    };
    let (fit, split) = searched(record.dataset(), &config, 2);
    assert_eq!(fit.model.kind(), ModelKind::Ilstm);
    assert_eq!(fit.model.config().initial, InitialState::Warmup(20));
    assert_eq!(fit.model.members(), 8);
    let chosen = &fit.info.candidates[0];
    assert!(chosen.chosen && chosen.model == ModelKind::Ilstm, "{chosen:?}");
    let [offline, _] = test_metrics(&fit, record.dataset(), &split);
    // Better than the mean by far, and a band that is not absurd.
    assert!(offline.fit_percent.expect("a fit") > 50.0, "{offline:?}");
    assert!(offline.picp.expect("a share") > 0.75, "{offline:?}");

    let given = SearchConfig {
        initial: Some(InitialState::Measured),
        rounds: 2,
        ..config.clone()
    };
    let (fit, _) = searched(record.dataset(), &given, 2);
    let starts = fit.info.candidates.iter().filter(|c| c.model == ModelKind::Ilstm);
    assert!(starts.clone().count() == 2 && starts.clone().all(|c| c.name.ends_with("start measured")));

    let short = WienerSystem::default().generate(150, 8).expect("generates");
    let split = Split::new(short.dataset(), SplitFractions::default()).expect("splits");
    let refused = search(short.dataset(), &split, &config, &SearchOptions::default());
    assert!(matches!(
        refused,
        Err(SearchError::TooShortForNetworks {
            model: ModelKind::Ilstm,
            ..
        })
    ));
}

#[test]
fn a_budget_of_no_time_is_told_and_repeated_by_its_rounds() {
    let record = WienerSystem::default().generate(400, 9).expect("generates");
    let split = Split::new(record.dataset(), SplitFractions::default()).expect("splits");
    let options = SearchOptions {
        control: Control {
            // Nothing but what every search does first.
            deadline: Some(std::time::Instant::now()),
            ..Control::default()
        },
        ..SearchOptions::default()
    };
    let capped = search(record.dataset(), &split, &SearchConfig::default(), &options).expect("fits");
    assert!(capped.info.capped && capped.info.end == SearchEnd::OutOfTime);
    assert_eq!(capped.info.rounds, 0);
    let (repeated, _) = searched(
        record.dataset(),
        &SearchConfig {
            rounds: 0,
            ..SearchConfig::default()
        },
        1,
    );
    assert_eq!(repeated.model, capped.model);
    assert!(!repeated.info.capped && repeated.info.end == SearchEnd::Finished);
}

fn watched<'a>(observer: &'a intervalid_model::Observer<'a>) -> SearchOptions<'a> {
    SearchOptions {
        control: Control {
            observer: Some(observer),
            ..Control::default()
        },
        ..SearchOptions::default()
    }
}

#[test]
fn an_observer_that_breaks_off_ends_the_search() {
    let record = WienerSystem::default().generate(400, 9).expect("generates");
    let split = Split::new(record.dataset(), SplitFractions::default()).expect("splits");
    let stop = |_: &Progress| std::ops::ControlFlow::Break(());
    let refused = search(record.dataset(), &split, &SearchConfig::default(), &watched(&stop));
    assert!(matches!(refused, Err(SearchError::Cancelled)));

    // Later: linear models are there, and the best of them is kept.
    for during in ["networks", "margins"] {
        let stop = |progress: &Progress| match progress {
            Progress::Share { step, .. } if *step == during => std::ops::ControlFlow::Break(()),
            _ => std::ops::ControlFlow::Continue(()),
        };
        let config = SearchConfig {
            model: Some(ModelKind::Inode),
            rounds: 3,
            ..SearchConfig::default()
        };
        let kept = search(record.dataset(), &split, &config, &watched(&stop)).expect("keeps what it has");
        assert_eq!(kept.info.end, SearchEnd::Cancelled);
        assert_eq!(kept.model.kind(), ModelKind::Arx);
        assert!(kept.info.capped && kept.info.rounds == 0 && kept.info.why.contains("stopped"));
        assert!(kept.info.candidates[0].chosen && kept.info.candidates[0].model == ModelKind::Arx);
    }
}

#[test]
fn candidates_are_told_as_they_are_judged() {
    let record = WienerSystem::default().generate(400, 9).expect("generates");
    let split = Split::new(record.dataset(), SplitFractions::default()).expect("splits");
    let told = std::sync::Mutex::new(Vec::new());
    let observer = |progress: &Progress| {
        if let Progress::Candidate(candidate) = progress {
            told.lock().expect("unharmed").push(candidate.clone());
        }
        std::ops::ControlFlow::Continue(())
    };
    let config = SearchConfig {
        // The last of them is that of lagged networks.
        rounds: 7,
        ..SearchConfig::default()
    };
    let found = search(record.dataset(), &split, &config, &watched(&observer)).expect("a model");
    let told = told.into_inner().expect("unharmed");
    // All but means of several, which are made of candidates when everything was judged.
    let alone = found
        .info
        .candidates
        .iter()
        .filter(|row| !row.name.starts_with("mean of"));
    for row in alone {
        let last = told.iter().rev().find(|candidate| candidate.name == row.name);
        let last = last.unwrap_or_else(|| panic!("{} was not told", row.name));
        assert_eq!((last.model, last.parameters), (row.model, row.parameters));
        if let Some(score) = row.score {
            assert!(
                last.is_whole && last.error.to_bits() == score.to_bits(),
                "{last:?} {score}"
            );
        }
    }
    let kinds = |model: ModelKind| told.iter().any(|candidate| candidate.model == model);
    assert!(kinds(ModelKind::Arx) && kinds(ModelKind::Inode) && kinds(ModelKind::Iss));
    let without = search(record.dataset(), &split, &config, &SearchOptions::default()).expect("a model");
    assert_eq!(without.model, found.model, "who follows a search changes nothing");
}

#[test]
fn a_band_that_was_not_searched_is_scaled_on_blocks() {
    let record = LinearSystem::default().generate(1200, 5).expect("a record");
    let dataset = record.dataset();
    let split = Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("splits");
    for kind in [ModelKind::Arx, ModelKind::Inode, ModelKind::EnsembleNode] {
        let config = FitConfig::paper("", kind, Strategy::Cascade).with(|config| {
            config.training.epochs = 8;
            config.interval.margin_epochs = None;
            config.network.hidden = vec![8];
            config.gaussian.members = 2;
            // Eight epochs make no network that could run by itself.
            config.gaussian.feedback = Feedback::Mean;
        });
        let (model, _) = Model::fit(dataset, &split, &config, FitOptions::default()).expect("fits");
        let plain = model.simulate(dataset, &split.test).expect("simulates");
        let target = CoverageTarget::of_each(config.coverage);
        let [one, two] = [1, 2].map(|threads| {
            calibrate_on_blocks(dataset, &split, model.clone(), target, threads, Control::default())
                .expect("calibrates")
        });
        assert_eq!(one, two, "{kind}: whatever the threads");
        let stop = AtomicBool::new(true);
        let control = Control {
            cancel: Some(&stop),
            ..Control::default()
        };
        let stopped = calibrate_on_blocks(dataset, &split, model, target, 1, control);
        assert!(matches!(stopped, Err(SearchError::Cancelled)), "{kind}");
        let scaled = one.simulate(dataset, &split.test).expect("simulates");
        assert_eq!(plain[0].centre, scaled[0].centre, "{kind}: the same simulation");
        assert_ne!(plain[0].upper, scaled[0].upper, "{kind}: another band");
        let metrics = evaluate(dataset, &scaled, config.coverage).expect("belongs").all;
        let picp = metrics.picp.expect("a share");
        // Blocks of 120 correlated samples say little: the level is raised, so it is the lower side that counts.
        let margin = 0.02 + 3.0 * (0.9 * 0.1 / metrics.n as f64).sqrt();
        assert!(
            picp > config.coverage - margin,
            "{kind}: {picp} inside, asked {}",
            config.coverage
        );
    }
}

#[test]
fn a_record_of_two_blocks_calibrates_a_band() {
    let record = LinearSystem::default().generate(56, 3).expect("a record");
    let dataset = record.dataset();
    let split = Split::new(dataset, SplitFractions::new(0.6, 0.2, 0.2).expect("shares")).expect("splits");
    let config = FitConfig::paper("", ModelKind::Arx, Strategy::Cascade);
    let (model, _) = Model::fit(dataset, &split, &config, FitOptions::default()).expect("fits");
    let target = CoverageTarget::of_each(config.coverage);
    let calibrated = calibrate_on_blocks(dataset, &split, model, target, 1, Control::default()).expect("calibrates");
    assert!(calibrated.interface().calibration.is_some());
}
