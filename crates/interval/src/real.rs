//! The two floating-point types everything is generic over.

use num_traits::{Float, NumAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` (fast, the default of the command line) or `f64` (for checks against exact values).
///
/// Sealed: the kernels rely on IEEE 754 arithmetic of exactly these two types.
pub trait Real:
    Float
    + NumAssign
    + Default
    + core::fmt::Debug
    + core::fmt::Display
    + core::iter::Sum
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;

    /// The nearest value of this type.
    fn of(value: f64) -> Self;

    /// The same value as `f64`, exactly.
    fn as_f64(self) -> f64;
}

impl Real for f32 {
    const NAME: &'static str = "f32";

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }
}
