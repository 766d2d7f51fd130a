//! Elementwise interval products, forward and reverse.

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
    product_dispatched(a_lower, a_upper, b_lower, b_upper, lower, upper);
}

simd_dispatch! {
    fn product_dispatched<T>(
        a_lower: &[T],
        a_upper: &[T],
        b_lower: &[T],
        b_upper: &[T],
        lower: &mut [T],
        upper: &mut [T],
    ) = product_body;
}

#[inline(always)]
fn product_body<T: Real, V: Vector<T>>(
    a_lower: &[T],
    a_upper: &[T],
    b_lower: &[T],
    b_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
) {
    let full = lower.len() - lower.len() % V::LANES;
    for s in (0..full).step_by(V::LANES) {
        // SAFETY: a register from `s` on is inside all six slices, whose lengths `product` asserts to be equal.
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

/// Bounds of the operands of [`product`] with the adjoints that [`product_backward`] adds to.
#[derive(Debug)]
pub struct Operand<'a, T> {
    /// Lower bounds.
    pub lower: &'a [T],
    /// Upper bounds.
    pub upper: &'a [T],
    /// Adjoint of the lower bounds.
    pub lower_adjoint: &'a mut [T],
    /// Adjoint of the upper bounds.
    pub upper_adjoint: &'a mut [T],
}

/// Reverse mode of [`product`]: each bound's adjoint goes to the end points whose product it was (the first such pair in
/// the order lower·lower, lower·upper, upper·lower, upper·upper).
///
/// # Panics
/// If the slices differ in length.
pub fn product_backward<T: Real>(
    a: &mut Operand<'_, T>,
    b: &mut Operand<'_, T>,
    lower_adjoint: &[T],
    upper_adjoint: &[T],
) {
    let n = lower_adjoint.len();
    for operand in [&*a, &*b] {
        let lengths = [
            operand.lower.len(),
            operand.upper.len(),
            operand.lower_adjoint.len(),
            operand.upper_adjoint.len(),
            upper_adjoint.len(),
        ];
        assert_eq!(lengths, [n; 5], "elementwise product of unequal lengths");
    }
    for s in 0..n {
        let ends = [
            (a.lower[s], b.lower[s]),
            (a.lower[s], b.upper[s]),
            (a.upper[s], b.lower[s]),
            (a.upper[s], b.upper[s]),
        ];
        let (mut smallest, mut largest) = (0, 0);
        for (index, (x, y)) in ends.iter().enumerate() {
            if *x * *y < ends[smallest].0 * ends[smallest].1 {
                smallest = index;
            }
            if *x * *y > ends[largest].0 * ends[largest].1 {
                largest = index;
            }
        }
        for (index, adjoint) in [(smallest, lower_adjoint[s]), (largest, upper_adjoint[s])] {
            let (x, y) = ends[index];
            *(if index < 2 {
                &mut a.lower_adjoint[s]
            } else {
                &mut a.upper_adjoint[s]
            }) += adjoint * y;
            *(if index % 2 == 0 {
                &mut b.lower_adjoint[s]
            } else {
                &mut b.upper_adjoint[s]
            }) += adjoint * x;
        }
    }
}
