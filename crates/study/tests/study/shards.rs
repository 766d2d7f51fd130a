//! Shares of a study, and what becomes of them together.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use intervalid_study::{
    Driver, DriverOptions, RunOptions, Spec, Store, StudyError, StudyEvent, TableFormat, merge_studies, run_study,
    status, study_tables,
};

use crate::support::{SMALL, content, run, run_shard, small};

fn tables(folder: &Path) -> String {
    study_tables(folder).unwrap().render(TableFormat::Json)
}

fn execute(folder: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(folder.join("study.sqlite")).unwrap();
    assert_eq!(connection.execute(statement, []).unwrap(), 1, "{statement}");
}

#[test]
fn merged_shards_are_the_whole_study() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    run(&small(), &folder("whole"), 2);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| {
        let out = folder(&shard.replace('/', "-of-"));
        let summary = run_shard(&small(), &out, 1, Some(shard));
        assert!(summary.done > 20 && summary.left == 0, "{summary:?}");
        out
    });
    let merged = merge_studies(folder("merged"), &shards).unwrap();
    assert_eq!(
        (merged.added, merged.known, merged.runs.done, merged.runs.left),
        (88, 0, 88, 0)
    );
    assert_eq!(content(&folder("merged")), content(&folder("whole")));
    assert_eq!(tables(&folder("merged")), tables(&folder("whole")));
    let again = merge_studies(folder("merged"), &shards[..2]).unwrap();
    assert_eq!((again.added, again.runs.done), (0, 88));
    assert_eq!(content(&folder("merged")), content(&folder("whole")));
    // The whole is a study like any other: nothing is left to do.
    assert_eq!(run(&small(), &folder("merged"), 1).resumed, 88);

    // All shards into one folder need no merge.
    for shard in ["2/2", "1/2"] {
        run_shard(&small(), &folder("together"), 2, Some(shard));
    }
    assert_eq!(content(&folder("together")), content(&folder("whole")));
}

fn shard_keys(spec: &Spec, data_dir: &Path, shard: &str) -> HashSet<String> {
    let out = tempfile::tempdir().unwrap();
    let options = DriverOptions {
        data_dir: Some(data_dir),
        shard: Some(shard.parse().unwrap()),
        ..DriverOptions::default()
    };
    let driver = Driver::open(spec, out.path(), &options).unwrap();
    driver.plan().runs().map(|run| run.key.clone()).collect()
}

/// A node that lacks a file must not do what another does as well, nor leave what nobody does.
#[test]
fn shards_do_not_depend_on_which_data_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..300).map(|k| format!("{},{}\n", k * 37 % 11, k * 53 % 17)).collect();
    for name in ["b.csv", "c.csv"] {
        fs::write(folder.path().join(name), format!("u,y\n{rows}")).unwrap();
    }
    let text = SMALL.replace("\"robot-arm\"", "\"b\", \"c\"");
    let spec = Spec::parse("s", &text).unwrap();
    let all = ["1/4", "2/4", "3/4", "4/4"].map(|shard| shard_keys(&spec, folder.path(), shard));
    assert_eq!(all.iter().map(HashSet::len).sum::<usize>(), 3 * 44);
    assert_eq!(all.iter().flatten().collect::<HashSet<_>>().len(), 3 * 44);
    fs::remove_file(folder.path().join("b.csv")).unwrap();
    let fewer = ["1/4", "2/4", "3/4", "4/4"].map(|shard| shard_keys(&spec, folder.path(), shard));
    assert_eq!(fewer.iter().map(HashSet::len).sum::<usize>(), 2 * 44);
    for (fewer, all) in fewer.iter().zip(&all) {
        assert!(fewer.is_subset(all));
    }
}

