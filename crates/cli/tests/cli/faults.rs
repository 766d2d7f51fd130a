//! A full disk or the end of the program at any file operation: every command leaves its old files or its new ones, and the same command
//! again makes up for it. `folders.rs` has the same for `fit`, `export`, `report` and `study`.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Folder, record};

/// Files by their place.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Whether files of one call may stand beside those of the one before, each of them whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    AllOrNone,
    EachOfThem,
}

/// Two fits, `a` and `b`, and later recordings of the plant.
fn prepared(model: &[&str]) -> Folder {
    let folder = Folder::new();
    let part = |samples: std::ops::Range<usize>| {
        let mut text = String::from("u,y\n");
        for (u, y) in record(samples.end).into_iter().skip(samples.start) {
            let _ = writeln!(text, "{u:.4},{y:.4}");
        }
        text
    };
    folder.write("train.csv", part(0..300));
    folder.write("one.csv", part(300..600));
    folder.write("two.csv", part(600..900));
    for (name, seed, lags) in [("a", "1", "1,1,1"), ("b", "2", "2,1,2")] {
        let fit = [
            "fit",
            "train.csv",
            "--quiet",
            "--out",
            name,
            "--seed",
            seed,
            "--lags",
            lags,
        ];
        let output = folder.run(&[&fit[..], model].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    folder
}

pub(crate) fn arx() -> Folder {
    prepared(&["--model", "arx"])
}

/// All files below a folder, without locks that nobody holds.
pub(crate) fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let content = fs::read(&path).expect("readable");
                found.insert(path.strip_prefix(folder).expect("below").to_owned(), content);
            }
        }
    }
    found
}

pub(crate) fn put(folder: &Path, files: &Files) {
    fs::remove_dir_all(folder).expect("there");
    fs::create_dir(folder).expect("made");
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }
}

/// Runs `first`, then `second`, which both write below `out`; then `second` over the files of `first` with a fault at every operation.
/// Returns how many operations there are.
fn walk(folder: &Folder, first: &[&str], second: &[&str], together: Together) -> usize {
    walk_every(1, folder, first, second, together)
}

/// The same with a fault at every so-manyth operation, for commands that write dozens of files alike.
fn walk_every(stride: usize, folder: &Folder, first: &[&str], second: &[&str], together: Together) -> usize {
    let out = folder.path().join("out");
    fs::create_dir_all(&out).expect("made");
    let done = |arguments: &[&str]| {
        let output = folder.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        // A monitor that has something to say ends with 3.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{arguments:?}: {error}");
        files(&out)
    };
    let old = done(first);
    let new = done(second);
    assert!(old != new && !new.is_empty(), "{second:?} writes the same");
    let mut operations = 0;
    for kind in ["error", "kill"] {
        for operation in (1..).step_by(stride) {
            put(&out, &old);
            let mut command = folder.command(second);
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let output = output.expect("runs");
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            if !error.contains("injected fault") {
                assert!(files(&out) == new, "{second:?}");
                operations = operation - 1;
                break;
            }
            let place = format!("{second:?}, {kind}:{operation}: {error}");
            let found = files(&out);
            let is = |expected: &Files, name: &PathBuf| found.get(name) == expected.get(name);
            let visible = |name: &&PathBuf| !name.to_string_lossy().contains(".intervalid");
            let names: Vec<&PathBuf> = old.keys().chain(new.keys()).filter(visible).collect();
            // A switch that was decided is finished by the next call.
            let decided = |name: &PathBuf| name.to_string_lossy().contains(".intervalid-folder-switch");
            let is_pending = kind == "kill" && found.keys().any(decided);
            for name in &names {
                assert!(is(&old, name) || is(&new, name), "{}: {place}", name.display());
            }
            if together == Together::AllOrNone && !is_pending {
                let all = |expected: &Files| names.iter().all(|name| is(expected, name));
                assert!(all(&old) || all(&new), "a mixture: {place}");
            }
            if kind == "error" && !matches!(output.status.code(), Some(0 | 3)) {
                assert!(matches!(output.status.code(), Some(1 | 2)), "{place}");
                assert!(error.contains("error: "), "{place}");
            }
            let again = done(second);
            for (name, content) in &new {
                assert!(again.get(name) == Some(content), "{}: {place}", name.display());
            }
            let stray = again
                .keys()
                .find(|name| !new.contains_key(*name) && !old.contains_key(*name));
            assert!(stray.is_none(), "{stray:?} is left: {place}");
        }
    }
    assert!(operations >= 3, "{second:?}: only {operations} operations");
    operations
}

#[test]
fn monitor_keeps_its_memory() {
    let folder = arx();
    let monitor = |data| {
        [
            "monitor",
            "a",
            data,
            "--state",
            "out/state",
            "--out",
            "out/page.html",
            "--quiet",
        ]
    };
    walk(&folder, &monitor("one.csv"), &monitor("two.csv"), Together::EachOfThem);
}

