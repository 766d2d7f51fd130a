//! Bands: what a model claims about measured outputs, how that claim is calibrated, and what it turned out to be worth.

pub(crate) mod calibration;
pub(crate) mod extrapolation;
pub(crate) mod horizon;
pub(crate) mod light;
pub(crate) mod limits;
pub(crate) mod metrics;
pub(crate) mod monitor;
pub(crate) mod prediction;
