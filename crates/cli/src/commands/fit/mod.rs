//! `intervalid fit`.

mod config;
mod result;
mod run;

pub(crate) use result::FitResult;
pub(crate) use run::{METRICS, MODEL, run};