#[test]
fn predict_keeps_what_its_online_band_has_learnt() {
    let folder = arx();
    let predict = |data| {
        [
            "predict",
            "a",
            data,
            "--online",
            "--state",
            "out/state",
            "--out",
            "out/band.csv",
            "--quiet",
        ]
    };
    walk(&folder, &predict("one.csv"), &predict("two.csv"), Together::EachOfThem);
}

#[test]
fn recalibrate_leaves_one_model() {
    let folder = arx();
    let recalibrate = |data| ["recalibrate", "a", data, "--out", "out/model.safetensors", "--quiet"];
    walk(
        &folder,
        &recalibrate("one.csv"),
        &recalibrate("two.csv"),
        Together::AllOrNone,
    );
}

/// It only writes where there is no model yet.
#[test]
fn update_leaves_all_of_its_files_or_none() {
    let folder = arx();
    // A plant that answers more strongly than it did, or there is nothing to gain.
    let mut changed = String::from("u,y\n");
    for (u, y) in record(600).into_iter().skip(300) {
        let _ = writeln!(changed, "{u:.4},{:.4}", 1.5 * y);
    }
    folder.write("changed.csv", changed);
    let out = folder.path().join("out");
    let update = [
        "update",
        "a",
        "changed.csv",
        "--with",
        "train.csv",
        "--out",
        "out",
        "--quiet",
    ];
    let names = || files(&out).into_keys().collect::<Vec<PathBuf>>();
    let run = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run(&update);
    let whole = names();
    let (mut none, mut all) = (0, 0);
    for kind in ["error", "kill"] {
        for operation in 1.. {
            fs::remove_dir_all(&out).expect("there");
            let mut command = folder.command(&update);
            let output = command.env("INTERVALID_FAULT", format!("{kind}:{operation}")).output();
            let error = String::from_utf8_lossy(&output.expect("runs").stderr).into_owned();
            if !error.contains("injected fault") {
                assert!(operation > 10, "only {operation} operations");
                break;
            }
            let is_decided = out.join(".intervalid-folder-switch").exists() || out.join("model.safetensors").exists();
            if is_decided {
                // Whoever reads the model finishes the switch.
                run(&["explain", "out", "--quiet"]);
                all += 1;
            } else {
                run(&update);
                none += 1;
            }
            assert_eq!(names(), whole, "{kind}:{operation}: {error}");
        }
    }
    assert!(none > 5 && all > 2, "{none} without a model, {all} with one");
}

#[test]
fn pages_and_tables_of_a_model_are_old_or_new() {
    let folder = arx();
    for (command, file) in [
        (&["card"][..], "out/card.html"),
        (&["linearise"], "out/linear.json"),
        (&["evaluate", "one.csv"], "out/samples.csv"),
    ] {
        let call = |model| [&command[..1], &[model], &command[1..], &["--out", file, "--quiet"]].concat();
        walk(&folder, &call("a"), &call("b"), Together::AllOrNone);
    }
    walk(
        &folder,
        &["compare", "a", "b", "--out", "out/compare.html", "--quiet"],
        &["compare", "b", "a", "--out", "out/compare.html", "--quiet"],
        Together::AllOrNone,
    );
}

#[test]
fn figures_of_an_explanation_are_of_one_model() {
    let folder = prepared(&["--model", "inode", "--epochs", "2", "--hidden", "3"]);
    let explain = |model| ["explain", model, "--out", "out", "--quiet"];
    walk(&folder, &explain("a"), &explain("b"), Together::AllOrNone);
}

#[test]
fn the_page_of_an_analysis_is_old_or_new() {
    let folder = arx();
    let analyse = |model| ["analyse", model, "--out", "out/page.html", "--quiet"];
    walk(&folder, &analyse("a"), &analyse("b"), Together::AllOrNone);
}

/// Dozens of files by one switch: some operations of every kind are enough.
#[test]
fn figures_of_an_analysis_are_of_one_model() {
    let folder = arx();
    let analyse = |model| ["analyse", model, "--figures", "out", "--quiet"];
    let operations = walk_every(23, &folder, &analyse("a"), &analyse("b"), Together::AllOrNone);
    assert!(operations > 40, "only {operations}");
}

#[test]
fn figures_of_a_study_are_of_one_study() {
    let folder = Folder::new();
    for (name, seeds) in [("one", "[1, 2]"), ("two", "[3, 4]")] {
        folder.write(
            &format!("{name}.toml"),
            format!(
                "name = 's'\ndatasets = ['hair-dryer']\nmodels = ['inode']\nstrategies = ['joint']\nmargins = ['abs']\nseeds = {seeds}\n\
                 [settings]\nepochs = 1\nhidden = [4]\nlags = '1,0,1'\n"
            ),
        );
        let run = ["study", "run", &format!("{name}.toml"), "--out", name, "--quiet"];
        let output = folder.run(&run);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let figures = |study| ["study", "figures", study, "--out", "out", "--quiet"];
    walk_every(7, &folder, &figures("one"), &figures("two"), Together::AllOrNone);
}
