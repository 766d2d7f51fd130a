//! Elementwise interval products.

use super::vector::Vector;
use crate::real::Real;
use crate::simd_dispatch;

/// `[lower, upper] = [a] · [b]` sample by sample: the exact hull of the four products of the end points.
///
/// # Panics
/// If the slices differ in length.
pub fn product<T: Real>(a_lower: &[T], a_upper: &[T], b_lower: &[T], b_upper: &[T], lower: &mut [T], upper: &mut [T]) {
    let n = lower.len();
    let lengths = [a_lower.len(), a_upper.len(), b_lower.len(), b_upper.len(), upper.len()];
    assert_eq!(lengths, [n; 5], "elementwise product of unequal lengths");
    // SAFETY: the slices are equally long.
    unsafe { product_dispatched(a_lower, a_upper, b_lower, b_upper, lower, upper) }
}

simd_dispatch! {
    unsafe fn product_dispatched<T>(
        a_lower: &[T],
        a_upper: &[T],
        b_lower: &[T],
        b_upper: &[T],
        lower: &mut [T],
        upper: &mut [T],
    ) = product_body;
}

/// # Safety
/// Call it through `simd_dispatch!`; the slices are equally long.
#[inline(always)]
unsafe fn product_body<T: Real, V: Vector<T>>(
    a_lower: &[T],
    a_upper: &[T],
    b_lower: &[T],
    b_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
) {
    let full = lower.len() - lower.len() % V::LANES;
    for s in (0..full).step_by(V::LANES) {
        // SAFETY: a register from `s` on is inside `lower` and so inside all six slices; the caller vouches for the
        // instructions.
        unsafe {
            let (a, b) = (V::load(a_lower[s..].as_ptr()), V::load(a_upper[s..].as_ptr()));
            let (c, d) = (V::load(b_lower[s..].as_ptr()), V::load(b_upper[s..].as_ptr()));
            let products = [a.mul(c), a.mul(d), b.mul(c), b.mul(d)];
            let smallest = products[0].min(products[1]).min(products[2].min(products[3]));
            let largest = products[0].max(products[1]).max(products[2].max(products[3]));
            smallest.store(lower[s..].as_mut_ptr());
            largest.store(upper[s..].as_mut_ptr());
        }
    }
    for s in full..lower.len() {
        let products = [
            a_lower[s] * b_lower[s],
            a_lower[s] * b_upper[s],
            a_upper[s] * b_lower[s],
            a_upper[s] * b_upper[s],
        ];
        let smaller = |x: T, y: T| if x < y { x } else { y };
        let larger = |x: T, y: T| if x > y { x } else { y };
        lower[s] = smaller(smaller(products[0], products[1]), smaller(products[2], products[3]));
        upper[s] = larger(larger(products[0], products[1]), larger(products[2], products[3]));
    }
}
