//! Numbers side by side, 64 bytes of them: eight in double precision, sixteen in single. What is done to millions of them is in
//! `levels`.

use intervalid_interval::Real;
use num_traits::ConstZero;

/// Numbers in double precision side by side.
pub(crate) const LANES: usize = 8;
/// Models side by side, in single precision.
pub(crate) const MODELS: usize = 16;

/// Numbers side by side: eight columns or values, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lane<T = f64, const N: usize = LANES>(pub(crate) [T; N]);

/// One number of every model.
pub(crate) type Models = Lane<f32, MODELS>;

impl<T: Real + ConstZero, const N: usize> Lane<T, N> {
    pub(crate) const ZERO: Self = Self([T::ZERO; N]);
}

impl<T: Real, const N: usize> Lane<T, N> {
    #[inline(always)]
    pub(crate) fn splat(value: T) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(T) -> T) -> Self {
        let mut out = self;
        out.0.iter_mut().for_each(|value| *value = f(*value));
        out
    }

    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(value, other)| *value *= other);
        out
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(value, other)| *value += other);
        out
    }
}
