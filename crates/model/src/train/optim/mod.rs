//! Optimisers: Adam with step-size schedules, and GradNorm's loss scales.

mod adam;
mod gradnorm;
mod schedule;

pub(crate) use adam::{Adam, clip};
pub use gradnorm::{GradNorm, GradNormUpdate};
pub use schedule::Schedule;
