//! Dead time and lags of systems where both are known.

use intervalid_data::{
    ArxModel, Channel, DataError, Dataset, DeadTimeConfig, Experiment, InitialState, LagSearchConfig, Lags,
    LinearSystem, Normaliser, Part, ReadOptions, Split, SplitFractions, WienerSystem, estimate_dead_time,
    find_dead_times, load, suggest_lags,
};

fn delay(dataset: &Dataset) -> Result<Option<usize>, DataError> {
    Ok(estimate_dead_time(dataset, &Part::whole(dataset), &DeadTimeConfig::default())?[0].delay)
}

#[test]
fn dead_times_are_found_for_white_and_coloured_inputs() {
    for dead_time in [0, 1, 2, 5, 11] {
        for (seed, input_correlation) in [(1, 0.0), (2, 0.5), (3, 0.95)] {
            let system = LinearSystem {
                dead_time,
                input_correlation,
                noise_std: 0.3,
                ..LinearSystem::default()
            };
            let record = system.generate(2000, seed).expect("generates");
            assert_eq!(
                delay(record.dataset()).expect("estimates"),
                Some(dead_time),
                "ρ = {input_correlation}"
            );
        }
    }
    let mut wiener = WienerSystem::default();
    wiener.dynamics.dead_time = 4;
    assert_eq!(
        delay(wiener.generate(2000, 1).expect("generates").dataset()).expect("estimates"),
        Some(4)
    );
}

#[test]
fn unrelated_channels_have_no_dead_time() {
    let silent = LinearSystem {
        feedthrough: vec![0.0],
        noise_std: 1.0,
        ..LinearSystem::default()
    };
    let found = (0..50).filter(|seed| {
        let record = silent.generate(500, *seed).expect("generates");
        delay(record.dataset()).expect("estimates").is_some()
    });
    // A false-alarm rate of 1 % over 50 records: more than 4 would have probability 2e-4.
    assert!(found.count() <= 4);
}

#[test]
fn the_dryer_has_a_dead_time_of_two_to_three_samples() {
    let dryer = load(&["hair-dryer"], None, &ReadOptions::default()).expect("loads");
    let found = delay(&dryer).expect("estimates");
    assert!(matches!(found, Some(2..=3)), "{found:?}");
}

