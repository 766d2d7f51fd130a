//! The data sets that are known by name.

use intervalid_data::{
    ArxModel, CATALOGUE, InitialState, KnownDataset, Lags, Normaliser, ReadOptions, Split, Window, Windows,
    available_names, describe, free_run_windows, known_dataset, load, read,
};
use intervalid_testkit::require_dataset;

fn built_in(name: &str) -> intervalid_data::Dataset {
    load(&[name], None, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn built_in_sets_load_with_their_metadata() {
    for known in CATALOGUE.iter().filter(|known| known.is_built_in()) {
        let dataset = built_in(known.name);
        assert_eq!((dataset.name(), dataset.samples()), (known.name, known.samples));
        assert_eq!(dataset.sample_time(), known.sample_time);
        assert_eq!(dataset.inputs()[0].unit.as_deref(), known.input.1);
        assert_eq!(dataset.outputs()[0].unit.as_deref(), known.output.1);
        assert!(available_names(None).contains(&known.name.to_owned()));
    }
    let dryer = built_in("hair_dryer");
    assert!((dryer.experiments()[0].input(0)[0] - 6.41).abs() < 1e-12);
}

#[test]
fn units_that_are_given_win_over_those_of_the_catalogue() {
    let options = ReadOptions {
        units: vec![("y".to_owned(), "mV".to_owned())],
        ..ReadOptions::default()
    };
    let dataset = load(&["hair-dryer"], None, &options).expect("loads");
    assert_eq!(dataset.outputs()[0].unit.as_deref(), Some("mV"));
    let known = known_dataset("hair-dryer").expect("known");
    assert_eq!(dataset.inputs()[0].unit.as_deref(), known.input.1);
}

#[test]
fn the_dryer_is_described() {
    let summary = describe(&built_in("hair-dryer"));
    assert_eq!(summary.inputs[0].levels, 2);
    let warnings: Vec<String> = summary.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings.contains(&"channel 'u' takes only 2 distinct values".to_owned()),
        "{warnings:?}"
    );
}

fn paper_windows(known: &KnownDataset, dataset: &intervalid_data::Dataset) -> (usize, usize) {
    let split = Split::new(dataset, known.split()).expect("splits");
    let windows = Windows::new(
        dataset,
        &split.train,
        known.lags,
        InitialState::ZeroPadded,
        known.window,
    );
    (split.train.samples(), windows.expect("windows").len())
}

/// Counts by the formula ⌊(K_train-N-1)/n_step⌋ + 1.
#[test]
fn paper_windows_of_the_built_in_sets() {
    for (name, expected) in [("hair-dryer", (400, 185)), ("robot-arm", (410, 380))] {
        let known = known_dataset(name).expect("known");
        assert_eq!(paper_windows(known, &built_in(name)), expected, "{name}");
    }
}

#[test]
fn paper_windows_of_the_sets_that_are_not_shipped() {
    for (name, expected) in [("mr-damper", (1866, 366)), ("heat-exchanger", (800, 144))] {
        let Some(path) = require_dataset(name) else { continue };
        let known = known_dataset(name).expect("known");
        let dataset = read(&[&path], &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(dataset.samples(), known.samples, "{name}");
        assert_eq!(paper_windows(known, &dataset), expected, "{name}");
        let named = load(&[name], path.parent(), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((named.name(), named.sample_time()), (name, known.sample_time));
    }
}

#[test]
fn the_exchanger_starts_with_a_constant_stretch() {
    let Some(path) = require_dataset("heat-exchanger") else {
        return;
    };
    let dataset = read(&[path], &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<String> = describe(&dataset).warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings.iter().any(|warning| warning.contains("does not change over")),
        "{warnings:?}"
    );
}

/// 100·RMSE of the ARX free run over the test half of the robot arm, as stated in the project's mathematics page: 20.5
/// (order 2, 6 taps) when one output is known, 1.07 (order 8, 6 taps) when n_y are.
#[test]
fn the_initial_state_matters_on_the_robot_arm() {
    let dataset = built_in("robot-arm");
    let known = known_dataset("robot-arm").expect("known");
    let split = Split::new(&dataset, known.split()).expect("splits");
    let part = &split.train;
    let normaliser = Normaliser::fit(&dataset, part).expect("fits");
    let scaled = normaliser.scale::<f64>(&dataset);
    let score = |lags: Lags, initial| {
        let model = ArxModel::fit(&scaled, part, lags, true).expect("fits");
        let run: Window = free_run_windows(&dataset, &split.test, lags, initial).expect("runs")[0];
        let simulated = model.simulate(&scaled.experiments()[0], run, initial).expect("stable");
        let measured = &dataset.experiments()[0].output(0)[run.scored(initial)];
        let errors = simulated[0]
            .iter()
            .zip(measured)
            .map(|(y, m)| normaliser.output_to_physical(0, *y) - m);
        100.0 * (errors.map(|e| e * e).sum::<f64>() / measured.len() as f64).sqrt()
    };
    let padded = score(Lags { nx: 5, nd: 1, ny: 2 }, InitialState::ZeroPadded);
    let measured = score(Lags { nx: 5, nd: 0, ny: 8 }, InitialState::Measured);
    assert!((padded - 20.5).abs() < 0.2, "{padded}");
    assert!((measured - 1.07).abs() < 0.02, "{measured}");
}

#[test]
fn units_of_the_file_win_over_those_of_the_catalogue() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: String = (0..30).map(|k| format!("{},{}\n", k % 3, k % 5)).collect();
    std::fs::write(folder.path().join("mr_damper.csv"), format!("u [m/s],y [kN]\n{rows}")).expect("written");
    let load = |options: &ReadOptions| load(&["mr-damper"], Some(folder.path()), options).expect("loads");
    let named = ReadOptions {
        inputs: Some(vec!["u".to_owned()]),
        outputs: Some(vec!["y".to_owned()]),
        ..ReadOptions::default()
    };
    for options in [ReadOptions::default(), named.clone()] {
        let dataset = load(&options);
        let units = [&dataset.inputs()[0], &dataset.outputs()[0]].map(|channel| channel.unit.as_deref());
        assert_eq!(units, [Some("m/s"), Some("kN")]);
    }
    // Where the file has none they are those of the catalogue, by whatever way the columns are chosen.
    std::fs::write(folder.path().join("mr_damper.csv"), format!("u,y\n{rows}")).expect("written");
    for options in [ReadOptions::default(), named] {
        assert_eq!(load(&options).outputs()[0].unit.as_deref(), Some("N"));
    }
}
