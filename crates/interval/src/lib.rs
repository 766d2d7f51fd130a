//! Interval arithmetic for networks with interval-valued weights.

mod arith;
mod elementary;
mod enclosure;
mod error;
mod interval;
pub mod kernel;
mod numeric;
mod real;
mod rounding;

pub use enclosure::{Enclosure, EnclosureMatrix};
pub use error::IntervalError;
pub use interval::Interval;
pub use real::Real;
