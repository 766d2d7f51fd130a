//! Directed rounding of `f64`: the only file that steps outward.
//!
//! `*_down(a, b)` is a number not above the exact result, `*_up` one not below it. Changing the processor's
//! rounding mode is undefined behaviour in Rust, so every operation is computed in round-to-nearest together
//! with the *sign of its exact rounding error* (an error-free transformation), and moved one float outward only
//! if that sign asks for it. Exact results are therefore not widened, and `+ - *` are the tightest floats
//! possible, in the subnormal range too.
//!
//! Needs IEEE 754 binary64 with gradual underflow and no extended precision: every target of Rust but 32-bit x86
//! without SSE2. The fused multiply-add is `libm`'s, which is exact also where the hardware has none.

use libm::fma;

/// Below this magnitude the rounding error of a product may not be a float. (The exact threshold is 2^-969:
/// smallest subnormal 2^-1074 times 2^(2*53-1).)
const TINY_PRODUCT: f64 = f64::from_bits((1023 - 960) << 52); // 2^-960

/// Exact scale factor that lifts a tiny product away from underflow.
const LIFT: f64 = f64::from_bits((1023 + 537) << 52); // 2^537

/// `sum + error == a + b` exactly (Knuth's 2Sum); NaN if an intermediate overflowed.
///
/// Valid for subnormals as well; only operands next to the largest float can overflow inside
/// (Boldo, Graillat and Muller 2017, doi:10.1145/3054947).
#[inline]
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let from_b = sum - a;
    let from_a = sum - from_b;
    (a - from_a) + (b - from_b)
}

/// A number with the sign of `a * b - product`, and 0 only if they are equal; `product` is the finite float
/// next to `a * b`, and neither factor is 0.
#[inline]
fn product_error_sign(a: f64, b: f64, product: f64) -> f64 {
    if product.abs() >= TINY_PRODUCT {
        return fma(a, b, -product);
    }
    if product == 0.0 {
        // Underflow to a signed zero: the exact product is on the side the sign says.
        return 1.0_f64.copysign(product);
    }
    // |a b| lies between 2^-1075 and 2^-960, so the smaller factor is below 2^-480 and can be lifted without
    // overflow, and no bit of the lifted product (the last is above 2^(-1075 - 106 + 537)) underflows.
    let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    fma(small * LIFT, large, -(product * LIFT))
}

/// Largest float not above `a + b`; NaN (`inf - inf`) becomes `-inf`.
#[inline]
pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_finite() {
        let error = sum_error(a, b, sum);
        // `!(error >= 0)` so that a NaN error takes the safe side.
        if error >= 0.0 { sum } else { sum.next_down() }
    } else if sum == f64::INFINITY && a.is_finite() && b.is_finite() {
        f64::MAX
    } else if sum.is_nan() {
        f64::NEG_INFINITY
    } else {
        sum
    }
}

/// Smallest float not below `a + b`; NaN (`inf - inf`) becomes `inf`.
#[inline]
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

/// Largest float not above `a - b`.
#[inline]
pub(crate) fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// Smallest float not below `a - b`.
#[inline]
pub(crate) fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// Largest float not above `a * b`, with `0 * inf = 0`; NaN operands give `-inf`.
#[inline]
pub(crate) fn mul_down(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a == 0.0 || b == 0.0 {
        0.0
    } else if product.is_finite() {
        if product_error_sign(a, b, product) >= 0.0 {
            product
        } else {
            product.next_down()
        }
    } else if product == f64::INFINITY && a.is_finite() && b.is_finite() {
        f64::MAX
    } else if product.is_nan() {
        f64::NEG_INFINITY
    } else {
        product
    }
}

/// Smallest float not below `a * b`, with `0 * inf = 0`; NaN operands give `inf`.
#[inline]
pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    -mul_down(-a, b)
}

/// Largest float not above `a / b`, for `a >= 0`, `b >= 1` finite and a quotient in the normal range.
///
/// The remainder `a - q b` of a correctly rounded quotient `q` is a float there, so its sign is exact.
#[inline]
pub(crate) fn div_positive_down(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if fma(-quotient, b, a) >= 0.0 {
        quotient
    } else {
        quotient.next_down()
    }
}

/// Smallest float not below `a / b`, under the conditions of [`div_positive_down`].
#[inline]
pub(crate) fn div_positive_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if fma(-quotient, b, a) <= 0.0 {
        quotient
    } else {
        quotient.next_up()
    }
}

/// `value` moved `steps` floats down.
#[inline]
pub(crate) fn step_down(value: f64, steps: u32) -> f64 {
    (0..steps).fold(value, |value, _| value.next_down())
}

/// `value` moved `steps` floats up.
#[inline]
pub(crate) fn step_up(value: f64, steps: u32) -> f64 {
    (0..steps).fold(value, |value, _| value.next_up())
}

