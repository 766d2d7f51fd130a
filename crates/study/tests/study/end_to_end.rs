use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use intervalid_data::Lags;
use intervalid_model::{Aligned, FitConfig, Metrics, ModelKind};
use intervalid_study::{JobKind, RunOptions, RunState, Spec, Store, StudyEvent, StudyPlan, run_study, status};

use crate::support::{SMALL, content, run, small};

#[test]
fn a_study_is_recorded_whatever_the_number_of_jobs() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let summary = run(&small(), one.path(), 1);
    assert_eq!(
        (summary.done, summary.failed, summary.resumed, summary.left),
        (88, 0, 0, 0)
    );
    run(&small(), two.path(), 2);
    assert_eq!(content(one.path()), content(two.path()));
    let names: Vec<String> = fs::read_dir(one.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        !names
            .iter()
            .any(|name| name.contains("-wal") || name.contains("-journal")),
        "{names:?}"
    );

    let store = Store::open(one.path()).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.len(), 88);
    for record in &runs {
        let result = record.result().unwrap();
        assert!(result.test.all.rmse.is_some(), "{}", record.cell);
        let predictions = store.predictions(&record.key).unwrap().unwrap();
        assert_eq!(predictions.len(), 1);
        let columns = [
            &predictions[0].target,
            &predictions[0].lower,
            &predictions[0].centre,
            &predictions[0].upper,
        ];
        let columns = columns.map(|column| column.iter().map(|&value| f64::from(value)).collect::<Vec<f64>>());
        let [target, lower, centre, upper] = &columns;
        let scored = Aligned {
            target,
            lower,
            centre,
            upper,
            diverged_at: None,
        };
        // The kept bands are those that were evaluated, to single precision.
        let again = Metrics::of(&[scored], record.cell.coverage);
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-5 * (1.0 + a.unwrap().abs());
        assert!(
            near(again.rmse, result.test.all.rmse) && near(again.pinaw, result.test.all.pinaw),
            "{}",
            record.cell
        );
        let model = store.model(&record.key).unwrap();
        assert_eq!(model.is_some(), record.cell.seed == 1);
        if let Some(model) = model {
            assert!((model.config().coverage - record.cell.coverage).abs() < 1e-12);
            assert_eq!(
                (Some(model.kind()), model.config().seed),
                (record.cell.model.kind(), record.cell.seed)
            );
        }
    }

    let status = status(one.path()).unwrap();
    assert_eq!((status.runs.total, status.runs.done, status.runs.left), (88, 88, 0));
    assert_eq!(status.groups.len(), 10);
    assert_eq!(
        (status.groups[0].model, status.groups[0].runs.done),
        (ModelKind::Inode.into(), 16)
    );
    assert_eq!(status.versions, [env!("CARGO_PKG_VERSION")]);
}

#[test]
fn a_failing_run_is_recorded_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace("seeds = [1, 2]", "seeds = [1]")
        + "\n[[override]]\ndataset = \"hair-dryer\"\nmodel = \"bnode\"\nset = { window = { length = 5000 } }\n";
    let spec = Spec::parse("s", &text).unwrap();
    let events = Mutex::new(Vec::new());
    let observer = |event: &StudyEvent<'_>| match event {
        StudyEvent::Failed { cell, .. } => events.lock().unwrap().push(cell.to_string()),
        StudyEvent::Finished { progress, .. } => assert!(progress.share <= 1.0 && progress.runs_done <= 44),
        _ => {}
    };
    let options = RunOptions {
        jobs: 2,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &observer,
    };
    let summary = run_study(&spec, folder.path(), &options).unwrap();
    assert_eq!((summary.done, summary.failed), (42, 2));
    let mut failed = events.into_inner().unwrap();
    failed.sort_unstable();
    assert_eq!(failed, ["hair-dryer bnode 0.9 seed 1", "hair-dryer bnode 0.95 seed 1"]);
    let progress = status(folder.path()).unwrap();
    assert_eq!((progress.runs.failed, progress.failures.len()), (2, 2));
    let runs = Store::open(folder.path()).unwrap().runs().unwrap();
    for record in runs.iter().filter(|record| record.result().is_none()) {
        let RunState::Failed { reason } = &record.state else {
            unreachable!()
        };
        assert!(reason.contains("window"), "{reason}");
    }
    let again = run(&spec, folder.path(), 1);
    assert_eq!((again.done, again.failed, again.resumed), (0, 2, 42));
}

