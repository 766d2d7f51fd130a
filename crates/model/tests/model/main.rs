//! Tests through the public interface, by concern.

mod baselines;
mod monitor;
mod preparation;
mod recalibrate;
mod recovery;
mod reproducibility;
mod training;
