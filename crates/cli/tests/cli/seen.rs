//! What a model has seen is not what judges it, and parts are those of its fit.

use std::fs;

use crate::life::{fitted, later};
use crate::support::{Folder, csv, plain, record};

const FIT: [&str; 4] = ["--model", "arx", "--lags", "1,0,2"];

/// Exit code, and both streams.
fn code(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().expect("an exit code"), text.concat())
}

/// Three runs of the plant, each with noise of its own, told apart by a column.
fn three_runs() -> String {
    let rows = record(600).into_iter().enumerate();
    let rows = rows.map(|(k, (u, y))| {
        let run = k / 200;
        let noise = 0.2 * run as f64 * (((k * 7919) % 101) as f64 / 101.0 - 0.5);
        format!("r{run},{u:.4},{:.4}\n", y + noise)
    });
    format!("run,u,y\n{}", rows.collect::<String>())
}

#[test]
fn a_part_is_that_of_each_experiment_of_the_fit() {
    let folder = Folder::new();
    folder.write("runs.csv", three_runs());
    folder.write("one.csv", csv(300, plain));
    let fit = ["fit", "runs.csv", "--experiment", "run", "--out", "m", "--json"];
    let fit = folder.json(&[&fit[..], &FIT].concat());
    for part in ["test", "validation"] {
        let found = folder.json(&["evaluate", "m", "runs.csv", "--part", part, "--json"]);
        for measure in ["n", "rmse", "picp"] {
            assert_eq!(found[measure], fit[part][measure], "{part} {measure}");
        }
    }
    // Shares of one recording would be other parts, and so would those of another column.
    let (status, text) = code(&folder, &["evaluate", "m", "one.csv", "--part", "test"]);
    assert!(
        status == 2 && text.contains("'run'") && text.contains("--part all"),
        "{text}"
    );
    folder.json(&["evaluate", "m", "one.csv", "--json"]);
}

#[test]
fn a_test_part_that_the_model_was_fitted_to_is_told_of() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    let words = "the test part of 'a' has samples that the model was fitted to";
    for (split, is_told) in [("0.3,0.1,0.6", true), ("0.6,0.2,0.2", false)] {
        let (status, text) = code(&folder, &["evaluate", "m", "a.csv", "--part", "test", "--split", split]);
        assert_eq!((status, text.contains(words)), (0, is_told), "{split}: {text}");
    }
}

#[test]
fn a_split_that_nothing_is_divided_by_is_told_once() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    folder.write("b.csv", csv(200, |row, column, value| plain(row, column, value + 0.1)));
    folder.json(&[&["fit", "a.csv", "--out", "m", "--json"], &FIT[..]].concat());
    folder.json(&[&["fit", "a.csv", "--out", "n", "--json"], &FIT[..]].concat());
    let told = |command: &[&str]| {
        let (_, text) = code(&folder, &[command, &["--split", "0.5,0.1,0.4"]].concat());
        let count = text.matches("--split 0.5,0.1,0.4 does nothing here").count();
        assert_eq!(count, 1, "{command:?}: {text}");
        text
    };
    for command in [
        &["evaluate", "m", "b.csv"][..],
        &["predict", "m", "b.csv"],
        &["analyse", "m", "--data", "b.csv"],
    ] {
        assert!(told(command).contains("--part test"), "{command:?}");
    }
    for command in [
        &["compare", "m", "n", "--data", "b.csv"][..],
        &["monitor", "m", "b.csv"],
        &["recalibrate", "m", "b.csv", "--out", "r.safetensors"],
        &["predict", "m", "b.csv", "--start-from", "a.csv"],
    ] {
        assert!(!told(command).contains("--part test"), "{command:?}");
    }
    let update = ["update", "m", "b.csv", "--with", "a.csv", "--out", "u"];
    assert!(told(&update).contains("the last 30 % judge"));
}

#[test]
fn training_data_that_have_grown_are_recognised() {
    let folder = fitted();
    folder.write("grown.csv", csv(900, plain));
    folder.write("brief.csv", csv(300, plain));
    let fit = [
        "fit",
        "train.csv",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "no",
        "--test",
    ];
    for test in ["grown", "brief"] {
        let text = folder.transcript(&[&fit[..], &[&format!("{test}.csv")]].concat());
        let words = format!("'{test}', which is to judge the model, holds the same samples as 'train'");
        assert!(text.contains("exit code: 2") && text.contains(&words), "{text}");
    }
    for name in ["grown", "brief"] {
        let text = folder.transcript(&["recalibrate", "fit", &format!("{name}.csv"), "--out", "x.safetensors"]);
        let words = format!("'{name}' holds samples that the model was fitted to");
        assert!(text.contains("exit code: 2") && text.contains(&words), "{text}");
    }
    assert!(!folder.path().join("x.safetensors").exists() && !folder.path().join("no").exists());
    // Where samples are thinned out, the last ones were others before it grew.
    let thinned = [
        "fit",
        "train.csv",
        "--decimate",
        "2",
        "--model",
        "arx",
        "--lags",
        "1,1,1",
        "--out",
        "thinned",
    ];
    assert!(folder.run(&thinned).status.success());
    let text = folder.transcript(&["recalibrate", "thinned", "grown.csv", "--out", "x.safetensors"]);
    let words = "'grown' holds samples that the model was fitted to";
    assert!(text.contains("exit code: 2") && text.contains(words), "{text}");
}

#[test]
fn an_update_is_not_judged_by_what_the_old_model_has_learnt() {
    let folder = Folder::new();
    folder.write("long.csv", csv(800, plain));
    folder.write("grown.csv", csv(1600, plain));
    folder.write("new.csv", later(1600..2000, |_, y| y + 0.1));
    let fit = |name: &str, split: &str, more: &[&str]| {
        let start = [
            "fit", "long.csv", "--model", "arx", "--lags", "1,1,1", "--split", split, "--out", name,
        ];
        assert!(folder.run(&[&start[..], more].concat()).status.success());
    };
    fit("whole", "0.9,0.1,0", &[]);
    fit("part", "0.6,0.1,0.3", &["--refit-all"]);
    let update = |model: &str, data: &str| {
        let out = folder.path().join("updated");
        let text = folder.transcript(&["update", model, data, "--with", "new.csv", "--out", "updated"]);
        let _ = fs::remove_dir_all(out);
        text
    };
    for (model, data) in [("whole", "long"), ("part/model-all.safetensors", "long")] {
        let text = update(model, &format!("{data}.csv"));
        let words =
            format!("the end of '{data}', which is to judge both models, has samples that the old one was fitted to");
        assert!(text.contains("exit code: 2") && text.contains(&words), "{text}");
    }
    // Its last three tenths were the test of one model, and what came later is new to both.
    for (model, data) in [
        ("part", "long.csv"),
        ("whole", "grown.csv"),
        ("part/model-all.safetensors", "grown.csv"),
    ] {
        let text = update(model, data);
        assert!(!text.contains("exit code: 2"), "{text}");
    }
}
