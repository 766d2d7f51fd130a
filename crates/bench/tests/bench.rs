//! Files of the official layouts, made small, through fits to tables.

use std::path::Path;

use intervalid_bench::{BenchError, BenchRequest, BenchTables, Benchmark, Protocol, Results, TableFormat};
use intervalid_data::{InitialState, Lags};
use intervalid_model::{Control, ModelKind};
use intervalid_workflow::Settings;

/// A first-order plant with some noise: input and output.
fn plant(samples: usize, seed: u32) -> (Vec<f64>, Vec<f64>) {
    let (mut state, mut y) = (seed.wrapping_mul(2_654_435_761).wrapping_add(1), 0.0);
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 20) / 4096.0 - 0.5
    };
    let pair = |_| {
        let sample = (random(), y + 0.02 * random());
        y = 0.8 * y + sample.0;
        sample
    };
    (0..samples).map(pair).unzip()
}

/// A MATLAB file of level 5 with arrays of doubles: name, rows, columns, numbers column by column.
fn matlab(arrays: &[(&str, usize, usize, Vec<f64>)]) -> Vec<u8> {
    fn element(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = [kind.to_le_bytes(), (content.len() as u32).to_le_bytes()].concat();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
    let mut file = b"MATLAB 5.0 MAT-file".to_vec();
    file.resize(124, b' ');
    file.extend_from_slice(&[0, 1, b'I', b'M']);
    for (name, rows, columns, values) in arrays {
        assert_eq!(rows * columns, values.len(), "{name}");
        let flags: Vec<u8> = [6_u32, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        let shape: Vec<u8> = [*rows as i32, *columns as i32]
            .iter()
            .flat_map(|size| size.to_le_bytes())
            .collect();
        let numbers: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let body = [
            element(6, &flags),
            element(5, &shape),
            element(1, name.as_bytes()),
            element(9, &numbers),
        ]
        .concat();
        file.extend(element(14, &body));
    }
    file
}

fn columns(names: [&str; 2], channels: [&[f64]; 2]) -> String {
    let mut text = format!("{},{}\n", names[0], names[1]);
    for (u, y) in channels[0].iter().zip(channels[1]) {
        text += &format!("{u},{y}\n");
    }
    text
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, content).expect("written");
}

/// The tanks as they come: two records of 1024 samples in one file.
fn tanks(folder: &Path) {
    let ((u, y), (v, z)) = (plant(1024, 1), plant(1024, 2));
    let arrays = [
        ("uEst", 1024, 1, u),
        ("yEst", 1024, 1, y),
        ("uVal", 1024, 1, v),
        ("yVal", 1024, 1, z),
    ];
    write(folder, "CascadedTanksFiles/dataBenchmark.mat", matlab(&arrays));
}

fn request(model: ModelKind) -> BenchRequest {
    BenchRequest {
        settings: Settings {
            model: Some(model),
            rounds: Some(0),
            ..Settings::default()
        },
        budget: None,
        threads: 2,
    }
}

#[test]
fn tanks_are_read_fitted_judged_kept_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    tanks(folder.path());
    let protocol = Protocol::named("cascaded-tanks").expect("known");
    let benchmark = Benchmark::read(&protocol, Some(folder.path())).expect("reads");
    assert_eq!(benchmark.dataset.samples(), 2048);
    assert_eq!(
        benchmark.split.train.samples() + benchmark.split.validation.samples(),
        1024
    );
    assert_eq!(benchmark.split.test.samples(), 1024);

    let request = request(ModelKind::Arx);
    let result = request.run(&benchmark, Control::default()).expect("fits");
    let [score] = result.scores.as_slice() else {
        panic!("one test, one output");
    };
    // Noise of this size is all that a right model leaves: 0.02/√12.
    assert_eq!(score.n, 1024 - 50);
    assert!(score.rmse.is_some_and(|rmse| rmse > 0.004 && rmse < 0.008), "{score:?}");
    assert!(score.picp.is_some_and(|picp| picp > 0.8), "{score:?}");
    assert!(
        score.crps.is_none() && score.nll.is_none(),
        "a linear model claims no distribution"
    );
    assert!(result.start_outputs <= 50 && result.step.is_some());

    let results = Results::new(&folder.path().join("results"));
    let key = request.key(&benchmark).expect("a key");
    assert_eq!(results.find(&key).expect("no error"), None);
    assert!(matches!(results.all(), Err(BenchError::NoResults { .. })));
    let path = results.write(&result).expect("written");
    assert_eq!(results.find(&key).expect("reads").as_ref(), Some(&result));

    // Another seed joins the row, another budget makes one of its own, another protocol a table of its own.
    let mut other = result.clone();
    other.key.seed = 2;
    other.scores[0].rmse = score.rmse.map(|rmse| 3.0 * rmse);
    results.write(&other).expect("written");
    other.key.budget_seconds = Some(5.0);
    results.write(&other).expect("written");
    other.key.protocol = 0;
    results.write(&other).expect("written");
    let tables = BenchTables::new(&results.all().expect("read")).expect("tables");
    assert_eq!(tables.benchmarks.len(), 2);
    let [now, before] = tables.benchmarks.as_slice() else {
        panic!("two versions");
    };
    assert!(!now.outdated && before.outdated && before.published.is_empty());
    assert_eq!((now.ours.len(), now.ours[0].seeds.as_slice()), (2, [1, 2].as_slice()));
    let mean = now.ours[0].scores[0].rmse.expect("a mean").mean;
    assert!((mean - 2.0 * score.rmse.expect("a number")).abs() < 1e-12);
    let markdown = tables.render(TableFormat::Markdown).expect("text");
    for part in [
        "## Cascaded tanks",
        "| pNARX | 0.413 | champneys2024° |",
        "**arx, at most 5 s**",
        "Protocol 0 is not",
    ] {
        assert!(markdown.contains(part), "{part} in\n{markdown}");
    }
    let csv = tables.render(TableFormat::Csv).expect("text");
    let widths: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
    // The labels of rows with a budget hold a comma, in quotes.
    assert!(
        csv.lines()
            .all(|line| line.matches(',').count() == widths[0] + usize::from(line.contains('"'))),
        "{csv}"
    );

    // Rows that differ by their coverage alone are told apart by it.
    let asked_for = |coverage: f64| {
        let mut result = result.clone();
        result.coverage = coverage;
        result.key.settings["coverage"] = coverage.into();
        result
    };
    let three = BenchTables::new(&[0.995, 0.5, 0.925].map(asked_for)).expect("tables");
    let markdown = three.render(TableFormat::Markdown).expect("text");
    for name in ["arx, 99.5 %", "arx, 50 %", "arx, 92.5 %"] {
        for start in [format!("| **{name}** |"), format!("| {name} |")] {
            assert!(markdown.contains(&start), "{start} in\n{markdown}");
        }
    }
    assert!(markdown.contains("| arx, 99.5 % | validation | 99.5 |"), "{markdown}");
    let csv = three.render(TableFormat::Csv).expect("text");
    let last: Vec<&str> = csv.lines().filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!(last[..4], ["coverage", "0.995", "0.5", "0.925"], "{csv}");
    assert!(csv.contains("\ncascaded-tanks,1,arx,intervalid,"), "{csv}");

    std::fs::write(&path, "{\"format\": 99}").expect("written");
    let message = results.all().expect_err("newer").to_string();
    assert!(message.contains("format 99") && message.contains("arx"), "{message}");
}

