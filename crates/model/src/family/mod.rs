//! One kind of fitted model per file; [`Body`](body::Body) is whichever of them a model has.

pub(crate) mod body;
pub(crate) mod ensemble;
pub(crate) mod gaussian;
pub(crate) mod interval;
pub(crate) mod linear;
