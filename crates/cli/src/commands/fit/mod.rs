//! `intervalid fit`.

mod config;
mod folder;
mod run;

pub(crate) use config::ConfigFile;
pub(crate) use folder::FitFolder;
pub(crate) use run::run;
