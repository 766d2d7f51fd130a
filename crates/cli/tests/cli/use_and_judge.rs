//! What is done with a fitted model: plans of inputs alone, new recordings, requirements, comparisons by content.

use crate::support::{Folder, csv, plain, record};

const FIT: [&str; 4] = ["--model", "arx", "--lags", "1,0,2"];

/// Fits of the same 300 samples, of which `name` is the folder.
fn fit(folder: &Folder, data: &[&str], name: &str, more: &[&str]) -> serde_json::Value {
    folder.json(&[&["fit"], data, &FIT[..], &["--out", name, "--json"], more].concat())
}

fn code(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().expect("an exit code"), text.concat())
}

#[test]
fn inputs_alone_are_simulated_from_an_output_or_a_recording() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    fit(&folder, &["a.csv"], "m", &["--initial", "zero"]);
    let pairs = record(300);
    let inputs: String = pairs.iter().map(|(u, _)| format!("{u:.4}\n")).collect();
    folder.write("plan.csv", format!("u\n{inputs}"));
    // From the first output on, it is the simulation of the whole record.
    let start = format!("{:.4}", pairs[0].1);
    let planned = folder.json(&["predict", "m", "plan.csv", "--initial-output", &start, "--json"]);
    let known = folder.json(&["predict", "m", "a.csv", "--json"]);
    assert_eq!(planned["predictions"][0]["y_hat"], known["predictions"][0]["y_hat"]);
    assert_eq!(planned["predictions"][0]["y_upper"], known["predictions"][0]["y_upper"]);
    assert_eq!(
        (&planned["metrics"], &planned["predictions"][0]["first"]),
        (&serde_json::Value::Null, &2.into())
    );
    let (status, text) = code(&folder, &["predict", "m", "plan.csv", "--initial-output", &start]);
    assert!(
        status == 0 && text.starts_with("k,y,y_hat,y_lower,y_upper,extrapolated\n2,,"),
        "{text}"
    );
    // After a recording, the plan's own first row is predicted.
    let after = folder.json(&["predict", "m", "plan.csv", "--start-from", "a.csv", "--json"]);
    assert_eq!(after["predictions"][0]["first"], 1);
    assert_eq!(after["predictions"][0]["y_hat"].as_array().map(Vec::len), Some(300));
    let (status, text) = code(&folder, &["predict", "m", "plan.csv"]);
    assert!(
        status == 2 && text.contains("--initial-output VALUE or --start-from FILE"),
        "{text}"
    );
    let (status, text) = code(&folder, &["predict", "m", "plan.csv", "--initial-output", "1,2"]);
    assert!(
        status == 2 && text.contains("--initial-output has 2 values, the model has 1 outputs: y"),
        "{text}"
    );
}

#[test]
fn a_state_space_model_starts_from_history_everywhere() {
    let folder = Folder::new();
    folder.write("a.csv", csv(400, plain));
    let settings = [
        "--preset", "paper", "--model", "iss", "--states", "2", "--hidden", "3,0", "--epochs", "5",
    ];
    let fit = folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &settings[..]].concat());
    // The history of a test part lies before it: all but its first sample is scored.
    let test = folder.json(&["evaluate", "m", "a.csv", "--part", "test", "--json"]);
    assert_eq!((&fit["model"], &fit["test"]["n"]), (&"iss".into(), &119.into()));
    assert_eq!(test["rmse"], fit["test"]["rmse"]);
    // One sample after a measurement the observer has its say.
    let ahead = folder.json(&["evaluate", "m", "a.csv", "--part", "test", "--horizon", "1", "--json"]);
    assert_eq!((&ahead["band"], &ahead["horizon"]), (&"ahead".into(), &1.into()));
    assert!(ahead["rmse"].as_f64() > Some(0.0) && ahead["rmse"] != test["rmse"] && ahead["n"] == test["n"]);
    assert_eq!(code(&folder, &["predict", "m", "a.csv", "--horizon", "0"]).0, 2);
    let inputs: String = record(50).iter().map(|(u, _)| format!("{u:.4}\n")).collect();
    folder.write("plan.csv", format!("u\n{inputs}"));
    let planned = folder.json(&["predict", "m", "plan.csv", "--start-from", "a.csv", "--json"]);
    assert_eq!(planned["predictions"][0]["first"], 1);
    assert_eq!(planned["predictions"][0]["y_hat"].as_array().map(Vec::len), Some(50));
    let (status, text) = code(&folder, &["explain", "m"]);
    assert!(status == 0 && text.contains("state.linear"), "{text}");
    assert_eq!(code(&folder, &["export", "m", "--to", "c", "--out", "m.c"]).0, 0);
    let (status, text) = code(
        &folder,
        &["fit", "a.csv", "--model", "iss", "--lags", "2,0,3", "--preset", "paper"],
    );
    assert!(
        status == 2 && text.contains("the states of an iss remember the past"),
        "{text}"
    );
}

