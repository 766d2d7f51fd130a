//! A power cut at any moment: every command leaves its old files or its new ones, and what it has finished stays.
//!
//! `strace` tells which calls a command makes; a [model of a disk](disk) tells what may be there after each of them if the power is
//! cut, and our own code reads that.
#![cfg(target_os = "linux")]

mod disk;
mod trace;

use std::fs;

use intervalid_files::OwnedFolder;
use intervalid_study::status;

use crate::faults::{Together, arx, files, put};
use crate::support::Folder;
use disk::{Disk, Files};
use trace::{Follower, watched};

/// What may be on the disk after each call of a command that writes below `out`, in order; none where nobody can watch.
fn cuts(folder: &Folder, command: &[&str]) -> Option<Vec<Vec<Files>>> {
    let out = folder.path().join("out");
    let before = files(&out);
    let log = tempfile::NamedTempFile::new().expect("a file for the log");
    let Some(calls) = watched(&folder.command(command), log.path()) else {
        skip("`strace` is not installed or may not watch programs; install the Debian package strace");
        return None;
    };
    let root = fs::canonicalize(folder.path()).expect("there");
    let below_out = |files: Files| -> Files {
        let below = files.into_iter();
        below
            .filter_map(|(path, content)| Some((path.strip_prefix("out").ok()?.to_owned(), content)))
            .collect()
    };
    let whole: Files = before
        .iter()
        .map(|(path, content)| (std::path::Path::new("out").join(path), content.clone()))
        .collect();
    let (mut disk, mut follower) = (Disk::holding(&whole), Follower::new(&root));
    let mut found = Vec::new();
    for call in &calls {
        if follower.follow(call, &mut disk) {
            found.push(disk.after_a_cut().into_iter().map(below_out).collect());
        }
    }
    let last: &Vec<Files> = found.last().expect("it writes");
    // Otherwise a call was not understood, and nothing was tested.
    assert!(
        last.contains(&files(&out)),
        "{command:?}: the model of the disk ends with other files"
    );
    Some(found)
}

#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn skip(message: &str) {
    eprintln!("SKIPPED: {message}");
}

/// Runs `first`, then `second` over its files, and looks at what a power cut after each call of it may leave.
fn walk(folder: &Folder, first: Option<&[&str]>, second: &[&str], together: Together) {
    let out = folder.path().join("out");
    if let Some(first) = first {
        fs::create_dir_all(&out).expect("made");
        let output = folder.run(first);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let old = files(&out);
    let Some(cuts) = cuts(folder, second) else { return };
    let new = files(&out);
    assert!(old != new, "{second:?} writes the same");
    let (last, calls) = (cuts.len() - 1, cuts.len());
    let mut looked = std::collections::BTreeSet::new();
    for (call, states) in cuts.into_iter().enumerate() {
        for state in states {
            // What was looked at once need not be again, but at the end, where more is asked.
            if call < last && !looked.insert(state.clone()) {
                continue;
            }
            put(&out, &state);
            // The next command of ours finishes what was decided and clears the rest away.
            drop(OwnedFolder::take(&out).expect("the folder can be taken"));
            let mut found = files(&out);
            // A lock that nobody holds locks nobody out.
            found.retain(|name, _| !name.to_string_lossy().ends_with("-state-lock"));
            let place = format!("{second:?}, call {call} of {calls}");
            let is = |expected: &Files, name| found.get(name) == expected.get(name);
            let mut names = old.keys().chain(new.keys());
            match together {
                Together::AllOrNone => assert!(found == old || found == new, "a mixture: {place}"),
                Together::EachOfThem => assert!(names.all(|name| is(&old, name) || is(&new, name)), "{place}"),
            }
            if call == last {
                assert!(found == new, "what was finished is lost: {place}");
            }
        }
    }
    assert!(looked.len() >= 5, "{second:?}: only {} states", looked.len());
}

#[test]
fn a_fit_is_the_old_one_or_the_new_one() {
    let fit = |seed, lags| {
        let fit = [
            "fit",
            "train.csv",
            "--model",
            "arx",
            "--quiet",
            "--out",
            "out",
            "--force",
        ];
        [&fit[..], &["--seed", seed, "--lags", lags]].concat()
    };
    let folder = arx();
    walk(
        &folder,
        Some(&fit("1", "1,1,1")),
        &fit("2", "2,1,2"),
        Together::AllOrNone,
    );
    walk(&arx(), None, &fit("2", "2,1,2"), Together::AllOrNone);
}

#[test]
fn exported_files_are_of_one_model() {
    let export = |model| {
        [
            "export",
            model,
            "--to",
            "c",
            "--out",
            "out/step.c",
            "--force",
            "--quiet",
        ]
    };
    walk(&arx(), Some(&export("a")), &export("b"), Together::AllOrNone);
}

#[test]
fn predictions_and_states_are_whole() {
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
    walk(
        &arx(),
        Some(&monitor("one.csv")),
        &monitor("two.csv"),
        Together::EachOfThem,
    );
    let predict = |data| ["predict", "a", data, "--out", "out/p.csv", "--quiet"];
    walk(
        &arx(),
        Some(&predict("one.csv")),
        &predict("two.csv"),
        Together::AllOrNone,
    );
}

/// Runs that are finished stay finished, and the database can be read at any time.
#[test]
fn a_study_keeps_what_is_finished() {
    let folder = Folder::new();
    folder.write(
        "study.toml",
        "name = 'small'\ndatasets = ['hair-dryer']\nmodels = ['arx']\ncoverages = [0.9]\nseeds = [1, 2, 3]\n",
    );
    let Some(cuts) = cuts(&folder, &["study", "run", "study.toml", "--out", "out", "--quiet"]) else {
        return;
    };
    let out = folder.path().join("out");
    let whole = status(&out).expect("a study").runs.done;
    assert!(whole > 0);
    let (last, mut least) = (cuts.len() - 1, 0);
    let mut looked = std::collections::BTreeMap::new();
    for (call, states) in cuts.into_iter().enumerate() {
        let done = states.into_iter().map(|state| {
            let known = looked.get(&state).copied();
            known.unwrap_or_else(|| {
                put(&out, &state);
                // Before the first transaction there is no study yet.
                let done = match out.join("study.sqlite").exists() {
                    true => status(&out).map_or(0, |status| status.runs.done),
                    false => 0,
                };
                looked.insert(state, done);
                done
            })
        });
        let fewest = done.min().expect("a state");
        assert!(
            fewest >= least,
            "call {call}: {least} runs were finished, {fewest} are left"
        );
        least = fewest;
        if call == last {
            assert_eq!(fewest, whole, "what was finished is lost");
        }
    }
}
