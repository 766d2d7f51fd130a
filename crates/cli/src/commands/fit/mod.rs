//! `intervalid fit`.

mod candidates;
mod config;
mod files;
mod run;

pub(crate) use config::ConfigFile;
pub(crate) use files::{CONFIG, METRICS, MODEL};
pub(crate) use run::run;
