//! Exact and 320-bit arithmetic to judge `f64` results by: `dashu-float`, whose elementary functions are correctly
//! rounded.

use dashu_float::{FBig, round::mode::HalfEven};
use intervalid_interval::Enclosure;

/// A binary float of any precision.
pub(crate) type Big = FBig<HalfEven, 2>;

/// Enough for every cancellation and scale in these tests; the errors of the reference itself are invisible.
const BITS: usize = 320;

/// The same number with unlimited precision: sums and products are exact.
pub(crate) fn exact(value: f64) -> Big {
    Big::try_from(value).expect("finite").with_precision(0).value()
}

/// The same number with 320 bits, for functions and quotients.
pub(crate) fn precise(value: f64) -> Big {
    Big::try_from(value).expect("finite").with_precision(BITS).value()
}

fn one() -> Big {
    precise(1.0)
}

pub(crate) fn exp(x: f64) -> Big {
    // exp(0) comes back as an integer of unlimited precision, which quotients and logarithms refuse.
    precise(x).exp().with_precision(BITS).value()
}

pub(crate) fn exp_m1(x: f64) -> Big {
    precise(x).exp_m1()
}

pub(crate) fn ln_1p(x: f64) -> Big {
    precise(x).ln_1p()
}

/// From the definition, in the form that does not cancel near 0.
///
/// Below 2⁻¹⁵⁷, tanh x = x·(1 - ε) with 0 < ε < x²/3 < 2⁻³¹⁵: the quotient's own rounding could end beyond x, so a number
/// just inside is taken.
pub(crate) fn tanh(x: f64) -> Big {
    if x.abs() < 2.0_f64.powi(-157) {
        return precise(x) * (one() - precise(2.0_f64.powi(-317)));
    }
    let t = precise(2.0 * x).exp_m1();
    &t / (&t + precise(2.0))
}

pub(crate) fn sigmoid(x: f64) -> Big {
    one() / (one() + exp(-x))
}

pub(crate) fn softplus(x: f64) -> Big {
    exp(x).ln_1p()
}

/// Whether the real number `value` lies in `set`, decided exactly.
pub(crate) fn holds(set: Enclosure, value: &Big) -> bool {
    (set.inf().is_infinite() || exact(set.inf()) <= *value) && (set.sup().is_infinite() || *value <= exact(set.sup()))
}

/// `|computed - exact|` in units in the last place of `computed` (subnormals: of the smallest one).
pub(crate) fn error_in_ulps(computed: f64, exact_value: &Big) -> f64 {
    let magnitude = computed.abs();
    let unit = magnitude.next_up() - magnitude;
    let error = (precise(computed) - exact_value) / precise(unit);
    error.to_f64().value().abs()
}
