//! Studies: a grid of fits from a file, run once each, recorded in one database, compared in tables.
//!
//! A [`Spec`] goes into [`run_study`], which leaves `study.sqlite` in a folder. It can be stopped or killed at any time: called
//! again, it does what is left. [`status`] says how far it is, [`study_tables`] compares its models with each other and with
//! the values the paper printed, [`Store`] gives every run, its predictions and its model.
//!
//! On several machines, a [`Driver`] plans and records, [`Worker`]s execute its [`Task`]s wherever they are, and
//! [`RunOutput`]s come back; [`run_study`] is the same with threads. Without a word between machines, each runs a [`Shard`],
//! and [`merge_studies`] puts their databases together.
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
//! let options = RunOptions { jobs: 2, data_dir: None, shard: None, stop: &AtomicBool::new(false), observer: &|_| {} };
//! assert_eq!(run_study(&spec, &folder, &options)?.done, 1);
//! assert_eq!(run_study(&spec, &folder, &options)?.resumed, 1);
//! println!("{}", study_tables(&folder)?.render(TableFormat::Markdown));
//! # Ok::<(), intervalid_study::StudyError>(())
//! ```

mod cell;
mod claim;
mod driver;
mod error;
pub mod figures;
mod job;
mod lock;
mod merge;
mod output;
mod plan;
mod predictions;
mod progress;
mod published;
mod put;
mod record;
mod rows;
mod run;
mod run_config;
mod settings;
mod shard;
mod spec;
mod status;
mod store;
mod study_model;
mod tables;
mod task;
mod worker;

pub use cell::Cell;
pub use driver::{Driver, DriverOptions, Next, StudySummary};
pub use error::{Result, StudyError};
pub use job::Ticker;
pub use merge::{MergeSummary, merge_studies};
pub use output::RunOutput;
pub use plan::{Job, JobKind, MissingDataset, PlanData, Run, StudyPlan};
pub use predictions::StoredBand;
pub use progress::StudyProgress;
pub use published::{Published, TableMetric, is_in_paper, published};
pub use put::Put;
pub use record::{RunMetrics, RunRecord, RunResult, RunState};
pub use run::{RunOptions, StudyEvent, run_study};
pub use run_config::{RunConfig, SearchRun};
pub use shard::Shard;
pub use spec::{Columns, KeepModels, Override, Spec};
pub use status::{FailedRun, GroupStatus, RunCounts, StudyStatus, status};
pub use store::{DATABASE, Store};
pub use study_model::StudyModel;
pub use tables::{
    Chosen, ChosenModel, Column, Mark, Row, Scoreboard, SeedSummary, StudyTables, Table, TableCell, TableFormat,
    TableKind, TrainedFor, side_by_side, study_tables, tables_of_records,
};
pub use task::{DataSource, Task};
pub use worker::Worker;
