//! Interval neural networks for system identification.
//!
//! A [`FitConfig`] and a record go into [`Model::fit`]; a [`Model`] and a [`TrainInfo`] come out. The model simulates a record in
//! free run and gives a [`Band`] around every sample; [`evaluate`] measures what the band is worth.
//!
//! | room | what is in it |
//! |---|---|
//! | `config` | settings by method, their ranges, their form in files |
//! | `network` | architectures: crisp and interval passes side by side, their gradients, the regressor |
//! | `train` | stages, losses, optimisers, checkpoints |
//! | `family` | kinds of fitted models: interval networks, Gaussian baselines, ARX |
//! | `simulate` | free runs, step by step, intervals fed back, certified bounds |
//! | `band` | bands, their calibration, extrapolation, metrics, the watch over a model in use |
//! | `file` | saved models |
//!
//! The mathematics are in `docs/method.md`, what a band does not promise in `docs/model.md`, symbols in `docs/notation.md`.

mod band;
mod config;
mod control;
mod elasticity;
mod error;
mod family;
mod file;
#[cfg(test)]
mod fixtures;
mod interface;
mod kind;
mod linear_view;
mod memory;
mod model;
mod network;
mod paper;
mod preparation;
mod simulate;
mod train;

pub use intervalid_data::DIVERGED;

pub use band::calibration::{
    AheadScores, BandQuality, BlockScores, Calibration, CoverageTarget, LEVEL_REACH, LevelScaling, OnlineBand,
    OnlineConstants, OnlineMemory, Recalibrated, Renewal, Scaling, calibrate, horizon_scales, online_bands, quantile,
    standard_error,
};
pub use band::extrapolation::TrainingRegion;
pub use band::horizon::HorizonScales;
pub use band::light::LightBand;
pub use band::limits::OutputRange;
pub use band::metrics::{
    Aligned, CWC_ETA, Evaluation, HorizonCoverage, Metrics, ROLLING_WINDOW, RollingCoverage, align,
    coverage_by_horizon, cwc, evaluate, rolling_coverage,
};
pub use band::monitor::{
    CoverageTest, DriftKind, Health, Monitor, MonitorConfig, MonitorReport, MonitorSample, MonitorState, OutputHealth,
    TestHealth, Tests, TrendPoint,
};
pub use band::prediction::Band;
pub use config::{
    CheckedConfig, Feedback, FitConfig, GaussianConfig, IntervalConfig, MarginActivation, NetworkConfig, Strategy,
    TrainingConfig,
};
pub use control::{Control, JudgedCandidate, Observer, Progress};
pub use elasticity::{ChannelElasticity, Elasticity, LayerElasticity, regressor_names};
pub use error::{FileKind, ModelError, Result};
pub use family::body::NetworkParameters;
pub use family::ensemble::{Spread, mean_band};
pub use family::linear::search_lags;

pub use interface::ModelInterface;
pub use kind::{Method, ModelKind, Precision};
pub use linear_view::{LinearEquation, LinearTerm, LinearView, Pole};
pub use model::Model;
pub use network::{Architecture, Block, Head, LayerId, Layout, MapId, NetworkKind, Role};
pub use simulate::certified::CertifiedBand;
pub use simulate::free_run::simulate_crisp;
pub use simulate::range::{FarInput, SAMPLE_LIMIT};
pub use simulate::recursion::RecursionMode;
pub use simulate::stepwise::{History, HistoryNeeds, Prediction, Simulator, SimulatorState};
pub use train::loss::{QuantileLevel, RqrW};
pub use train::optim::{GradNorm, GradNormOptimiser, GradNormUpdate, Schedule};
pub use train::{
    EpochProgress, EpochRecord, FitOptions, Stage, StageInfo, StopReason, TrainInfo, fit_cascades, fit_crisp,
    fit_margins, initial_margins, refit,
};

/// For this crate's own benchmark, which is a program of its own and sees only what is public.
#[doc(hidden)]
pub use train::{IterationBench, IterationProblem};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