/// Shards on one folder: each removes and redoes its own.
#[test]
fn outdated_runs_of_another_shard_stay_until_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |factor: usize| {
        let rows: String = (0..300)
            .map(|k| format!("{},{}\n", k * 37 % 11, factor * (k * 53 % 17)))
            .collect();
        fs::write(folder.path().join("b.csv"), format!("u,y\n{rows}")).unwrap();
    };
    let text = "name = \"s\"\ndatasets = [\"b\"]\nmodels = [\"arx\"]\nseeds = [1, 2]\n";
    let spec = Spec::parse("s", text).unwrap();
    let out = folder.path().join("out");
    let run = |shard: &str| {
        let options = RunOptions {
            jobs: 1,
            data_dir: Some(folder.path()),
            shard: Some(shard.parse().unwrap()),
            stop: &AtomicBool::new(false),
            observer: &|_| {},
        };
        run_study(&spec, &out, &options).unwrap()
    };
    let seeds = || {
        let runs = Store::open(&out).unwrap().runs().unwrap();
        runs.into_iter().map(|run| (run.cell.seed, run.key)).collect::<Vec<_>>()
    };
    write(1);
    assert_eq!((run("1/2").done, run("2/2").done), (1, 1));
    let before = seeds();
    write(2);
    let summary = run("1/2");
    assert_eq!((summary.outdated, summary.done), (1, 1));
    let after = seeds();
    let kept = before.iter().filter(|run| after.contains(run)).count();
    assert_eq!((after.len(), kept), (2, 1), "the other shard's run stays");
    let summary = run("2/2");
    assert_eq!((summary.outdated, summary.done, summary.resumed), (1, 1, 0));
    assert!(seeds().iter().all(|run| !before.contains(run)));
}

fn bayesian(seeds: &str) -> Spec {
    let text = SMALL.replace(
        "[\"inode\", \"ilstm\", \"bnode\", \"ensemble-lstm\", \"arx\"]",
        "[\"bnode\"]",
    );
    Spec::parse("s", &text.replace("seeds = [1, 2]", seeds)).unwrap()
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    let spec = bayesian("seeds = [1, 2]");
    for (name, shard) in [("one", "1/2"), ("two", "2/2"), ("twin", "1/2")] {
        run_shard(&spec, &folder(name), 1, Some(shard));
    }
    merge_studies(folder("merged"), &[folder("one")]).unwrap();
    let before = content(&folder("merged"));
    let refused = |shards: &[&str], expected: &str| {
        let shards: Vec<_> = shards.iter().map(|name| folder(name)).collect();
        for out in ["merged", "new"] {
            let error = merge_studies(folder(out), &shards).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(expected), "{error}");
            assert_eq!(content(&folder("merged")), before);
            assert!(!folder("new").exists(), "nothing is left behind");
        }
    };
    // Other settings, no study, a folder that is not there.
    let text = toml::to_string(&spec).unwrap().replace("epochs = 1", "epochs = 2");
    run_shard(&Spec::parse("s", &text).unwrap(), &folder("other"), 1, Some("1/4"));
    refused(&["two", "one", "other"], "other contents");
    fs::create_dir(folder("empty")).unwrap();
    refused(&["two", "empty"], "holds no study");
    // A result that says something else about a run that is there, in the last of the shards.
    execute(
        &folder("twin"),
        "UPDATE runs SET parameters = parameters + 1 WHERE key = (SELECT max(key) FROM runs)",
    );
    refused(&["two", "one", "twin"], "its result is not that of");
    run_shard(&spec, &folder("three"), 1, Some("1/2"));
    execute(
        &folder("three"),
        "UPDATE predictions SET bands = x'69766231' WHERE key = (SELECT max(key) FROM predictions)",
    );
    refused(&["one", "three"], "its band is not that of");
    // Another version of the program.
    execute(&folder("two"), "UPDATE meta SET value = '0.0.1' WHERE name = 'version'");
    refused(&["one", "two"], "0.0.1");
    let error = merge_studies(folder("one"), &[folder("one")]).unwrap_err();
    assert!(error.to_string().contains("the same folder"), "{error}");
    let none: [&Path; 0] = [];
    assert!(merge_studies(folder("merged"), &none).is_err());
}

