use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use intervalid_study::{RunOptions, Spec, Store, StudyEvent, run_study};

use crate::support::{SMALL, content, run, small};

const FOLDER: &str = "INTERVALID_TEST_STUDY_FOLDER";

#[test]
fn a_stopped_study_resumes_to_the_same_content() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&small(), whole.path(), 2);
    // Stop in the middle of fits, at other epochs each time.
    let mut rounds = 0;
    loop {
        let (stop, epochs) = (AtomicBool::new(false), AtomicUsize::new(0));
        let observer = |event: &StudyEvent<'_>| {
            if matches!(event, StudyEvent::Epoch { .. }) && epochs.fetch_add(1, Ordering::Relaxed) == 17 + rounds {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let options = RunOptions {
            jobs: 2,
            data_dir: None,
            shard: None,
            stop: &stop,
            observer: &observer,
        };
        let summary = run_study(&small(), parts.path(), &options).unwrap();
        assert_eq!(summary.done + summary.resumed + summary.left, 88);
        if summary.left == 0 {
            break;
        }
        rounds += 1;
        assert!(rounds < 20, "no progress");
    }
    assert!(rounds > 1);
    assert_eq!(content(whole.path()), content(parts.path()));
}

/// Not a test: what [`a_killed_study_resumes_to_the_same_content`] runs and kills.
#[test]
#[ignore = "not a test: the process that a_killed_study_resumes_to_the_same_content starts and kills"]
fn child() {
    let folder = std::env::var_os(FOLDER).expect("only the test that kills it runs this");
    let finished = AtomicUsize::new(0);
    let observer = |event: &StudyEvent<'_>| {
        if matches!(event, StudyEvent::Finished { .. }) && finished.fetch_add(1, Ordering::SeqCst) >= 20 {
            // However slow the parent is today, it finds a study that is not finished.
            std::thread::sleep(Duration::from_secs(120));
            panic!("nobody killed this process");
        }
    };
    let options = RunOptions {
        jobs: 2,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &observer,
    };
    run_study(&small(), Path::new(&folder), &options).unwrap();
}

#[test]
fn a_killed_study_resumes_to_the_same_content() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&small(), whole.path(), 2);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "resume::child", "--ignored"])
        .env(FOLDER, parts.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    let recorded = || {
        Store::open(parts.path())
            .and_then(|store| store.runs())
            .map_or(0, |runs| runs.len())
    };
    while recorded() < 5 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let survived = recorded();
    assert!(
        (5..88).contains(&survived),
        "{survived} runs were recorded before the kill"
    );
    let summary = run(&small(), parts.path(), 2);
    assert_eq!(summary.resumed, survived);
    assert_eq!(content(whole.path()), content(parts.path()));
}

#[test]
fn seeds_may_be_added_and_nothing_else_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace(
        "[\"inode\", \"ilstm\", \"bnode\", \"ensemble-lstm\", \"arx\"]",
        "[\"bnode\"]",
    );
    let spec = |text: &str| Spec::parse("s", text).unwrap();
    assert_eq!(run(&spec(&text), folder.path(), 2).done, 8);
    let more = run(
        &spec(&text.replace("seeds = [1, 2]", "seeds = \"1..3\"")),
        folder.path(),
        2,
    );
    assert_eq!((more.done, more.resumed), (4, 8));
    for changed in [text.replace("epochs = 1", "epochs = 2"), text.clone()] {
        let stop = AtomicBool::new(false);
        let options = RunOptions {
            jobs: 1,
            data_dir: None,
            shard: None,
            stop: &stop,
            observer: &|_| {},
        };
        let message = run_study(&spec(&changed), folder.path(), &options)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("other contents") && message.contains("another folder"),
            "{message}"
        );
    }
}
