//! Small studies, and a database as comparable text.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use intervalid_study::{RunOptions, Spec, StudySummary, run_study};

/// Every kind of job on the two data sets that are compiled in, in seconds.
pub(crate) const SMALL: &str = r#"
name = "small"
datasets = ["hair-dryer", "robot-arm"]
models = ["inode", "ilstm", "bnode", "ensemble-lstm", "arx"]
coverages = [0.9, 0.95]
seeds = [1, 2]

[settings]
epochs = 1
margin_epochs = 1
hidden = [4, 4]
members = 2
samples = 3
window = { length = 20, step = 10 }
batch = 16
"#;

pub(crate) fn small() -> Spec {
    Spec::parse("small", SMALL).unwrap()
}

pub(crate) fn run(spec: &Spec, folder: &Path, jobs: usize) -> StudySummary {
    run_shard(spec, folder, jobs, None)
}

pub(crate) fn run_shard(spec: &Spec, folder: &Path, jobs: usize, shard: Option<&str>) -> StudySummary {
    let options = RunOptions {
        jobs,
        data_dir: None,
        shard: shard.map(|shard| shard.parse().unwrap()),
        stop: &AtomicBool::new(false),
        observer: &|_| {},
    };
    run_study(spec, folder, &options).unwrap()
}

/// Every value of every table but times, in the order of keys.
pub(crate) fn content(folder: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(folder.join("study.sqlite")).unwrap();
    let mut lines = Vec::new();
    for (table, order) in [
        ("meta", "name"),
        ("runs", "key"),
        ("predictions", "key"),
        ("models", "key"),
    ] {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))
            .unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            if table == "meta" && row.get::<_, String>(0).unwrap() == "created" {
                continue;
            }
            let kept = names
                .iter()
                .enumerate()
                .filter(|(_, name)| !["train_seconds", "finished_at"].contains(&name.as_str()));
            lines.push(
                kept.map(|(index, name)| format!("{table}.{name} {:?}", row.get_ref(index).unwrap()))
                    .collect(),
            );
        }
    }
    lines
}
