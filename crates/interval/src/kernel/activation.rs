//! Activations over slices, in place, and their error bounds.
//!
//! In `f32` the hyperbolic tangent is one rational function of odd degree,
//! tanh x ≈ x·P(x²)/Q(x²) for |x| ≤ 8 with relative error 2·10⁻⁹ before rounding (minimax fit in 40 digits), and ±1
//! within 3·10⁻⁷ beyond. It needs no branch and no table, so eight or sixteen samples cost about as much as one call of
//! the library function. `f64` calls the library, since it serves checks rather than training.
//!
//! All of these are monotone up to their error bounds only: two nearly equal arguments may come out in the other order,
//! by at most twice [`TANH_ERROR_F32`].

use super::LANES;
use super::vector::Vector;
use crate::real::Real;
use crate::simd_dispatch;

/// Bound on |tanh(x) - exact| of the `f32` kernel for all finite x, at every [`SimdLevel`](super::SimdLevel).
pub const TANH_ERROR_F32: f32 = 5e-7;

/// Replaces every value by its hyperbolic tangent.
pub fn tanh<T: Real>(values: &mut [T]) {
    // SAFETY: the body takes slices of every length.
    unsafe { tanh_dispatched(values) }
}

/// Replaces every value by its logistic sigmoid 1/(1 + e⁻ˣ) = ½ + ½·tanh(x/2).
pub fn sigmoid<T: Real>(values: &mut [T]) {
    // SAFETY: the body takes slices of every length.
    unsafe { sigmoid_dispatched(values) }
}

simd_dispatch! {
    unsafe fn tanh_dispatched<T>(values: &mut [T]) = tanh_body;
}

/// # Safety
/// Call it through `simd_dispatch!`.
#[inline(always)]
unsafe fn tanh_body<T: Real, V: Vector<T>>(values: &mut [T]) {
    // SAFETY: passed on to the caller.
    unsafe { map::<T, V, Tanh>(values) }
}

simd_dispatch! {
    unsafe fn sigmoid_dispatched<T>(values: &mut [T]) = sigmoid_body;
}

/// # Safety
/// Call it through `simd_dispatch!`.
#[inline(always)]
unsafe fn sigmoid_body<T: Real, V: Vector<T>>(values: &mut [T]) {
    // SAFETY: passed on to the caller.
    unsafe { map::<T, V, Sigmoid>(values) }
}

/// A function of one register. A type, not a closure: closures are not inlined into code for another instruction set,
/// and a call per register costs more than the function.
trait Activation<T> {
    /// # Safety
    /// Call it from a body that `simd_dispatch!` runs.
    unsafe fn apply<V: Vector<T>>(x: V) -> V;
}

struct Tanh;
struct Sigmoid;

impl<T: Real> Activation<T> for Tanh {
    #[inline(always)]
    unsafe fn apply<V: Vector<T>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { T::tanh_lanes(x) }
    }
}

impl<T: Real> Activation<T> for Sigmoid {
    #[inline(always)]
    unsafe fn apply<V: Vector<T>>(x: V) -> V {
        // SAFETY: passed on to the caller.
        unsafe { T::sigmoid_lanes(x) }
    }
}

/// Applies an activation to all values, the rest after the last full register through a padded one.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
unsafe fn map<T: Real, V: Vector<T>, A: Activation<T>>(values: &mut [T]) {
    let (full, rest) = values.split_at_mut(values.len() - values.len() % V::LANES);
    // SAFETY: every chunk, and the padded rest, holds one register, since lanes divide `LANES`; the caller vouches for the
    // instructions.
    unsafe {
        for chunk in full.chunks_exact_mut(V::LANES) {
            A::apply(V::load(chunk.as_ptr())).store(chunk.as_mut_ptr());
        }
        if !rest.is_empty() {
            let mut padded = [T::zero(); LANES];
            padded[..rest.len()].copy_from_slice(rest);
            A::apply(V::load(padded.as_ptr())).store(padded.as_mut_ptr());
            rest.copy_from_slice(&padded[..rest.len()]);
        }
    }
}

/// Applies a scalar function to each lane.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
pub(crate) unsafe fn each_lane<T: Real, V: Vector<T>>(x: V, f: impl Fn(T) -> T) -> V {
    let mut lanes = [T::zero(); LANES];
    // SAFETY: a register has at most `LANES` lanes; the caller vouches for the instructions.
    unsafe {
        x.store(lanes.as_mut_ptr());
        for lane in &mut lanes[..V::LANES] {
            *lane = f(*lane);
        }
        V::load(lanes.as_ptr())
    }
}

/// The exponential of a non-positive number cannot overflow, and each branch keeps its relative accuracy.
pub(crate) fn sigmoid_f64(x: f64) -> f64 {
    let decay = libm::exp(-x.abs());
    if x >= 0.0 {
        1.0 / (1.0 + decay)
    } else {
        decay / (1.0 + decay)
    }
}