#[test]
fn a_missing_data_set_is_left_out_until_it_is_there() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = "name = \"s\"\ndatasets = [\"hair-dryer\", \"mine\"]\nmodels = [\"arx\"]\nseeds = \"1..3\"\n";
    let spec = Spec::parse("s", text).unwrap();
    let stop = AtomicBool::new(false);
    let missing = Mutex::new(0);
    let observer = |event: &StudyEvent<'_>| {
        if let StudyEvent::MissingDataset(dataset) = event {
            assert_eq!((dataset.name.as_str(), dataset.runs), ("mine", 3));
            *missing.lock().unwrap() += 1;
        }
    };
    let options = RunOptions {
        jobs: 1,
        data_dir: Some(data.path()),
        shard: None,
        stop: &stop,
        observer: &observer,
    };
    let summary = run_study(&spec, folder.path(), &options).unwrap();
    assert_eq!((summary.done, summary.skipped), (3, 3));
    assert_eq!(summary.missing_datasets, ["mine"]);
    assert_eq!(*missing.lock().unwrap(), 1);

    let rows: String = (0..400)
        .map(|k| format!("{},{}\n", (k * 37) % 11, (k * 53) % 17))
        .collect();
    fs::write(data.path().join("mine.csv"), format!("u,y\n{rows}")).unwrap();
    let summary = run_study(&spec, folder.path(), &options).unwrap();
    assert_eq!((summary.done, summary.resumed, summary.skipped), (3, 3, 0));

    // Other data, other results: the old ones are not mixed with them.
    fs::write(data.path().join("mine.csv"), format!("u,y\n1,1\n{rows}")).unwrap();
    let summary = run_study(&spec, folder.path(), &options).unwrap();
    assert_eq!((summary.done, summary.resumed, summary.outdated), (3, 3, 3));
    assert_eq!(status(folder.path()).unwrap().runs.done, 6);
}

#[test]
fn one_failing_cascade_does_not_take_the_others_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"s\"\ndatasets = [\"hair-dryer\"]\nmodels = [\"inode\"]\nstrategies = [\"cascade\"]\n\
                [settings]\nepochs = 2\nhidden = [4, 4]\nwindow = { length = 20, step = 10 }\nbatch = 16\n\
                [[override]]\nmargin = \"relu\"\nset = { margin_hidden = 1e38, margin_output = 1e38 }\n";
    let spec = Spec::parse("s", text).unwrap();
    let plan = StudyPlan::new(&spec, None).unwrap();
    assert_eq!((plan.jobs.len(), plan.jobs[0].kind), (1, JobKind::Cascades));
    let summary = run(&spec, folder.path(), 1);
    assert_eq!((summary.done, summary.failed), (1, 1));
    let status = status(folder.path()).unwrap();
    assert!(status.failures[0].run.contains("relu"), "{:?}", status.failures);
}

#[test]
fn models_with_hidden_states_are_fitted_to_a_record_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plant.csv");
    let mut text = "u,y\n".to_owned();
    let mut level = 0.0;
    for k in 0..400 {
        let u = f64::from(u8::from((k / 7 + k / 11) % 2 == 0));
        text += &format!("{u},{level}\n");
        level = 0.8 * level + 0.2 * u;
    }
    fs::write(&file, text).unwrap();
    let study = format!(
        "name = \"own\"\ndatasets = [{file:?}]\nmodels = [\"iss\", \"inode\"]\ncoverages = [0.9, 0.95]\nseeds = [1]\n\n\
         [settings]\nepochs = 1\nmargin_epochs = 1\nhidden = [4, 4]\nwindow = {{ length = 40, step = 10 }}\n"
    );
    let spec = Spec::parse("own", &study).unwrap();
    let out = folder.path().join("out");
    let summary = run(&spec, &out, 1);
    let records = Store::open(&out).unwrap().runs().unwrap();
    assert_eq!(
        summary.failed,
        0,
        "{:?}",
        records.iter().map(|record| &record.state).collect::<Vec<_>>()
    );
    // Lags are searched: an iss takes the dead time alone.
    let of_states = records
        .iter()
        .filter(|record| record.fitted_model() == Some(ModelKind::Iss));
    let lags: Vec<Lags> = of_states
        .map(|record| serde_json::from_str::<FitConfig>(&record.config).unwrap().lags)
        .collect();
    assert!(
        !lags.is_empty() && lags.iter().all(|lags| (lags.nx, lags.nd, lags.ny) == (1, 1, 1)),
        "{lags:?}"
    );
}