#[test]
fn several_files_have_a_row_each_and_coverage_can_be_required() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write(
        "noisy.csv",
        csv(200, |row, column, value| match column {
            'y' => format!("{:.4}", value + if row % 2 == 0 { 2.0 } else { -2.0 }),
            _ => format!("{value:.4}"),
        }),
    );
    fit(&folder, &["a.csv"], "m", &[]);
    let both = folder.json(&["evaluate", "m", "a.csv", "noisy.csv", "--json"]);
    let files = both["files"].as_array().expect("a list");
    assert_eq!((files.len(), &files[1]["file"]), (2, &"noisy.csv".into()));
    assert!(files[0]["picp"].as_f64() > files[1]["picp"].as_f64());
    let alone = folder.json(&["evaluate", "m", "a.csv", "--json"]);
    assert_eq!(files[0]["rmse"], alone["rmse"]);
    assert_eq!(
        code(&folder, &["evaluate", "m", "a.csv", "--require-coverage", "0.6"]).0,
        0
    );
    let (status, text) = code(
        &folder,
        &["evaluate", "m", "a.csv", "noisy.csv", "--require-coverage", "0.6"],
    );
    assert!(
        status == 3 && text.contains("noisy.csv: ") && text.contains("required are 60.0 %"),
        "{text}"
    );
    assert_eq!(
        code(&folder, &["evaluate", "m", "a.csv", "--require-coverage", "90"]).0,
        2
    );
}

#[test]
fn a_recording_of_its_own_is_the_test() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("b.csv", csv(120, |row, column, value| plain(row, column, value + 0.1)));
    let fit = fit(&folder, &["a.csv"], "m", &["--test", "b.csv", "--refit-all"]);
    // All but those that the model starts from.
    assert!(fit["test"]["n"].as_u64().is_some_and(|n| (110..120).contains(&n)));
    assert_eq!(fit["record"]["test_samples"], 120);
    let again = folder.json(&["evaluate", "m", "b.csv", "--json"]);
    assert_eq!(fit["test"]["rmse"], again["rmse"]);
    let everything = folder.json(&["evaluate", "m/model-all.safetensors", "b.csv", "--json"]);
    assert_ne!(everything["rmse"], again["rmse"], "it has seen more");
    let page = std::fs::read_to_string(folder.path().join("m/report.html")).expect("written");
    assert!(page.contains("--test b.csv"), "the command that repeats it");
}

#[test]
fn fits_are_compared_by_what_they_saw() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("copy.csv", csv(300, plain));
    folder.write("other/a.csv", csv(200, plain));
    fit(&folder, &["a.csv"], "one", &[]);
    fit(&folder, &["copy.csv"], "same", &[]);
    fit(&folder, &["a.csv"], "shorter", &["--split", "0.7,0.1,0.2"]);
    fit(&folder, &["other/a.csv"], "other", &["--unit", "y=V"]);
    let differences = |names: &[&str]| folder.json(&[&["compare"], names, &["--json"]].concat())["differences"].clone();
    assert_eq!(differences(&["one", "same"]), serde_json::json!([]));
    assert_eq!(
        differences(&["one", "shorter", "other"]),
        serde_json::json!([
            "shorter against one: the test part is another one of the same data (60 samples, not 90)",
            "other against one: the data differ (200 samples, 60 of them for the test, not 300 and 90)"
        ])
    );
    let (_, text) = code(&folder, &["compare", "one", "shorter"]);
    assert!(text.contains("These numbers do not compare."), "{text}");
    let on_one = folder.json(&["compare", "one", "other", "--data", "copy.csv", "--json"]);
    let alone = folder.json(&["evaluate", "other", "copy.csv", "--json"]);
    assert_eq!(on_one["fits"][1]["metrics"]["rmse"], alone["rmse"]);
}
