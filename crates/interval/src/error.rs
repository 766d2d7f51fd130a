//! What can be wrong with the bounds, shapes or settings a caller hands in.

use crate::SimdLevel;

/// Why a set could not be built from the values given, or a SIMD level not be used.
///
/// Bounds are reported as `f64` whatever the caller's type; the conversion from `f32` is exact.
///
/// ```
/// use intervalid_interval::{Interval, IntervalError};
///
/// let error = Interval::new(2.0_f32, 1.0).unwrap_err();
/// assert_eq!(error, IntervalError::Reversed { lower: 2.0, upper: 1.0 });
/// assert_eq!(error.to_string(), "lower bound 2 is above upper bound 1");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntervalError {
    /// A bound is NaN, so no set is described.
    #[error("bounds must be numbers, found lower {lower} and upper {upper}")]
    NotANumber {
        /// The lower bound as given.
        lower: f64,
        /// The upper bound as given.
        upper: f64,
    },
    /// The lower bound lies above the upper bound.
    #[error("lower bound {lower} is above upper bound {upper}")]
    Reversed {
        /// The lower bound as given.
        lower: f64,
        /// The upper bound as given.
        upper: f64,
    },
    /// The bounds hold no real number: both are the same infinity.
    #[error("bounds {lower} and {upper} hold no real number")]
    NoRealNumber {
        /// The lower bound as given.
        lower: f64,
        /// The upper bound as given.
        upper: f64,
    },
    /// A margin around a centre is negative, infinite or NaN.
    #[error("margin must be finite and at least 0, found {margin}")]
    Margin {
        /// The margin as given.
        margin: f64,
    },
    /// A slice does not have the length the operation needs.
    #[error("{operation}: {argument} must have length {expected}, found {found}")]
    Length {
        /// The operation that was asked for.
        operation: &'static str,
        /// The argument at fault.
        argument: &'static str,
        /// The length the other arguments call for.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// The value of `INTERVALID_SIMD` names no SIMD level.
    #[error("{} must be baseline, avx2 or avx512, found '{found}'", SimdLevel::VARIABLE)]
    UnknownSimdLevel {
        /// The value as given.
        found: String,
    },
    /// `INTERVALID_SIMD` names a SIMD level that this processor does not run.
    #[error(
        "{} asks for {asked}, which this processor does not offer; its best level is {best}",
        SimdLevel::VARIABLE
    )]
    SimdLevelNotOffered {
        /// The level asked for.
        asked: SimdLevel,
        /// The best level that the processor has.
        best: SimdLevel,
    },
}
