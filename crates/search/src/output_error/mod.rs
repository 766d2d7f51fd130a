//! Simulation-error (output-error) fits of small models: all of a free run's error, minimised by Gauss–Newton steps.

mod levenberg;
mod narx;

pub(crate) use levenberg::{DescentConfig, descend, free_run_error};
pub(crate) use narx::Narx;
