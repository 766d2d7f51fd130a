//! Tasks and results between machines, and several drivers on one folder.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use intervalid_study::{Driver, DriverOptions, Next, Put, RunOutput, Spec, Store, StudyError, Task, Worker};

use crate::support::{SMALL, content, run, small};

const FOLDER: &str = "INTERVALID_TEST_DRIVER_FOLDER";

fn tiny() -> Spec {
    Spec::parse(
        "tiny",
        "name = \"tiny\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"arx\"]\ncoverages = [0.9, 0.95]\nseeds = \"1..2\"",
    )
    .unwrap()
}

fn open(spec: &Spec, folder: &Path) -> Driver {
    Driver::open(spec, folder, &DriverOptions::default()).unwrap()
}

fn task_of(driver: &mut Driver) -> Task {
    match driver.next().unwrap() {
        Next::Task(task) => *task,
        other => panic!("{other:?}"),
    }
}

/// As a worker on another machine does: it knows the text of the task and nothing else.
fn executed(task: &Task) -> Vec<RunOutput> {
    let task = Task::from_json(&task.to_json()).unwrap();
    let outputs = Worker::default()
        .execute_all(&task, &|| ControlFlow::Continue(()))
        .unwrap();
    outputs
        .iter()
        .map(|output| RunOutput::from_json(&output.to_json()).unwrap())
        .collect()
}

#[test]
fn results_of_workers_make_the_same_database() {
    let (whole, driven, single) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    run(&small(), whole.path(), 2);
    for (folder, share_training) in [(&driven, true), (&single, false)] {
        let options = DriverOptions {
            share_training,
            ..DriverOptions::default()
        };
        let mut driver = Driver::open(&small(), folder, &options).unwrap();
        let mut tasks = 0;
        while let Next::Task(task) = driver.next().unwrap() {
            tasks += 1;
            for output in executed(&task) {
                assert_eq!(driver.put(&output).unwrap(), Put::Stored);
                assert_eq!(driver.put(&output).unwrap(), Put::AlreadyThere);
            }
        }
        assert_eq!(tasks == 88, !share_training);
        let summary = driver.close().unwrap();
        assert_eq!((summary.done, summary.resumed, summary.left), (88, 0, 0));
        assert_eq!(
            content(whole.path()),
            content(folder.path()),
            "share_training = {share_training}"
        );
    }
}

#[test]
fn foreign_results_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = open(&tiny(), folder.path());
    let task = task_of(&mut driver);
    let output = executed(&task).remove(0);
    let changed = |from: &str, to: &str| {
        let json = output.to_json();
        assert!(json.contains(from), "{json}");
        RunOutput::from_json(&json.replacen(from, to, 1))
    };
    let error = changed("\"version\":\"0", "\"version\":\"9").unwrap_err();
    assert!(error.to_string().contains("same version on all machines"), "{error}");
    let error = changed("\"format\":1", "\"format\":9").unwrap_err();
    assert!(error.to_string().contains("its format is 9"), "{error}");
    assert!(RunOutput::from_json("{}").is_err() && Task::from_json("junk").is_err());
    let other_study = changed(&output.spec_hash, &"0".repeat(64)).unwrap();
    let error = driver.put(&other_study).unwrap_err();
    assert!(matches!(error, StudyError::ForeignResult { .. }), "{error}");
    let other_run = changed(&output.key, &"0".repeat(64)).unwrap();
    let error = driver.put(&other_run).unwrap_err();
    assert!(error.to_string().contains("is not planned here"), "{error}");
    assert_eq!(driver.put(&output).unwrap(), Put::Stored);
    let contradiction = changed("\"epochs_run\":0", "\"epochs_run\":1").unwrap();
    let error = driver.put(&contradiction).unwrap_err();
    assert!(matches!(error, StudyError::Conflict { .. }), "{error}");
    // A late failure takes nothing away.
    assert_eq!(driver.put(&task.failed("late")[0]).unwrap(), Put::AlreadyThere);
    assert_eq!(driver.close().unwrap().done, 1);
}

