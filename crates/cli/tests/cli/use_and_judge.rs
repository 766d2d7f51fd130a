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
    // A file may hold several experiments.
    let gap = |row: usize, column: char, value: f64| match row {
        150 => String::new(),
        _ => plain(row, column, value),
    };
    folder.write("gap.csv", csv(300, gap));
    let split = ["--missing", "split", "--json", "--quiet"];
    let both = folder.json(&[&["evaluate", "m", "gap.csv", "a.csv"], &split[..]].concat());
    let gap = folder.json(&[&["evaluate", "m", "gap.csv"], &split[..]].concat());
    assert_eq!(both["files"][0]["rmse"], gap["rmse"]);
    assert_eq!(both["files"][1]["rmse"], alone["rmse"]);
    assert_eq!(
        code(&folder, &["evaluate", "m", "a.csv", "--require-coverage", "0.6"]).0,
        0
    );
    let (status, text) = code(
        &folder,
        &["evaluate", "m", "a.csv", "noisy.csv", "--require-coverage", "0.6"],
    );
    assert!(
        status == 3 && text.contains("noisy.csv: ") && text.contains("required are 60 %"),
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
    // All of it was for training and validation, so nothing of it is for a test.
    let (status, text) = code(&folder, &["evaluate", "m", "a.csv", "--part", "test"]);
    assert!(status == 2 && text.contains("has no test part"), "{text}");
    let again = folder.json(&[
        "fit",
        "a.csv",
        "--test",
        "b.csv",
        "--config",
        "m/config.toml",
        "--out",
        "n",
        "--json",
    ]);
    for part in ["test", "validation"] {
        assert_eq!(again[part], fit[part], "{part}");
    }
    let configs = ["m", "n"].map(|name| std::fs::read_to_string(folder.path().join(name).join("config.toml")).ok());
    assert!(configs[0].is_some() && configs[0] == configs[1], "{configs:?}");
}

/// The parts of a fit are in its folder whoever chose them, so a copy of the record is divided as the record was.
#[test]
fn a_part_is_that_of_the_fit_under_another_name() {
    let folder = Folder::new();
    let fit = fit(&folder, &["hair-dryer"], "m", &[]);
    let record = include_str!("../../../data/datasets/hair_dryer.csv");
    folder.write("copy.csv", record);
    let copy = folder.json(&["evaluate", "m", "copy.csv", "--part", "test", "--json"]);
    assert_eq!((&copy["n"], &copy["rmse"]), (&fit["test"]["n"], &fit["test"]["rmse"]));
    let config = std::fs::read_to_string(folder.path().join("m/config.toml")).expect("written");
    assert!(config.contains("split = \""), "{config}");
}

/// The folder of a fit whose free runs diverge on inputs a hundred thousand times too large.
const RUNS_AWAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/v0.1/auto");

fn far_inputs(samples: usize) -> impl Iterator<Item = (f64, f64)> {
    record(samples).into_iter().map(|(u, y)| (u * 1e5, y))
}

#[test]
fn a_diverging_simulation_fails_an_evaluation_and_a_comparison() {
    let folder = Folder::new();
    let rows: String = far_inputs(500).map(|(u, y)| format!("{u},{y}\n")).collect();
    folder.write("far.csv", format!("u,y\n{rows}"));
    for arguments in [
        &["evaluate", RUNS_AWAY, "far.csv"][..],
        &["evaluate", RUNS_AWAY, "far.csv", "--require-coverage", "0.9"],
        &["compare", RUNS_AWAY, "--data", "far.csv"],
    ] {
        let (status, text) = code(&folder, arguments);
        assert!(status == 1 && text.contains("diverged at sample"), "{text}");
        assert!(text.contains("RMSE"), "the table is printed all the same: {text}");
        let output = folder.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
    }
}

