//! Every kind of bad file ends in its own message.

use std::fs;
use std::path::Path;

use intervalid_data::{Decimal, MissingPolicy, ReadOptions, load, read};

use crate::{fixture, names};

/// The message for a file of this content, with the folder cut off.
fn message(file: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(file);
    fs::write(&path, content).expect("writes");
    without_folder(
        read(&[&path], options).map(|_| ()).expect_err("bad input").to_string(),
        folder.path(),
    )
}

fn without_folder(text: String, folder: &Path) -> String {
    text.replace(&format!("{}/", folder.display()), "")
}

fn csv(content: impl AsRef<[u8]>) -> String {
    message("a.csv", content, &ReadOptions::default())
}

#[test]
fn text_cells() {
    assert_eq!(
        csv("u,y\n1,2\n1,x7\n"),
        "a.csv: line 3, column 'y': 'x7' is not a number"
    );
    assert_eq!(
        csv("u,y\r\n1,2\r\n1,x7\r\n"),
        "a.csv: line 3, column 'y': 'x7' is not a number"
    );
    assert_eq!(
        csv("u,y\n1,2\n-inf,3\n"),
        "a.csv: line 3, column 'u': -inf is not finite"
    );
    assert_eq!(
        csv("u,y\n1,2\n1e999,3\n"),
        "a.csv: line 3, column 'u': inf is not finite"
    );
    let missing = "missing sample (empty or NaN): fill it, or use the missing-sample policy 'split' to start a new \
                   experiment there";
    assert_eq!(csv("u,y\n1,2\n,3\n"), format!("a.csv: line 3, column 'u': {missing}"));
    assert_eq!(
        csv("u,y\n1,2\n3,NaN\n"),
        format!("a.csv: line 3, column 'y': {missing}")
    );
    assert_eq!(
        csv("u,y\n1,2\n\n3,4\n"),
        "a.csv: line 3 is blank, expected a sample: delete the line, or use the missing-sample policy 'split' if samples \
         are missing there"
    );
}

#[test]
fn decimal_commas() {
    let options = |delimiter, decimal| ReadOptions {
        delimiter,
        decimal,
        ..ReadOptions::default()
    };
    // The first row is read to say both things at once.
    for rows in ["1,5;2", "\n1;-2,5e3"] {
        let found = csv(format!("u;y\n{rows}\n"));
        let (line, cell) = if rows.starts_with('\n') {
            (3, "-2,5e3")
        } else {
            (2, "1,5")
        };
        assert_eq!(
            found,
            format!(
                "a.csv: the header is separated by ';', expected ',', and line {line} has decimal commas ('{cell}'): set \
                 the delimiter to ';' and the decimal character to ','"
            )
        );
    }
    assert_eq!(
        message("a.csv", "u;y\n1,5;2,5\n", &options(Some(';'), Decimal::Point)),
        "a.csv: line 2, column 'u': '1,5' is not a number: set the decimal character to ',', or write decimal points"
    );
    assert_eq!(
        message("a.csv", "u;y\n1,5;1.234\n", &options(None, Decimal::Comma)),
        "a.csv: line 2, column 'y': '1.234' is not a number: expected a decimal comma and no point"
    );
    assert_eq!(
        message("a.csv", "u,y\n1,2\n", &options(None, Decimal::Comma)),
        "a.csv: the header is separated by ',', expected ';': set the delimiter to ','"
    );
}

#[test]
fn text_shape() {
    assert_eq!(
        csv("u,y\n1,2\n1,2,3\n"),
        "a.csv: line 3 has 3 cells, expected 2 like the header"
    );
    assert_eq!(csv("u,y\n1\n"), "a.csv: line 2 has 1 cell, expected 2 like the header");
    assert_eq!(
        csv("u,y\n1,5,2,5\n"),
        "a.csv: line 2 has 4 cells, expected 2 like the header: decimal commas look like the commas between cells; save \
         the file with semicolons between cells, or write decimal points"
    );
    assert_eq!(csv(""), "a.csv: the file is empty, expected a header row and samples");
    assert_eq!(
        csv("\n \n"),
        "a.csv: the file is empty, expected a header row and samples"
    );
    assert_eq!(csv("u,y\n"), "a.csv: no rows: expected at least one complete sample");
    assert_eq!(
        csv(b"u,y\n1,2\n\xff\xfe,3\n"),
        "a.csv: line 3 is not UTF-8 text: save the file as UTF-8"
    );
    assert_eq!(
        csv(b"\xff\xfeu\0,\0y\0"),
        "a.csv: no rows: expected at least one complete sample"
    );
    assert_eq!(
        csv("0.1,0.2\n0.3,0.4\n"),
        "a.csv: line 1 holds numbers ('0.1,0.2'), expected column names: add a header row such as u,y"
    );
    assert_eq!(
        csv("u;y\n1.5;2.5\n"),
        "a.csv: the header is separated by ';', expected ',': set the delimiter to ';'"
    );
    let wide = vec![b'1'; 17 << 20];
    assert_eq!(
        csv(wide),
        "a.csv: line 1 is longer than 16777216 bytes: expected one sample per line"
    );
}

