//! Tests through the public interface, by concern.

mod recovery;
mod reproducibility;
mod training;
