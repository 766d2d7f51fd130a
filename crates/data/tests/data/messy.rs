//! Files as other programs write them.

use std::fs;

use intervalid_data::{Dataset, Decimal, MissingPolicy, ReadOptions, describe, read, spots};

use crate::{fixture, names, parse};

fn ok(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Dataset {
    parse(name, content, options).unwrap_or_else(|error| panic!("{error}"))
}

fn columns(inputs: &[&str], outputs: &[&str]) -> ReadOptions {
    ReadOptions {
        inputs: names(inputs),
        outputs: names(outputs),
        ..ReadOptions::default()
    }
}

/// Name and unit of the input and the output.
fn channels(dataset: &Dataset) -> [(&str, Option<&str>); 2] {
    [&dataset.inputs()[0], &dataset.outputs()[0]].map(|channel| (channel.name.as_str(), channel.unit.as_deref()))
}

const VALVE: [(&str, Option<&str>); 2] = [("valve, main", Some("%")), ("level", Some("m"))];

#[test]
fn brackets_hold_units_and_both_names_find_a_column() {
    let text = "\"valve, main [%]\",level [m]\n1,2\n3,4\n";
    for (input, output) in [("valve, main", "level"), ("valve, main [%]", "level [m]")] {
        assert_eq!(channels(&ok("a.csv", text, &columns(&[input], &[output]))), VALVE);
    }
    let default = ok("a.csv", "u [V],y [K]\n1,2\n", &ReadOptions::default());
    assert_eq!(channels(&default), [("u", Some("V")), ("y", Some("K"))]);
    let missing = parse("a.csv", text, &columns(&["valve"], &["level"])).expect_err("no such column");
    assert!(
        missing.contains("the columns are valve, main [%], level [m]"),
        "{missing}"
    );
}

#[test]
fn units_come_from_a_row_or_the_user() {
    let text = "time,\"valve, main\",level\ns,%,[m]\n0,1,2\n1,3,4\n";
    let dataset = ok("a.csv", text, &columns(&["valve, main"], &["level"]));
    assert_eq!(
        (channels(&dataset), dataset.samples(), dataset.sample_time()),
        (VALVE, 2, Some(1.0))
    );
    let given = ReadOptions {
        units: vec![("level".to_owned(), "mm".to_owned())],
        ..columns(&["valve, main"], &["level"])
    };
    assert_eq!(channels(&ok("a.csv", text, &given))[1], ("level", Some("mm")));
    let unknown = ReadOptions {
        units: vec![("levl".to_owned(), "mm".to_owned())],
        ..columns(&["valve, main"], &["level"])
    };
    assert_eq!(
        parse("a.csv", text, &unknown).expect_err("unknown"),
        "no channel 'levl': the channels are valve, main, level; did you mean 'level'?"
    );
    assert_eq!(
        parse("a.csv", "u,y\n1,oops\n", &ReadOptions::default()).expect_err("no units"),
        "a.csv: line 2, column 'y': 'oops' is not a number"
    );
}

#[test]
fn files_of_one_record_agree_in_their_units() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let paths = [("a.csv", "u,y [K]\n1,2\n"), ("b.csv", "u,y [C]\n1,2\n")].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("writes");
        path
    });
    let error = read(&paths, &ReadOptions::default()).expect_err("differ").to_string();
    assert!(error.contains("channel 'y' is in C, expected K as in "), "{error}");
}

#[test]
fn title_rows_and_announced_delimiters() {
    let options = ReadOptions {
        skip_rows: 3,
        ..ReadOptions::default()
    };
    let dataset = ok("a.csv", "Plant 7\n\nexported by H.\nu,y\n1,2\n3,4\n", &options);
    assert_eq!(dataset.samples(), 2);
    assert_eq!(
        dataset.experiments()[0].row(1).map(|row| row.to_string()).as_deref(),
        Some("line 6")
    );
    assert_eq!(
        ok("a.csv", "sep=;\r\nu;y\r\n1;2\r\n", &ReadOptions::default()).samples(),
        1
    );
    let comma = ReadOptions {
        decimal: Decimal::Comma,
        ..ReadOptions::default()
    };
    assert_eq!(
        ok("a.csv", "sep=\t\nu\ty\n1,5\t2\n", &comma).experiments()[0].input(0),
        [1.5]
    );
}

#[test]
fn words_for_nothing_are_missing_samples() {
    let options = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    for word in ["#N/A", "#NV", "Bad", "No Data", ""] {
        let dataset = ok("a.csv", format!("u,y\n1,2\n3,{word}\n5,6\n7,8\n"), &options);
        let lengths: Vec<usize> = dataset.experiments().iter().map(|e| e.len()).collect();
        assert_eq!(lengths, [1, 2], "{word}");
    }
    // Spreadsheets end in lines of delimiters.
    assert_eq!(ok("a.csv", "u,y\n1,2\n\n,\n,\n", &ReadOptions::default()).samples(), 1);
}

