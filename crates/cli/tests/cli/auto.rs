//! `fit` without settings: a search.

use serde_json::Value;

use crate::support::{Folder, csv, plain};

/// All that a fit says but for times and places.
fn numbers(fit: &Value) -> Value {
    let mut fit = fit.clone();
    let object = fit.as_object_mut().expect("an object");
    object.remove("train_seconds");
    object.remove("out");
    let candidates = fit["search"]["candidates"].as_array_mut().expect("candidates");
    for candidate in candidates {
        candidate.as_object_mut().expect("an object").remove("seconds");
    }
    fit
}

#[test]
fn a_file_alone_is_searched_written_and_used_again() {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let fit = folder.json(&["fit", "my.csv", "--out", "fit", "--json", "--threads", "1"]);
    assert_eq!(
        (&fit["preset"], &fit["test"]["n"]),
        (&Value::from("auto"), &Value::from(89))
    );
    let search = &fit["search"];
    assert_eq!(search["capped"], false);
    assert_eq!(search["candidates"][0]["chosen"], true);
    assert!(search["why"].as_str().is_some_and(|why| !why.is_empty()));
    assert!(
        search["calibration"]["level"]
            .as_f64()
            .is_some_and(|level| level >= 0.9)
    );
    assert!(fit["extrapolation"]["share"].is_number());

    let read = |file: &str| std::fs::read_to_string(folder.path().join("fit").join(file)).expect(file);
    let candidates = read("candidates.csv");
    assert!(candidates.starts_with(
        "candidate,model,lags,parameters,rounds,score,rmse,coverage,width,seconds,chosen,forward,states,doubt\n"
    ));
    assert_eq!(
        candidates.lines().count() - 1,
        search["candidates"].as_array().map_or(0, Vec::len)
    );
    let predictions = read("predictions.csv");
    assert!(
        predictions.starts_with("k,y,y_hat,y_lower,y_upper,extrapolated\n"),
        "{predictions}"
    );
    let output = folder.run(&["predict", "fit", "my.csv", "--part", "test"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The same, and where each sample is in the file: k counts from the start of the part.
    let without: Vec<&str> = text.lines().filter_map(|line| Some(line.rsplit_once(',')?.0)).collect();
    assert_eq!(without, predictions.lines().collect::<Vec<_>>());
    let rows: Vec<&str> = text.lines().filter_map(|line| Some(line.rsplit_once(',')?.1)).collect();
    assert_eq!((rows[0], rows.last().copied()), ("row", Some("301")));

    let output = folder.run(&["predict", "fit", "my.csv", "--part", "test", "--online"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.starts_with("k,y,y_hat,y_lower,y_upper,y_lower_online,y_upper_online,extrapolated,row\n"),
        "{text}"
    );
    let evaluation = folder.json(&["evaluate", "fit", "my.csv", "--part", "test", "--online", "--json"]);
    assert_eq!(evaluation["picp"], fit["test_online"]["picp"]);
    assert_eq!(evaluation["band"], "online");

    // The written settings give the same model, whatever the threads.
    let again = folder.json(&[
        "fit",
        "my.csv",
        "--config",
        "fit/config.toml",
        "--out",
        "again",
        "--json",
        "--threads",
        "2",
    ]);
    assert_eq!(numbers(&fit), numbers(&again));
    let model = |out: &str| std::fs::read(folder.path().join(out).join("model.safetensors")).expect("a model");
    assert_eq!(model("fit"), model("again"));

    // A fit with the paper's settings in the same folder leaves nothing of the search behind.
    let paper = folder.json(&[
        "fit", "my.csv", "--preset", "paper", "--model", "arx", "--out", "fit", "--json",
    ]);
    assert_eq!(paper["preset"], "paper");
    assert!(paper["search"].is_null() && !folder.path().join("fit/candidates.csv").exists());
}

#[test]
fn the_search_is_told_in_words() {
    let folder = Folder::new();
    folder.write("my.csv", csv(200, plain));
    let text = folder.transcript(&["fit", "my.csv", "--model", "arx", "--coverage", "0.8"]);
    for expected in [
        "The record:",
        "Candidates on held-out",
        "> ARX ",
        "Why the first:",
        "offline band:",
        "online band:",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn a_validation_part_that_was_learnt_from_is_marked() {
    let folder = Folder::new();
    folder.write("my.csv", csv(200, plain));
    let page = |out: &str| std::fs::read_to_string(folder.path().join(out).join("report.html")).expect("a page");
    let searched = [
        "fit", "my.csv", "--model", "arx", "--lags", "1,0,2", "--out", "searched",
    ];
    let text = folder.transcript(&searched);
    assert!(
        text.contains("Free run over the validation part (learnt from as well):"),
        "{text}"
    );
    assert!(page("searched").contains("for validation, learnt from as well,"));
    let trained = [&searched[..6], &["--preset", "paper", "--out", "trained"]].concat();
    let text = folder.transcript(&trained);
    assert!(text.contains("Free run over the validation part:"), "{text}");
    assert!(!page("trained").contains("learnt from as well"));
}

#[test]
fn a_budget_that_runs_out_is_told_and_its_settings_repeat_the_result() {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let capped = folder.json(&["fit", "my.csv", "--budget", "0.001s", "--out", "capped", "--json"]);
    assert_eq!(capped["search"]["capped"], true);
    let again = folder.json(&[
        "fit",
        "my.csv",
        "--config",
        "capped/config.toml",
        "--out",
        "again",
        "--json",
    ]);
    assert_eq!(again["search"]["capped"], false);
    assert_eq!(again["test"], capped["test"]);
}

#[test]
fn settings_of_one_network_are_refused_or_mean_the_paper() {
    let folder = Folder::new();
    folder.write("my.csv", csv(200, plain));
    for arguments in [
        &["fit", "my.csv", "--preset", "auto", "--epochs", "3"][..],
        &["fit", "my.csv", "--preset", "auto", "--model", "bnode"],
        &["fit", "my.csv", "--budget", "soon"],
        &["fit", "my.csv", "--budget", "-1s"],
        &["fit", "my.csv", "--budget", "1m", "--epochs", "3"],
    ] {
        let text = folder.transcript(arguments);
        assert!(text.contains("\nexit code: 2\n"), "{text}");
    }
    assert!(!folder.path().join("intervalid-fit").exists(), "nothing was written");
    let preset = |arguments: &[&str]| {
        let printed = folder.json(&[&["fit", "my.csv", "--print-config", "--json"], arguments].concat());
        printed["preset"].clone()
    };
    assert_eq!(preset(&[]), "auto");
    assert_eq!(preset(&["--model", "inode", "--coverage", "0.95"]), "auto");
    assert_eq!(preset(&["--hidden", "8"]), "paper");
    assert_eq!(preset(&["--model", "ilstm"]), "auto");
    assert_eq!(preset(&["--model", "blstm"]), "paper");
}

#[test]
fn the_band_of_one_network_is_calibrated_on_request() {
    let folder = Folder::new();
    folder.write("my.csv", csv(300, plain));
    let fit = |arguments: &[&str]| folder.json(&[&["fit", "my.csv", "--json"], arguments].concat());
    let settings = ["--hidden", "5", "--epochs", "2", "--lags", "1,0,1"];
    let plain = fit(&[&settings[..], &["--out", "plain"]].concat());
    let scaled = fit(&[&settings[..], &["--calibrate", "--threads", "1", "--out", "scaled"]].concat());
    assert_eq!(plain["test"]["rmse"], scaled["test"]["rmse"]);
    assert_ne!(plain["test"]["pinaw"], scaled["test"]["pinaw"]);
    // The file repeats it.
    let again = fit(&["--config", "scaled/config.toml", "--threads", "2", "--out", "again"]);
    assert_eq!(again["test"], scaled["test"]);
    assert_eq!(again["test_online"], scaled["test_online"]);
}
