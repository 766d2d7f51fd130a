//! Benchmarks end to end, on files of an official layout that hold another record.

use std::fs;

use crate::promised::BENCH_RESULT;
use crate::support::{Folder, csv, plain};

/// The parts of the cascaded tanks as text, in `files`.
pub(crate) fn tanks(folder: &Folder) {
    for part in ["train", "test"] {
        folder.write(&format!("files/cascaded_tanks_{part}.csv"), csv(1024, plain));
    }
}

const RUN: [&str; 10] = [
    "bench",
    "run",
    "cascaded-tanks",
    "--data-dir",
    "files",
    "--model",
    "arx",
    "--budget",
    "3s",
    "--json",
];

#[test]
fn a_run_is_kept_and_not_repeated_unless_asked() {
    let folder = Folder::new();
    tanks(&folder);
    let run = |more: &[&str]| folder.json(&[&RUN[..], more].concat());
    let first = run(&[]);
    assert_eq!((&first["done"], &first["skipped"]), (&1.into(), &0.into()));
    let score = &first["results"][0]["scores"][0];
    assert_eq!(score["n"], 974, "the first 50 of 1024 are not scored");
    // Noise of the record is 0.1 wide and passes through the plant: 0.1/√12/0.6.
    assert!(score["rmse"].as_f64().is_some_and(|rmse| rmse < 0.06), "{score}");
    let again = run(&[]);
    assert_eq!((&again["done"], &again["skipped"]), (&0.into(), &1.into()));
    assert_eq!(again["results"], first["results"]);
    assert_eq!(run(&["--again"])["done"], 1);
    assert_eq!(run(&["--seed", "1,2"])["done"], 1);
    assert_eq!(run(&["--coverage", "0.8"])["done"], 1);

    let files: Vec<_> = fs::read_dir(folder.path().join("intervalid-bench"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in &files {
        let value = serde_json::from_str(&fs::read_to_string(file).expect("text")).expect("JSON");
        assert_eq!(BENCH_RESULT.differences(&value), [""; 0]);
    }
    let table = folder.json(&["bench", "table", "--json"]);
    let ours = table["benchmarks"][0]["ours"].as_array().expect("rows");
    assert_eq!(ours.len(), 2, "two seeds are one row");
    for (format, mark) in [
        ("md", "| pNARX | 0.413 |"),
        ("csv", "cascaded-tanks,1,pNARX,champneys2024,"),
        ("json", "{"),
    ] {
        let text = folder.transcript(&["bench", "table", "--format", format]);
        assert!(text.contains("exit code: 0") && text.contains(mark), "{text}");
    }
}

#[test]
fn mistakes_are_one_message_before_any_work() {
    let folder = Folder::new();
    tanks(&folder);
    folder.write("fit.toml", "initial = 'warmup:50'\n");
    folder.write("files/emps_train.csv", csv(100, plain));
    let cases: [(&[&str], &str); 7] = [
        (&["bench", "run", "silverbocks"], "did you mean 'silverbox'?"),
        (
            &["bench", "run", "silverbox"],
            "nonlinearbenchmark.org/benchmarks/silverbox",
        ),
        (
            &["bench", "run", "cascaded-tanks", "silverbox", "--data-dir", "files"],
            "no SNLS80mV.mat or SNLS80mV.csv, nor silverbox_train.mat or silverbox_train.csv in files",
        ),
        (
            &[
                "bench",
                "run",
                "cascaded-tanks",
                "--data-dir",
                "files",
                "--config",
                "fit.toml",
            ],
            "first 50 measured outputs of a test, not from 51",
        ),
        (
            &[
                "bench",
                "run",
                "cascaded-tanks",
                "--data-dir",
                "files",
                "--epochs",
                "2",
                "--budget",
                "3s",
            ],
            "a time budget is for the preset auto",
        ),
        (&["bench", "table"], "holds no results of benchmarks"),
        (&["bench", "list", "--data-dir", "absent"], "absent"),
    ];
    for (arguments, expected) in cases {
        let text = folder.transcript(arguments);
        assert!(text.contains("exit code: 2") && text.contains(expected), "{text}");
        assert!(!text.contains("--- stdout"), "{text}");
    }
    assert!(!folder.path().join("intervalid-bench").exists(), "nothing was written");
    // A file of another length is not the official one.
    folder.write("files/emps_test.csv", csv(100, plain));
    let text = folder.transcript(&["bench", "run", "emps", "--data-dir", "files"]);
    assert!(
        text.contains("exit code: 2") && text.contains("100 samples, expected 24841"),
        "{text}"
    );
}

#[test]
fn an_outdated_protocol_is_said_to_be_one() {
    let folder = Folder::new();
    tanks(&folder);
    folder.json(&RUN);
    let out = folder.path().join("intervalid-bench");
    let path = fs::read_dir(out)
        .expect("the folder")
        .next()
        .expect("a file")
        .expect("an entry")
        .path();
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace("\"protocol\": 1", "\"protocol\": 0")).expect("written");
    let text = folder.transcript(&["bench", "table"]);
    assert!(
        text.contains("exit code: 0") && text.contains("run them again"),
        "{text}"
    );
    assert!(
        text.contains("Protocol 0 is not the one") && !text.contains("pNARX"),
        "{text}"
    );
    fs::write(&path, "{}").expect("written");
    let text = folder.transcript(&["bench", "table"]);
    assert!(
        text.contains("exit code: 2") && text.contains("bench-cascaded-tanks-arx-seed1"),
        "{text}"
    );
}
