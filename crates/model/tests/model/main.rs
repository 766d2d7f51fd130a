//! Tests through the public interface, by concern.

mod baselines;
mod recovery;
mod reproducibility;
mod training;
