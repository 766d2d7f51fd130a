//! `intervalid data`: what there is, and what is in it.

pub(crate) mod list;
pub(crate) mod show;