#[test]
fn what_is_missing_or_another_file_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let protocol = Protocol::named("cascaded-tanks").expect("known");
    let message = || {
        Benchmark::read(&protocol, Some(folder.path()))
            .expect_err("refused")
            .to_string()
    };
    let missing = message();
    assert!(missing.contains("dataBenchmark.mat or dataBenchmark.csv"), "{missing}");
    assert!(matches!(
        Benchmark::read(&protocol, None),
        Err(BenchError::NoDataFolder { .. })
    ));
    let (u, y) = plant(1000, 1);
    let short = [
        ("uEst", 1000, 1, u.clone()),
        ("yEst", 1000, 1, y.clone()),
        ("uVal", 1000, 1, u),
        ("yVal", 1000, 1, y),
    ];
    write(folder.path(), "dataBenchmark.mat", matlab(&short));
    assert!(message().contains("1000 samples, expected 1024"), "{}", message());
    write(folder.path(), "dataBenchmark.mat", matlab(&short[..1]));
    assert!(message().contains("'yEst'"), "{}", message());
}

#[test]
fn drives_have_two_records_and_two_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let ((u, y), (v, z)) = (plant(500, 3), plant(500, 4));
    let arrays = [
        ("u11", 500, 1, u),
        ("u12", 500, 1, v),
        ("z11", 500, 1, y.clone()),
        ("z12", 500, 1, z.clone()),
    ];
    write(folder.path(), "DATAUNIF.MAT", matlab(&arrays));
    let protocol = Protocol::named("coupled-drives").expect("known");
    let benchmark = Benchmark::read(&protocol, Some(folder.path())).expect("reads");
    let lengths: Vec<usize> = benchmark.dataset.experiments().iter().map(|e| e.len()).collect();
    assert_eq!(lengths, [400, 400, 100, 100]);
    assert_eq!(benchmark.dataset.experiments()[3].output(0), &z[400..]);
    assert_eq!(benchmark.dataset.experiments()[0].output(0), &y[..400]);

    // The rules of the start: ten samples, no more.
    let mut request = request(ModelKind::Arx);
    request.settings.initial = Some(InitialState::Warmup(10));
    let refused = request.fit(&protocol).expect_err("eleven outputs").to_string();
    assert!(
        refused.contains("first 10 measured outputs of a test, not from 11"),
        "{refused}"
    );
    // Twelve samples pass before a model has seen all of its inputs.
    request.settings.initial = Some(InitialState::Measured);
    request.settings.lags = Some(Lags { nx: 6, nd: 6, ny: 3 }.into());
    let refused = request.fit(&protocol).expect_err("twelve samples").to_string();
    assert!(
        refused.contains("first 10 measured outputs of a test, not from 12"),
        "{refused}"
    );
    (request.settings.initial, request.settings.lags) = (None, None);
    let result = request.run(&benchmark, Control::default()).expect("fits");
    let scored: Vec<(&str, usize)> = result
        .scores
        .iter()
        .map(|score| (score.test.as_str(), score.n))
        .collect();
    assert_eq!(scored, [("low", 90), ("high", 90)]);
}

