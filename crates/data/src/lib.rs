//! Recordings of inputs and outputs: reading, checking, splitting, scaling and cutting into windows.
//!
//! The path is [`Dataset`] → [`Split`] → [`Normaliser`] → [`Scaled`] → [`Windows`], and each promise is checked where
//! its type is made and nowhere else. Time runs down the rows, channels across.
//!
//! ```
//! use intervalid_data::*;
//!
//! let dataset = load(&["robot-arm"], None, &ReadOptions::default())?;
//! let split = Split::new(&dataset, SplitFractions::default())?;
//! let normaliser = Normaliser::fit(&dataset, &split.train)?;
//! let scaled = normaliser.scale::<f32>(&dataset);
//! let lags = Lags::new(2, 1, 3)?;
//! let config = WindowConfig { length: 30, step: 1 };
//! let windows = Windows::new(&dataset, &split.train, lags, InitialState::ZeroPadded, config)?;
//! let first = windows.get(0);
//! let known_output = scaled.experiments()[first.experiment].output(0)[first.start];
//! assert!(known_output.is_finite());
//! # Ok::<(), DataError>(())
//! ```
//!
//! Before fitting: [`describe`] a record, [`estimate_dead_time`], [`suggest_lags`]. A linear model to compare with is
//! [`ArxModel`]; systems whose truth is known are [`LinearSystem`], [`WienerSystem`], [`BoucWenDamper`] and [`TwoTank`].
//!
//! | feature | default | without it |
//! |---|---|---|
//! | `parquet` | on | `.parquet` files are refused with an error that names the feature |

mod arx;
mod catalogue;
mod channel;
mod count;
mod dataset;
mod dead_time;
mod describe;
mod display_name;
mod error;
mod excitation;
mod experiment;
mod lag_search;
mod lags;
mod least_squares;
mod levinson;
mod load;
mod normal;
mod normalise;
mod number_text;
mod prepare;
mod quote_csv;
mod read;
mod regressor;
mod split;
mod spot;
mod synthetic;
mod time;
mod timed;
mod warning;
mod window;

pub use arx::{ArxModel, DIVERGED};
pub use catalogue::{CATALOGUE, KnownDataset, known_dataset};
pub use channel::{Channel, ChannelKind, position_of};
pub use count::count;
pub use dataset::Dataset;
pub use dead_time::{DeadTime, DeadTimeConfig, estimate_dead_time, find_dead_times};
pub use describe::{ChannelSummary, Summary, describe};
pub use display_name::display_name;
pub use error::{ArrayExpectation, DataError, FileError, FileProblem, NotANumberCause};
pub use excitation::excitation_order;
pub use experiment::Experiment;
pub use intervalid_files::replace_file;
pub use lag_search::{LagCandidate, LagSearchConfig, LagSuggestion, compare_lags, suggest_lags};
pub use lags::{InitialState, Lags};
pub use load::{DATA_DIR_VARIABLE, available_names, columns, file_of, load};
pub use normal::quantile as normal_quantile;
pub use normalise::{Normaliser, Scale, Scaled, ScaledExperiment};
pub use number_text::push_number;
pub use prepare::{ClipSpikes, Line, Preparation, Trend};
pub use quote_csv::quote_csv;
pub use read::{
    DateOrder, Decimal, EXTENSIONS, MissingPolicy, NumericArray, Position, ReadOptions, SAME_STEP, TimedTable,
    is_time_name, read, read_mat_arrays, split_unit,
};
pub use regressor::{PastOutput, PastOutputs, Regressor};
pub use split::{Part, Segment, Split, SplitFractions};
pub use spot::{Spot, SpotKind, spots};
pub use synthetic::{BoucWenDamper, LinearSystem, SyntheticRecord, TwoTank, WienerSystem};
pub use time::{Moment, TimeAxis, parse_seconds};
pub use timed::from_timed_tables;
pub use warning::Warning;
pub use window::{Window, WindowConfig, Windows, free_run_windows};

/// `Result` with this crate's error.
pub type Result<T, E = DataError> = std::result::Result<T, E>;
