//! Preparation: what is done to recordings before a fit is stored in the model, done to others, and undone in predictions.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Folder, record};

/// The record of the tests with a row of its own for each sample; `cell` gives y.
fn table(samples: usize, y: impl Fn(usize, f64) -> String) -> String {
    let mut text = String::from("u,y\n");
    for (k, (u, value)) in record(samples).into_iter().enumerate() {
        let _ = writeln!(text, "{u:.4},{}", y(k, value));
    }
    text
}

/// A drift of ten standard deviations over the record.
fn drifting(samples: usize) -> String {
    table(samples, |k, y| format!("{:.4}", y + 0.02 * k as f64))
}

/// What a run with `--json` printed; preparation is told on standard error.
fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let output = folder.run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

fn refusal(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn rmse(fit: &Value) -> f64 {
    fit["test"]["rmse"].as_f64().expect("a number")
}

#[test]
fn a_trend_is_taken_out_and_put_back() {
    let folder = Folder::new();
    folder.write("my.csv", drifting(400));
    let fit = |name: &str, more: &[&str]| {
        let start = [
            "fit", "my.csv", "--model", "arx", "--lags", "1,0,1", "--preset", "paper", "--json", "--out", name,
        ];
        json(&folder, &[&start, more].concat())
    };
    let plain = fit("plain", &[]);
    let level = fit("level", &["--detrend", "y"]);
    assert!(rmse(&level) < 0.5 * rmse(&plain), "{} {}", rmse(&level), rmse(&plain));
    assert!(plain.get("preparation").is_none());
    let words = level["preparation"][0].as_str().expect("a sentence");
    assert!(
        words.starts_with("A straight line") && words.contains("y (+"),
        "{words}"
    );

    // Predictions are in the units of the file, and those of the fit come again to the bit.
    let predictions = std::fs::read_to_string(folder.path().join("level/predictions.csv")).expect("written");
    let last: Vec<f64> = predictions
        .lines()
        .last()
        .expect("rows")
        .split(',')
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    assert!(last[1] > 8.0 && (last[1] - last[2]).abs() < 1.0, "{last:?}");
    let again = folder.run(&["predict", "level", "my.csv", "--part", "test"]);
    let again = String::from_utf8_lossy(&again.stdout).into_owned();
    // Beside them stands the row of the file.
    let without: Vec<&str> = again
        .lines()
        .filter_map(|line| Some(line.rsplit_once(',')?.0))
        .collect();
    assert_eq!(without, predictions.lines().collect::<Vec<_>>());
    let config = std::fs::read_to_string(folder.path().join("level/config.toml")).expect("written");
    assert!(config.contains("detrend = [\"y\"]"), "{config}");
    let repeated = json(
        &folder,
        &[
            "fit",
            "my.csv",
            "--config",
            "level/config.toml",
            "--out",
            "again",
            "--json",
        ],
    );
    assert_eq!(repeated["test"], level["test"]);

    let longer = drifting(790);
    let lines: Vec<&str> = longer.lines().collect();
    folder.write("later.csv", [&lines[..1], &lines[401..]].concat().join("\n"));
    // Whatever else has a model and data: they know about the trend.
    for command in [
        ["predict", "level", "my.csv", "--horizon", "3"].as_slice(),
        &["predict", "level", "my.csv", "--online"],
        &["monitor", "level", "my.csv"],
        &["update", "level", "later.csv", "--with", "my.csv", "--out", "updated"],
        &["explain", "level"],
        &["linearise", "level"],
        &["card", "level"],
    ] {
        let output = folder.run(command);
        let failed = String::from_utf8_lossy(&output.stderr);
        // Three: the model did its work, and is found wanting.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{command:?}: {failed}");
    }
    let evaluated = json(&folder, &["evaluate", "level", "my.csv", "--part", "test", "--json"]);
    assert_eq!(evaluated["rmse"], level["test"]["rmse"]);

    // A step has no clock.
    let refused = refusal(&folder, &["export", "level", "--to", "c", "--out", "step.c"]);
    assert!(refused.contains("trend goes by the clock"), "{refused}");
    let refused = refusal(
        &folder,
        &["fit", "my.csv", "--model", "arx", "--detrend", "x", "--out", "no"],
    );
    assert!(refused.contains("no channel 'x'"), "{refused}");
    let shown = json(&folder, &["data", "show", "my.csv", "--detrend", "y", "--json"]);
    assert_eq!(shown["preparation"], level["preparation"]);
}

#[test]
fn gaps_spikes_and_fast_samples_are_dealt_with_and_told() {
    let folder = Folder::new();
    // Two samples are missing from row 50 of the samples on, and three are a broken sensor's.
    let messy = |samples: usize| {
        table(samples, |k, y| match k {
            50 | 51 => String::new(),
            100 | 220 | 305 => "999".to_owned(),
            _ => format!("{y:.4}"),
        })
    };
    folder.write("my.csv", messy(600));
    let options = ["--fill-gaps", "2", "--clip-spikes", "8", "--decimate", "2"];
    let start = ["fit", "my.csv", "--model", "arx", "--json", "--out", "fit"];
    let output = folder.run(&[start.as_slice(), &options].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    for part in [
        "2 missing samples in 1 gap filled by straight lines, the longest gap of 2, the first at line 52",
        "channel 'y': 3 spikes of more than 8 standard deviations clipped (line 102, line 222, line 307)",
        "600 samples filtered and thinned out to 300, one in 2",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let fit: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(fit["preparation"].as_array().map(Vec::len), Some(3));
    // The model does the same to the file as it is, and rows lead back to it.
    let evaluated = json(&folder, &["evaluate", "fit", "my.csv", "--part", "test", "--json"]);
    assert_eq!(evaluated["rmse"], fit["test"]["rmse"]);
    let predictions = std::fs::read_to_string(folder.path().join("fit/predictions.csv")).expect("written");
    let rows: Vec<u64> = predictions
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next_back()?.parse().ok())
        .collect();
    assert!(
        predictions
            .lines()
            .next()
            .is_some_and(|header| header.ends_with(",row")),
        "{predictions}"
    );
    assert_eq!(rows.last(), Some(&600), "of 601 lines the last but one");
    assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 2), "{rows:?}");
    let repeated = json(
        &folder,
        &[
            "fit",
            "my.csv",
            "--config",
            "fit/config.toml",
            "--out",
            "again",
            "--json",
        ],
    );
    assert_eq!(repeated["test"], fit["test"]);
    let refused = refusal(&folder, &["export", "fit", "--to", "onnx", "--out", "step.onnx"]);
    assert!(refused.contains("filtered and thinned out"), "{refused}");

    // A recording that grows is counted once, sample by sample.
    let count = |state: &str| {
        let report = json(&folder, &["monitor", "fit", "new.csv", "--state", state, "--json"]);
        report["samples"].as_u64().expect("a count")
    };
    folder.write("new.csv", messy(500));
    count("grown.json");
    folder.write("new.csv", messy(600));
    assert_eq!(count("grown.json"), count("whole.json"));
}

#[test]
fn what_cannot_be_prepared_is_refused() {
    let folder = Folder::new();
    let text = table(300, |k, y| {
        if (60..64).contains(&k) {
            String::new()
        } else {
            format!("{y:.4}")
        }
    });
    folder.write("my.csv", text);
    let refused = refusal(&folder, &["data", "show", "my.csv", "--fill-gaps", "3"]);
    assert!(
        refused
            .contains("line 62, column 'y': missing sample in a gap that is not filled: expected at most 3 in a row"),
        "{refused}"
    );
    for (option, value, part) in [
        ("--decimate", "1", "decimate is 1: expected 2 to 1000"),
        ("--fill-gaps", "0", "fill_gaps is 0: expected 1 to 1000"),
        ("--clip-spikes", "1", "clip_spikes is 1: expected 3 to 1000000"),
        ("--clip-spikes", "level", "cannot read 'level'"),
    ] {
        let refused = refusal(&folder, &["fit", "my.csv", option, value, "--out", "no"]);
        assert!(refused.contains(part), "{refused}");
    }
    assert!(!folder.path().join("no").exists());
}
