//! Bands of several coverages from one fit.

use serde_json::Value;

use crate::support::{Folder, csv, plain};

/// A linear model of a record that was searched at these coverages, in the folder `fit`.
fn fitted(coverage: &str) -> (Folder, Value) {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let arguments = [
        "fit",
        "my.csv",
        "--model",
        "arx",
        "--coverage",
        coverage,
        "--out",
        "fit",
        "--json",
    ];
    let fit = folder.json(&arguments);
    (folder, fit)
}

/// The columns of these names, row by row.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &&str| {
        header
            .iter()
            .position(|found| found == name)
            .expect("the column is there")
    };
    let places: Vec<usize> = names.iter().map(place).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        places
            .iter()
            .map(|&place| cells[place].parse().expect("a number"))
            .collect()
    };
    lines.map(row).collect()
}

#[test]
fn one_fit_gives_bands_inside_one_another() {
    let (folder, fit) = fitted("0.5,0.9,0.99");
    let read = |file: &str| std::fs::read(folder.path().join("fit").join(file)).expect(file);
    assert_eq!(fit["coverage"], 0.9);
    let levels = fit["levels"].as_array().expect("levels");
    assert_eq!(levels.len(), 2);
    let share = |level: &Value| level["test"]["picp"].as_f64().expect("a share");
    assert_eq!(
        (&levels[0]["coverage"], &levels[1]["coverage"]),
        (&0.5.into(), &0.99.into())
    );
    let picp = fit["test"]["picp"].as_f64().expect("a share");
    assert!(share(&levels[0]) < picp && picp <= share(&levels[1]), "{levels:?}");
    assert!(levels[0]["validation"]["n"].is_u64());

    let predictions = String::from_utf8(read("predictions.csv")).expect("text");
    let nested = [
        "y_lower_99",
        "y_lower",
        "y_lower_50",
        "y_hat",
        "y_upper_50",
        "y_upper",
        "y_upper_99",
    ];
    for row in columns(&predictions, &nested) {
        assert!(row.windows(2).all(|pair| pair[0] <= pair[1]), "{row:?}");
        assert!(row[0] < row[2] && row[4] < row[6], "{row:?}");
    }
    // Other coverages change nothing about the model; the settings ask for them again.
    let (model, config) = (
        read("model.safetensors"),
        String::from_utf8(read("config.toml")).expect("text"),
    );
    let (alone, _) = fitted("0.9");
    assert_eq!(
        std::fs::read(alone.path().join("fit/model.safetensors")).expect("a model"),
        model
    );
    assert!(config.contains("levels = [0.5, 0.99]"), "{config}");
    let again = folder.json(&[
        "fit",
        "my.csv",
        "--config",
        "fit/config.toml",
        "--out",
        "again",
        "--json",
    ]);
    assert_eq!(again["levels"], fit["levels"]);
}

