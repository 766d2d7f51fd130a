//! A model that is watched: `monitor`, its memory between calls, and files that grow.

use std::fs;

use intervalid_files::LockedFile;
use serde_json::Value;

use crate::life::{fitted, later};
use crate::support::{Folder, record};

/// What `monitor` found, its exit code, and the JSON object without the names of files.
fn monitor(folder: &Folder, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = folder.run(&[&["monitor", "fit"], arguments, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let mut value: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    for key in ["dataset", "new_samples", "state_file", "out"] {
        value[key].take();
    }
    (output.status.code(), value)
}

#[test]
fn a_healthy_plant_is_ok_and_a_changed_one_needs_a_refit() {
    let folder = fitted();
    folder.write("healthy.csv", later(600..1400, |_, y| y));
    folder.write(
        "stepped.csv",
        later(600..1400, |k, y| if k < 1000 { y } else { y + 0.2 }),
    );
    let (code, healthy) = monitor(&folder, &["healthy.csv", "--horizon", "1"]);
    assert_eq!((code, &healthy["state"]), (Some(0), &"ok".into()), "{healthy}");
    let (code, stepped) = monitor(&folder, &["stepped.csv", "--out", "trend.html"]);
    assert_eq!((code, &stepped["state"]), (Some(3), &"refit".into()), "{stepped}");
    assert_eq!(stepped["outputs"][0]["cause"], "level", "{stepped}");
    let page = fs::read_to_string(folder.path().join("trend.html")).expect("a page");
    assert!(page.contains("The model needs a refit") && page.contains("promised 90 %"));
    let text = folder.transcript(&["monitor", "fit", "stepped.csv"]);
    for words in [
        "exit code: 3",
        "the level has moved",
        "(most of the change)",
        "hint: `intervalid recalibrate`",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn one_call_or_several_give_the_same() {
    let folder = fitted();
    for (name, part) in [("a", 600..900), ("b", 900..1000), ("c", 1000..1500)] {
        folder.write(&format!("{name}.csv"), later(part, |_, y| y));
    }
    for horizon in [&[][..], &["--horizon", "1"]] {
        let whole = monitor(&folder, &[&["a.csv", "b.csv", "c.csv"], horizon].concat());
        let state = format!("state-{}", horizon.len());
        let mut last = None;
        for file in ["a.csv", "b.csv", "c.csv"] {
            last = Some(monitor(&folder, &[&[file, "--state", &state], horizon].concat()));
        }
        assert_eq!(last, Some(whole));
        assert!(!folder.path().join(lock_of(&state)).exists());
    }
}

/// The lock of a state.
fn lock_of(state: &str) -> String {
    format!(".intervalid-{state}-state-lock")
}

/// However many there are: none is forgotten for another.
#[test]
fn more_than_a_thousand_recordings_are_counted_once() {
    let folder = fitted();
    let rows = record(6006).into_iter().enumerate();
    let rows: String = rows.map(|(k, (u, y))| format!("{},{u:.4},{y:.4}\n", k / 6)).collect();
    folder.write("many.csv", format!("test,u,y\n{rows}"));
    let new = || {
        let arguments = ["many.csv", "--experiment", "test", "--state", "s", "--json"];
        let output = folder.run(&[&["monitor", "fit"], &arguments[..]].concat());
        let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        value["new_samples"].as_u64().expect("a number")
    };
    assert!(new() > 1001);
    assert_eq!(new(), 0);
}

/// A file of the user's that is called as a lock might be is none, and stays.
#[test]
fn the_lock_of_a_state_takes_no_file_of_the_users() {
    let folder = fitted();
    folder.write("new.csv", later(600..900, |_, y| y));
    folder.write("poetry.lock", "pinned");
    monitor(&folder, &["new.csv", "--state", "poetry"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("poetry.lock")).expect("there"),
        "pinned"
    );
    // Even under the name of ours.
    folder.write(&lock_of("poetry"), "mine");
    let text = folder.transcript(&["monitor", "fit", "new.csv", "--state", "poetry"]);
    assert!(
        text.contains("exit code: 2") && text.contains("cannot be locked"),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join(lock_of("poetry"))).expect("there"),
        "mine"
    );
}

/// Two names of one state are one state: of two calls at once, one would be forgotten.
#[cfg(unix)]
#[test]
fn a_state_is_locked_by_whatever_name_it_is_called() {
    let folder = fitted();
    folder.write("new.csv", later(600..900, |_, y| y));
    monitor(&folder, &["new.csv", "--state", "s"]);
    fs::create_dir(folder.path().join("links")).expect("made");
    std::os::unix::fs::symlink("../s", folder.path().join("links/s")).expect("a link");
    let before = fs::read(folder.path().join("s")).expect("a state");
    let held = LockedFile::take(folder.path().join(lock_of("s"))).expect("nobody has it");
    for name in ["s", "links/s", "links/../s"] {
        let text = folder.transcript(&["monitor", "fit", "train.csv", "--state", name]);
        assert!(
            text.contains("exit code: 2") && text.contains("another call is using it"),
            "{text}"
        );
    }
    drop(held);
    assert_eq!(fs::read(folder.path().join("s")).expect("a state"), before);
    monitor(&folder, &["train.csv", "--state", "links/s"]);
    assert_ne!(fs::read(folder.path().join("s")).expect("a state"), before);
    assert!(folder.path().join("links/s").is_symlink());
}

/// What only its user may read stays so.
#[cfg(unix)]
#[test]
fn a_state_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = fitted();
    folder.write("new.csv", later(600..900, |_, y| y));
    monitor(&folder, &["new.csv", "--state", "s"]);
    let state = folder.path().join("s");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o600)).expect("changed");
    monitor(&folder, &["train.csv", "--state", "s"]);
    let mode = fs::metadata(&state).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_recording_is_counted_once_also_when_it_has_grown() {
    let folder = fitted();
    folder.write("log.csv", later(600..900, |_, y| y));
    let state = ["log.csv", "--state", "s"];
    let (_, first) = monitor(&folder, &state);
    let (_, again) = monitor(&folder, &state);
    assert_eq!(first, again);
    let warned = folder.run(&["monitor", "fit", "log.csv", "--state", "s"]);
    let warned = String::from_utf8_lossy(&warned.stderr).into_owned();
    assert!(
        warned.contains("300 of its 300 samples were counted before"),
        "{warned}"
    );
    folder.write("log.csv", later(600..1200, |_, y| y));
    let (_, grown) = monitor(&folder, &state);
    assert_eq!(grown, monitor(&folder, &["log.csv"]).1, "as one call over all of it");
}

/// The last mean of a recording changes when rows are added to it.
#[test]
fn a_resampled_recording_is_counted_once_when_it_has_grown() {
    let folder = Folder::new();
    let timed = |samples: std::ops::Range<usize>| {
        let rows = record(samples.end).into_iter().enumerate().skip(samples.start);
        let rows: String = rows.map(|(k, (u, y))| format!("{k},{u:.4},{y:.4}\n")).collect();
        format!("t,u,y\n{rows}")
    };
    folder.write("train.csv", timed(0..1200));
    for (index, prepare) in [&[][..], &["--clip-spikes", "9"]].into_iter().enumerate() {
        let fit = [
            "fit",
            "train.csv",
            "--resample",
            "4",
            "--model",
            "arx",
            "--lags",
            "1,1,1",
            "--out",
            "fit",
        ];
        assert!(folder.run(&[&fit[..], prepare].concat()).status.success());
        let watch = |state: String| monitor(&folder, &["log.csv", "--resample", "4", "--state", &state]).1;
        let mut last = None;
        for end in [1500, 1501, 1502, 1503, 1804] {
            folder.write("log.csv", timed(1200..end));
            last = Some(watch(format!("s{index}")));
        }
        // As one call over all of it, which counts no unsettled samples either.
        assert_eq!(last, Some(watch(format!("t{index}"))), "{prepare:?}");
    }
}

/// Rows to come change the end of a file alone: what stands before a gap is settled, and a piece of few rows waits for more.
#[test]
fn a_gap_does_not_end_a_watch_that_clips_spikes() {
    let folder = Folder::new();
    let timed = |samples: std::ops::Range<usize>| {
        let rows = record(samples.end).into_iter().enumerate().skip(samples.start);
        // A pause after 900 samples.
        let time = |k: usize| if k < 900 { k } else { k + 5000 };
        let rows: String = rows.map(|(k, (u, y))| format!("{},{u:.4},{y:.4}\n", time(k))).collect();
        format!("time,u,y\n{rows}")
    };
    folder.write("train.csv", timed(0..600));
    let fit = "fit train.csv --clip-spikes 6 --model arx --lags 1,1,1 --out fit";
    let fit = folder.run(&fit.split(' ').collect::<Vec<_>>());
    assert!(fit.status.success(), "{}", String::from_utf8_lossy(&fit.stderr));
    let watch = |state: &[&str]| monitor(&folder, &[&["log.csv", "--missing", "split"], state].concat());
    let mut counts = Vec::new();
    for end in [900, 901, 905, 906, 1200] {
        folder.write("log.csv", timed(600..end));
        let (code, found) = watch(&["--state", "grown"]);
        assert_eq!(code, Some(0), "{end}: {found}");
        counts.push(found["samples"].as_u64().expect("a number"));
    }
    // All but the five rows that a sixth one may change, once the gap is there.
    assert_eq!(counts[1], counts[0] + 5, "{counts:?}");
    assert_eq!(counts[2], counts[1], "{counts:?}");
    let (_, grown) = watch(&["--state", "grown"]);
    assert_eq!(grown, watch(&["--state", "fresh"]).1, "as one call over all of it");
    let (_, all) = watch(&[]);
    assert_eq!(all["samples"].as_u64(), counts.last().map(|count| count + 5));
}

/// Half a number is a wrong one, and the whole one would be another sample.
#[test]
fn a_line_without_an_end_is_not_counted_yet() {
    let folder = fitted();
    let whole = later(600..1200, |_, y| y);
    let end = whole.match_indices('\n').nth(400).expect("lines").0;
    folder.write("log.csv", &whole[..end - 2]);
    let first = folder.run(&["monitor", "fit", "log.csv", "--state", "s"]);
    let told = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(told.contains("log.csv: line 401 has no end and is left out"), "{told}");
    folder.write("log.csv", &whole);
    let (_, grown) = monitor(&folder, &["log.csv", "--state", "s"]);
    assert_eq!(grown, monitor(&folder, &["log.csv"]).1, "as one call over all of it");
}

#[test]
fn states_of_others_are_refused_and_stay() {
    let folder = fitted();
    folder.write("new.csv", later(600..900, |_, y| y));
    let refused = |arguments: &[&str], words: &str| {
        let before = fs::read(folder.path().join("s")).ok();
        let text = folder.transcript(&[&["monitor"], arguments].concat());
        assert!(text.contains("exit code: 2") && text.contains(words), "{words}: {text}");
        assert_eq!(fs::read(folder.path().join("s")).ok(), before);
    };
    monitor(&folder, &["new.csv", "--state", "s"]);
    let other = [
        "fit",
        "train.csv",
        "--model",
        "arx",
        "--lags",
        "2,1,2",
        "--out",
        "other",
        "--json",
    ];
    folder.json(&other);
    refused(&["other", "new.csv", "--state", "s"], "it belongs to model");
    refused(
        &["fit", "new.csv", "--state", "s", "--horizon", "2"],
        "it was made with other settings",
    );
    refused(
        &["fit", "new.csv", "--state", "s", "--false-alarm", "0.02"],
        "it was made with other settings",
    );
    for (content, words) in [
        ("", "not the state of a monitor"),
        ("{\"a\":1}", "not the state of a monitor"),
        ("u,y\n1,2\n", "not the state of a monitor"),
        ("\u{0}\u{1}", "not the state of a monitor"),
    ] {
        folder.write("s", content);
        refused(&["fit", "new.csv", "--state", "s"], words);
    }
    refused(&["fit", "new.csv", "--state", "new.csv"], "would replace");
    refused(
        &["fit", "new.csv", "--state", "absent/s"],
        "cannot write into its folder",
    );
    refused(
        &["fit", "new.csv", "--horizon", "0"],
        "expected at least 1 sample ahead",
    );
    refused(
        &["fit", "new.csv", "--false-alarm", "0"],
        "false_alarm = 0 is not allowed",
    );
    refused(&["fit", "new.csv", "--block", "2"], "block = 2 is not allowed");
    refused(&["fit", "new.csv", "train.csv", "--follow"], "2 recordings are named");
    refused(&["fit", "hair-dryer", "--follow"], "expected a .csv");
}

#[cfg(unix)]
#[test]
fn a_growing_file_is_followed_until_ctrl_c() {
    use std::io::Write as _;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = fitted();
    let whole = later(600..1300, |_, y| y);
    let at = whole.match_indices('\n').nth(400).expect("lines").0 + 1;
    let (start, rest) = whole.split_at(at);
    let log = folder.write("log.csv", start);
    let mut command = folder.command(&["monitor", "fit", "log.csv", "--follow", "--state", "s", "--json"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let samples = || -> u64 {
        let text = fs::read_to_string(folder.path().join("s")).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        value["monitor"]["samples"].as_u64().unwrap_or(0)
    };
    let wait = |least: u64| {
        let begun = Instant::now();
        while samples() < least && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(samples() >= least, "{} of {least}", samples());
    };
    wait(300);
    let mut file = fs::OpenOptions::new().append(true).open(log).expect("the log");
    // Half a line first: a reader that took it for a whole one would count a wrong sample.
    let (half, other) = rest.split_at(rest.len() / 2 + 3);
    assert!(!half.ends_with('\n'));
    file.write_all(half.as_bytes()).expect("appended");
    std::thread::sleep(Duration::from_millis(1200));
    file.write_all(other.as_bytes()).expect("appended");
    // Two samples start it.
    wait(698);
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut found: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    for key in ["dataset", "new_samples", "state_file", "out"] {
        found[key].take();
    }
    assert_eq!(found, monitor(&folder, &["log.csv"]).1);
}
