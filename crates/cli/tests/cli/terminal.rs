//! What differs on a terminal: colours, progress, wrapped words. `script` gives the program a terminal of its own.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::support::{Folder, csv, plain};

/// What a terminal of `columns` would have shown, escape sequences included.
fn on_terminal(folder: &Folder, columns: u32, arguments: &str, environment: &[(&str, &str)]) -> String {
    let program = env!("CARGO_BIN_EXE_intervalid");
    let line = format!("stty cols {columns} rows 50; '{program}' {arguments}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path());
    for variable in ["INTERVALID_DATA", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(environment.iter().copied());
    let output = command.output().expect("script runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_whose_user_wants_them() {
    let folder = Folder::new();
    for arguments in ["fit absent.csv", "data show hair-dryer", "fit --help"] {
        let coloured = on_terminal(&folder, 100, arguments, &[]);
        assert!(coloured.contains(ESCAPE), "{arguments}: {coloured}");
        let plain = on_terminal(&folder, 100, arguments, &[("NO_COLOR", "1")]);
        assert!(!plain.contains(ESCAPE) && plain.len() > 20, "{arguments}: {plain}");
        let words: Vec<&str> = arguments.split(' ').collect();
        let piped = folder.transcript(&words);
        assert!(!piped.contains(ESCAPE), "{arguments}: {piped}");
    }
}

#[test]
fn progress_shows_the_time_left_unless_it_is_quiet() {
    let folder = Folder::new();
    let fit = "fit hair-dryer --hidden 8 --epochs 40 --out fit";
    let shown = on_terminal(&folder, 100, fit, &[]);
    assert!(shown.contains("epoch ") && shown.contains(" left"), "{shown}");
    let quiet = on_terminal(&folder, 100, &format!("{fit} --quiet"), &[]);
    assert!(!quiet.contains("epoch ") && !quiet.contains(" left"), "{quiet}");
    // Nothing of it is in what a script reads.
    let words: Vec<&str> = fit.split(' ').collect();
    let output = folder.run(&words);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn narrow_terminals_wrap_words_and_never_numbers() {
    let folder = Folder::new();
    let fitted = folder.run(&["fit", "hair-dryer", "--model", "arx", "--quiet", "--out", "arx"]);
    assert!(fitted.status.success());
    let piped = String::from_utf8(folder.run(&["compare", "arx"]).stdout).expect("text");
    let row = piped.lines().nth(1).expect("a row").trim_end();
    assert!(on_terminal(&folder, 60, "compare arx", &[]).contains(row), "{row}");
    let list = on_terminal(&folder, 90, "data list", &[]);
    let widest = list.lines().take(6).map(|line| line.trim_end().chars().count()).max();
    assert!(widest <= Some(90), "{list}");
    // So narrow that a letter per line would be left.
    let list = on_terminal(&folder, 40, "data list", &[]);
    assert!(list.contains("temperature"), "{list}");
}

#[test]
fn levels_of_detail() {
    let folder = Folder::new();
    let verbose = folder.run(&["fit", "hair-dryer", "--model", "arx", "--out", "arx", "--verbose"]);
    assert!(String::from_utf8_lossy(&verbose.stderr).contains("400 samples to train"));
    for arguments in [
        &["evaluate", "arx", "hair-dryer"][..],
        &["predict", "arx", "hair-dryer"],
        &["compare", "arx"],
        &["data", "show", "hair-dryer"],
    ] {
        let [plain, verbose, quiet] =
            ["--data-dir=", "--verbose", "--quiet"].map(|level| folder.run(&[arguments, &[level]].concat()));
        assert!(plain.stderr.is_empty() && quiet.stderr.is_empty(), "{arguments:?}");
        assert!(!verbose.stderr.is_empty(), "{arguments:?}");
        assert_eq!(plain.stdout, verbose.stdout, "{arguments:?}: details are no results");
        assert!(
            !quiet.stdout.is_empty() && quiet.stdout.len() <= plain.stdout.len(),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_could_be_a_file_is_shown_escaped_and_piped_as_it_is() {
    let folder = Folder::new();
    let record = csv(120, plain).replacen("u,y", "u,y\u{1b}[31mRED", 1);
    folder.write("a.csv", record);
    let columns = ["--input", "u", "--output", "y\u{1b}[31mRED"];
    let fit = [
        "fit",
        "a.csv",
        "--model",
        "arx",
        "--lags",
        "1,0,1",
        "--coverage",
        "0.9",
        "--quiet",
        "--out",
        "m",
    ];
    assert!(folder.run(&[&fit[..], &columns].concat()).status.success());
    for arguments in ["predict m a.csv", "linearise m", "analyse m"] {
        // A spinner on slow machines has escape sequences of its own.
        let shown = on_terminal(&folder, 200, &format!("{arguments} --quiet"), &[("NO_COLOR", "1")]);
        assert!(!shown.contains(ESCAPE) && shown.len() > 100, "{arguments}: {shown:?}");
    }
    // What was typed wrongly, too, or named so that a shell typed it.
    let evil = "\"--$(printf '\\033]0;x\\007')\"";
    for arguments in [
        format!("evaluate m {evil}"),
        format!("fit a.csv --batch {evil}"),
        evil.to_owned(),
    ] {
        let shown = on_terminal(&folder, 200, &arguments, &[("NO_COLOR", "1")]);
        assert!(
            !shown.contains(ESCAPE) && shown.contains("u{1b}]0;x"),
            "{arguments}: {shown:?}"
        );
    }
    // Two outputs, so that the name stands in the columns.
    let twice = std::fs::read_to_string(folder.path().join("a.csv")).expect("there");
    let twice: Vec<String> = twice
        .lines()
        .map(|line| match line.split_once(',') {
            Some((u, y)) => format!("{u},{y},{}", y.replace("RED", "BLUE")),
            None => line.to_owned(),
        })
        .collect();
    folder.write("b.csv", twice.join("\n") + "\n");
    let columns = ["--input", "u", "--output", "y\u{1b}[31mRED,y\u{1b}[31mBLUE"];
    let fit = [
        "fit", "b.csv", "--model", "arx", "--lags", "1,0,1", "--quiet", "--out", "n",
    ];
    assert!(folder.run(&[&fit[..], &columns].concat()).status.success());
    let piped = folder.run(&["predict", "n", "b.csv"]).stdout;
    assert!(
        folder
            .run(&["predict", "n", "b.csv", "--out", "p.csv"])
            .status
            .success()
    );
    let written = std::fs::read(folder.path().join("p.csv")).expect("written");
    assert_eq!(piped, written);
    assert!(written.contains(&0x1b), "names are kept in files");
    let shown = on_terminal(&folder, 200, "predict n b.csv --quiet", &[("NO_COLOR", "1")]);
    assert!(!shown.contains(ESCAPE) && shown.contains("u{1b}"), "{shown:?}");
}