#[test]
fn rows_of_a_matrix_are_channels_and_text_files_do_as_well() {
    // The layout of the aircraft's files, with 60 samples a record.
    let text = include_str!("../protocols/f16.toml");
    let small = text.replace("73728", "60").replace("108477", "70");
    let protocol = Protocol::parse(&small).expect("parses");
    let folder = tempfile::tempdir().expect("a folder");
    for (index, record) in protocol.train.iter().chain(&protocol.test).enumerate() {
        let source = &record.from[0];
        let n = source.samples.expect("known");
        let (u, y) = plant(n, index as u32);
        let three: Vec<f64> = y.iter().flat_map(|y| [*y, 2.0 * y, -y]).collect();
        let file = &source.file;
        match index {
            // One of them as text, which has a column per channel.
            0 => {
                let rows = u.iter().zip(&y).map(|(u, y)| format!("{u},0,{y},{},{}\n", 2.0 * y, -y));
                let header = "Force,Voltage,Acceleration1,Acceleration2,Acceleration3\n".to_owned();
                write(
                    folder.path(),
                    &format!("{file}.csv"),
                    header + &rows.collect::<String>(),
                );
            }
            _ => {
                let arrays = [
                    ("Force", 1, n, u),
                    ("Acceleration", 3, n, three),
                    ("Fs", 1, 1, vec![400.0]),
                ];
                write(
                    folder.path(),
                    &format!("F16GVT_Files/BenchmarkData/{file}.mat"),
                    matlab(&arrays),
                );
            }
        }
    }
    let benchmark = Benchmark::read(&protocol, Some(folder.path())).expect("reads");
    assert_eq!((benchmark.files.len(), benchmark.dataset.experiments().len()), (14, 14));
    for (index, experiment) in benchmark.dataset.experiments().iter().enumerate() {
        let (u, y) = plant(experiment.len(), index as u32);
        assert_eq!(experiment.input(0), u);
        for (output, factor) in [(0, 1.0), (1, 2.0), (2, -1.0)] {
            let expected: Vec<f64> = y.iter().map(|y| factor * y).collect();
            assert_eq!(experiment.output(output), expected, "{index}, {output}");
        }
    }
    // The other way round it is refused, not turned.
    let file = "F16GVT_Files/BenchmarkData/F16Data_FullMSine_Level3.mat";
    let turned = [("Force", 60, 1, vec![0.0; 60]), ("Acceleration", 60, 3, vec![0.0; 180])];
    write(folder.path(), file, matlab(&turned));
    let message = Benchmark::read(&protocol, Some(folder.path()))
        .expect_err("refused")
        .to_string();
    assert!(message.contains("'Acceleration' is 60×3"), "{message}");
}