#[test]
fn text_in_other_forms() {
    for (name, text) in [
        ("a.txt", "u y\n1 2\n3 4\n"),
        ("a.txt", "  u   y\n  1\t2\n  3   4\n"),
        ("a.txt", "u\ty\n1\t2\n3\t4\n"),
        ("a.dat", "u;y\n1;2\n3;4\n"),
    ] {
        assert_eq!(
            ok(name, text, &ReadOptions::default()).experiments()[0].output(0),
            [2.0, 4.0],
            "{text}"
        );
    }
    let utf16 = |big: bool| {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let units = "\u{feff}u [°C];y\r\n1;2\r\n".encode_utf16();
        units.flat_map(bytes).collect::<Vec<u8>>()
    };
    let options = ReadOptions {
        delimiter: Some(';'),
        ..ReadOptions::default()
    };
    for big in [false, true] {
        let dataset = ok("a.csv", utf16(big), &options);
        assert_eq!(channels(&dataset)[0], ("u", Some("°C")));
    }
}

#[test]
fn a_cell_in_a_far_corner_of_a_sheet_is_refused_before_memory_is_taken() {
    let found = read(&[fixture("corner.xlsx")], &ReadOptions::default()).expect_err("too large");
    assert!(found.to_string().contains("17179869184 values announced"), "{found}");
}

#[test]
fn sheets_and_structures() {
    let options = ReadOptions {
        skip_rows: 2,
        ..columns(&["valve"], &["level"])
    };
    let sheet = read(&[fixture("historian.xlsx")], &options).expect("reads");
    assert_eq!(channels(&sheet), [("valve", Some("%")), ("level", Some("m"))]);
    assert_eq!((sheet.samples(), sheet.sample_time()), (4, Some(60.0)));
    let experiment = &sheet.experiments()[0];
    assert_eq!(experiment.output(0), [1.5, 1.25, 1.0, 0.75]);
    assert_eq!(
        experiment.time().expect("known").at(1).to_string(),
        "2024-03-01T10:01:00"
    );
    for name in ["structure.mat", "structure_compressed.mat"] {
        let dataset = read(&[fixture(name)], &ReadOptions::default()).expect("reads");
        assert_eq!(dataset.experiments()[0].input(0), [0.0, 1.0, 2.0, 3.0], "{name}");
        assert_eq!(dataset.experiments()[0].output(0), [0.0, 1.0, 4.0, 9.0], "{name}");
        // Fields are found with their structure's name, too.
        let options = columns(&["run.u"], &["run.y"]);
        assert_eq!(read(&[fixture(name)], &options).expect("reads").samples(), 4);
    }
}

#[test]
fn line_ends_of_long_ago_are_named() {
    let refused = parse("a.csv", "u,y\r1,2\r3,4\r", &ReadOptions::default()).expect_err("one line");
    assert_eq!(
        refused,
        "a.csv: lines end with carriage returns alone: save the file with the line ends of Unix or Windows"
    );
}

#[test]
fn a_file_that_is_named_twice_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, first: f64| {
        let path = folder.path().join(name);
        let rows = (0..30).map(|k| format!("{},{}\n", f64::from(k), first + f64::from(k * k)));
        fs::write(&path, format!("u,y\n{}", rows.collect::<String>())).expect("writes");
        path
    };
    let (a, copy, other) = (write("a.csv", 0.0), write("copy.csv", 0.0), write("other.csv", 1.0));
    let told = |files: &[&std::path::PathBuf]| -> Vec<String> {
        let dataset = read(files, &ReadOptions::default()).expect("reads");
        dataset.warnings().iter().map(ToString::to_string).collect()
    };
    assert_eq!(told(&[&a, &other]), [""; 0]);
    let twice = told(&[&a, &other, &copy]);
    assert!(
        twice.len() == 1 && twice[0].starts_with("experiment 'copy' holds the same samples as 'a': they count twice"),
        "{twice:?}"
    );
    assert!(told(&[&a, &a, &copy])[0].contains(", and 1 more experiment repeat others"));
}

