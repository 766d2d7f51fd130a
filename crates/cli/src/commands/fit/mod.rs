//! `intervalid fit`.

mod auto;
mod config;
mod files;
mod plan;
mod run;

pub(crate) use config::ConfigFile;
pub(crate) use files::{CONFIG, METRICS, MODEL};
pub(crate) use run::run;
