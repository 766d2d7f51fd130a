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
mod calibration;
mod certify;
mod config;
mod elasticity;
mod error;
mod feed;
mod fingerprint;
mod fit_result;
#[cfg(test)]
mod fixtures;
mod gaussian;
mod initialise;
mod interval_ensemble;
mod interval_model;
mod kind;
mod linear;
mod loss;
mod margin;
mod metrics;
mod model;
mod network;
mod optim;
mod output_error;
mod paper;
mod parallel;
mod persist;
mod plan;
mod prediction;
mod recursion;
mod region;
mod settings;
mod signature;
mod simulate;
mod simulator;
mod tensors;
mod train;

pub use auto::{
    AutoConfig, AutoFit, AutoInfo, AutoObserver, AutoOptions, AutoProgress, CandidateInfo, Finding,
    calibrate_on_blocks, fit_auto, inspect,
};
pub use calibration::{BlockScores, Calibration, OnlineBand, OnlineConstants, Scaling, calibrate, online_bands};
pub use certify::CertifiedBand;
pub use config::{FitConfig, Margin, Strategy};
pub use elasticity::{ChannelElasticity, Elasticity, LayerElasticity, regressor_names};
pub use error::{ModelError, Result};
pub use fit_result::{Extrapolation, FitResult, FitRuns};
pub use gaussian::GaussianModel;
pub use interval_ensemble::IntervalEnsemble;
pub use interval_model::IntervalModel;
pub use kind::{Method, ModelKind, Precision};
pub use linear::{LinearModel, search_lags};
pub use loss::{Level, RqrW};
pub use metrics::{
    CWC_ETA, Evaluation, HorizonCoverage, Metrics, ROLLING_WINDOW, RollingCoverage, Scored, coverage_by_horizon, cwc,
    evaluate, rolling_coverage, scored,
};
pub use model::Model;
pub use network::{Architecture, Block, Head, LayerId, Layout, NetworkKind, Role};
pub use optim::{GradNorm, GradNormUpdate, Schedule};
pub use parallel::map_parallel;
pub use plan::{Plan, Preset};
pub use prediction::Band;
pub use recursion::RecursionMode;
pub use region::TrainingRegion;
pub use signature::Signature;
pub use simulator::{History, HistoryNeeds, Prediction, Simulator, SimulatorState};
pub use train::{
    EpochRecord, FitOptions, IterationBench, Observer, Progress, Stage, StageInfo, StopReason, TrainInfo, fit,
    fit_cascades, fit_gaussian,
};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