#[test]
fn files_of_one_stem_have_names_that_tell_them_apart() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, rows: usize, delimiter: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
        // The longer one is stuck in its second half.
        let row = |k: usize| format!("{}{delimiter}{}\n", (k * k) % 97, if k < 500 { k } else { 500 });
        let text = format!("u{delimiter}y\n{}", (0..rows).map(row).collect::<String>());
        fs::write(&path, text).expect("writes");
        path
    };
    let names = |paths: &[&std::path::PathBuf]| -> Vec<String> {
        let dataset = read(paths, &ReadOptions::default()).expect("reads");
        assert_eq!(dataset.name(), "run");
        let found = spots(&dataset, &describe(&dataset).warnings);
        for spot in &found {
            assert!(spot.end <= dataset.experiments()[spot.experiment].len(), "{spot:?}");
            let _ = spot.in_words(&dataset);
        }
        dataset.experiments().iter().map(|e| e.name().to_owned()).collect()
    };
    let (csv, tsv) = (write("d1/run.csv", 100, ","), write("d1/run.tsv", 1000, "\t"));
    let (other, alone) = (write("d2/run.csv", 200, ","), write("d2/alone.csv", 50, ","));
    assert_eq!(names(&[&csv, &alone]), ["run", "alone"]);
    assert_eq!(names(&[&csv, &tsv]), ["run.csv", "run.tsv"]);
    assert_eq!(names(&[&csv, &other, &alone]), ["d1/run.csv", "d2/run.csv", "alone"]);
    assert_eq!(names(&[&csv, &csv]), ["run", "run (2)"], "a file that is named twice");
}

/// Loggers write numbers such as -9999 where they have none.
#[test]
fn marks_of_missing_samples_are_told() {
    let text = |mark: &str| {
        let cell = |k: u32| match k {
            70 | 71 | 200 if !mark.is_empty() => mark.to_owned(),
            _ => (0.3 * f64::from(k)).sin().to_string(),
        };
        let rows = (0..300).map(|k| format!("{},{}\n", (0.2 * f64::from(k)).cos(), cell(k)));
        format!("u,y\n{}", rows.collect::<String>())
    };
    let told = |mark: &str| -> Vec<String> {
        let summary = describe(&ok("a.csv", text(mark), &ReadOptions::default()));
        summary.warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(told(""), [""; 0]);
    let words = |found: Vec<String>| match found.as_slice() {
        [one] => one.replace(|digit: char| digit.is_ascii_digit(), ""),
        other => panic!("{other:?}"),
    };
    let told = words(told("-9999"));
    assert_eq!(
        told,
        "channel 'y' is -,  standard deviations of the others from their mean, or nearly so in  samples: spikes, or a mark for missing ones?"
    );
}

/// More than one sample in a hundred: none of them is far from the mean of all.
#[test]
fn many_marks_and_many_spikes_are_told_and_pulses_are_not() {
    let far = |cell: fn(u32) -> Option<f64>| -> Vec<String> {
        let y = |k: u32| cell(k).unwrap_or_else(|| (0.3 * f64::from(k)).sin());
        let rows = (0..1500).map(|k| format!("{},{}\n", (0.2 * f64::from(k)).cos(), y(k)));
        let text = format!("u,y\n{}", rows.collect::<String>());
        let summary = describe(&ok("a.csv", text, &ReadOptions::default()));
        let warnings = summary.warnings.iter().map(ToString::to_string);
        warnings.filter(|text| text.contains("standard deviations")).collect()
    };
    let marks = far(|k| (700..760).contains(&k).then_some(-9999.0));
    assert!(marks.len() == 1 && marks[0].contains("in 60 samples"), "{marks:?}");
    let spikes = far(|k| (k % 60 == 7).then_some(20.0 + (0.1 * f64::from(k)).sin()));
    assert!(spikes.len() == 1 && spikes[0].contains("in 25 samples"), "{spikes:?}");
    let pulses = far(|k| (k % 150 < 5).then_some(20.0 + (0.1 * f64::from(k)).sin()));
    assert_eq!(pulses, [""; 0]);
    assert_eq!(far(|_| None), [""; 0]);
}

#[test]
fn names_beyond_all_measure_do_not_fill_the_screen() {
    let text = format!("u,{}\n1,2\n", "ü".repeat(200_000));
    let refused = parse("a.csv", text, &ReadOptions::default()).expect_err("no output");
    let cut = format!("the columns are u, {}…;", "ü".repeat(60));
    assert!(
        refused.contains(&cut) && refused.len() < 1000,
        "{} bytes",
        refused.len()
    );
}

#[test]
fn states_of_switches_are_no_units() {
    let text = "u,y\noff,off\n1,2\n3,4\n";
    let error = parse("a.csv", text, &ReadOptions::default()).expect_err("a sample of words");
    assert!(error.contains("line 2") && error.contains("'off'"), "{error}");
}

/// A plan has one column.
#[test]
fn a_comma_inside_the_quotes_of_a_single_name_is_no_delimiter() {
    let options = ReadOptions {
        delimiter: Some(';'),
        outputs: Some(vec!["Ventil, Zulauf".to_owned()]),
        inputs: Some(Vec::new()),
        ..ReadOptions::default()
    };
    let dataset = parse("plan.csv", "\"Ventil, Zulauf\"\n1\n2\n", &options).expect("reads");
    assert_eq!(
        (dataset.outputs()[0].name.as_str(), dataset.samples()),
        ("Ventil, Zulauf", 2)
    );
    let error = parse("plan.csv", "Ventil,Zulauf\n1,2\n", &options).expect_err("two columns");
    assert!(error.contains("separated by ','"), "{error}");
}
