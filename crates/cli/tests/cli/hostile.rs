//! Sizes, names and files that somebody got wrong, or chose to do harm: one clear message, and nothing else happens.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, csv, plain};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Numbers that overflow, or ask for more memory than there is, name their option before any work.
#[test]
fn sizes_beyond_all_bounds_are_refused_at_once() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    let cases: [(&[&str], &str); 11] = [
        (
            &["--coverage", "0.9999999999999999"],
            "coverage = 0.9999999999999999 is not allowed: expected at most 0.999999",
        ),
        (
            &["--batch", "9223372036854775808"],
            "batch = 9223372036854775808 is not allowed: expected 1 to",
        ),
        (
            &["--epochs", "18446744073709551615"],
            "epochs = 18446744073709551615 is not allowed: expected 1 to",
        ),
        (
            &["--hidden", "18446744073709551615"],
            "hidden = 18446744073709551615 is not allowed: expected widths",
        ),
        (
            &["--hidden", "40,4000000000"],
            "hidden = 4000000000 is not allowed: expected widths of at most",
        ),
        (
            &["--hidden", "1000000,1000000"],
            "hidden = 1000000,1000000 is not allowed: expected less: this needs at least",
        ),
        (
            &["--model", "ilstm", "--hidden", "900000"],
            "hidden = 900000 is not allowed: expected less",
        ),
        (&["--lags", "18446744073709551615,0,1"], "lags"),
        (&["--lags", "1000000,1000000,1000000"], "lags"),
        (&["--model", "arx", "--lags", "0,0,18446744073709551615"], "lags"),
        (
            &["--initial", "warmup:18446744073709551615"],
            "initial = 18446744073709551615 is not allowed",
        ),
    ];
    for (options, expected) in cases {
        let output = folder.run(&[&["fit", "data.csv", "--out", "fit"][..], options].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {message}");
        assert!(message.contains(expected), "{options:?}: {message}");
        assert!(!folder.path().join("fit").exists(), "{options:?}");
    }
}

#[test]
fn a_run_that_cannot_fit_into_memory_leaves_the_others_of_a_study_alone() {
    let folder = Folder::new();
    folder.write(
        "study.toml",
        "name = 's'\ndatasets = ['hair-dryer']\nmodels = ['inode', 'arx']\nstrategies = ['joint']\nmargins = ['abs']\n\
         coverages = [0.9]\nseeds = [1]\n[settings]\nepochs = 1\nhidden = [1000000, 1000000]\n",
    );
    let output = folder.run(&["study", "run", "study.toml", "--out", "study"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("of memory"), "{}", stderr(&output));
    let status = folder.json(&["study", "status", "study", "--json"]);
    assert_eq!(
        (&status["runs"]["done"], &status["runs"]["failed"]),
        (&1.into(), &1.into()),
        "{status}"
    );
}

#[test]
fn names_cannot_drive_the_terminal() {
    let folder = Folder::new();
    let evil = "a\u{1b}[31mRED\u{7}\u{202e}";
    let record = csv(200, plain).replacen("u,y", &format!("{evil},y"), 1);
    folder.write("data.csv", record.as_bytes());
    let renamed = format!("{evil}.csv");
    folder.write(&renamed, record.as_bytes());
    let columns = ["--input", evil, "--output", "y"];
    let with = |words: &[&str]| folder.run(&[words, &columns].concat());
    let fit = ["fit", renamed.as_str(), "--model", "arx", "--verbose", "--out", "fit"];
    let outputs = [
        with(&fit),
        with(&["data", "show", renamed.as_str()]),
        with(&["predict", "fit", renamed.as_str(), "--out", "p.csv", "--verbose"]),
        folder.run(&["evaluate", "fit", "hair-dryer"]),
        folder.run(&["evaluate", evil, "hair-dryer"]),
        folder.run(&["compare", "fit", "fit"]),
        folder.run(&["compare", evil]),
        folder.run(&["report", evil]),
        folder.run(&["export", "fit", "--to", "c", "--out", "fit.c", "--verbose"]),
        folder.run(&["fit", "data.csv", "--config", evil]),
        folder.run(&["study", "run", evil, "--out", "s"]),
    ];
    for (index, output) in outputs.iter().enumerate() {
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(bytes);
            let raw = text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}');
            assert!(!raw, "output {index}: {text:?}");
        }
    }
    assert!(outputs[0].status.success(), "{}", stderr(&outputs[0]));
    let code = fs::read_to_string(folder.path().join("fit.h")).expect("exported");
    let code = code + &fs::read_to_string(folder.path().join("fit.c")).expect("exported");
    assert!(!code.contains(['\u{1b}', '\u{202e}']) && code.contains("U+202E"));
}

