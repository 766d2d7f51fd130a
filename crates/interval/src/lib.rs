//! Interval arithmetic for networks with interval-valued weights.
//!
//! [`Enclosure`] and [`EnclosureMatrix`] are rounded outward and contain the exact result; [`Interval`] is the same
//! arithmetic in ordinary rounding, generic over [`Real`]. [`SimdLevel`] is the instruction set that products run on.

mod arith;
mod elementary;
mod enclosure;
mod error;
mod interval;
// Public for the networks of `intervalid-model`, which are built from these loops, and for them alone: no stable interface.
#[doc(hidden)]
pub mod kernel;
mod numeric;
mod real;
mod rounding;

pub use enclosure::{Enclosure, EnclosureMatrix};
pub use error::IntervalError;
pub use interval::Interval;
#[doc(inline)]
pub use kernel::SimdLevel;
pub use real::Real;
