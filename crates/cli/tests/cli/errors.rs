//! What a user sees after a mistake: one message, exit code 2, nothing on standard output.

use insta::assert_snapshot;

use crate::support::{Folder, csv, plain};

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let text = folder.transcript(arguments);
    assert!(
        text.contains("\nexit code: 2\n") && !text.contains("--- stdout"),
        "{text}"
    );
    text
}

#[test]
fn files_that_are_none() {
    let folder = Folder::new();
    folder.write("folder/inner.csv", csv(30, plain));
    folder.write("binary.csv", [0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00, 0x0a]);
    folder.write("empty.csv", "");
    folder.write("page.html", "<html>");
    let files = ["absent.csv", "folder", "binary.csv", "empty.csv", "page.html"];
    assert_snapshot!(files.map(|file| refused(&folder, &["data", "show", file])).join("\n"));
}

#[test]
fn names() {
    let folder = Folder::new();
    let cases: [&[&str]; 5] = [
        &["data", "show", "hair-drier"],
        &["data", "show", "something"],
        &["data", "show", "mr-damper"],
        &["data", "show", "mr-damper", "--data-dir", "nowhere"],
        &["data", "list", "--data-dir", "nowhere"],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn columns() {
    let folder = Folder::new();
    folder.write("tank.csv", csv(30, plain).replacen("u,y", "valve,level", 1));
    let cases: [&[&str]; 4] = [
        &["data", "show", "tank.csv"],
        &["data", "show", "tank.csv", "--input", "valv", "--output", "level"],
        &["data", "show", "tank.csv", "--input", "valve", "--output", "valve"],
        &[
            "data",
            "show",
            "tank.csv",
            "--input",
            "valve",
            "--output",
            "level",
            "--experiment",
            "run",
        ],
    ];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn cells() {
    let folder = Folder::new();
    let comma = |row, column, value| plain(row, column, value).replace('.', ",");
    let semicolons = csv(30, plain).replace(',', ";");
    folder.write("semicolon.csv", semicolons);
    folder.write(
        "decimal.csv",
        csv(30, |row, column, value| format!("\"{}\"", comma(row, column, value))),
    );
    folder.write("unquoted.csv", csv(30, comma));
    folder.write("german.csv", csv(30, plain).replace(',', ";").replace('.', ","));
    let missing = |row, column, value| {
        if row == 57 && column == 'y' {
            "NaN".to_owned()
        } else {
            plain(row, column, value)
        }
    };
    folder.write("missing.csv", csv(100, missing));
    folder.write("headless.csv", csv(30, plain).replacen("u,y\n", "", 1));
    let files = [
        "semicolon.csv",
        "decimal.csv",
        "unquoted.csv",
        "german.csv",
        "missing.csv",
        "headless.csv",
    ];
    let mut messages = files.map(|file| refused(&folder, &["data", "show", file])).to_vec();
    messages.push(refused(&folder, &["data", "show", "german.csv", "--delimiter", ";"]));
    assert_snapshot!(messages.join("\n"));
    // Both hints lead to a record.
    for options in [&["--delimiter", ";", "--decimal", ","][..], &["--decimal", ","]] {
        let arguments = [&["data", "show", "german.csv", "--json"], options].concat();
        assert_eq!(folder.json(&arguments)["samples"], 30);
    }
    let quoted = [
        "data",
        "show",
        "decimal.csv",
        "--json",
        "--delimiter",
        ",",
        "--decimal",
        ",",
    ];
    assert_eq!(folder.json(&quoted)["samples"], 30);
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("file", "");
    let cases: [&[&str]; 2] = [&["demo", "--out", "file"], &["demo", "--out", "file/inside"]];
    assert_snapshot!(cases.map(|arguments| refused(&folder, arguments)).join("\n"));
}

#[test]
fn json_keeps_standard_output_clean_on_failure() {
    let folder = Folder::new();
    refused(&folder, &["data", "show", "absent.csv", "--json"]);
    refused(&folder, &["data", "show", "hair-dryer", "--split", "1", "--json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_printed_are_a_failed_run() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let folder = Folder::new();
    let output = folder
        .command(&["data", "list"])
        .stdout(full)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr));
}
