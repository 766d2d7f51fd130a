//! Tests through the public interface, by concern.

mod auto;
mod baselines;
mod recovery;
mod reproducibility;
mod training;
