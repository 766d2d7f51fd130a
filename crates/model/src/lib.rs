//! Interval neural networks for system identification.
//!
//! A [`FitConfig`] and a record go into [`fit`]; an [`IntervalModel`] and a [`TrainInfo`] come out. The model simulates a record in
//! free run and gives a [`Band`] around every sample; [`evaluate`] measures what the band is worth.
//!
//! ```
//! use intervalid_data::{ReadOptions, Split, known_dataset, load};
//! use intervalid_model::{FitConfig, FitOptions, ModelKind, Strategy, evaluate, fit};
//!
//! let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
//! let split = Split::new(&dataset, known_dataset("hair-dryer").unwrap().split())?;
//! let config = FitConfig { epochs: 3, ..FitConfig::paper("hair-dryer", ModelKind::Inode, Strategy::Joint) };
//!
//! let (model, info) = fit::<f32>(&dataset, &split, &config, FitOptions::default())?;
//! let bands = model.simulate(&dataset, &split.test)?;
//! let metrics = evaluate(&dataset, &bands, config.coverage)?.all;
//! assert_eq!(metrics.n, 499);
//! assert_eq!(info.epochs_run(), 3);
//! # Ok::<(), intervalid_model::ModelError>(())
//! ```
//!
//! The mathematics, and what a band does not promise, are in `docs/model.md`; symbols and names in `docs/notation.md`.

mod auto;
mod band;
mod config;
mod elasticity;
mod error;
mod family;
mod file;
mod fit_result;
#[cfg(test)]
mod fixtures;
mod interface;
mod kind;
mod model;
mod network;
mod output_error;
mod paper;
mod parallel;
mod plan;
mod settings;
mod simulate;
mod train;

pub use auto::{
    AutoConfig, AutoFit, AutoInfo, AutoObserver, AutoOptions, AutoProgress, CandidateInfo, Finding,
    calibrate_on_blocks, describe_record, fit_auto,
};
pub use band::calibration::{BlockScores, Calibration, OnlineBand, OnlineConstants, Scaling, calibrate, online_bands};
pub use band::extrapolation::TrainingRegion;
pub use band::metrics::{
    Aligned, CWC_ETA, Evaluation, HorizonCoverage, Metrics, ROLLING_WINDOW, RollingCoverage, align,
    coverage_by_horizon, cwc, evaluate, rolling_coverage,
};
pub use band::prediction::Band;
pub use config::{FitConfig, MarginActivation, Strategy};
pub use elasticity::{ChannelElasticity, Elasticity, LayerElasticity, regressor_names};
pub use error::{ModelError, Result};
pub use family::ensemble::IntervalEnsemble;
pub use family::gaussian::GaussianModel;
pub use family::interval::IntervalModel;
pub use family::linear::{LinearModel, search_lags};
pub use fit_result::{Extrapolation, FitResult, FitRuns};
pub use interface::ModelInterface;
pub use kind::{Method, ModelKind, Precision};
pub use model::Model;
pub use network::{Architecture, Block, Head, LayerId, Layout, NetworkKind, Role};
pub use parallel::map_parallel;
pub use plan::{Plan, Preset};
pub use simulate::certified::CertifiedBand;
pub use simulate::free_run::DIVERGED;
pub use simulate::recursion::RecursionMode;
pub use simulate::stepwise::{History, HistoryNeeds, Prediction, Simulator, SimulatorState};
pub use train::loss::{QuantileLevel, RqrW};
pub use train::optim::{GradNorm, GradNormUpdate, Schedule};
pub use train::{
    EpochRecord, FitOptions, IterationBench, Observer, Progress, Stage, StageInfo, StopReason, TrainInfo, fit,
    fit_cascades, fit_gaussian,
};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
