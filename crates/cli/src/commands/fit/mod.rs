//! `intervalid fit`.

mod candidates;
mod config;
mod files;
mod folder;
mod run;

pub(crate) use config::ConfigFile;
pub(crate) use files::{CONFIG, FILES, METRICS, MODEL, READ};
pub(crate) use folder::FitFolder;
pub(crate) use run::run;