#[test]
fn a_model_gives_other_coverages_later() {
    let (folder, fit) = fitted("0.9,0.8");
    let of_test = ["predict", "fit", "my.csv", "--part", "test", "--coverage"];
    let predict = |coverage: &str| {
        let output = folder.run(&[&of_test[..], &[coverage]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    // What the fit wrote beside its band is the band of a prediction at that coverage.
    let written = std::fs::read_to_string(folder.path().join("fit/predictions.csv")).expect("predictions");
    let bounds = ["y_hat", "y_lower", "y_upper"];
    let beside = columns(&written, &["y_hat", "y_lower_80", "y_upper_80"]);
    assert_eq!(columns(&predict("0.8"), &bounds), beside);
    assert_eq!(
        columns(&predict("0.8,0.9"), &bounds),
        columns(&written, &bounds),
        "the fit's own decides"
    );
    let wider = columns(&predict("0.837"), &bounds);
    assert!(
        wider
            .iter()
            .zip(&beside)
            .all(|(wide, narrow)| wide[1] < narrow[1] && narrow[2] < wide[2])
    );

    let evaluation = folder.json(&[
        "evaluate",
        "fit",
        "my.csv",
        "--part",
        "test",
        "--coverage",
        "0.8,0.7",
        "--json",
    ]);
    assert_eq!(evaluation["coverage"], 0.8);
    assert_eq!(evaluation["picp"], fit["levels"][0]["test"]["picp"]);
    assert_eq!(evaluation["levels"][0]["coverage"], 0.7);
    let words = folder.transcript(&["evaluate", "fit", "my.csv", "--coverage", "0.8,0.7"]);
    assert!(words.contains("Bands of other coverages"), "{words}");
    let plan = [
        "predict",
        "fit",
        "plan.csv",
        "--initial-output",
        "1",
        "--coverage",
        "0.5,0.9",
    ];
    folder.write("plan.csv", "u\n0.1\n0.5\n0.9\n0.2\n");
    let planned = folder.transcript(&plan);
    assert!(
        planned.contains("k,y,y_hat,y_lower,y_upper,y_lower_50,y_upper_50"),
        "{planned}"
    );
}

#[test]
fn coverages_that_nothing_is_known_of_are_refused() {
    let (folder, _) = fitted("0.9");
    let refused = |arguments: &[&str], part: &str| {
        let text = folder.transcript(arguments);
        assert!(text.contains("exit code: 2") && text.contains(part), "{text}");
    };
    refused(
        &["predict", "fit", "my.csv", "--coverage", "0.999"],
        "coverage = 0.999: expected 0.1 to 0.99, for which the model stores how wide its band is",
    );
    refused(&["evaluate", "fit", "my.csv", "--coverage", "80"], "did you mean 0.8?");
    // A model of version 0.1 stores one band.
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/v0.1/auto-arx");
    refused(
        &["evaluate", old, "hair-dryer", "--coverage", "0.8"],
        "coverage = 0.8: expected 0.9, since the model stores no band for any other coverage",
    );
    refused(&["evaluate", old, "hair-dryer", "--coverage", "0.8"], "fit it again");
    for (arguments, part) in [
        (&["--coverage", "0.5,0.9", "--epochs", "2"][..], "add --calibrate"),
        (
            &["--coverage", "0.9,0.999"],
            "expected shares from 0.1 to 0.99 beside the coverage 0.9",
        ),
        (&["--coverage", "0.9,90"], "expected shares"),
    ] {
        refused(&[&["fit", "my.csv", "--out", "no"][..], arguments].concat(), part);
    }
    assert!(!folder.path().join("no").exists());
}

#[test]
fn physical_limits_are_kept_in_the_model_and_in_everything_it_says() {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let fit = |range: &str, out: &str| {
        folder.transcript(&[
            "fit",
            "my.csv",
            "--model",
            "arx",
            "--output-range",
            range,
            "--out",
            out,
            "--quiet",
        ])
    };
    // The record starts at 0 and rises to about 4.
    let refused = fit("y=0:3.5", "no");
    assert!(
        refused.contains("exit code: 2") && refused.contains("outside of its range 0:3.5"),
        "{refused}"
    );
    assert!(refused.contains("(line ") && refused.contains("more"), "{refused}");
    assert!(fit("level=0:9", "no").contains("a range is given for 'level': expected an output (y)"));
    let twice = [
        "fit",
        "my.csv",
        "--output-range",
        "y=0:",
        "--output-range",
        "y=:9",
        "--out",
        "no",
    ];
    assert!(
        folder
            .transcript(&twice)
            .contains("--output-range has two ranges for 'y'")
    );
    for bad in ["y", "y=", "y=9:0", "=0:9", "y=a:b"] {
        let text = fit(bad, "no");
        assert!(
            text.contains("exit code: 2") && text.contains("--output-range"),
            "{text}"
        );
    }
    assert!(!folder.path().join("no").exists());

    let record = crate::support::record(300);
    let (least, most) = record[..210]
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, y)| {
            (low.min(*y), high.max(*y))
        });
    let (least, most) = (least - 1e-3, most + 1e-3);
    let text = fit(&format!("y={least}:{most}"), "fit");
    assert!(text.contains("exit code: 0"), "{text}");
    let written = std::fs::read_to_string(folder.path().join("fit/predictions.csv")).expect("predictions");
    let rows = columns(&written, &["y_lower", "y_hat", "y_upper"]);
    assert!(rows.iter().flatten().all(|value| (least..=most).contains(value)));
    let config = std::fs::read_to_string(folder.path().join("fit/config.toml")).expect("settings");
    assert!(config.contains("[output_range]"), "{config}");
    let again = folder.json(&[
        "fit",
        "my.csv",
        "--config",
        "fit/config.toml",
        "--out",
        "again",
        "--json",
    ]);
    let read = |file: &str| std::fs::read(folder.path().join(file)).expect(file);
    assert_eq!(read("fit/model.safetensors"), read("again/model.safetensors"));
    assert!(again["test"]["n"].is_u64());
    // Far inputs would lead beyond the range; nothing that is predicted leaves it.
    folder.write("plan.csv", "u\n50\n50\n50\n50\n-50\n-50\n-50\n-50\n-50\n-50\n");
    let plan = ["predict", "fit", "plan.csv", "--initial-output", "1"];
    let planned = folder.run(&plan);
    let rows = columns(
        &String::from_utf8_lossy(&planned.stdout),
        &["y_lower", "y_hat", "y_upper"],
    );
    assert!(
        rows.iter().flatten().all(|value| (least..=most).contains(value)),
        "{rows:?}"
    );
    assert!(rows.iter().flatten().any(|value| *value <= least), "{rows:?}");
    assert!(rows.iter().flatten().any(|value| *value >= most), "{rows:?}");
    folder.json(&["export", "fit", "--to", "c", "--out", "step.c", "--json"]);
    assert!(String::from_utf8_lossy(&read("step.c")).contains("limited("));
}

#[test]
fn further_coverages_of_an_online_band_are_online_too() {
    let (folder, _) = fitted("0.9,0.5");
    let online = |coverage: &str, out: &str| {
        let arguments = ["evaluate", "fit", "my.csv", "--online", "--coverage"];
        folder.json(&[&arguments[..], &[coverage, "--out", out, "--json"]].concat())
    };
    let (both, alone) = (online("0.9,0.5", "both.csv"), online("0.5", "alone.csv"));
    assert_eq!(both["band"], "online");
    assert_eq!(both["levels"][0]["coverage"], 0.5);
    for key in ["picp", "pinaw", "interval_score"] {
        assert_eq!(both["levels"][0][key], alone[key], "{key}");
    }
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).expect("written");
    assert_eq!(
        columns(&read("both.csv"), &["y_lower_50", "y_upper_50"]),
        columns(&read("alone.csv"), &["y_lower", "y_upper"])
    );
    let offline = folder.json(&["evaluate", "fit", "my.csv", "--coverage", "0.5", "--json"]);
    assert_ne!(alone["pinaw"], offline["pinaw"], "the bands differ");
}

#[test]
fn a_picture_names_the_coverage_of_its_band() {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let fit = [
        "fit",
        "my.csv",
        "--preset",
        "paper",
        "--model",
        "arx",
        "--coverage",
        "0.995",
    ];
    folder.json(&[&fit[..], &["--out", "fit", "--json"]].concat());
    let output = folder.run(&["predict", "fit", "my.csv", "--plot", "p.svg", "--out", "p.csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = std::fs::read_to_string(folder.path().join("p.svg")).expect("written");
    assert!(picture.contains("99.5 % interval") && !picture.contains("100 % interval"));
}
