//! Tests through the public interface, by concern.

mod ahead;
mod baselines;
mod extrapolation;
mod monitor;
mod preparation;
mod recalibrate;
mod recovery;
mod reproducibility;
mod training;
