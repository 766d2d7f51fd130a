//! A small study end to end, as a user runs it.

use crate::support::Folder;

pub(crate) const SPEC: &str = r#"
name = "small"
datasets = ["hair-dryer", "mr-damper"]
models = ["inode", "ensemble-node", "arx"]
strategies = ["cascade", "joint"]
margins = ["abs"]
coverages = [0.9, 0.95]
seeds = [1, 2]

[settings]
epochs = 2
hidden = [6, 5]
members = 2
"#;

#[test]
fn a_study_runs_resumes_and_is_looked_at() {
    let folder = Folder::new();
    folder.write("small.toml", SPEC);
    let run = ["study", "run", "small.toml", "--out", "small", "--jobs", "2"];
    let text = folder.transcript(&run);
    assert!(
        text.contains("exit code: 0") && text.contains("data set 'mr-damper' is missing"),
        "{text}"
    );
    let output = folder.run(&[&run[..], &["--json"]].concat());
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&again["done"], &again["resumed"]), (&0.into(), &16.into()));

    let status = folder.json(&["study", "status", "small", "--json"]);
    assert_eq!(status["runs"]["done"], 16);
    let tables = [("md", "| "), ("csv", ","), ("latex", "\\toprule"), ("json", "{")];
    for (format, mark) in tables {
        let text = folder.transcript(&["study", "table", "small", "--format", format]);
        assert!(text.contains("exit code: 0") && text.contains(mark), "{format}: {text}");
    }
    let figures = folder.json(&["study", "figures", "small", "--json"]);
    let names: Vec<&str> = figures["figures"]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(|name| name.as_str())
        .collect();
    for expected in [
        "boxes-hair-dryer-0.90",
        "snapshot-hair-dryer-0.95-joint",
        "snapshot-hair-dryer-0.90-baselines",
    ] {
        assert!(names.contains(&expected), "{expected} in {names:?}");
    }
    for name in names {
        for ending in ["svg", "png"] {
            let file = folder.path().join("small/figures").join(format!("{name}.{ending}"));
            assert!(file.is_file(), "{}", file.display());
        }
    }
}

#[test]
fn built_in_studies_can_be_printed() {
    let folder = Folder::new();
    for name in ["paper", "paper-quick"] {
        let text = folder.transcript(&["study", "run", name, "--print"]);
        assert!(text.contains("exit code: 0") && text.contains("datasets"), "{text}");
    }
}