#[test]
fn a_plan_that_diverges_has_all_its_rows() {
    let folder = Folder::new();
    let rows: String = far_inputs(500).map(|(u, _)| format!("{u}\n")).collect();
    folder.write("plan.csv", format!("u\n{rows}"));
    let command = [
        "predict",
        RUNS_AWAY,
        "plan.csv",
        "--initial-output",
        "5",
        "--out",
        "out.csv",
    ];
    let (status, text) = code(&folder, &command);
    assert!(
        status == 1 && text.contains("diverged at sample") && text.contains("--allow-divergence"),
        "{text}"
    );
    let (status, text) = code(&folder, &[&command[..], &["--allow-divergence"]].concat());
    assert!(
        status == 0 && text.contains("warning: the simulation of 'plan' diverged at sample"),
        "{text}"
    );
    let written = std::fs::read_to_string(folder.path().join("out.csv")).expect("written");
    let last = written.lines().last().unwrap_or_default();
    assert_eq!(
        written.lines().count(),
        500,
        "a heading, and a row for each sample but the first"
    );
    assert!(last.starts_with("500,,,,"), "{last}");
}

#[test]
fn a_plan_is_of_the_rate_of_the_model_and_replaces_nothing() {
    let folder = Folder::new();
    let timed = |step: f64, samples: usize| {
        let rows = record(samples).into_iter().enumerate();
        let rows = rows.map(|(k, (u, y))| format!("{},{u:.4},{y:.4}\n", step * k as f64));
        format!("t,u,y\n{}", rows.collect::<String>())
    };
    folder.write("a.csv", timed(0.5, 300));
    folder.write("slow.csv", timed(5.0, 50));
    folder.write("next.csv", timed(0.5, 50));
    fit(&folder, &["a.csv"], "m", &[]);
    let plan = ["predict", "m", "next.csv", "--start-from", "a.csv"];
    let (status, text) = code(&folder, &plan);
    assert!(status == 0 && text.contains("row,time\n1,,"), "{text}");
    for (data, past) in [("slow.csv", "a.csv"), ("next.csv", "slow.csv")] {
        let (status, text) = code(&folder, &["predict", "m", data, "--start-from", past]);
        assert!(status == 2 && text.contains("sample"), "{text}");
    }
    let (status, text) = code(&folder, &["predict", "m", "slow.csv", "--initial-output", "1"]);
    assert_eq!(status, 2, "{text}");
    let (status, text) = code(&folder, &[&plan[..], &["--horizon", "3"]].concat());
    assert!(status == 2 && text.contains("cannot be used with"), "{text}");
    let (status, text) = code(&folder, &[&plan[..], &["--out", "a.csv"]].concat());
    assert!(status == 2 && text.contains("would replace a.csv"), "{text}");
}

#[test]
fn an_evaluation_has_a_page_and_names_say_what_is_in_a_file() {
    let folder = Folder::new();
    folder.write("train.csv", csv(300, plain));
    folder.write("new.csv", csv(200, plain));
    folder.json(&[
        "fit",
        "train.csv",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "fit",
        "--json",
    ]);
    let found = folder.json(&["evaluate", "fit", "new.csv", "--out", "page.html", "--json"]);
    assert_eq!(found["out"], "page.html");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.starts_with("<!") && page.contains("It was fitted before; here it is judged on"));
    assert!(page.contains("new"), "the page is of the new recording");
    for (arguments, words) in [
        (
            ["predict", "fit", "new.csv", "--out", "p.xlsx"].as_slice(),
            "expected a file NAME.csv",
        ),
        (
            &["evaluate", "fit", "new.csv", "--out", "p.XLSX"],
            "expected a file NAME.csv",
        ),
        (
            &["evaluate", "fit", "new.csv", "--horizon", "2", "--out", "p.html"],
            "without --horizon",
        ),
    ] {
        let text = folder.transcript(arguments);
        assert!(text.contains("exit code: 2") && text.contains(words), "{text}");
    }
    assert!(!folder.path().join("p.xlsx").exists() && !folder.path().join("p.html").exists());
}