/// A study goes on with another version of the program, and keeps what is done: it says so, and is merged with nothing.
#[test]
fn runs_of_another_version_are_told_and_not_merged() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    let spec = bayesian("seeds = [1]");
    for name in ["old", "new"] {
        run(&spec, &folder(name), 1);
    }
    let now = status(folder("new")).unwrap().versions.remove(0);
    execute(
        &folder("old"),
        "UPDATE runs SET version = '0.0.1' WHERE key = (SELECT max(key) FROM runs)",
    );
    execute(&folder("old"), "UPDATE meta SET value = '0.0.1' WHERE name = 'version'");
    let told = Mutex::new(Vec::new());
    let observer = |event: &StudyEvent<'_>| {
        if let StudyEvent::OtherVersions { runs, versions } = event {
            told.lock().unwrap().push((*runs, versions.to_vec()));
        }
    };
    let options = RunOptions {
        jobs: 1,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &observer,
    };
    let summary = run_study(&spec, folder("old"), &options).unwrap();
    assert_eq!((summary.done, summary.resumed, summary.other_versions), (0, 4, 1));
    assert_eq!(told.into_inner().unwrap(), [(1, vec!["0.0.1".to_owned()])]);
    assert_eq!(run(&spec, &folder("new"), 1).other_versions, 0);
    assert_eq!(status(folder("old")).unwrap().versions, ["0.0.1", now.as_str()]);
    let words = format!("several versions of the program (0.0.1, {now})");
    for format in [TableFormat::Markdown, TableFormat::Latex] {
        let table = |name: &str| study_tables(folder(name)).unwrap().render(format);
        assert!(table("old").contains(&words), "{}", table("old"));
        assert!(!table("new").contains("several versions"));
    }
    // The line in the table `meta` names this version by now.
    for (out, shard) in [("merged", "old"), ("old", "new")] {
        let before = content(&folder("old"));
        let error = merge_studies(folder(out), &[folder(shard)]).unwrap_err();
        assert!(
            matches!(&error, StudyError::OtherVersion { found, .. } if found == "0.0.1"),
            "{error}"
        );
        assert_eq!(content(&folder("old")), before);
    }
    assert!(!folder("merged").exists(), "nothing is left behind");
}

/// While a merge fails, somebody else may have begun a study in its folder: that one is not taken away.
#[test]
fn a_merge_that_finds_its_folder_in_use_takes_nothing_away() {
    let root = tempfile::tempdir().unwrap();
    let (out, shard) = (root.path().join("out"), root.path().join("shard"));
    run(&bayesian("seeds = [1]"), &shard, 1);
    fs::create_dir(&out).unwrap();
    // As a driver holds it before its first transaction.
    let lock = fs::File::create(out.join("study.lock")).unwrap();
    lock.lock_shared().unwrap();
    let error = merge_studies(&out, &[&shard]).unwrap_err();
    assert!(matches!(error, StudyError::InUse { .. }), "{error}");
    assert!(out.join("study.lock").exists());
    drop(lock);
    assert_eq!(merge_studies(&out, &[&shard]).unwrap().added, 4);
}

#[test]
fn failures_are_merged_and_results_win_over_them() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    let spec = bayesian("seeds = [1]");
    for name in ["good", "bad"] {
        run(&spec, &folder(name), 1);
    }
    execute(
        &folder("bad"),
        "UPDATE runs SET status = 'failed', reason = 'no memory' WHERE key = (SELECT max(key) FROM runs)",
    );
    let merged = |shards: &[&str]| {
        let shards: Vec<_> = shards.iter().map(|name| folder(name)).collect();
        let summary = merge_studies(folder("merged"), &shards).unwrap();
        (summary.added, summary.known, summary.runs.done, summary.runs.failed)
    };
    assert_eq!(merged(&["bad"]), (4, 0, 3, 1));
    assert_eq!(merged(&["bad"]), (0, 4, 3, 1));
    assert_eq!(merged(&["bad", "good", "bad"]), (1, 11, 4, 0));
    assert_eq!(content(&folder("merged")), content(&folder("good")));
}

#[test]
fn shards_with_more_seeds_are_the_same_study() {
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| root.path().join(name);
    let (few, more) = (bayesian("seeds = [1]"), bayesian("seeds = [1, 2]"));
    run(&few, &folder("few"), 1);
    run_shard(&more, &folder("more"), 1, Some("2/2"));
    let merged = merge_studies(folder("merged"), &[folder("few"), folder("more")]).unwrap();
    assert_eq!(merged.runs.total, 8);
    assert!(merged.runs.done >= 6, "{merged:?}");
    let rest = run(&more, &folder("merged"), 1);
    assert_eq!(rest.done + rest.resumed, 8);
}

#[test]
fn a_study_that_runs_is_not_merged_into() {
    let root = tempfile::tempdir().unwrap();
    let (out, shard) = (root.path().join("out"), root.path().join("shard"));
    let spec = bayesian("seeds = [1]");
    run(&spec, &shard, 1);
    let driver = Driver::open(&spec, &out, &DriverOptions::default()).unwrap();
    let error = merge_studies(&out, &[&shard]).unwrap_err();
    assert!(matches!(error, StudyError::InUse { .. }), "{error}");
    drop(driver);
    assert_eq!(merge_studies(&out, &[&shard]).unwrap().added, 4);
}
