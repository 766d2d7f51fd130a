//! `demo`.

use insta::assert_snapshot;

use crate::support::Folder;

#[test]
fn the_story() {
    let folder = Folder::new();
    assert_snapshot!(folder.transcript(&["demo"]));
    let text = std::fs::read_to_string(folder.path().join("intervalid-demo/predictions.csv")).expect("written");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("k,y,y_hat,y_lower,y_upper"));
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    // The first of 500 test samples is known and not predicted.
    assert_eq!(rows.len(), 499);
    for row in &rows {
        let &[_, _, y_hat, lower, upper] = row.as_slice() else {
            panic!("five cells: {row:?}");
        };
        assert!(lower <= y_hat && y_hat <= upper, "{row:?}");
    }
    // No temporary file is left behind.
    let files = std::fs::read_dir(folder.path().join("intervalid-demo")).expect("a folder");
    assert_eq!(files.count(), 1);
}

#[test]
fn quiet_prints_the_table_only() {
    assert_snapshot!(Folder::new().transcript(&["demo", "--quiet"]));
}

#[test]
fn json_and_an_own_folder() {
    let folder = Folder::new();
    let report = folder.json(&["demo", "--json", "--out", "a/b"]);
    assert_eq!(report["dataset"], "hair-dryer");
    for model in report["models"].as_array().expect("a list") {
        let test = &model["test"];
        assert_eq!(test["n"], 499);
        let picp = test["picp"].as_f64().expect("a number");
        assert!((0.5..=1.0).contains(&picp), "{model}");
    }
    assert!(folder.path().join("a/b/predictions.csv").is_file());
}