#[test]
fn the_samples_of_an_evaluation_give_its_metrics() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    fit(&folder, &["a.csv"], "m", &[]);
    for more in [&["--part", "test"][..], &["--online"], &["--horizon", "2"]] {
        let report = folder.json(&[&["evaluate", "m", "a.csv", "--out", "s.csv", "--json"], more].concat());
        let text = std::fs::read_to_string(folder.path().join("s.csv")).expect("written");
        let mut lines = text.lines();
        // Rows of the file where k does not count from its beginning.
        let is_part = more.contains(&"--part");
        let header = if is_part {
            "k,y,y_hat,y_lower,y_upper,inside,row"
        } else {
            "k,y,y_hat,y_lower,y_upper,inside"
        };
        assert_eq!(lines.next(), Some(header));
        let inside: Vec<f64> = lines.filter_map(|line| line.split(',').nth(5)?.parse().ok()).collect();
        let share = inside.iter().sum::<f64>() / inside.len() as f64;
        assert_eq!(report["n"], inside.len());
        assert!(report["picp"].as_f64().is_some_and(|picp| (picp - share).abs() < 1e-12));
        assert_eq!(report["out"], "s.csv");
    }
    let (status, text) = code(&folder, &["evaluate", "m", "a.csv", "--out", "a.csv"]);
    assert!(status == 2 && text.contains("would replace a.csv"), "{text}");
}

/// A name that is no text is shown as well as it can be; the work was done.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_do_not_fail_json() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("plan.csv", "u\n1\n2\n3\n4\n");
    fit(&folder, &["a.csv"], "m", &[]);
    let odd = std::ffi::OsStr::from_bytes(b"m\xff");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg("m")
        .arg(odd)
        .current_dir(folder.path())
        .status();
    assert!(copied.is_ok_and(|status| status.success()));
    let plan = ["predict", "m", "plan.csv", "--start-from", "a.csv", "--json", "--out"];
    for (before, after) in [
        (&["compare"][..], &["--data", "a.csv", "--json"][..]),
        (&["explain", "m", "--json", "--out"], &[]),
        (&plan, &[]),
    ] {
        let name = if before[0] == "predict" {
            std::ffi::OsStr::from_bytes(b"out\xff")
        } else {
            odd
        };
        let output = folder.command(before).arg(name).args(after).output().expect("runs");
        assert!(
            output.status.success(),
            "{before:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
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
    assert_eq!(
        on_one["fits"][0]["metrics"]["n"], on_one["fits"][1]["metrics"]["n"],
        "the same samples"
    );
    let alone = folder.json(&["evaluate", "other", "copy.csv", "--json"]);
    let compared = folder.json(&["compare", "other", "--data", "copy.csv", "--json"]);
    assert_eq!(compared["fits"][0]["metrics"]["rmse"], alone["rmse"]);
    // A network that is led for 20 samples is judged from the 21st on, and so is whatever is beside it.
    let network = [
        "--model",
        "ilstm",
        "--initial",
        "warmup:20",
        "--epochs",
        "1",
        "--hidden",
        "2",
    ];
    folder.json(&[&["fit", "a.csv", "--out", "led", "--json"], &network[..]].concat());
    let led = folder.json(&["compare", "led", "other", "--data", "copy.csv", "--json"]);
    let samples = |place: usize| led["fits"][place]["metrics"]["n"].clone();
    assert_eq!((samples(0), samples(1)), (279.into(), 279.into()));
    // The page has all models over one another, on the same samples, and nothing that was trained.
    let arguments = [
        "compare",
        "one",
        "shorter",
        "--data",
        "copy.csv",
        "--out",
        "page.html",
        "--json",
    ];
    assert_eq!(folder.json(&arguments)["out"], "page.html");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("written");
    assert!(
        page.contains("intervalid compare one shorter --data copy.csv"),
        "the command"
    );
    assert!(
        page.contains(": all models") && !page.contains("not comparable"),
        "one chart of both"
    );
    assert_eq!(
        code(&folder, &["compare", "one", "--data", "copy.csv", "--out", "copy.csv"]).0,
        2
    );
    // Data are read as they are elsewhere.
    folder.write("late.csv", format!("a plant\n{}", csv(300, plain)));
    let late = folder.json(&["compare", "other", "--data", "late.csv", "--skip-rows", "1", "--json"]);
    assert_eq!(late["fits"][0]["metrics"]["rmse"], alone["rmse"]);
    let (status, text) = code(&folder, &["compare", "one", "other", "--skip-rows", "1"]);
    assert!(status == 2 && text.contains("--data"), "{text}");
}
