//! Running a model: whole records in free run, step by step, with intervals fed back, with certified bounds.

pub(crate) mod ahead;
pub(crate) mod certified;
mod certified_maps;
pub(crate) mod free_run;
pub(crate) mod range;
pub(crate) mod recursion;
mod recursion_maps;
pub(crate) mod stepwise;
pub(crate) mod walk;