#[test]
fn columns() {
    assert_eq!(
        csv("u,u,y\n1,1,2\n"),
        "a.csv: column 'u' occurs twice: column names must be unique"
    );
    assert_eq!(
        csv("time,temp\n1,2\n"),
        "a.csv: no input column: u, u1, u2… are taken by default and the columns are time, temp; name the inputs"
    );
    assert_eq!(
        csv("u,temp\n1,2\n"),
        "a.csv: no output column: y, y1, y2… are taken by default and the columns are u, temp; name the outputs"
    );
    let asked = |inputs: &[&str], outputs: &[&str]| {
        let options = ReadOptions {
            inputs: names(inputs),
            outputs: names(outputs),
            ..ReadOptions::default()
        };
        message("a.csv", "flow,temperature\n1,2\n", &options)
    };
    assert_eq!(
        asked(&["flow"], &["temprature"]),
        "a.csv: no column 'temprature': the columns are flow, temperature; did you mean 'temperature'?"
    );
    assert_eq!(
        asked(&["pressure"], &["flow"]),
        "a.csv: no column 'pressure': the columns are flow, temperature"
    );
    assert_eq!(
        asked(&["flow"], &["flow"]),
        "a.csv: column 'flow' is asked for twice: a column is one input or one output"
    );
    assert_eq!(asked(&["flow"], &[]), "no output channel: name at least one output");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let found = csv("a\u{1b}[31mRED\u{7},\u{202e}y\n1,2\n");
    assert_eq!(
        found,
        "a.csv: no input column: u, u1, u2… are taken by default and the columns are a\\u{1b}[31mRED\\u{7}, \\u{202e}y; \
         name the inputs"
    );
    let options = ReadOptions {
        inputs: names(&["a\u{1b}"]),
        ..ReadOptions::default()
    };
    assert_eq!(
        message("a.csv", "a\u{1b},y\nx\u{9b},2\n", &options),
        "a.csv: line 2, column 'a\\u{1b}': 'x\\u{9b}' is not a number"
    );
}

#[test]
fn experiments() {
    let by_run = ReadOptions {
        experiment: Some("run".into()),
        ..ReadOptions::default()
    };
    assert_eq!(
        message("a.csv", "u,y,run\n1,2,a\n1,2,b\n1,2,a\n", &by_run),
        "a.csv: line 4: experiment 'a' appears again after another one: rows of one experiment must follow each other"
    );
    assert_eq!(
        message("a.csv", "u,y,run\n1,2,a\n1,2,\n", &by_run),
        "a.csv: line 3: the experiment label is empty: expected a name or number"
    );
    assert_eq!(
        message("a.csv", "u,y\n1,2\n", &by_run),
        "a.csv: no column 'run': the columns are u, y"
    );
    let only_gaps = ReadOptions {
        missing: MissingPolicy::Split,
        ..ReadOptions::default()
    };
    assert_eq!(
        message("a.csv", "u,y\n,2\n1,\n", &only_gaps),
        "a.csv: no rows: expected at least one complete sample"
    );
    let negative_time = ReadOptions {
        sample_time: Some(-0.1),
        ..ReadOptions::default()
    };
    assert_eq!(
        message("a.csv", "u,y\n1,2\n", &negative_time),
        "sample time -0.1 is not a positive number of seconds"
    );

    let folder = tempfile::tempdir().expect("temporary folder");
    let (first, second) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    fs::write(&first, "u,y\n1,2\n").expect("writes");
    fs::write(&second, "u1,u2,y\n1,2,3\n").expect("writes");
    let error = read(&[first, second], &ReadOptions::default())
        .expect_err("unequal")
        .to_string();
    assert_eq!(
        without_folder(error, folder.path()),
        "b.csv: the inputs are u1, u2, expected u as in a.csv: all experiments must have the same channels"
    );
}

#[test]
fn paths() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let error = |name: &str| {
        let path = folder.path().join(name);
        without_folder(
            read(&[path], &ReadOptions::default())
                .expect_err("bad path")
                .to_string(),
            folder.path(),
        )
    };
    assert_eq!(error("none.csv"), "none.csv: no such file");
    fs::create_dir(folder.path().join("sub.csv")).expect("creates");
    assert_eq!(error("sub.csv"), "sub.csv: this is a folder, expected a file");
    fs::write(folder.path().join("a.docx"), "x").expect("writes");
    assert_eq!(
        error("a.docx"),
        "a.docx: unknown file type 'docx': expected .csv, .tsv, .txt, .xlsx, .mat, .npz, .npy or .parquet"
    );
    fs::write(folder.path().join("a.xlsx"), "x").expect("writes");
    assert!(error("a.xlsx").starts_with("a.xlsx: not a readable spreadsheet file: "));
    let nothing: [&str; 0] = [];
    assert_eq!(
        read(&nothing, &ReadOptions::default())
            .expect_err("no files")
            .to_string(),
        "no data file given: name at least one"
    );
}

