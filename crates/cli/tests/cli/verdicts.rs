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

#[test]
fn fits_that_are_scored_otherwise_are_told_of() {
    let folder = Folder::new();
    folder.write("a.csv", csv(400, plain));
    fit(&folder, &["a.csv"], "m", &[]);
    fit(&folder, &["a.csv"], "other-lags", &["--seed", "2"]);
    fit(&folder, &["a.csv"], "half", &["--coverage", "0.5"]);
    fit(&folder, &["a.csv"], "late", &["--initial", "warmup:25"]);
    let differences = |other: &str| folder.json(&["compare", "m", other, "--json"])["differences"].clone();
    assert_eq!(differences("other-lags"), serde_json::json!([]));
    assert_eq!(
        differences("half"),
        serde_json::json!(["half against m: its band is asked to hold 50 % of the samples, not 90 %"])
    );
    let (_, text) = code(&folder, &["compare", "m", "half"]);
    assert!(text.contains("errors do.") && !text.contains("--data FILE"), "{text}");
    let late = differences("late").to_string();
    assert!(late.contains("samples of the test part are scored"), "{late}");
    // A run that ends early started as the others did.
    let path = folder.path().join("other-lags/metrics.json");
    let mut metrics: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("written")).expect("JSON");
    let test = metrics["test"].as_object_mut().expect("metrics");
    test.values_mut().for_each(|value| *value = serde_json::Value::Null);
    test.insert("n".to_owned(), 5.into());
    test.insert("diverged_at".to_owned(), 5.into());
    std::fs::write(&path, metrics.to_string()).expect("written");
    std::fs::remove_file(path.with_file_name("manifest.json")).expect("one");
    assert_eq!(differences("other-lags"), serde_json::json!([]));
}

/// Of two fits the first has no test part, and so no linear model beside it.
#[test]
fn the_linear_model_is_named_by_the_fit_that_it_stands_beside() {
    let folder = Folder::new();
    folder.write("a.csv", csv(400, plain));
    folder.write("c.csv", csv(300, |row, column, value| plain(row, column, 2.0 * value)));
    let network = |data: &str, name: &str, more: &[&str]| {
        let start = [
            "fit", data, "--model", "inode", "--hidden", "4", "--epochs", "2", "--lags", "1,0,1", "--quiet",
        ];
        let fitted = folder.run(&[&start[..], &["--out", name], more].concat());
        assert!(fitted.status.success(), "{}", String::from_utf8_lossy(&fitted.stderr));
    };
    network("a.csv", "blind", &["--split", "0.8,0.2,0", "--coverage", "0.5"]);
    network("c.csv", "judged", &[]);
    let (status, text) = code(&folder, &["compare", "blind", "judged"]);
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with('('))
        .expect("a linear model");
    assert!(status == 0 && line.contains(" c ") && line.contains("90.0 %"), "{text}");
}

#[test]
fn a_page_says_the_command_that_made_it() {
    let folder = Folder::new();
    folder.write("my data/a;b.csv", csv(400, plain));
    let data = "my data/a;b.csv";
    fit(&folder, &[data], "m", &["--coverage", "0.5,0.9"]);
    let arguments = [
        "evaluate",
        "m",
        data,
        "--part",
        "test",
        "--split",
        "0.5,0.1,0.4",
        "--out",
        "e.html",
    ];
    assert!(folder.run(&arguments).status.success());
    let page = std::fs::read_to_string(folder.path().join("e.html")).expect("written");
    let command = "intervalid evaluate m 'my data/a;b.csv' --part test --split '0.5,0.1,0.4' --out e.html";
    let shown = page.replace("&#x27;", "'").replace("&#x2f;", "/");
    assert!(shown.contains(command), "the command is not on the page");
}

#[test]
fn required_shares_have_their_digits() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    fit(&folder, &["a.csv"], "m", &[]);
    let (status, text) = code(&folder, &["evaluate", "m", "a.csv", "--require-coverage", "0.9999"]);
    assert!(status == 3 && text.contains("required are 99.99 %"), "{text}");
}

#[test]
fn a_test_part_is_judged_alike_by_the_fit_and_afterwards() {
    let folder = Folder::new();
    folder.write("a.csv", csv(400, plain));
    let fitted = [&["fit", "a.csv"], &FIT[..], &["--calibrate", "--out", "m"]].concat();
    let (status, fitted) = code(&folder, &fitted);
    assert_eq!(status, 0, "{fitted}");
    let reading = |text: &str| {
        let mut lines = text.lines().filter(|line| line.contains("samples inside the band"));
        lines.next().expect("a reading").to_owned()
    };
    let (_, judged) = code(&folder, &["evaluate", "m", "a.csv", "--part", "test"]);
    assert_eq!(reading(&judged), reading(&fitted));
    assert!(reading(&judged).contains(" % ± "), "{judged}");
    let (_, ahead) = code(&folder, &["evaluate", "m", "a.csv", "--part", "test", "--horizon", "2"]);
    assert!(!reading(&ahead).contains('±'), "{ahead}");
}