/// Numerator P of [`tanh`] in single precision, x·P(x²)/Q(x²) for |x| ≤ 8, constant term first.
#[expect(
    clippy::excessive_precision,
    reason = "the digits of the fit, rounded by the compiler"
)]
pub const TANH_NUMERATOR: [f32; 7] = [
    0.999_999_998_257_721_2,
    0.131_243_863_914_663_08,
    0.003_149_405_473_371_546,
    1.164_286_692_943_378_1e-5,
    -2.231_637_222_002_512e-8,
    6.366_360_989_139_665e-11,
    -1.156_647_406_290_616e-13,
];
/// Denominator Q, as [`TANH_NUMERATOR`].
#[expect(
    clippy::excessive_precision,
    reason = "the digits of the fit, rounded by the compiler"
)]
pub const TANH_DENOMINATOR: [f32; 4] = [
    1.0,
    0.464_577_179_108_426_8,
    0.024_675_163_099_015_258,
    2.613_033_392_114_143_3e-4,
];

/// x·P(x²)/Q(x²), see the top.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
pub(crate) unsafe fn tanh_f32<V: Vector<f32>>(x: V) -> V {
    // SAFETY: passed on to the caller.
    unsafe {
        // The limit goes first: `min` and `max` return their second operand for NaN, which must not be swallowed.
        let x = V::splat(-8.0).max(V::splat(8.0).min(x));
        let square = x.mul(x);
        let ratio = x
            .mul(polynomial(square, &TANH_NUMERATOR))
            .div(polynomial(square, &TANH_DENOMINATOR));
        V::splat(-1.0).max(V::splat(1.0).min(ratio))
    }
}

/// Horner's rule, constant term first.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
unsafe fn polynomial<V: Vector<f32>, const N: usize>(x: V, coefficients: &[f32; N]) -> V {
    // SAFETY: passed on to the caller.
    unsafe {
        let mut sum = V::splat(coefficients[N - 1]);
        for &coefficient in coefficients[..N - 1].iter().rev() {
            sum = sum.mul_add(x, V::splat(coefficient));
        }
        sum
    }
}

/// ½ + ½·tanh(x/2)
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs.
#[inline(always)]
pub(crate) unsafe fn sigmoid_f32<V: Vector<f32>>(x: V) -> V {
    // SAFETY: passed on to the caller.
    unsafe {
        let half = V::splat(0.5);
        tanh_f32(x.mul(half)).mul_add(half, half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{SimdLevel, with_level};

    /// Every 97th `f32` in the range that is not saturated, both signs, at every level.
    #[test]
    fn tanh_f32_keeps_its_error_bound() {
        for &level in SimdLevel::available() {
            with_level(level, || {
                let mut bits = 0_u32;
                let mut batch = [0.0_f32; 64];
                while f32::from_bits(bits) < 12.0 {
                    let mut x = [0.0_f32; 64];
                    for (index, x) in x.iter_mut().enumerate() {
                        let magnitude = f32::from_bits(bits + 97 * index as u32);
                        *x = if index % 2 == 0 { magnitude } else { -magnitude };
                    }
                    batch.copy_from_slice(&x);
                    tanh(&mut batch);
                    for (x, y) in x.iter().zip(batch) {
                        let exact = libm::tanh(f64::from(*x));
                        let error = (f64::from(y) - exact).abs();
                        assert!(
                            error <= f64::from(TANH_ERROR_F32),
                            "{level:?}: tanh({x}) = {y}, exact {exact}"
                        );
                        assert!(error <= 5e-7 * exact.abs() + 1e-45, "{level:?}: relative error at {x}");
                        assert!(y.abs() <= 1.0);
                    }
                    bits += 97 * 64;
                }
            });
        }
    }

    #[test]
    fn sigmoid_matches_its_definition_in_both_precisions() {
        let x: Vec<f64> = (-400..=400).map(|k| f64::from(k) * 0.05).collect();
        let mut double = x.clone();
        sigmoid(&mut double);
        let mut single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        sigmoid(&mut single);
        for ((&x, double), single) in x.iter().zip(double).zip(single) {
            let exact = 1.0 / (1.0 + libm::exp(-x));
            assert!((double - exact).abs() <= 4.0 * f64::EPSILON * exact);
            assert!((f64::from(single) - exact).abs() <= f64::from(TANH_ERROR_F32));
        }
    }

    #[test]
    fn activations_pass_nan_on_and_saturate_at_infinity() {
        let mut values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        tanh(&mut values);
        assert!(values[0].is_nan());
        assert!((values[1] - 1.0).abs() < 3e-7 && (values[2] + 1.0).abs() < 3e-7);
    }
}
