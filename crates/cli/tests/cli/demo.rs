//! `demo`. Training differs in low bits between machines and three epochs teach little: tests look at the structure and
//! at loose ranges, and the numbers of networks are masked in what is compared word by word.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::Folder;

/// Enough to go through every stage.
const SHORT: [&str; 3] = ["demo", "--epochs", "3"];

/// Every line about a network with its digits masked; lines of ARX stay as they are.
fn masked(transcript: &str) -> String {
    let mut text = String::new();
    for line in transcript.lines() {
        let network = line.contains("INODE") || line.contains("ILSTM");
        let numbers = [" %", "RMSE", "Written"].iter().any(|word| line.contains(word));
        if network && numbers {
            // Words in front of the first number; what follows depends on it.
            let words: String = line
                .chars()
                .take_while(|character| !character.is_ascii_digit())
                .collect();
            let name = ["cascade INODE", "joint ILSTM"]
                .into_iter()
                .find(|name| words.contains(name));
            text += &match name {
                Some(name) if line.starts_with("Written") => line.replace(name, "[network]"),
                _ => format!("{} [numbers]", words.trim_end()),
            };
        } else if line.starts_with(" model") || line.starts_with(" ARX") {
            // Widths of the table's columns follow the numbers of the networks.
            text += &line.split_whitespace().collect::<Vec<_>>().join(" ");
        } else {
            text += line;
        }
        text += "\n";
    }
    text
}

fn rows(path: &Path) -> (String, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(path).expect("written");
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_owned();
    (
        header,
        lines.map(|line| line.split(',').map(str::to_owned).collect()).collect(),
    )
}

#[test]
fn the_story() {
    let folder = Folder::new();
    assert_snapshot!(masked(&folder.transcript(&SHORT)));
    let out = folder.path().join("intervalid-demo");
    let (header, predictions) = rows(&out.join("predictions.csv"));
    assert_eq!(header, "k,y,y_hat,y_lower,y_upper");
    // The first of 500 test samples is known and not predicted.
    assert_eq!((predictions.len(), predictions[0][0].as_str()), (499, "2"));
    for row in &predictions {
        let cells: Vec<f64> = row.iter().map(|cell| cell.parse().expect("a number")).collect();
        let &[_, _, y_hat, lower, upper] = cells.as_slice() else {
            panic!("five cells: {row:?}");
        };
        assert!(lower <= y_hat && y_hat <= upper, "{row:?}");
    }
    let (header, history) = rows(&out.join("history.csv"));
    assert!(header.starts_with("stage,epoch,train_mse,train_rqrw,"), "{header}");
    // Three epochs of a joint fit, or three of each stage of a cascade.
    assert!(history.len() == 3 || history.len() == 6, "{history:?}");
    assert!(history.iter().all(|row| row.len() == 9), "{history:?}");
    // No temporary file is left behind.
    let files = std::fs::read_dir(&out)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert_eq!(
        files,
        [
            "history.csv",
            "manifest.json",
            "metrics.json",
            "model.safetensors",
            "predictions.csv",
            "report.html",
            "report.json"
        ]
    );
}

#[test]
fn quiet_prints_the_table_only() {
    let text = Folder::new().transcript(&[&SHORT[..], &["--quiet"]].concat());
    assert_snapshot!(masked(&text));
}

#[test]
fn json_and_an_own_folder() {
    let folder = Folder::new();
    let report = folder.json(&[&SHORT[..], &["--json", "--out", "a/b"]].concat());
    assert_eq!(
        (&report["dataset"], &report["coverage"], &report["out"]),
        (&"hair-dryer".into(), &0.9.into(), &"a/b".into())
    );
    let models = report["models"].as_array().expect("a list");
    let kinds: Vec<&str> = models.iter().filter_map(|model| model["model"].as_str()).collect();
    assert_eq!(kinds, ["arx", "arx", "inode", "ilstm"]);
    for model in models {
        for (part, n) in [("test", 499), ("validation", 99)] {
            let metrics = &model[part];
            assert_eq!(metrics["n"], n);
            for share in ["picp", "worst_rolling_picp"] {
                let share = metrics[share].as_f64().expect("a number");
                assert!((0.0..=1.0).contains(&share), "{model}");
            }
            for positive in ["rmse", "pinaw", "cwc", "interval_score"] {
                assert!(metrics[positive].as_f64() > Some(0.0), "{positive} {model}");
            }
        }
        // A model that is worse than the mean of the targets has learnt nothing.
        if model["model"] == "arx" {
            assert!(model["test"]["fit_percent"].as_f64() > Some(80.0), "{model}");
            assert!(model["strategy"].is_null(), "{model}");
        } else {
            assert!(model["train_seconds"].as_f64() > Some(0.0), "{model}");
            assert!(model["epochs_run"].as_u64() >= Some(3), "{model}");
        }
    }
    assert!(models.iter().any(|model| model["name"] == report["chosen"]), "{report}");
    let saved = std::fs::read_to_string(folder.path().join("a/b/metrics.json")).expect("written");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&saved).expect("JSON"), report);
}

#[test]
fn the_same_command_gives_the_same_files() {
    let folder = Folder::new();
    for out in ["a", "b"] {
        assert!(
            folder
                .run(&[&SHORT[..], &["--quiet", "--out", out]].concat())
                .status
                .success()
        );
    }
    for file in ["predictions.csv", "history.csv", "model.safetensors"] {
        let [a, b] = ["a", "b"].map(|out| std::fs::read(folder.path().join(out).join(file)).expect("written"));
        assert!(a == b, "{file}");
    }
}

#[test]
fn no_epochs_is_a_usage_error() {
    let output = Folder::new().run(&["demo", "--epochs", "0"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}