#[test]
fn names_that_are_no_text() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    let name = OsStr::from_bytes(b"fit-\xff");
    let run = |words: &[&OsStr]| {
        let mut command = folder.command(&[]);
        command.args(words).output().expect("runs")
    };
    let words = |text: &'static str| text.split(' ').map(OsStr::new).collect::<Vec<_>>();
    let output = run(&[&words("fit data.csv --model arx --json --out")[..], &[name]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(folder.path().join(Path::new(name)).join("metrics.json").is_file());
    let csv = OsStr::from_bytes(b"p-\xff.csv");
    let output = run(&[&words("predict")[..], &[name], &words("data.csv --json --out"), &[csv]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        folder.path().join(Path::new(csv)).is_file(),
        "written under the very name"
    );
    let page = OsStr::from_bytes(b"page-\xff.html");
    for command in ["report --json --out", "compare --json --out"] {
        let output = run(&[&words(command)[..], &[page, name]].concat());
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        fs::remove_file(folder.path().join(Path::new(page))).expect("written under the very name");
    }
    // Data are named by text; others are refused.
    let output = run(&[OsStr::new("fit"), csv]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn a_limit_on_samples_can_be_set_and_is_named_in_the_hint() {
    let folder = Folder::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures/plain.npz");
    folder.write("plain.npz", fs::read(fixture).expect("a fixture"));
    let show = |most: &str| folder.run(&["data", "show", "plain.npz", "--max-samples", most]);
    let output = show("17");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("18 values announced") && stderr(&output).contains("with --max-samples 18"));
    assert!(
        !stderr(&show("18")).contains("--max-samples"),
        "{}",
        stderr(&show("18"))
    );
}

/// A file that results belong to is replaced by nobody but the command that keeps them together.
#[test]
fn files_of_a_fit_or_a_study_are_not_replaced_by_others() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    folder.write("study/study.sqlite", "runs");
    assert!(
        folder
            .run(&["fit", "data.csv", "--model", "arx", "--out", "fit"])
            .status
            .success()
    );
    let model = fs::read(folder.path().join("fit/model.safetensors")).expect("a model");
    std::os::unix::fs::symlink("fit/config.toml", folder.path().join("link.html")).expect("a link");
    std::os::unix::fs::symlink("nowhere", folder.path().join("lost.csv")).expect("a link");
    let cases: [(&str, &str); 10] = [
        ("report fit --out fit/model.safetensors", "one of the files of a fit"),
        ("report fit --out link.html", "one of the files of a fit"),
        ("report fit --out fit/manifest.json", "the list of the files of a fit"),
        ("report fit --out study/study.sqlite", "the database of a study"),
        (
            "compare fit fit --out fit/model.safetensors",
            "one of the files of a fit",
        ),
        (
            "evaluate fit data.csv --out fit/config.toml",
            "one of the files of a fit",
        ),
        (
            "recalibrate fit data.csv --out fit/config.toml",
            "one of the files of a fit",
        ),
        ("predict fit data.csv --out lost.csv", "this link leads nowhere"),
        (
            "predict fit data.csv --online --state s --out ./s",
            "--out and --state both name s",
        ),
        (
            "monitor fit data.csv --state s --out s",
            "--out and --state both name s",
        ),
    ];
    for (command, expected) in cases {
        let words: Vec<&str> = command.split(' ').collect();
        let output = folder.run(&words);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{command}: {}", stderr(&output));
    }
    assert_eq!(
        fs::read(folder.path().join("fit/model.safetensors")).expect("a model"),
        model
    );
    assert_eq!(
        fs::read(folder.path().join("study/study.sqlite")).expect("a study"),
        b"runs"
    );
    assert!(!folder.path().join("s").exists() && !folder.path().join("nowhere").exists());
    // Its own page may be written anew, and any other name in the folder is free.
    for page in ["fit/report.html", "fit/mine.html"] {
        assert!(folder.run(&["report", "fit", "--out", page]).status.success(), "{page}");
    }
    assert!(folder.run(&["evaluate", "fit", "data.csv"]).status.success());
}

/// Millimetres for a model of metres would be wrong by a thousand, and look right.
#[test]
fn data_in_other_units_are_refused() {
    let folder = Folder::new();
    let with_units = |units: &str| csv(200, plain).replacen("u,y", units, 1);
    folder.write("metres.csv", with_units("u [V],y [m]"));
    folder.write("millimetres.csv", with_units("u [V],y [mm]"));
    folder.write("unknown.csv", with_units("u,y"));
    assert!(
        folder
            .run(&["fit", "metres.csv", "--model", "arx", "--out", "fit"])
            .status
            .success()
    );
    for command in ["predict fit", "evaluate fit", "monitor fit", "compare fit fit --data"] {
        let run = |rest: &str| {
            let line = format!("{command} {rest}");
            folder.run(&line.split(' ').collect::<Vec<_>>())
        };
        let refused = run("millimetres.csv");
        let told = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{command}: {told}");
        assert!(
            told.contains("the model takes 'y' in m, the data have it in mm: convert it"),
            "{command}: {told}"
        );
        assert!(told.contains("--unit 'y=m'"), "{command}: {told}");
        for accepted in ["metres.csv", "unknown.csv", "millimetres.csv --unit y=m"] {
            let output = run(accepted);
            assert!(output.status.success(), "{command} {accepted}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_plant_that_is_driven_harder_than_in_the_fit_is_told() {
    let folder = Folder::new();
    folder.write("data.csv", csv(300, plain));
    let thrice = |_: usize, _: char, value: f64| format!("{:.4}", 3.0 * value);
    folder.write("harder.csv", csv(300, thrice));
    let output = folder.run(&["fit", "data.csv", "--model", "arx", "--out", "fit"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for command in ["predict", "evaluate"] {
        let told = |data: &str| {
            let output = folder.run(&[command, "fit", data]);
            assert!(output.status.success(), "{command}: {}", stderr(&output));
            stderr(&output)
        };
        let harder = told("harder.csv");
        assert!(
            harder.contains("lie outside the region of the training data"),
            "{command}: {harder}"
        );
        let same = told("data.csv");
        assert!(!same.contains("outside the region"), "{command}: {same}");
    }
}

#[test]
fn a_test_with_the_training_data_is_refused() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    folder.write("copy.csv", csv(200, plain));
    let output = folder.run(&[
        "fit", "data.csv", "--test", "copy.csv", "--model", "arx", "--out", "fit",
    ]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let expected = "'copy', which is to judge the model, holds the same samples as 'data'";
    assert!(told.contains(expected), "{told}");
    assert!(!folder.path().join("fit").exists());
    // The same for the new recordings of an update.
    let fit = folder.run(&["fit", "data.csv", "--model", "arx", "--out", "fit"]);
    assert!(fit.status.success(), "{}", stderr(&fit));
    let output = folder.run(&["update", "fit", "copy.csv", "--with", "data.csv", "--out", "updated"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    assert!(!folder.path().join("updated").exists());
}

/// What a command that may wait for ever says, if it ends within a minute.
fn at_once(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = folder.command(arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().expect("killed");
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("ended")
}

/// A pipe keeps its reader waiting, a device has no end: neither is one of the files of a fit.
#[test]
fn pipes_and_devices_in_a_folder_from_somebody_else_are_refused() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    let fit = ["fit", "data.csv", "--model", "arx", "--out", "fit", "--quiet"];
    assert!(folder.run(&fit).status.success());
    let place = |name: &str| folder.path().join("fit").join(name);
    let pipe = |name: &str| {
        fs::remove_file(place(name)).expect("there");
        let made = Command::new("mkfifo").arg(place(name)).status();
        assert!(made.expect("mkfifo runs").success());
    };
    let predict = ["predict", "fit", "data.csv", "--out", "p.csv", "--quiet"];
    let refused = |arguments: &[&str], words: &str| {
        let output = at_once(&folder, arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(words), "{words}: {told}");
    };
    // A file that the list knows: of no length, as a pipe is, and of the hash of nothing.
    let list = fs::read_to_string(place("manifest.json")).expect("written");
    let mut value: serde_json::Value = serde_json::from_str(&list).expect("a list");
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    value["files"]["metrics.json"] = serde_json::json!({"bytes": 0, "sha256": nothing});
    fs::write(place("manifest.json"), value.to_string()).expect("written");
    let metrics = fs::read(place("metrics.json")).expect("written");
    pipe("metrics.json");
    refused(&predict, "'metrics.json' is not the file");
    // Without a list, `fit` asks the numbers whose folder this is.
    fs::remove_file(place("manifest.json")).expect("there");
    refused(&fit, "was not written by a fit");
    fs::remove_file(place("metrics.json")).expect("there");
    fs::write(place("metrics.json"), metrics).expect("written");
    fs::write(place("manifest.json"), &list).expect("written");
    pipe("manifest.json");
    refused(&predict, "it is a pipe or a device");
    fs::remove_file(place("manifest.json")).expect("there");
    fs::write(place("manifest.json"), &list).expect("written");
    // The plan of a switch.
    fs::create_dir(place(".intervalid-folder-switch")).expect("made");
    let plan = place(".intervalid-folder-switch/.plan.json");
    std::os::unix::fs::symlink("/dev/zero", &plan).expect("a link");
    refused(&predict, "it is a link");
    fs::remove_dir_all(place(".intervalid-folder-switch")).expect("there");
    // A model and a recording that the user reaches through links are read as ever.
    fs::rename(place("model.safetensors"), folder.path().join("elsewhere")).expect("moved");
    std::os::unix::fs::symlink("../elsewhere", place("model.safetensors")).expect("a link");
    std::os::unix::fs::symlink("data.csv", folder.path().join("link.csv")).expect("a link");
    let output = folder.run(&["predict", "fit", "link.csv", "--out", "p.csv", "--quiet"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn recordings_that_are_found_by_name_are_not_replaced() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let measured = csv(300, |row, column, value| plain(row, column, value + 0.01));
    folder.write("plants/pump.csv", &measured);
    let fit = [
        "fit", "a.csv", "--model", "arx", "--lags", "1,0,1", "--out", "fit", "--quiet",
    ];
    assert!(folder.run(&fit).status.success());
    let target = "plants/pump.csv";
    let commands: [&[&str]; 6] = [
        &["predict", "fit", "pump", "--out", target],
        &["evaluate", "fit", "pump", "--out", target],
        &["monitor", "fit", "pump", "--out", target],
        &["recalibrate", "fit", "pump", "--out", target],
        &["analyse", "fit", "--data", "pump", "--excite", target],
        &["compare", "fit", "fit", "--data", "pump", "--out", target],
    ];
    for command in commands {
        for (variable, more) in [(Some("plants"), &[][..]), (None, &["--data-dir", "plants"][..])] {
            let mut run = folder.command(&[command, more].concat());
            run.envs(variable.map(|name| ("INTERVALID_DATA", name)));
            let output = run.output().expect("the program runs");
            let error = stderr(&output);
            assert!(
                output.status.code() == Some(2) && error.contains("which is being read"),
                "{command:?}: {error}"
            );
            let now = fs::read_to_string(folder.path().join(target)).expect("there");
            assert_eq!(now, measured, "{command:?}");
        }
    }
}

#[test]
fn tables_of_somebody_else_are_not_replaced() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let fit = [
        "fit", "a.csv", "--model", "arx", "--lags", "1,0,1", "--out", "fit", "--quiet",
    ];
    assert!(folder.run(&fit).status.success());
    folder.write("mine/coefficients.csv", "valve,share\n1,2\n");
    let explain = |out: &str| folder.run(&["explain", "fit", "--out", out]);
    let refused = explain("mine");
    assert!(
        refused.status.code() == Some(2) && stderr(&refused).contains("'coefficients.csv' in it is another table"),
        "{}",
        stderr(&refused)
    );
    // Our own is written anew.
    assert!(explain("ours").status.success() && explain("ours").status.success());
}
