//! A search that was interrupted goes on: finished work is not done again, and the result is the same to the bit.

use std::process::Output;

use serde_json::Value;

use crate::support::{Folder, csv, plain};

/// A short search for a model with hidden states.
const SEARCH: [&str; 9] = [
    "fit",
    "my.csv",
    "--config",
    "search.toml",
    "--threads",
    "2",
    "--json",
    "--out",
    "fit",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("my.csv", csv(160, plain));
    folder.write("search.toml", "preset = 'auto'\nmodel = 'iss'\nrounds = 2\n");
    folder
}

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(folder.path().join("fit").join(name)).expect(name)
}

fn work(output: &Output) -> f64 {
    let fit: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    fit["search"]["work"].as_f64().expect("a number")
}

#[test]
fn a_search_that_is_killed_goes_on_to_the_same_bytes() {
    let whole = folder();
    let finished = whole.run(&SEARCH);
    assert!(
        finished.status.success(),
        "{}",
        String::from_utf8_lossy(&finished.stderr)
    );
    assert!(!whole.path().join("fit/checkpoint.search").exists());

    let killed = folder();
    let journal = killed.path().join("fit/checkpoint.search");
    let mut before = 0;
    let mut grown = 0;
    // Ended at file operations further and further on, until twice there was more to go on from than before.
    for operation in 1.. {
        let mut command = killed.command(&SEARCH);
        let output = command
            .env("INTERVALID_FAULT", format!("kill:{operation}"))
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("injected fault"), "{said}");
        let length = journal.metadata().map_or(0, |metadata| metadata.len());
        grown += usize::from(length > before);
        before = length;
        if grown == 2 {
            break;
        }
    }
    // What was being written when the lights went out.
    let mut torn = std::fs::read(&journal).expect("there");
    torn.extend_from_slice(&[200, 0, 0, 0, 1, 2, 3]);
    std::fs::write(&journal, torn).expect("written");
    let resumed = killed.run(&SEARCH);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    for name in ["model.safetensors", "predictions.csv", "config.toml"] {
        assert!(bytes(&whole, name) == bytes(&killed, name), "{name} differs");
    }
    assert!((work(&finished) - work(&resumed)).abs() < 0.5);
    assert!(!journal.exists(), "nothing to go on from is left");
}

/// A folder from somebody else must not make a fit write outside of it.
#[cfg(unix)]
#[test]
fn a_journal_that_is_a_link_is_refused() {
    let folder = folder();
    for name in ["fit", "outside"] {
        std::fs::create_dir(folder.path().join(name)).expect("made");
    }
    let journal = folder.path().join("fit/checkpoint.search");
    std::os::unix::fs::symlink("../outside/new", &journal).expect("a link");
    let output = folder.run(&SEARCH);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it is a link"), "{said}");
    assert!(journal.is_symlink());
    let outside = folder.path().join("outside");
    assert_eq!(std::fs::read_dir(outside).expect("there").count(), 0);
}

#[test]
fn a_journal_of_something_else_is_refused_and_kept() {
    let folder = folder();
    let journal = folder.write("fit/checkpoint.search", "my notes\n");
    let output = folder.run(&SEARCH);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it is no journal of a search"), "{said}");
    assert!(said.contains("delete it to start over"), "{said}");
    assert_eq!(std::fs::read_to_string(&journal).expect("there"), "my notes\n");
    // Nor is a network trained over it.
    let output = folder.run(&["fit", "my.csv", "--epochs", "1", "--out", "fit"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("an interrupted search is in this folder"), "{said}");
}
