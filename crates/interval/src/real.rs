//! The two floating-point types everything is generic over.

use num_traits::{Float, NumAssign};

use crate::kernel::Vector;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{F32x8, F32x16, F64x4, F64x8};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` (fast, the default of the command line) or `f64` (for checks against exact values).
///
/// Sealed: the kernels rely on IEEE 754 arithmetic of exactly these two types.
///
/// ```
/// use intervalid_interval::{Interval, Real};
///
/// fn width<T: Real>(set: Interval<T>) -> String {
///     format!("{} ({})", set.wid(), T::NAME)
/// }
///
/// assert_eq!(width(Interval::new(0.5_f32, 1.5)?), "1 (f32)");
/// assert_eq!(width(Interval::new(0.5_f64, 1.5)?), "1 (f64)");
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
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

    /// The register of 256 bits.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Self>;

    /// The register of 512 bits.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Self>;

    /// The nearest value of this type.
    fn of(value: f64) -> Self;

    /// The same value as `f64`, exactly.
    fn as_f64(self) -> f64;

    /// Hyperbolic tangent of every lane, as the [kernels](crate::kernel::tanh) compute it.
    ///
    /// # Safety
    /// Call it from a body that [`simd_dispatch!`](crate::simd_dispatch) runs.
    #[doc(hidden)]
    unsafe fn tanh_lanes<V: Vector<Self>>(x: V) -> V;

    /// Logistic sigmoid of every lane, as the [kernels](crate::kernel::sigmoid) compute it.
    ///
    /// # Safety
    /// Call it from a body that [`simd_dispatch!`](crate::simd_dispatch) runs.
    #[doc(hidden)]
    unsafe fn sigmoid_lanes<V: Vector<Self>>(x: V) -> V;
}

impl Real for f32 {
    const NAME: &'static str = "f32";

    #[cfg(target_arch = "x86_64")]
    type Avx2 = F32x8;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = F32x16;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    unsafe fn tanh_lanes<V: Vector<Self>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { crate::kernel::tanh_f32(x) }
    }

    #[inline(always)]
    unsafe fn sigmoid_lanes<V: Vector<Self>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { crate::kernel::sigmoid_f32(x) }
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";

    #[cfg(target_arch = "x86_64")]
    type Avx2 = F64x4;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = F64x8;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    unsafe fn tanh_lanes<V: Vector<Self>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { crate::kernel::each_lane(x, libm::tanh) }
    }

    #[inline(always)]
    unsafe fn sigmoid_lanes<V: Vector<Self>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { crate::kernel::each_lane(x, crate::kernel::sigmoid_f64) }
    }
}
