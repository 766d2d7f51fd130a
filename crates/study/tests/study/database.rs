use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use intervalid_study::{RunOptions, Spec, Store, StudyError, StudyEvent, run_study, status, study_tables};

use crate::support::run;

fn tiny() -> Spec {
    Spec::parse(
        "tiny",
        "name = \"tiny\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"arx\"]\nseeds = \"1..3\"",
    )
    .unwrap()
}

fn try_run(folder: &std::path::Path) -> Result<(), StudyError> {
    let options = RunOptions {
        jobs: 1,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &|_| {},
    };
    run_study(&tiny(), folder, &options).map(|_| ())
}

#[test]
fn an_empty_folder_holds_no_study() {
    let folder = tempfile::tempdir().unwrap();
    for message in [
        status(folder.path()).unwrap_err(),
        study_tables(folder.path()).unwrap_err(),
    ]
    .map(|e| e.to_string())
    {
        assert!(
            message.contains("holds no study") && message.contains("study.sqlite"),
            "{message}"
        );
    }
    // Killed before its first transaction, a study leaves an empty file.
    fs::write(folder.path().join("study.sqlite"), "").unwrap();
    assert!(status(folder.path()).is_err());
    assert_eq!(run(&tiny(), folder.path(), 1).done, 3);
}

#[test]
fn damaged_and_foreign_databases_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.sqlite");
    let refused = |what: &str| {
        for error in [
            status(folder.path()).map(|_| ()).unwrap_err(),
            try_run(folder.path()).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(
                message.contains("study.sqlite is not a valid study database"),
                "{what}: {message}"
            );
        }
    };
    fs::write(
        &path,
        "not a database, only a text that is long enough to be read as a header of one".repeat(20),
    )
    .unwrap();
    refused("text");
    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    refused("another program's");
    fs::remove_file(&path).unwrap();
    run(&tiny(), folder.path(), 1);
    let whole = fs::read(&path).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    refused("a newer format");
    let mut torn = whole.clone();
    torn.truncate(whole.len() / 2);
    fs::write(&path, torn).unwrap();
    let message = try_run(folder.path()).unwrap_err().to_string();
    assert!(message.contains("not a valid study database"), "{message}");
    fs::write(&path, whole).unwrap();
    assert_eq!(run(&tiny(), folder.path(), 1).resumed, 3);
}

#[test]
fn a_study_is_read_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Mutex::new(Vec::new());
    let observer = |event: &StudyEvent<'_>| {
        if let StudyEvent::Finished { .. } = event {
            seen.lock().unwrap().push(status(folder.path()).unwrap().runs.done);
        }
    };
    let options = RunOptions {
        jobs: 1,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &observer,
    };
    run_study(&tiny(), folder.path(), &options).unwrap();
    assert_eq!(seen.into_inner().unwrap(), [1, 2, 3]);
    assert_eq!(Store::open(folder.path()).unwrap().spec().unwrap(), tiny());
    assert!(try_run(folder.path()).is_ok());
}
