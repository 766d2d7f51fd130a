//! Interval neural networks for system identification.

mod any_model;
mod certify;
mod config;
mod error;
mod feed;
#[cfg(test)]
mod fixtures;
mod initialise;
mod loss;
mod margin;
mod metrics;
mod model;
mod network;
mod optim;
mod parallel;
mod persist;
mod prediction;
mod recursion;
mod simulate;
mod tensors;
mod train;

pub use any_model::AnyModel;
pub use certify::CertifiedBand;
pub use config::{FitConfig, Margin, Strategy};
pub use error::{ModelError, Result};
pub use loss::{Level, RqrW};
pub use metrics::{
    CWC_ETA, Evaluation, HorizonCoverage, Metrics, ROLLING_WINDOW, RollingCoverage, Scored, coverage_by_horizon, cwc,
    evaluate, rolling_coverage, scored,
};
pub use model::Model;
pub use network::{Architecture, Block, LayerId, Layout, NetworkKind, Role};
pub use optim::{GradNorm, GradNormUpdate, Schedule};
pub use parallel::map_parallel;
pub use prediction::Band;
pub use recursion::RecursionMode;
pub use train::{
    EpochRecord, FitOptions, IterationBench, Observer, Progress, Stage, StageInfo, StopReason, TrainInfo, fit,
};
