//! Help texts, and usage errors that end with exit code 2.

use insta::assert_snapshot;

use crate::support::Folder;

#[test]
fn top_level() {
    assert_snapshot!(Folder::new().transcript(&["--help"]));
}

#[test]
fn data() {
    assert_snapshot!(Folder::new().transcript(&["data", "--help"]));
}

#[test]
fn data_list() {
    assert_snapshot!(Folder::new().transcript(&["data", "list", "--help"]));
}

#[test]
fn data_show() {
    assert_snapshot!(Folder::new().transcript(&["data", "show", "--help"]));
}

#[test]
fn verbs_of_models() {
    for verb in [
        "fit",
        "predict",
        "evaluate",
        "explain",
        "compare",
        "report",
        "monitor",
        "recalibrate",
        "card",
        "update",
        "studio",
    ] {
        let text = Folder::new().transcript(&[verb, "--help"]);
        assert!(text.contains("Examples:"), "{verb} shows examples");
        insta::with_settings!({ snapshot_suffix => verb }, { assert_snapshot!("verb", text) });
    }
}

#[test]
fn verbs_of_studies() {
    for verb in ["run", "merge", "status", "table", "figures"] {
        let text = Folder::new().transcript(&["study", verb, "--help"]);
        insta::with_settings!({ snapshot_suffix => verb }, { assert_snapshot!("study", text) });
    }
}

#[test]
fn demo() {
    assert_snapshot!(Folder::new().transcript(&["demo", "--help"]));
}

#[test]
fn usage_errors() {
    let folder = Folder::new();
    let cases: [&[&str]; 9] = [
        &["data", "shw"],
        &["data", "show"],
        &["data", "show", "hair-dryer", "--split", "0.4,0.6"],
        &["data", "show", "hair-dryer", "--split", "0.4,0.1,0.4"],
        &["data", "show", "hair-dryer", "--split", "-0.4,0.9,0.5"],
        &["data", "show", "hair-dryer", "--delimiter", ";;"],
        &["data", "show", "hair-dryer", "--missing", "drop"],
        &["data", "show", "hair-dryer", "--sample-time", "-1"],
        &["demo", "--quiet", "--verbose"],
    ];
    assert_snapshot!(cases.map(|arguments| folder.transcript(arguments)).join("\n"));
}

#[test]
fn no_command_is_a_usage_error() {
    let output = Folder::new().run(&[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}
