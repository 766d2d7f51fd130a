//! Test support for the intervalid crates: finite differences, tolerances, golden values, data sets that cannot be
//! redistributed, and an allocator that counts.
//!
//! Depends on none of the other crates, so any of them can use it as a dev-dependency.

mod allocator;
mod dataset;
mod difference;
mod golden;
mod tolerance;

pub use allocator::{AllocationCount, CountingAllocator};
pub use dataset::{data_dir, require_dataset};
pub use difference::{Scheme, directional, gradient, gradient_with};
pub use golden::{
    Golden, GoldenCase, GoldenGradients, GoldenLayer, GoldenLosses, GoldenMargins, GradNormValues, golden,
};
pub use tolerance::{
    Tolerance, assert_all_close, assert_all_within_ulps, assert_close, ulp_distance, ulp_distance_f32,
};
