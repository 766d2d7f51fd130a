//! The same small record through every format.

use std::fs;

use intervalid_data::{Dataset, Decimal, MissingPolicy, ReadOptions, load, read, read_mat_arrays};

use crate::{fixture, names};

/// Six samples of u1 = k, u2 = -k/2 (or as `second` says), y = k².
fn assert_record(dataset: &Dataset, second: f64) {
    assert_eq!(
        dataset.inputs().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["u1", "u2"]
    );
    assert_eq!(dataset.outputs()[0].name, "y");
    let experiment = &dataset.experiments()[0];
    assert_eq!((dataset.experiments().len(), experiment.len()), (1, 6));
    for k in 0..6 {
        let time = k as f64;
        assert!((experiment.input(0)[k] - time).abs() < 1e-12);
        assert!((experiment.input(1)[k] - second * time).abs() < 1e-12);
        assert!((experiment.output(0)[k] - time * time).abs() < 1e-12);
    }
}

fn read_fixture(name: &str, options: &ReadOptions) -> Dataset {
    read(&[fixture(name)], options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn matlab_and_numpy() {
    for name in [
        "plain.mat",
        "compressed.mat",
        "single.mat",
        "v73.mat",
        "plain.npz",
        "compressed.npz",
    ] {
        assert_record(&read_fixture(name, &ReadOptions::default()), -0.5);
    }
    assert_record(&read_fixture("integers.mat", &ReadOptions::default()), -1.0);
}

/// Version 7.3 is HDF5: fields of structures, limits, and files that are cut off.
#[test]
fn matlab_in_hdf5() {
    let options = ReadOptions {
        inputs: names(&["u1"]),
        outputs: names(&["run.flow"]),
        ..ReadOptions::default()
    };
    let dataset = read_fixture("v73.mat", &options);
    assert_eq!(dataset.outputs()[0].name, "flow");
    assert!((dataset.experiments()[0].output(0)[5] - 25.0).abs() < 1e-12);
    let few = ReadOptions {
        max_samples: Some(17),
        ..ReadOptions::default()
    };
    let refused = read(&[fixture("v73.mat")], &few).expect_err("18 values");
    assert!(refused.to_string().contains("18"), "{refused}");
    let refused = read_mat_arrays(&fixture("v73.mat"), &["u"]).expect_err("not by this way");
    assert!(refused.to_string().contains("v7.3"), "{refused}");
    let whole = fs::read(fixture("v73.mat")).expect("reads");
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("cut.mat");
    for end in (0..whole.len()).step_by(97) {
        fs::write(&path, &whole[..end]).expect("writes");
        // Cut off it is refused, unless what is left out was padding; either way nothing panics.
        let cut = read(&[&path], &ReadOptions::default());
        assert!(cut.is_err() || end > whole.len() / 2, "{end}");
    }
}

#[test]
fn text_with_decimal_commas() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let options = ReadOptions {
        decimal: Decimal::Comma,
        ..ReadOptions::default()
    };
    let rows: Vec<[String; 3]> = (0..6)
        .map(f64::from)
        .map(|k| [k, -0.5 * k, k * k].map(|value| format!("{value:.2}").replace('.', ",")))
        .collect();
    let text = |delimiter: &str| {
        let lines = rows.iter().map(|row| row.join(delimiter) + "\n");
        ["u1", "u2", "y"].join(delimiter) + "\n" + &lines.collect::<String>()
    };
    for (file, delimiter) in [("a.csv", ";"), ("a.tsv", "\t")] {
        let path = folder.path().join(file);
        fs::write(&path, text(delimiter)).expect("writes");
        assert_record(&read(&[&path], &options).expect("reads"), -0.5);
    }
    // Built-in records are not files with commas.
    assert_eq!(load(&["hair-dryer"], None, &options).expect("loads").samples(), 1000);
}

#[test]
fn npy_columns_are_numbered() {
    for (name, second) in [("table.npy", -0.5), ("fortran.npy", 0.0)] {
        let options = ReadOptions {
            inputs: names(&["c1", "c2"]),
            outputs: names(&["c3"]),
            ..ReadOptions::default()
        };
        let dataset = read_fixture(name, &options);
        let experiment = &dataset.experiments()[0];
        assert!((experiment.output(0)[5] - 25.0).abs() < 1e-12, "{name}");
        // The integer copy has cut -0.5·k towards zero.
        let expected = if second < 0.0 { -2.5 } else { -2.0 };
        assert!((experiment.input(1)[5] - expected).abs() < 1e-12, "{name}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet() {
    for name in ["plain.parquet", "zstd.parquet"] {
        assert_record(&read_fixture(name, &ReadOptions::default()), -0.5);
    }
    let by_run = ReadOptions {
        experiment: Some("run".into()),
        ..ReadOptions::default()
    };
    let dataset = read_fixture("plain.parquet", &by_run);
    let found: Vec<(&str, usize)> = dataset.experiments().iter().map(|e| (e.name(), e.len())).collect();
    assert_eq!(found, [("plain:a", 3), ("plain:b", 3)]);
    let split = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    let dataset = read_fixture("nulls.parquet", &split);
    assert_eq!(
        dataset.experiments().iter().map(|e| e.len()).collect::<Vec<_>>(),
        [2, 1]
    );
}

fn read_text(file: &str, content: &str, options: &ReadOptions) -> Dataset {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(file);
    fs::write(&path, content).expect("writes");
    read(&[path], options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn text_dialects() {
    let rows = "0,-0.0,0\n1,-.5,1\n2,-1,4\n3,-1.5,9.0\n4,-2.,16\n5,-2.5e0,+25";
    let plain = format!("u1,u2,y\n{rows}");
    assert_record(&read_text("a.csv", &plain, &ReadOptions::default()), -0.5);
    let windows = format!("\u{feff}\"u1\", u2 ,y\r\n{}\r\n\r\n", rows.replace('\n', "\r\n"));
    assert_record(&read_text("a.CSV", &windows, &ReadOptions::default()), -0.5);
    assert_record(
        &read_text("a.tsv", &plain.replace(',', "\t"), &ReadOptions::default()),
        -0.5,
    );
    let semicolon = ReadOptions {
        delimiter: Some(';'),
        ..ReadOptions::default()
    };
    assert_record(&read_text("a.csv", &plain.replace(',', ";"), &semicolon), -0.5);
}

#[test]
fn gaps_and_labels_start_experiments() {
    let options = ReadOptions {
        experiment: Some("run".into()),
        missing: MissingPolicy::Split,
        sample_time: Some(0.5),
        ..ReadOptions::default()
    };
    let dataset = read_text("a.csv", "run,u,y\na,1,1\na,2,\na,3,3\na,4,4\nb,5,5\nb,NA,6\n", &options);
    let found: Vec<(&str, usize)> = dataset.experiments().iter().map(|e| (e.name(), e.len())).collect();
    assert_eq!(found, [("a:a#1", 1), ("a:a#2", 2), ("a:b", 1)]);
    let warnings: Vec<String> = dataset.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].ends_with("a.csv: 2 rows with missing samples left out, 3 experiments left"));
    assert_eq!(dataset.sample_time(), Some(0.5));

    let blank = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    let dataset = read_text("a.csv", "u,y\n1,1\n\n\n3,3\n\n", &blank);
    assert_eq!(dataset.experiments().len(), 2);
}

#[test]
fn several_files_are_several_experiments() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("monday.csv"), "y,u\n1,2\n3,4\n").expect("writes");
    fs::write(folder.path().join("tue_sday.csv"), "u,y\n5,6\n").expect("writes");
    let dataset = load(&["monday", "tue-sday"], Some(folder.path()), &ReadOptions::default()).expect("loads");
    assert_eq!(
        dataset.experiments().iter().map(|e| e.name()).collect::<Vec<_>>(),
        ["monday", "tue_sday"]
    );
    assert!((dataset.experiments()[0].input(0)[1] - 4.0).abs() < 1e-12);
    assert_eq!((dataset.samples(), dataset.name()), (3, "monday"));
}

#[test]
fn a_time_series_is_read_with_an_empty_input_list() {
    let options = ReadOptions {
        inputs: names(&[]),
        ..ReadOptions::default()
    };
    let dataset = read_text("a.csv", "u,y\n1,2\n", &options);
    assert!(dataset.inputs().is_empty());
}

#[test]
fn arrays_of_matlab_files_are_read_whole_whichever_way_they_lie() {
    let read = |file: &str, names: &[&str]| read_mat_arrays(&fixture(file), names);
    let rows = read("rows.mat", &["y", "u"]).expect("reads");
    assert_eq!((rows[0].rows, rows[0].columns), (1, 6));
    assert_eq!(rows[0].vector(), Some([0.0, 1.0, 4.0, 9.0, 16.0, 25.0].as_slice()));
    let plain = read("plain.mat", &["u"]).expect("reads");
    assert_eq!((plain[0].rows, plain[0].columns, plain[0].vector()), (6, 2, None));
    assert_eq!(plain[0].row(2), [2.0, -1.0]);
    let message = |file: &str, name: &str| read(file, &[name]).expect_err("refused").to_string();
    assert!(
        message("plain.mat", "v").contains("'v'"),
        "{}",
        message("plain.mat", "v")
    );
    assert!(
        message("plain.mat", "note").contains("note"),
        "{}",
        message("plain.mat", "note")
    );
    assert!(message("complex.mat", "y").contains("complex"));
}

/// Choosing columns one by one among all names took a minute of a million. Processor time, so that a busy machine changes nothing.
#[test]
#[cfg(target_os = "linux")]
fn hundreds_of_thousands_of_columns_take_no_time() {
    let columns = 200_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wide.csv");
    let row = |cell: &dyn Fn(usize) -> String| (0..columns).map(cell).collect::<Vec<_>>().join(",");
    let text = [
        row(&|k| format!("c{k}")),
        row(&|_| "1".to_owned()),
        row(&|_| "2".to_owned()),
    ]
    .join("\n");
    std::fs::write(&path, text + "\n").expect("written");
    let names = |range: std::ops::Range<usize>| Some(range.map(|k| format!("c{k}")).collect());
    let options = ReadOptions {
        inputs: names(0..columns / 2),
        outputs: names(columns / 2..columns),
        ..ReadOptions::default()
    };
    let before = processor_seconds();
    let dataset = read(&[&path], &options).expect("read");
    let took = processor_seconds() - before;
    assert_eq!((dataset.inputs().len(), dataset.samples()), (columns / 2, 2));
    assert!(took < 5.0, "{took} s");
}

/// Of this process so far.
#[cfg(target_os = "linux")]
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let fields: Vec<&str> = text.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}
