use std::collections::HashSet;
use std::fs;

use intervalid_study::{Job, JobKind, Spec, StudyPlan};

use crate::support::{SMALL, small};

fn folder_with_copies(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400)
        .map(|k| format!("{},{}\n", (k * 37) % 11, (k * 53) % 17))
        .collect();
    for name in names {
        fs::write(folder.path().join(name), format!("u,y\n{rows}")).unwrap();
    }
    folder
}

#[test]
fn the_paper_has_1200_runs_seed_by_seed() {
    let spec = Spec::builtin("paper").unwrap();
    assert_eq!(spec.cells().count(), 4 * 10 * (16 + 14));
    let folder = folder_with_copies(&["mr-damper.csv", "heat_exchanger.csv"]);
    let plan = StudyPlan::new(&spec, Some(folder.path())).unwrap();
    assert_eq!((plan.data.len(), plan.missing.len(), plan.runs().count()), (4, 0, 1200));
    let keys: HashSet<&str> = plan.runs().map(|run| run.key.as_str()).collect();
    assert_eq!(keys.len(), 1200);

    // Per data set and seed: two cascade jobs of 4, eight joint runs, six baselines at 2 coverages,
    // ARX twice.
    let count = |kind, runs| {
        plan.jobs
            .iter()
            .filter(|job| job.kind == kind && job.runs.len() == runs)
            .count()
    };
    let expected = [
        (JobKind::Cascades, 4, 80),
        (JobKind::Single, 1, 400),
        (JobKind::Coverages, 2, 240),
    ];
    for (kind, runs, jobs) in expected {
        assert_eq!(count(kind, runs), jobs, "{kind:?}");
    }
    assert_eq!(plan.jobs.len(), 720);
    let seeds: Vec<u64> = plan.jobs.iter().map(|job| job.runs[0].cell.seed).collect();
    assert!(seeds.is_sorted());
    assert_eq!(plan.runs().filter(|run| run.keep_model).count(), 120);
}

#[test]
fn missing_data_sets_are_named_with_their_runs() {
    let folder = folder_with_copies(&["mr-damper.csv"]);
    let plan = StudyPlan::new(&Spec::builtin("paper").unwrap(), Some(folder.path())).unwrap();
    assert_eq!(plan.missing.len(), 1);
    assert_eq!(
        (plan.missing[0].name.as_str(), plan.missing[0].runs),
        ("heat-exchanger", 300)
    );
    let spec = Spec::parse("s", "name = \"s\"\ndatasets = [\"a\", \"b.csv\"]\nmodels = [\"arx\"]").unwrap();
    let message = StudyPlan::new(&spec, None).unwrap_err().to_string();
    assert!(message.contains("'a'") && message.contains("b.csv"), "{message}");
}

#[test]
fn a_damaged_data_set_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.csv"), "u,y\n1,2\n1,x\n").unwrap();
    let spec = Spec::parse("s", "name = \"s\"\ndatasets = [\"bad\"]\nmodels = [\"arx\"]").unwrap();
    let message = StudyPlan::new(&spec, Some(folder.path())).unwrap_err().to_string();
    assert!(message.starts_with("data set 'bad'"), "{message}");
}

#[test]
fn cascades_with_different_crisp_networks_are_not_shared() {
    let text = format!("{SMALL}\n[[override]]\nmargin = \"relu\"\nset = {{ learning_rate = 0.001 }}\n");
    let plan = StudyPlan::new(&Spec::parse("s", &text).unwrap(), None).unwrap();
    let sizes: HashSet<usize> = plan
        .jobs
        .iter()
        .filter(|job| job.kind == JobKind::Cascades)
        .map(|job| job.runs.len())
        .collect();
    assert_eq!(sizes, HashSet::from([2]));
    // Other margins around the same crisp network are.
    let text = format!("{SMALL}\n[[override]]\nmargin = \"relu\"\nset = {{ margin_hidden = 0.3 }}\n");
    let plan = StudyPlan::new(&Spec::parse("s", &text).unwrap(), None).unwrap();
    let cascades: Vec<&Job> = plan.jobs.iter().filter(|job| job.kind == JobKind::Cascades).collect();
    assert!(cascades.iter().all(|job| job.runs.len() == 4), "{}", cascades.len());
}

#[test]
fn keys_change_with_whatever_changes_the_result() {
    let keys = |spec: &Spec, data_dir| -> Vec<String> {
        let plan = StudyPlan::new(spec, data_dir).unwrap();
        plan.runs().map(|run| run.key.clone()).collect()
    };
    let text = "name = \"s\"\ndatasets = [\"mine\"]\nmodels = [\"bnode\"]\n";
    let spec = |rest: &str| Spec::parse("s", &format!("{text}{rest}")).unwrap();
    let folder = folder_with_copies(&["mine.csv", "copy.csv"]);
    let base = keys(&spec(""), Some(folder.path()));
    assert_eq!(base, keys(&spec("keep_models = \"all\""), Some(folder.path())));
    for change in [
        "seeds = [2]",
        "coverages = [0.8]",
        "settings = { epochs = 3 }",
        "settings = { prior_std = 0.2 }",
    ] {
        assert_ne!(base, keys(&spec(change), Some(folder.path())), "{change}");
    }
    let copy = Spec::parse("s", &text.replace("mine", "copy")).unwrap();
    assert_ne!(base, keys(&copy, Some(folder.path())));
    let file = folder.path().join("mine.csv");
    let changed = fs::read_to_string(&file).unwrap().replacen("0,0\n", "0,0.5\n", 1);
    fs::write(file, changed).unwrap();
    assert_ne!(base, keys(&spec(""), Some(folder.path())));
}

#[test]
fn small_studies_have_every_kind_of_job() {
    let plan = StudyPlan::new(&small(), None).unwrap();
    // Per data set and seed: 2 models x (cascade + joint) x 2 margins x 2 coverages, 3 others x 2 coverages.
    assert_eq!(plan.runs().count(), 2 * 2 * (16 + 6));
}