/// A lower bound of a sum of numbers and products, accurate to about one rounding whatever their count.
///
/// `head` is the ordinary sum, `tail` a lower bound of everything its roundings dropped: the errors of sums and
/// products are floats, so only their own addition is rounded, downward. This is Dot2 of Ogita, Rump and
/// Oishi (2005, doi:10.1137/030601818, algorithm 5.3) with a directed tail instead of an a-priori bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumDown {
    head: f64,
    tail: f64,
}

impl SumDown {
    #[inline]
    pub(crate) fn new(start: f64) -> Self {
        Self { head: start, tail: 0.0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.head + value;
        let error = sum_error(self.head, value, sum);
        if error.is_finite() {
            self.head = sum;
            self.tail = add_down(self.tail, error);
        } else {
            self.head = add_down(self.head, value);
        }
    }

    #[inline]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        if product.is_finite() && product.abs() >= TINY_PRODUCT {
            self.add(product);
            self.tail = add_down(self.tail, fma(a, b, -product));
        } else {
            self.add(mul_down(a, b));
        }
    }

    #[inline]
    pub(crate) fn finish(self) -> f64 {
        add_down(self.head, self.tail)
    }
}

/// The upper twin of [`SumDown`]: it bounds the negated sum from below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumUp(SumDown);

impl SumUp {
    #[inline]
    pub(crate) fn new(start: f64) -> Self {
        Self(SumDown::new(-start))
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.0.add(-value);
    }

    #[inline]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        self.0.add_product(-a, b);
    }

    #[inline]
    pub(crate) fn finish(self) -> f64 {
        -self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 + 2^-52 and its neighbours: operands whose sums and products are known by hand.
    const NEXT: f64 = 1.0 + f64::EPSILON;

    fn same(left: f64, right: f64) -> bool {
        left.to_bits() == right.to_bits()
    }

    #[test]
    fn exact_sums_are_not_moved() {
        assert!(same(add_down(1.0, f64::EPSILON), NEXT) && same(add_up(1.0, f64::EPSILON), NEXT));
        assert!(same(sub_down(NEXT, 1.0), f64::EPSILON) && same(sub_up(NEXT, 1.0), f64::EPSILON));
    }

    #[test]
    fn inexact_sums_are_bracketed_by_neighbours() {
        assert!(same(add_down(1.0, 1e-300), 1.0) && same(add_up(1.0, 1e-300), NEXT));
        assert!(same(add_down(1.0, -1e-300), 1.0_f64.next_down()) && same(add_up(1.0, -1e-300), 1.0));
    }

    #[test]
    fn sums_next_to_overflow_keep_their_bounds() {
        let half_unit = f64::from_bits((1023 + 970) << 52); // 2^970: MAX + 2^970 is the tie that rounds to inf
        assert!(same(add_down(f64::MAX, half_unit), f64::MAX));
        assert!(same(add_up(f64::MAX, half_unit), f64::INFINITY));
        assert!(same(add_down(f64::MAX, 1.0), f64::MAX) && same(add_up(f64::MAX, 1.0), f64::INFINITY));
        assert!(same(add_down(-f64::MAX, -1.0), f64::NEG_INFINITY) && same(add_up(-f64::MAX, -1.0), -f64::MAX));
    }

    #[test]
    fn undefined_operations_take_the_widest_value() {
        assert!(same(add_down(f64::INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY));
        assert!(same(add_up(f64::INFINITY, f64::NEG_INFINITY), f64::INFINITY));
        assert!(same(mul_down(f64::NAN, 1.0), f64::NEG_INFINITY) && same(mul_up(f64::NAN, 1.0), f64::INFINITY));
    }

    #[test]
    fn tiny_products_see_their_exact_error() {
        let tiny = f64::MIN_POSITIVE;
        assert!(same(mul_down(tiny, 0.5), tiny / 2.0) && same(mul_up(tiny, 0.5), tiny / 2.0));
        // 2^-1022 (1 + 2^-52) / 2 is a tie between two subnormals.
        let odd = tiny * NEXT;
        assert!(same(mul_up(odd, 0.5), mul_down(odd, 0.5).next_up()));
        assert!(same(mul_down(1e-200, -1e-200), -5e-324) && mul_up(1e-200, -1e-200) == 0.0);
    }

    #[test]
    fn quotients_are_bracketed_by_neighbours() {
        assert!(same(div_positive_down(1.0, 3.0).next_up(), div_positive_up(1.0, 3.0)));
        assert!(same(div_positive_down(3.0, 4.0), 0.75) && same(div_positive_up(3.0, 4.0), 0.75));
    }

    #[test]
    fn sums_of_many_terms_are_rounded_about_once() {
        let mut lower = SumDown::new(0.0);
        let mut upper = SumUp::new(0.0);
        for _ in 0..1000 {
            lower.add_product(0.1, 0.1);
            upper.add_product(0.1, 0.1);
        }
        assert!(lower.finish() <= upper.finish() && upper.finish() <= lower.finish().next_up());
    }
}
