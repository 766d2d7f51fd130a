//! `intervalid fit`.

mod auto;
mod config;
mod result;
mod run;

pub(crate) use config::ConfigFile;
pub(crate) use result::{Extrapolation, FitResult};
pub(crate) use run::{CONFIG, METRICS, MODEL, run};
