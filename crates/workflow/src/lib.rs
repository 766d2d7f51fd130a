//! What every user interface of intervalid does around a fit, in one place.
//!
//! | step | from | to |
//! |---|---|---|
//! | read | [`RecordRequest`] | a dataset and its split |
//! | decide | [`Settings`] by name | [`FitRequest`], checked |
//! | train or search | [`FitRequest::train`] | [`Trained`] |
//! | run and judge | [`Trained::evaluate`] | [`FitOutcome`]: runs over all parts, their metrics, the linear baseline |
//!
//! [`FitMetrics`] is what `fit --json` prints and `metrics.json` holds; it reads back.
//!
//! ```
//! use intervalid_data::ReadOptions;
//! use intervalid_workflow::{FitRequest, RecordRequest, Settings, TrainOptions};
//!
//! let record = RecordRequest::new(vec!["hair-dryer".to_owned()], None, ReadOptions::default(), None);
//! let (dataset, split) = record.read()?;
//! let settings = Settings { epochs: Some(2), ..Settings::default() };
//! let request = FitRequest::new(&settings, record.known_name())?;
//! request.check(&dataset, &split)?;
//! let trained = request.train(&dataset, &split, TrainOptions::default())?;
//! let outcome = trained.evaluate(&dataset, &split, 1)?;
//! assert_eq!(outcome.metrics.test.map(|test| test.all.n), Some(499));
//! # Ok::<(), intervalid_workflow::WorkflowError>(())
//! ```

mod band;
mod baseline;
mod error;
mod levels;
mod outcome;
mod plan;
mod record;
mod request;
mod settings;
mod stamp;
mod train;
mod unfinished;
mod update;

pub use band::{BandRequest, OutputRanges, main_coverage, parse_range};
pub use baseline::Baseline;
pub use error::{OutsideRange, Result, WorkflowError};
pub use levels::{LevelMetrics, LevelRuns};
pub use outcome::{Extrapolation, FitMetrics, FitOutcome, PartRuns};
pub use plan::{Past, Plan, PlanLabel};
pub use record::{RecordRequest, SplitSource, check_data_dir, refuse_learnt};
pub use request::{FitRequest, Preset};
pub use settings::{LagsSetting, Settings, WindowSetting, nearest};
pub use stamp::{KnownStart, RecordStamp, each_sample, start_hashes};
pub use train::{SearchRecord, TrainOptions, Trained, Training, WhenInterrupted};
pub use unfinished::Unfinished;
pub use update::{Update, update, update_split};
