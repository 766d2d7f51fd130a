//! `auto` in a study: searches beside models with settings.

use intervalid_model::ModelKind;
use intervalid_study::figures::study_figures;
use intervalid_study::{
    Driver, DriverOptions, Next, RunConfig, Spec, Store, StudyModel, TableFormat, TableKind, TableMetric, Worker,
    study_tables,
};
use std::ops::ControlFlow;

use crate::support::{content, run};

/// Linear models alone, so that a search takes a moment.
const SEARCHES: &str = r#"
name = "searches"
datasets = ["hair-dryer"]
models = ["arx", "auto"]
coverages = [0.95, 0.9]
seeds = [1, 2]

[settings]
lags = { nx = 2, nd = 2, ny = 2 }

[auto]
rounds = 0
budget = "10m"
"#;

#[test]
fn searches_are_stored_resumed_tabled_and_drawn_beside_other_models() {
    let spec = Spec::parse("s", SEARCHES).unwrap();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(run(&spec, one.path(), 2).done, 8);
    assert_eq!(run(&spec, one.path(), 1).resumed, 8);

    // Every run as a task of its own, sent as text, gives the same.
    let options = DriverOptions {
        share_training: false,
        ..DriverOptions::default()
    };
    let mut driver = Driver::open(&spec, &other, &options).unwrap();
    while let Next::Task(task) = driver.next().unwrap() {
        let task = intervalid_study::Task::from_json(&task.to_json()).unwrap();
        assert_eq!(task.job.runs.len(), 1);
        for output in Worker::default()
            .execute_all(&task, &|| ControlFlow::Continue(()))
            .unwrap()
        {
            driver.put(&output).unwrap();
        }
    }
    driver.close().unwrap();
    assert_eq!(content(one.path()), content(other.path()));

    let store = Store::open(&one).unwrap();
    let records = store.runs().unwrap();
    let searches: Vec<_> = records
        .iter()
        .filter(|record| record.cell.model == StudyModel::Auto)
        .collect();
    assert_eq!(searches.len(), 4);
    for record in &searches {
        assert_eq!(record.fitted_model(), Some(ModelKind::Arx));
        assert_eq!(record.result().unwrap().stopped_because, "search: done");
        let kept = store.model(&record.key).unwrap().map(|model| model.config().coverage);
        assert_eq!(kept, (record.cell.seed == 1).then_some(record.cell.coverage));
    }
    // Bands of one model: around the same predictions, the wider one for more coverage.
    let of = |coverage: f64| {
        let is_it = |cell: &intervalid_study::Cell| cell.seed == 1 && (cell.coverage - coverage).abs() < 1e-9;
        let found = searches.iter().find(|record| is_it(&record.cell)).unwrap();
        found.result().unwrap().test.all
    };
    assert_eq!(of(0.9).rmse, of(0.95).rmse);
    assert!(of(0.9).pinaw < of(0.95).pinaw);

    let tables = study_tables(&one).unwrap();
    let table = tables
        .tables
        .iter()
        .find(|table| table.kind == TableKind::Auto)
        .unwrap();
    assert_eq!(
        table
            .columns
            .iter()
            .map(|column| column.label.as_str())
            .collect::<Vec<_>>(),
        ["auto"]
    );
    assert_eq!(table.chosen_on("hair-dryer").unwrap(), "ARX 2");
    let picp = table.rows.iter().find(|row| row.metric == TableMetric::Picp).unwrap();
    assert!(picp.cells[0].mark.is_some() && picp.cells[0].published.is_none());
    let text = tables.render(TableFormat::Markdown);
    assert!(
        text.contains("## Searches (auto), coverage 0.9\n\n| data set | metric | auto |\n|---|---|---|\n| hair-dryer | chosen (seeds) | ARX 2 |\n"),
        "{text}"
    );
    let csv = tables.render(TableFormat::Csv);
    let line = csv
        .lines()
        .find(|line| line.starts_with("auto,hair-dryer,auto,,,0.9,picp,"))
        .unwrap();
    assert!(line.ends_with(",ARX 2,PICP %"), "{line}");

    let names: Vec<String> = study_figures(&store)
        .unwrap()
        .into_iter()
        .map(|figure| figure.name)
        .collect();
    assert!(names.contains(&"snapshot-hair-dryer-0.90-auto".to_owned()), "{names:?}");
}

#[test]
fn a_search_is_that_of_a_fit_with_the_studys_budget_and_main_coverage() {
    let spec = Spec::parse("s", SEARCHES).unwrap();
    for cell in spec.cells().filter(|cell| cell.model == StudyModel::Auto) {
        let RunConfig::Search(run) = spec.config(&cell).unwrap() else {
            panic!("{cell} is a search");
        };
        assert_eq!(
            (run.search.rounds, run.search.seed, run.budget_seconds),
            (0, cell.seed, Some(600.0))
        );
        // What `fit --coverage 0.95,0.9` would be searched for.
        assert!((run.search.coverage - 0.9).abs() < 1e-12 && (run.coverage - cell.coverage).abs() < 1e-12);
    }
}

#[test]
fn mistakes_about_searches_are_named() {
    let error = |models: &str, rest: &str| {
        let text = format!("name = \"s\"\ndatasets = [\"hair-dryer\"]\nmodels = {models}\n{rest}");
        Spec::parse("s.toml", &text).unwrap_err().to_string()
    };
    let cases = [
        (
            r#"["auto"]"#,
            "[auto]\nbudget = 30",
            "auto: budget = 30 is not allowed: expected a positive time such as \"30s\" or \"2m\"",
        ),
        (
            r#"["auto"]"#,
            "[auto]\nepochs = 3",
            "auto = epochs is not allowed: expected one of budget, rounds, lags, initial, precision",
        ),
        (
            r#"["auto"]"#,
            "[auto]\nseed = 3",
            "auto.seed = 3 is not allowed: expected no such key here: a study has `seeds`",
        ),
        (
            r#"["auto"]"#,
            "[auto]\nrounds = 5000",
            "hair-dryer auto 0.9 seed 1: rounds = 5000 is not allowed: expected at most 1000",
        ),
        (
            r#"["arx"]"#,
            "[auto]\nbudget = \"30s\"",
            "auto = { budget } is not allowed: expected no such table unless `models` has \"auto\"",
        ),
        (
            r#"["auto"]"#,
            "[settings]\nepochs = 3",
            "settings = { epochs } is not allowed: expected no such table: the study has auto alone, whose settings are in `[auto]`",
        ),
        (
            r#"["arx", "auto"]"#,
            "[[override]]\nmodel = \"auto\"\nset = { epochs = 3 }",
            "override 1: model = auto is not allowed: expected a model that is trained as settings say: those of auto are in `[auto]`",
        ),
        (
            r#"["auto", "auto"]"#,
            "",
            "models = auto is not allowed: expected every value once",
        ),
    ];
    for (models, rest, expected) in cases {
        let found = error(models, rest);
        assert!(found.contains(expected), "{rest}: {found}");
    }
    let unknown = error(r#"["gru"]"#, "");
    assert!(
        unknown.contains("unknown model 'gru'") && unknown.contains("or auto for a search"),
        "{unknown}"
    );
}
