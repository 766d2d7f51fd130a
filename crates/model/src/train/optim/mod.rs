//! Optimisers: Adam with step-size schedules, and GradNorm's loss scales.

mod adam;
mod gradnorm;
mod schedule;

pub(crate) use adam::{Adam, clip};
pub(crate) use gradnorm::LEAST_SCALE;
pub use gradnorm::{GradNorm, GradNormOptimiser, GradNormUpdate};
pub use schedule::Schedule;
