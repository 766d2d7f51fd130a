//! What is said of a model that was judged: by which samples, and against what.

use crate::support::{Folder, csv, plain};

const FIT: [&str; 4] = ["--model", "arx", "--lags", "1,0,2"];

fn fit(folder: &Folder, data: &[&str], name: &str, more: &[&str]) -> serde_json::Value {
    folder.json(&[&["fit"], data, &FIT[..], &["--out", name, "--json"], more].concat())
}

/// Exit code, and both streams.
fn code(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().expect("an exit code"), text.concat())
}

#[test]
fn models_that_take_other_samples_from_one_record_are_told_of() {
    let folder = Folder::new();
    folder.write("a.csv", csv(400, plain));
    folder.write("b.csv", csv(300, |row, column, value| plain(row, column, value + 0.1)));
    let quiet = |name: &str, more: &[&str]| {
        let fit = [&["fit", "a.csv"], &FIT[..], &["--out", name, "--quiet"], more].concat();
        assert!(folder.run(&fit).status.success());
    };
    quiet("raw", &[]);
    quiet("again", &["--seed", "2"]);
    quiet("thinned", &["--decimate", "2"]);
    let on_data = |names: &[&str]| {
        let output = folder.run(&[&["compare"], names, &["--data", "b.csv", "--json"]].concat());
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        value["differences"].clone()
    };
    assert_eq!(on_data(&["raw", "again"]), serde_json::json!([]));
    let found = on_data(&["raw", "again", "thinned"]);
    let found = found.as_array().expect("a list");
    let words = "thinned against raw: the samples to judge by are prepared in another way (150 samples: One sample in 2 is kept";
    assert!(
        found.len() == 1 && found[0].as_str().is_some_and(|text| text.starts_with(words)),
        "{found:?}"
    );
    let (status, text) = code(&folder, &["compare", "raw", "thinned", "--data", "b.csv"]);
    assert!(status == 0 && text.contains(&format!("warning: {words}")), "{text}");
    let (_, text) = code(&folder, &["compare", "raw", "thinned"]);
    assert!(
        text.contains("nor would they on one record") && !text.contains("--data FILE"),
        "{text}"
    );
}

#[test]
fn a_recording_that_is_too_short_to_judge_does_not_diverge() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("brief.csv", csv(2, plain));
    fit(&folder, &["a.csv"], "m", &[]);
    let (status, text) = code(
        &folder,
        &["evaluate", "m", "a.csv", "brief.csv", "--require-coverage", "0.5"],
    );
    assert!(
        status == 3 && text.contains("brief.csv: there are no samples of 'y' to judge") && !text.contains("diverge"),
        "{text}"
    );
}

#[test]
fn predictions_ahead_have_no_coverage_by_the_time_since_a_start() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    fit(&folder, &["a.csv"], "m", &[]);
    let horizons = |more: &[&str]| {
        let report = folder.json(&[&["evaluate", "m", "a.csv", "--json"], more].concat());
        report["horizons"].as_array().map(Vec::len)
    };
    assert_eq!((horizons(&[]), horizons(&["--horizon", "3"])), (Some(1), Some(0)));
}

#[test]
fn tables_say_what_was_asked_with_its_digits() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    fit(&folder, &["a.csv"], "m", &["--preset", "paper", "--coverage", "0.9996"]);
    fit(&folder, &["a.csv"], "n", &["--preset", "paper"]);
    for (command, asked) in [
        (&["evaluate", "m", "a.csv"][..], "99.96 %"),
        (&["compare", "m"], "99.96 %"),
        (&["compare", "m", "--data", "a.csv"], "99.96 %"),
        (&["evaluate", "n", "a.csv"], "90.0 %"),
    ] {
        let (status, text) = code(&folder, command);
        assert!(status == 0 && text.contains(asked), "{command:?}: {text}");
    }
}
