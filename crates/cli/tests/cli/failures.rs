//! What a user sees when the machine gets in the way: full disks, folders that cannot be written, Ctrl-C. Exit code 1 where
//! a run failed, and nothing half-written.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use insta::assert_snapshot;

use crate::study::SPEC;
use crate::support::{Folder, csv, plain};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything below a folder but for its records, to see that nothing is left behind.
fn left(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(left(&path));
        }
        found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
    }
    found.sort();
    found
}

/// The program with a limit on the size of files, which acts like a disk that is full: the kernel refuses the write.
fn limited(folder: &Folder, kibibytes: u32, arguments: &str) -> Output {
    let script = format!(
        "ulimit -f {kibibytes}; exec '{}' {arguments}",
        env!("CARGO_BIN_EXE_intervalid")
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(folder.path());
    command.env_remove("INTERVALID_DATA").output().expect("bash runs")
}

#[test]
fn results_that_cannot_be_printed_are_a_failed_run() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let folder = Folder::new();
    let output = folder.command(&["data", "list"]).stdout(full).output();
    let output = output.expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stderr(&output));
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = Folder::new();
    folder.write("data.csv", csv(200, plain));
    assert!(
        folder
            .run(&["fit", "data.csv", "--model", "arx", "--quiet", "--out", "arx"])
            .status
            .success()
    );
    let output = folder.run(&["predict", "arx", "data.csv", "--out", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(stderr(&output));
    assert!(!fs::metadata("/dev/full").expect("still there").is_file());
    let printed = folder.run(&["predict", "arx", "data.csv", "--quiet", "--out", "/dev/stdout"]);
    assert_eq!(printed.stdout, folder.run(&["predict", "arx", "data.csv"]).stdout);
    // A link stays a link.
    folder.write("real.csv", "");
    std::os::unix::fs::symlink("real.csv", folder.path().join("link.csv")).expect("a link");
    assert!(
        folder
            .run(&["predict", "arx", "data.csv", "--out", "link.csv"])
            .status
            .success()
    );
    assert!(folder.path().join("link.csv").is_symlink());
    assert_eq!(
        fs::read(folder.path().join("real.csv")).expect("written"),
        printed.stdout
    );
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = Folder::new();
    folder.write("data.csv", csv(400, plain));
    assert!(
        folder
            .run(&["fit", "data.csv", "--model", "arx", "--quiet", "--out", "arx"])
            .status
            .success()
    );
    let before = left(folder.path());
    let mut messages = Vec::new();
    for arguments in [
        "predict arx data.csv --out simulated.csv",
        "predict arx data.csv --plot band.png",
        "fit data.csv --epochs 2 --out fit",
        "fit data.csv --model arx --out linear",
        "man --out man1",
    ] {
        let output = limited(&folder, 1, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {}", stderr(&output));
        messages.push(format!("$ intervalid {arguments}\n{}", stderr(&output)));
    }
    assert_snapshot!(messages.join("\n"));
    let after = left(folder.path());
    let new: Vec<&String> = after.iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(new, [""; 0], "nothing is left of what failed");
    // With room again the same command works.
    assert!(
        limited(&folder, 1 << 20, "fit data.csv --epochs 2 --out fit --quiet")
            .status
            .success()
    );
    folder.write("small.toml", SPEC);
    let output = limited(&folder, 16, "study run small.toml --out study");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("error: "), "{}", stderr(&output));
    let output = folder.run(&["study", "run", "small.toml", "--out", "study", "--quiet"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn folders_that_nobody_may_write() {
    let folder = Folder::new();
    // Not even the administrator makes folders here, so the test holds for every user.
    let cases: [&[&str]; 3] = [
        &["fit", "hair-dryer", "--model", "arx", "--out", "/proc/fit"],
        &["demo", "--out", "/proc/demo"],
        &["study", "run", "paper-quick", "--out", "/proc/study"],
    ];
    let messages = cases.map(|arguments| {
        let text = folder.transcript(arguments);
        assert!(
            text.contains("\nexit code: 2\n") && !text.contains("--- stdout"),
            "{text}"
        );
        text
    });
    assert_snapshot!(messages.join("\n"));
}

/// Starts the program, waits until `ready` says that it is at work, sends Ctrl-C.
fn interrupted(folder: &Folder, arguments: &[&str], ready: impl Fn() -> bool) -> Output {
    let mut command = folder.command(arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    for _ in 0..4000 {
        if ready() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .expect("kill runs")
            .success()
    );
    child.wait_with_output().expect("the program ends")
}

#[test]
fn an_interrupted_study_says_how_to_go_on_and_does() {
    let folder = Folder::new();
    folder.write(
        "long.toml",
        SPEC.replace("epochs = 2", "epochs = 20000")
            .replace(", \"mr-damper\"", ""),
    );
    let run = ["study", "run", "long.toml", "--out", "study", "--jobs", "1"];
    let database = folder.path().join("study/study.sqlite");
    let output = interrupted(&folder, &run, || database.exists());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("error: interrupted: ") && text.contains("run the same command again"),
        "{text}"
    );
    let status = folder.json(&["study", "status", "study", "--json"]);
    assert_eq!(status["runs"]["total"], 16);
    assert!(status["runs"]["left"].as_u64() > Some(0), "{status}");
}

#[test]
fn an_interrupted_demo_says_so_and_leaves_no_empty_folder() {
    let folder = Folder::new();
    let out = folder.path().join("intervalid-demo");
    // Ctrl-C is listened to before the folder is made.
    let output = interrupted(&folder, &["demo", "--epochs", "100000"], || out.exists());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_snapshot!(stderr(&output));
    assert!(!out.exists());
}

/// The exit code where nobody reads standard output.
fn unread(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    let mut command = folder.command(arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    child.wait().expect("ends").code()
}

#[test]
fn a_verdict_does_not_depend_on_who_reads_it() {
    let folder = Folder::new();
    folder.write("a.csv", csv(300, plain));
    let fit = [
        "fit", "a.csv", "--model", "arx", "--lags", "1,0,1", "--out", "fit", "--quiet",
    ];
    assert!(folder.run(&fit).status.success());
    let required = |share: &'static str| ["evaluate", "fit", "a.csv", "--require-coverage", share];
    for json in [&[][..], &["--json"]] {
        assert_eq!(unread(&folder, &[&required("0.9999"), json].concat()), Some(3));
        assert_eq!(unread(&folder, &[&required("0.1"), json].concat()), Some(0));
    }
    // A file whose reader has left was not written.
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo runs")
            .success()
    );
    let mut reader = Command::new("head")
        .args(["-c", "1"])
        .arg(&pipe)
        .stdout(Stdio::null())
        .spawn()
        .expect("head runs");
    folder.write("long.csv", csv(20_000, plain));
    let output = folder.run(&["predict", "fit", "long.csv", "--out", "pipe"]);
    let refused = stderr(&output);
    // Or the reader would still wait for a writer.
    assert!(refused.contains("cannot be written"), "{refused}");
    assert_eq!(output.status.code(), Some(1), "{refused}");
    reader.wait().expect("ends");
}
