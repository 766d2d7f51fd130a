//! `intervalid monitor`.

mod follow;
mod run;
mod state_file;

pub(crate) use run::run;