#[test]
fn lag_search_finds_the_order_of_a_known_system() {
    let record = LinearSystem {
        noise_std: 0.01,
        ..LinearSystem::default()
    }
    .generate(2000, 5)
    .expect("generates");
    let split = Split::new(record.dataset(), SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("splits");
    let config = LagSearchConfig {
        initial: InitialState::Measured,
        ..LagSearchConfig::default()
    };
    let suggestion = suggest_lags(record.dataset(), &split, &config).expect("suggests");
    assert_eq!(suggestion.candidates.len(), 8 * 6 * 7);
    let lags = suggestion.suggested.lags;
    assert!(lags.ny == 2 && lags.nd == 1 && lags.nx <= 2, "{lags}");
    assert!(suggestion.suggested.validation_rmse <= 1.02 * suggestion.best.validation_rmse);
}

/// A candidate solved from the shared factor equals the fit made for its lags alone.
#[test]
fn the_shared_factor_gives_the_same_models() {
    let record = LinearSystem::default().generate(600, 2).expect("generates");
    let dataset = record.dataset();
    let split = Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("splits");
    let largest = LagSearchConfig {
        max_nx: 2,
        max_nd: 0,
        max_ny: 3,
        ..LagSearchConfig::default()
    };
    let lags = Lags { nx: 2, nd: 0, ny: 3 };
    let suggestion = suggest_lags(dataset, &split, &largest).expect("suggests");
    let candidate = suggestion
        .candidates
        .iter()
        .find(|candidate| candidate.lags == lags)
        .expect("in the table");
    let scaled = Normaliser::fit(dataset, &split.train)
        .expect("fits")
        .scale::<f64>(dataset);
    let model = ArxModel::fit(&scaled, &split.train, lags, true).expect("fits");
    let run =
        intervalid_data::free_run_windows(dataset, &split.validation, lags, InitialState::ZeroPadded).expect("runs")[0];
    let experiment = &scaled.experiments()[0];
    let simulated = model
        .simulate(experiment, run, InitialState::ZeroPadded)
        .expect("stable");
    let measured = &experiment.output(0)[run.predicted()];
    let square = simulated[0]
        .iter()
        .zip(measured)
        .map(|(y, m)| (y - m).powi(2))
        .sum::<f64>()
        / measured.len() as f64;
    assert!((candidate.validation_rmse - square.sqrt()).abs() < 1e-9);
}

#[test]
fn arx_recovers_two_outputs_and_a_long_record() {
    let record = LinearSystem {
        noise_std: 0.0,
        ..LinearSystem::default()
    }
    .generate(100_000, 9)
    .expect("generates");
    let experiment = &record.dataset().experiments()[0];
    let (u, y) = (experiment.input(0).to_vec(), experiment.output(0).to_vec());
    let doubled: Vec<f64> = y.iter().map(|value| 2.0 * value).collect();
    let scaled = intervalid_data::Scaled::new(vec![intervalid_data::ScaledExperiment::new(vec![u], vec![y, doubled])]);
    let model = ArxModel::fit(
        &scaled,
        &Part::whole(record.dataset()),
        Lags { nx: 1, nd: 1, ny: 2 },
        false,
    );
    let model = model.expect("fits");
    // The outputs are collinear, so only the sums over both are determined.
    let row = &model.coefficients[0];
    assert!(
        (row[0] + 2.0 * row[1] - 1.5).abs() < 1e-9 && (row[2] + 2.0 * row[3] + 0.7).abs() < 1e-9,
        "{row:?}"
    );
    assert!(row.iter().all(|value| value.abs() < 2.0));
}

#[test]
fn messages() {
    let record = LinearSystem::default().generate(60, 1).expect("generates");
    let dataset = record.dataset();
    let whole = Part::whole(dataset);
    let split = Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("splits");
    let dead = |config: DeadTimeConfig| {
        estimate_dead_time(dataset, &whole, &config)
            .expect_err("bad")
            .to_string()
    };
    assert_eq!(
        dead(DeadTimeConfig::default()),
        "too short for a dead-time estimate: 62 consecutive samples are needed, the longest stretch has 60"
    );
    assert_eq!(
        dead(DeadTimeConfig {
            false_alarm: 1.0,
            ..DeadTimeConfig::default()
        }),
        "false-alarm probability 1 is out of range: it lies between 0 and 1, ends excluded"
    );
    let lags = |config: LagSearchConfig| suggest_lags(dataset, &split, &config).expect_err("bad").to_string();
    assert_eq!(
        lags(LagSearchConfig::default()),
        "too short for this lag search: 33 consecutive samples are needed, the longest stretch has 24"
    );
    assert_eq!(
        lags(LagSearchConfig {
            tolerance: -0.1,
            ..LagSearchConfig::default()
        }),
        "lag-search tolerance -0.1 is out of range: it is a share ≥ 0 such as 0.02"
    );
}

/// Levels that are held for `hold` samples, and a slow plant that answers them late, with a little noise.
fn steps(samples: usize, hold: usize, dead_time: usize) -> Dataset {
    let level = |k: usize| ((k / hold + 1) as f64 * 12.9898).sin() * 43_758.545_3 % 1.0;
    let noise = |k: usize| ((k + 1) as f64 * 78.233).sin() * 12_345.678 % 1.0;
    let u: Vec<f64> = (0..samples).map(level).collect();
    let mut state = 0.0;
    let y = (0..samples).map(|k| {
        state = 0.9 * state + if k < dead_time { 0.0 } else { 0.2 * u[k - dead_time] };
        state + 0.03 * noise(k)
    });
    let channels = |name| vec![Channel::new(name)];
    let y = vec![y.collect()];
    let experiment = Experiment::new("steps", vec![u], y);
    Dataset::new("steps", channels("u"), channels("y"), None, vec![experiment]).expect("a record")
}

#[test]
fn levels_that_are_held_are_not_answered_a_level_too_early() {
    for hold in [1, 9, 20, 30] {
        for dead_time in [1, 9, 31, 46] {
            let dataset = steps(2000, hold, dead_time);
            let found = find_dead_times(&dataset, &Part::whole(&dataset)).expect("estimates");
            assert_eq!(found[0].delay, Some(dead_time), "levels of {hold} samples");
        }
    }
    // As far as a short record has room.
    for samples in [200, 300] {
        let dataset = steps(samples, 4, 31);
        let later = LagSearchConfig::default().later(&dataset, &Part::whole(&dataset));
        let has_it = |limits: &LagSearchConfig| (limits.min_nd..=limits.max_nd + limits.max_nx).contains(&31);
        assert!(later.iter().any(has_it), "{samples}: {later:?}");
    }
}

#[test]
fn late_answers_are_found_and_lags_are_searched_there() {
    for dead_time in [15, 40] {
        let system = LinearSystem {
            dead_time,
            noise_std: 0.05,
            ..LinearSystem::default()
        };
        let record = system.generate(2000, 4).expect("generates");
        let dataset = record.dataset();
        let whole = Part::whole(dataset);
        let found = find_dead_times(dataset, &whole).expect("estimates");
        assert_eq!(found[0].delay, Some(dead_time));
        let split = Split::new(dataset, SplitFractions::new(0.4, 0.1, 0.5).expect("shares")).expect("splits");
        let suggested = suggest_lags(dataset, &split, &LagSearchConfig::default())
            .expect("suggests")
            .suggested;
        assert_eq!(suggested.lags.nd, dead_time, "{}", suggested.lags);
        // Beside an input that nothing answers.
        let [one] = dataset.experiments() else {
            panic!("one run")
        };
        let idle = (0..one.len()).map(|k| (k as f64).powi(2).sin()).collect();
        let experiment = Experiment::new("run", vec![one.input(0).to_vec(), idle], vec![one.output(0).to_vec()]);
        let [inputs, outputs] = [vec!["u", "v"], vec!["y"]].map(|names| names.into_iter().map(Channel::new).collect());
        let dataset = Dataset::new("plant", inputs, outputs, None, vec![experiment]).expect("a record");
        let found = find_dead_times(&dataset, &whole).expect("estimates");
        assert_eq!([found[0].delay, found[1].delay], [Some(dead_time), None]);
        let suggested = suggest_lags(&dataset, &split, &LagSearchConfig::default())
            .expect("suggests")
            .suggested;
        assert_eq!(suggested.lags.nd, dead_time, "{}", suggested.lags);
    }
    // A record too short for later delays, or whose input acts at once, keeps the usual limits.
    let quick = LinearSystem::default().generate(120, 4).expect("generates");
    let whole = Part::whole(quick.dataset());
    assert_eq!(LagSearchConfig::default().later(quick.dataset(), &whole), []);
    // So does one of runs that would be over before the first prediction.
    let late = LinearSystem {
        dead_time: 40,
        noise_std: 0.05,
        ..LinearSystem::default()
    };
    for (length, is_searched) in [(1000, true), (150, false)] {
        let run = |k: usize| {
            let record = late.generate(length, k as u64).expect("generates");
            let one = &record.dataset().experiments()[0];
            Experiment::new(
                format!("{k}"),
                vec![one.input(0).to_vec()],
                vec![one.output(0).to_vec()],
            )
        };
        let channels = |name| vec![Channel::new(name)];
        let runs = (0..3000 / length).map(run).collect();
        let dataset = Dataset::new("batches", channels("u"), channels("y"), None, runs).expect("a record");
        let later = LagSearchConfig::default().later(&dataset, &Part::whole(&dataset));
        assert_eq!(!later.is_empty(), is_searched, "{length}: {later:?}");
    }
}
