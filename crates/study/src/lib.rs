//! Studies: a grid of fits from a file, run once each, recorded in one database, compared in tables.
//!
//! A [`Spec`] goes into [`run_study`], which leaves `study.sqlite` in a folder. It can be stopped or killed at any time: called
//! again, it does what is left. [`status`] says how far it is, [`study_tables`] compares its models with each other and with
//! the values the paper printed, [`Store`] gives every run, its predictions and its model.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use intervalid_study::{RunOptions, Spec, TableFormat, run_study, study_tables};
//!
//! let spec = Spec::parse("small.toml", r#"
//!     name = "small"
//!     datasets = ["hair-dryer"]
//!     models = ["arx"]
//! "#)?;
//! let folder = tempfile::tempdir().unwrap();
//! let options = RunOptions { jobs: 2, data_dir: None, stop: &AtomicBool::new(false), observer: &|_| {} };
//! assert_eq!(run_study(&spec, &folder, &options)?.done, 1);
//! assert_eq!(run_study(&spec, &folder, &options)?.resumed, 1);
//! println!("{}", study_tables(&folder)?.render(TableFormat::Markdown));
//! # Ok::<(), intervalid_study::StudyError>(())
//! ```

mod cell;
mod error;
pub mod figures;
mod job;
mod plan;
mod predictions;
mod progress;
mod published;
mod record;
mod rows;
mod run;
mod settings;
mod spec;
mod status;
mod store;
mod tables;

pub use cell::Cell;
pub use error::{Result, StudyError};
pub use plan::{Job, JobKind, MissingDataset, Plan, PlanData, Run};
pub use predictions::Prediction;
pub use progress::StudyProgress;
pub use published::{Published, TableMetric, published};
pub use record::{RunMetrics, RunRecord, RunResult, RunState};
pub use run::{RunOptions, StudyEvent, StudySummary, run_study};
pub use spec::{KeepModels, Override, Spec};
pub use status::{FailedRun, GroupStatus, RunCounts, StudyStatus, status};
pub use store::Store;
pub use tables::{
    Column, Mark, Row, Scoreboard, SeedSummary, StudyTables, Table, TableCell, TableFormat, TableKind, study_tables,
    tables_of_records,
};
