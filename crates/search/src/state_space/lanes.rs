//! Eight models side by side: one number of each in a lane, plain loops that compilers turn into vector instructions.
//!
//! tanh(x) ≈ x P(x²) / Q(x²) with the polynomials of the single-precision kernels, evaluated in double precision: within 10⁻⁶,
//! which is plenty for first-order steps, and many times faster than the exact function.

use intervalid_interval::kernel::{TANH_DENOMINATOR, TANH_NUMERATOR};

/// Models side by side.
pub(crate) const LANES: usize = 8;

/// One number of every model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lane(pub(crate) [f64; LANES]);

impl Lane {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
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

    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(value, other)| *value -= other);
        out
    }

    /// self + a b, in one rounding where the instruction exists.
    #[inline(always)]
    pub(crate) fn add_product<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        let mut out = self;
        for lane in 0..LANES {
            out.0[lane] = if FUSED {
                a.0[lane].mul_add(b.0[lane], out.0[lane])
            } else {
                out.0[lane] + a.0[lane] * b.0[lane]
            };
        }
        out
    }

    /// tanh within 1e-6, by the rational form.
    #[inline(always)]
    pub(crate) fn tanh<const FUSED: bool>(self) -> Self {
        let x = self.map(|x| x.clamp(-8.0, 8.0));
        let square = x.times(x);
        let top = polynomial::<FUSED, 7>(square, &TANH_NUMERATOR).times(x);
        let bottom = polynomial::<FUSED, 4>(square, &TANH_DENOMINATOR);
        let mut out = top;
        out.0
            .iter_mut()
            .zip(bottom.0)
            .for_each(|(value, bottom)| *value /= bottom);
        out
    }
}

/// Horner's rule, constant term first.
#[inline(always)]
fn polynomial<const FUSED: bool, const N: usize>(x: Lane, coefficients: &[f32; N]) -> Lane {
    let mut sum = Lane::splat(f64::from(coefficients[N - 1]));
    for &coefficient in coefficients[..N - 1].iter().rev() {
        sum = Lane::splat(f64::from(coefficient)).add_product::<FUSED>(sum, x);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_keeps_its_error_bound() {
        for index in -1000..=1000 {
            let x = 0.012 * f64::from(index);
            for found in [Lane::splat(x).tanh::<false>(), Lane::splat(x).tanh::<true>()] {
                assert!(
                    found.0.iter().all(|found| (found - x.tanh()).abs() < 1e-6),
                    "{x}: {found:?}"
                );
            }
        }
    }
}
