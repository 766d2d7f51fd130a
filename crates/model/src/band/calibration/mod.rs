//! From a model's band to one whose coverage was checked: offline on held-out blocks, online as measurements arrive.

mod ahead;
mod blocks;
mod levels;
mod online;
mod quality;
mod renew;
mod scaling;
mod together;

pub use ahead::{AheadScores, horizon_scales};
pub use blocks::{BlockScores, calibrate, quantile, standard_error};
pub use levels::{LEVEL_REACH, LevelScaling};
pub use online::{OnlineBand, OnlineConstants, OnlineMemory, online_bands};
pub use quality::BandQuality;
pub use renew::{Recalibrated, Renewal};
pub use scaling::{Calibration, Scaling};
pub use together::CoverageTarget;