#[test]
fn a_range_of_a_long_file_and_its_parts_are_the_same_record() {
    // The Silverbox with a hundredth of its samples.
    let mut text = include_str!("../protocols/silverbox.toml").to_owned();
    for (official, small) in [
        ("40650", "407"),
        ("105712", "1057"),
        ("127400", "1274"),
        ("40575", "405"),
        ("32100", "321"),
        ("= 100\n", "= 1\n"),
        ("65062", "650"),
        ("21688", "217"),
        ("40475", "404"),
        ("32000", "320"),
    ] {
        text = text.replace(official, small);
    }
    let protocol = Protocol::parse(&text).expect("parses");
    let (u, y) = plant(1310, 9);
    let whole = tempfile::tempdir().expect("a folder");
    write(
        whole.path(),
        "SNLS80mV.mat",
        matlab(&[("V1", 1, 1310, u.clone()), ("V2", 1, 1310, y.clone())]),
    );
    let parts = tempfile::tempdir().expect("a folder");
    for (name, range) in [
        ("train", 407..1057),
        ("test_multisine", 1057..1274),
        ("test_arrow", 1..405),
    ] {
        let content = columns(["u", "y"], [&u[range.clone()], &y[range]]);
        write(parts.path(), &format!("silverbox_{name}.csv"), content);
    }
    let [whole, parts] = [whole, parts].map(|folder| Benchmark::read(&protocol, Some(folder.path())).expect("reads"));
    assert_eq!(whole.dataset, parts.dataset);
    let lengths: Vec<usize> = whole.dataset.experiments().iter().map(|e| e.len()).collect();
    assert_eq!(lengths, [650, 217, 404, 320]);
}

#[test]
fn models_that_claim_a_distribution_have_its_scores() {
    let folder = tempfile::tempdir().expect("a folder");
    tanks(folder.path());
    let protocol = Protocol::named("cascaded-tanks").expect("known");
    let benchmark = Benchmark::read(&protocol, Some(folder.path())).expect("reads");
    let request = BenchRequest {
        settings: Settings {
            model: Some(ModelKind::EnsembleNode),
            hidden: Some(vec![4]),
            epochs: Some(2),
            members: Some(2),
            lags: "1,0,1".parse::<intervalid_data::Lags>().ok().map(Into::into),
            ..Settings::default()
        },
        ..BenchRequest::default()
    };
    let result = request.run(&benchmark, Control::default()).expect("fits");
    let score = &result.scores[0];
    assert!(
        score.crps.is_some_and(|crps| crps > 0.0) && score.nll.is_some(),
        "{score:?}"
    );
    assert!(
        result
            .step
            .is_some_and(|step| !step.one_by_one && step.microseconds > 0.0)
    );
    let late = BenchRequest {
        budget: Some(std::time::Duration::from_secs(1)),
        ..request
    };
    assert!(late.fit(&protocol).is_err(), "a budget is for searches");
}
