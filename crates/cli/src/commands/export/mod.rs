//! `intervalid export`.

mod bands;
mod coarse;
mod run;

pub use run::export_model;
pub(crate) use run::run;
