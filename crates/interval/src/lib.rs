//! Interval arithmetic for networks with interval-valued weights.

mod real;

pub use real::Real;
