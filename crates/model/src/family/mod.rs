//! One kind of fitted model per file.

pub(crate) mod ensemble;
pub(crate) mod gaussian;
pub(crate) mod interval;
pub(crate) mod linear;
