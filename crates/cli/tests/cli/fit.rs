//! `fit` and the commands that use what it wrote.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::promised::FIT;
use crate::support::{Folder, csv, plain};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

/// All that a fit says but for times and places.
fn numbers(fit: &Value) -> Value {
    let mut fit = fit.clone();
    let object = fit.as_object_mut().expect("an object");
    for key in ["train_seconds", "out"] {
        object.remove(key);
    }
    fit
}

fn quick(folder: &Folder, model: &str, out: &str) -> Value {
    let mut arguments = vec![
        "fit",
        "hair-dryer",
        "--model",
        model,
        "--preset",
        "paper",
        "--json",
        "--out",
        out,
    ];
    if model != "arx" {
        arguments.extend(["--epochs", "2"]);
    }
    folder.json(&arguments)
}

#[test]
fn every_model_is_fitted_written_and_used_again() {
    let folder = Folder::new();
    let models = [
        "inode",
        "ilstm",
        "bnode",
        "blstm",
        "dropout-node",
        "dropout-lstm",
        "ensemble-node",
        "ensemble-lstm",
        "arx",
    ];
    for model in models {
        let fit = quick(&folder, model, model);
        assert_eq!(FIT.differences(&fit), [""; 0], "{model}");
        assert_eq!(fit["model"], model);
        assert_eq!(fit["strategy"].is_null(), !model.starts_with('i'));
        assert_eq!(fit["test"]["n"], 499);
        let read = |file: &str| std::fs::read_to_string(folder.path().join(model).join(file)).expect(file);
        assert_eq!(serde_json::from_str::<Value>(&read("metrics.json")).expect("JSON"), fit);
        assert!(!folder.path().join(model).join("checkpoint.safetensors").exists());

        // The stored model simulates what the fit did.
        let predictions = read("predictions.csv");
        assert_eq!(predictions.lines().count(), 500);
        let output = folder.run(&["predict", model, "hair-dryer", "--part", "test"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), predictions, "{model}");
        let evaluation = folder.json(&["evaluate", model, "hair-dryer", "--part", "test", "--json"]);
        for metric in keys(&fit["test"]) {
            assert_eq!(evaluation[metric], fit["test"][metric], "{model} {metric}");
        }
        let online = folder.json(&["evaluate", model, "hair-dryer", "--part", "test", "--online", "--json"]);
        for metric in keys(&fit["test_online"]) {
            assert_eq!(online[metric], fit["test_online"][metric], "{model} {metric}");
        }
        // Only the band follows the measurements.
        assert_eq!(online["rmse"], fit["test"]["rmse"]);
    }
    let text = folder.transcript(&["compare", "inode", "arx"]);
    assert!(
        text.contains("inode") && text.contains("arx") && !text.contains("(ARX, lags"),
        "{text}"
    );
    let text = folder.transcript(&["compare", "inode", "bnode"]);
    assert!(
        text.contains("(ARX, lags"),
        "the one that was fitted beside them: {text}"
    );
    let compared = folder.json(&["compare", "inode", "arx", "--json"]);
    assert_eq!(compared["fits"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_written_configuration_repeats_the_fit() {
    let folder = Folder::new();
    let first = folder.json(&[
        "fit",
        "hair-dryer",
        "--model",
        "ilstm",
        "--strategy",
        "joint",
        "--margin",
        "relu",
        "--coverage",
        "0.95",
        "--hidden",
        "5,4",
        "--lags",
        "1,2,3",
        "--epochs",
        "2",
        "--batch",
        "32",
        "--lr",
        "0.01",
        "--seed",
        "7",
        "--initial",
        "measured",
        "--precision",
        "f64",
        "--threads",
        "1",
        "--out",
        "first",
        "--json",
    ]);
    let again = folder.json(&[
        "fit",
        "hair-dryer",
        "--config",
        "first/config.toml",
        "--threads",
        "2",
        "--out",
        "again",
        "--json",
    ]);
    assert_eq!(numbers(&first), numbers(&again));
    // Flags win over the file.
    let other = folder.json(&[
        "fit",
        "hair-dryer",
        "--config",
        "first/config.toml",
        "--seed",
        "8",
        "--out",
        "other",
        "--json",
    ]);
    assert_eq!(other["seed"], 8);
    assert_ne!(numbers(&first)["test"], numbers(&other)["test"]);
    let printed = folder.json(&[
        "fit",
        "hair-dryer",
        "--config",
        "first/config.toml",
        "--print-config",
        "--json",
    ]);
    assert_eq!(
        (&printed["model"], &printed["lags"]),
        (&Value::from("ilstm"), &Value::from("1,2,3"))
    );
}

#[test]
fn own_files_with_several_outputs_and_experiments() {
    let folder = Folder::new();
    let mut text = String::from("valve,level,flow,run\n");
    for (index, line) in csv(240, plain).lines().skip(1).enumerate() {
        let (u, y) = line.split_once(',').expect("two cells");
        let run = if index < 120 { "a" } else { "b" };
        let flow = 2.0 * y.parse::<f64>().expect("a number");
        text += &format!("{u},{y},{flow:.4},{run}\n");
    }
    folder.write("tank.csv", text);
    let columns = ["--input", "valve", "--output", "level,flow", "--experiment", "run"];
    let fit = [
        &[
            "fit", "tank.csv", "--epochs", "2", "--model", "inode", "--hidden", "4", "--out", "tank", "--json",
        ][..],
        &columns[..],
    ]
    .concat();
    let fit = folder.json(&fit);
    assert_eq!(keys(&fit["test"]["rmse"]).len(), 3);
    assert!(fit["test"]["rmse"]["all"].is_number() && fit["test"]["rmse"]["level"].is_number());
    // The model remembers its columns.
    let output = folder.run(&["predict", "tank", "tank.csv", "--experiment", "run"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("experiment,k,level_y,level_y_hat,level_y_lower,level_y_upper,flow_y"),
        "{}",
        text.lines().next().unwrap_or_default()
    );
    let plot = folder.run(&[
        "predict",
        "tank",
        "tank.csv",
        "--experiment",
        "run",
        "--plot",
        "band.svg",
    ]);
    assert!(plot.status.success(), "{}", String::from_utf8_lossy(&plot.stderr));
    let svg = std::fs::read_to_string(folder.path().join("band.svg")).expect("a picture");
    assert!(svg.contains("</svg>") && svg.contains("level"));
}

#[test]
fn elasticity_is_printed_and_drawn() {
    let folder = Folder::new();
    quick(&folder, "inode", "fit");
    let text = folder.transcript(&["explain", "fit"]);
    assert!(
        text.contains("layer 0") && text.contains("y(k-1)") && text.contains("u(k-2)"),
        "{text}"
    );
    let json = folder.json(&["explain", "fit", "--json", "--out", "elasticity"]);
    assert_eq!(json["layers"].as_array().map(Vec::len), Some(3));
    for file in [
        "parameters.csv",
        "channels.csv",
        "heat-maps.svg",
        "heat-maps.png",
        "channels.svg",
        "channels.png",
    ] {
        assert!(folder.path().join("elasticity").join(file).is_file(), "{file}");
    }
}

#[test]
fn a_refused_fit_leaves_an_interrupted_one_alone_and_parts_are_those_of_the_fit() {
    let folder = Folder::new();
    folder.write("short.csv", csv(20, plain));
    folder.write("fit/checkpoint.safetensors", "of an interrupted fit");
    for arguments in [
        &["fit", "short.csv", "--lags", "2,0,3", "--out", "fit"][..],
        &["fit", "hair-dryer", "--model", "arx", "--out", "fit"],
        &["fit", "hair-dryer", "--epochs", "1", "--out", "fit"],
        &["fit", "hair-dryer", "--split", "0.6,0.399,0.001", "--out", "new/inner"],
        &[
            "fit",
            "hair-dryer",
            "--seed",
            "18446744073709551615",
            "--out",
            "new/inner",
        ],
    ] {
        let text = folder.transcript(arguments);
        assert!(text.contains("\nexit code: 2\n"), "{text}");
    }
    let kept = std::fs::read_to_string(folder.path().join("fit/checkpoint.safetensors")).expect("still there");
    assert_eq!(kept, "of an interrupted fit");
    assert!(!folder.path().join("new").exists(), "nothing was written");

    let arguments = [
        "fit",
        "hair-dryer",
        "--model",
        "arx",
        "--split",
        "0.6,0.2,0.2",
        "--out",
        "arx",
        "--json",
    ];
    let fit = folder.json(&arguments);
    assert_eq!(fit["test"]["n"], 199);
    let evaluation = folder.json(&["evaluate", "arx", "hair-dryer", "--part", "test", "--json"]);
    assert_eq!(evaluation["rmse"], fit["test"]["rmse"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_fit_says_how_to_go_on_and_does() {
    let folder = Folder::new();
    let arguments = |out: &'static str| {
        [
            "fit",
            "hair-dryer",
            "--model",
            "ilstm",
            "--strategy",
            "joint",
            "--epochs",
            "30",
            "--json",
            "--out",
            out,
        ]
    };
    let whole = folder.json(&arguments("whole"));
    let child = folder
        .command(&arguments("stopped"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    // The checkpoint is written before the first epoch: then the handler is in place.
    let checkpoint = folder.path().join("stopped/checkpoint.safetensors");
    for _ in 0..2000 {
        if checkpoint.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("the program ends");
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        // Faster than the signal: nothing to resume, the result must be the same all the same.
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(numbers(&found), numbers(&whole));
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("interrupted after") && error.contains("run the same command again"),
        "{error}"
    );
    assert!(checkpoint.exists());
    let resumed = folder.json(&arguments("stopped"));
    assert_eq!(numbers(&resumed), numbers(&whole));
    assert!(!checkpoint.exists());
}

/// The hair dryer with other inputs.
fn dryer_with(folder: &Folder, name: &str, input: impl Fn(usize, f64) -> f64) {
    let record =
        intervalid_data::load(&["hair-dryer"], None, &intervalid_data::ReadOptions::default()).expect("built in");
    let experiment = &record.experiments()[0];
    let mut text = "u,y\n".to_owned();
    for (k, (&u, y)) in experiment.input(0).iter().zip(experiment.output(0)).enumerate() {
        let _ = writeln!(text, "{:?},{y}", input(k, u));
    }
    folder.write(name, text);
}

/// One overload mark of an instrument among the inputs once gave a band of no width, and exit code 0.
#[test]
fn a_sample_beyond_all_reason_is_refused_by_name() {
    let folder = Folder::new();
    dryer_with(&folder, "marked.csv", |k, u| if k == 700 { 9.9e37 } else { u });
    quick(&folder, "inode", "net");
    quick(&folder, "arx", "line");
    for arguments in [
        ["predict", "net", "marked.csv"].as_slice(),
        &["predict", "line", "marked.csv"],
        &["evaluate", "net", "marked.csv"],
        // Before training, though only the test part has it.
        &[
            "fit",
            "marked.csv",
            "--preset",
            "paper",
            "--epochs",
            "1",
            "--out",
            "fresh",
        ],
    ] {
        let run = folder.run(arguments);
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {error}");
        for part in ["input 'u' is 9.9e37", "sample 700", "1e6 standard deviations"] {
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    }
    assert!(!folder.path().join("fresh/model.safetensors").exists());
}

#[test]
fn a_simulation_that_diverges_is_written_whole_and_said() {
    let folder = Folder::new();
    // Far out of what a model of it has seen, and still a number that it may run on.
    dryer_with(&folder, "far.csv", |_, u| u * 1e5);
    // Networks beside a linear path, which nothing saturates.
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/v0.1/auto/model.safetensors"
    );
    let run = folder.run(&["predict", model, "far.csv", "--out", "far-out.csv"]);
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{error}");
    assert!(
        error.contains("diverged at sample") && error.contains("--allow-divergence"),
        "{error}"
    );
    let rows = std::fs::read_to_string(folder.path().join("far-out.csv")).expect("written");
    let rows: Vec<&str> = rows.lines().skip(1).collect();
    assert_eq!(rows.len(), 993, "a row per sample after the seven that start it");
    let cells: Vec<&str> = rows[992].split(',').collect();
    assert_eq!((cells[0], &cells[2..5]), ("1000", ["", "", ""].as_slice()));
    assert!(!cells[1].is_empty(), "what was measured stays");
    let allowed = folder.run(&[
        "predict",
        model,
        "far.csv",
        "--out",
        "far-out.csv",
        "--allow-divergence",
    ]);
    assert!(allowed.status.success());
    assert!(String::from_utf8_lossy(&allowed.stderr).contains("warning: the simulation of 'far' diverged"));
}

#[test]
fn an_analysis_of_a_run_that_diverges_is_a_failed_run() {
    let folder = Folder::new();
    dryer_with(&folder, "far.csv", |_, u| u * 1e5);
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/v0.1/auto/model.safetensors"
    );
    let run = folder.run(&["analyse", model, "--data", "far.csv", "--out", "look.html"]);
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        run.status.code() == Some(1) && error.contains("diverged at sample"),
        "{error}"
    );
    assert!(folder.path().join("look.html").is_file(), "what can be seen is written");
}

#[test]
fn plots_show_the_band_that_was_asked_for() {
    let folder = Folder::new();
    quick(&folder, "arx", "model");
    let plot = |options: &[&str]| {
        let arguments = ["predict", "model", "hair-dryer", "--out", "p.csv", "--plot", "p.svg"];
        assert!(folder.run(&[&arguments[..], options].concat()).status.success());
        std::fs::read_to_string(folder.path().join("p.svg")).expect("drawn")
    };
    assert_ne!(plot(&[]), plot(&["--online"]));
}