#[test]
fn workers_check_their_data() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rows: String = (0..300).map(|k| format!("{},{}\n", k * 37 % 11, k * 53 % 17)).collect();
    std::fs::write(here.path().join("mine.csv"), format!("u,y\n{rows}")).unwrap();
    let spec = Spec::parse("s", "name = \"s\"\ndatasets = [\"mine\"]\nmodels = [\"arx\"]").unwrap();
    let options = DriverOptions {
        data_dir: Some(here.path()),
        ..DriverOptions::default()
    };
    let mut driver = Driver::open(&spec, there.path(), &options).unwrap();
    let task = task_of(&mut driver);
    assert_eq!(executed(&task).len(), 1);
    let refused = |expected: &str| {
        let error = Worker::default()
            .execute_all(&task, &|| ControlFlow::Continue(()))
            .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    std::fs::write(here.path().join("mine.csv"), format!("u,y\n1,1\n{rows}")).unwrap();
    refused("differ from those of the machine that planned");
    std::fs::remove_file(here.path().join("mine.csv")).unwrap();
    refused("looked for on the worker");
    // A failed worker is a failed run, which the next driver tries again.
    for output in task.failed("no data") {
        driver.put(&output).unwrap();
    }
    assert_eq!(driver.close().unwrap().failed, 1);
}

#[test]
fn drivers_on_one_folder_share_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (open(&tiny(), folder.path()), open(&tiny(), folder.path()));
    let first = task_of(&mut one);
    let mut seen = vec![first.key().to_owned()];
    for _ in 0..3 {
        let task = task_of(&mut two);
        seen.push(task.key().to_owned());
        for output in executed(&task) {
            two.put(&output).unwrap();
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4, "no run was handed out twice");
    assert_eq!(two.next().unwrap(), Next::Busy);
    // The first gives up: the second takes over.
    drop(one);
    let last = task_of(&mut two);
    assert_eq!(last.key(), first.key());
    for output in executed(&last) {
        two.put(&output).unwrap();
    }
    assert_eq!(two.next().unwrap(), Next::Finished);
    assert_eq!(two.close().unwrap().done, 4);
    assert!(!folder.path().join("claims").exists());
}

#[test]
fn what_another_driver_finished_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (open(&tiny(), folder.path()), open(&tiny(), folder.path()));
    let done = task_of(&mut one);
    one.put(&executed(&done)[0]).unwrap();
    let failed = task_of(&mut one);
    one.put(&failed.failed("no memory")[0]).unwrap();
    drop(one);
    let mut left = Vec::new();
    while let Next::Task(task) = two.next().unwrap() {
        left.push(task.key().to_owned());
    }
    assert_eq!(left.len(), 2);
    assert!(!left.contains(&done.key().to_owned()) && !left.contains(&failed.key().to_owned()));
    let summary = two.summary();
    assert_eq!((summary.resumed, summary.failed, summary.left), (1, 1, 2));
}

/// Not a test: a driver of its own process for the tests below.
#[test]
#[ignore = "not a test: the process that other tests start, and one of them kills"]
fn child() {
    let folder = std::env::var_os(FOLDER).expect("only the tests that start it run this");
    run(&slow(), Path::new(&folder), 1);
}

/// Long enough to be caught in the middle.
fn slow() -> Spec {
    Spec::parse("slow", &SMALL.replace("epochs = 1\n", "epochs = 40\n")).unwrap()
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "drivers::child", "--ignored"])
        .env(FOLDER, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn recorded(folder: &Path) -> usize {
    Store::open(folder)
        .and_then(|store| store.runs())
        .map_or(0, |runs| runs.len())
}

fn wait_for(folder: &Path, runs: usize) {
    let started = Instant::now();
    while recorded(folder) < runs && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Three processes at once, one of them killed in the middle: what it had claimed is taken over.
#[test]
fn processes_share_a_study_and_survive_one_of_them() {
    let (alone, together) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut killed = start(together.path());
    let mut other = start(together.path());
    wait_for(together.path(), 4);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let survived = recorded(together.path());
    assert!((4..88).contains(&survived), "{survived} runs before the kill");
    let summary = run(&slow(), together.path(), 1);
    assert_eq!((summary.left, summary.failed), (0, 0));
    assert!(other.wait().unwrap().success());
    run(&slow(), alone.path(), 2);
    assert_eq!(content(alone.path()), content(together.path()));
    assert!(!together.path().join("claims").exists());
}