#[test]
fn data_names() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::write(folder.path().join("my_valve.csv"), "u,y\n1,2\n").expect("writes");
    let error = |name: &str| {
        let error = load(&[name], Some(folder.path()), &ReadOptions::default())
            .expect_err("unknown")
            .to_string();
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(
        error("hair-drier"),
        "no file and no data set 'hair-drier': known names are hair-dryer, heat-exchanger, mr-damper, my-valve, robot-arm; \
         other names need a data folder that holds hair-drier.csv; did you mean 'hair-dryer'?"
    );
    assert_eq!(
        error("mr-damper"),
        "the data set 'mr-damper' does not come with this software (source: demo record of MATLAB's System \
         Identification Toolbox (Wang, Sano, Chen, Huang 2009)): expected mr-damper.csv in a data folder, searched DIR"
    );
    let missing = folder.path().join("nowhere");
    let error = load(&["mr-damper"], Some(&missing), &ReadOptions::default())
        .expect_err("no folder")
        .to_string();
    assert_eq!(
        error.replace(&missing.display().to_string(), "DIR"),
        "data folder DIR does not exist"
    );
}

#[test]
fn array_files() {
    let error = |name: &str, options: &ReadOptions| {
        let path = fixture(name);
        let error = read(&[&path], options).expect_err("bad array").to_string();
        error.replace(&path.display().to_string(), name)
    };
    let default = ReadOptions::default();
    assert_eq!(
        error("rows.mat", &default),
        "rows.mat: array 'u' is 1×6: time runs down the rows, so this is one sample: transpose it"
    );
    let numbers = "expected a full array of real numbers: save the numbers as their own variable";
    assert_eq!(
        error("complex.mat", &default),
        format!("complex.mat: array 'y' is a complex array: {numbers}")
    );
    for (output, what) in [("note", "text"), ("s", "a structure"), ("c", "a cell array")] {
        let options = ReadOptions {
            outputs: names(&[output]),
            ..ReadOptions::default()
        };
        assert_eq!(
            error("plain.mat", &options),
            format!("plain.mat: array '{output}' is {what}: {numbers}")
        );
    }
    for (output, what) in [("note", "a char"), ("s", "a sparse array")] {
        let options = ReadOptions {
            outputs: names(&[output]),
            ..ReadOptions::default()
        };
        assert_eq!(
            error("v73.mat", &options),
            format!("v73.mat: array '{output}' is {what}: {numbers}")
        );
    }
    assert_eq!(
        error("text.npz", &default),
        "text.npz: array 'y' is of type <U1: expected real numbers (bool, integers, float32 or float64)"
    );
    assert_eq!(
        error("lengths.npz", &default),
        "lengths.npz: array 'y' has 4 rows, expected 6 like 'u': one row per sample in all arrays"
    );
    assert_eq!(
        error("table.npy", &default),
        "table.npy: no input column: u, u1, u2… are taken by default and the columns are c1, c2, c3; name the inputs"
    );
    assert_eq!(
        message("a.mat", "short", &default),
        "a.mat: not a readable MATLAB file: shorter than the 128 bytes of a header"
    );
    assert_eq!(
        message("a.mat", [b'x'; 200], &default),
        "a.mat: not a readable MATLAB file: no level 5 header; files of level 4 are not read"
    );
    assert_eq!(
        message("a.npy", [b'x'; 200], &default),
        "a.npy: not a readable NumPy file: array 'c' does not start with the NumPy interface"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files() {
    let path = fixture("nulls.parquet");
    let error = read(&[&path], &ReadOptions::default()).expect_err("null").to_string();
    assert_eq!(
        error.replace(&path.display().to_string(), "nulls.parquet"),
        "nulls.parquet: row 3, column 'u': missing sample (empty or NaN): fill it, or use the missing-sample policy 'split' \
         to start a new experiment there"
    );
    let path = fixture("plain.parquet");
    let options = ReadOptions {
        outputs: names(&["run"]),
        ..ReadOptions::default()
    };
    let error = read(&[&path], &options).expect_err("text").to_string();
    assert_eq!(
        error.replace(&path.display().to_string(), "plain.parquet"),
        "plain.parquet: array 'run' is of type BYTE_ARRAY: expected a flat column of real numbers"
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_by_name_of_its_feature() {
    assert_eq!(
        message("a.parquet", "PAR1", &ReadOptions::default()),
        "a.parquet: this build reads no Parquet files: build it with the feature 'parquet'"
    );
}
