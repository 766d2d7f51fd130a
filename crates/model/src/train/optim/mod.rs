//! Optimisers: Adam with step-size schedules, and GradNorm's loss scales.

mod adam;
mod gradnorm;
mod schedule;

pub(crate) use adam::{Adam, clip};
pub use gradnorm::{GradNorm, GradNormOptimiser, GradNormUpdate};
pub use schedule::Schedule;
