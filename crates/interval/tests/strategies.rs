//! Numbers and sets to draw from.

use intervalid_interval::{Enclosure, Interval};
use proptest::prelude::*;

/// Places where rounding, underflow or overflow changes its behaviour.
const EDGES: [f64; 14] = [
    0.0,
    5e-324,
    1e-323,
    2.225_073_858_507_201e-308, // largest subnormal
    f64::MIN_POSITIVE,
    1.053_4e-292, // about 2^-969, where product errors stop being floats
    1.5e-154,     // square underflows
    f64::EPSILON,
    1.0,
    1.000_000_000_000_000_2,
    9_007_199_254_740_993.0,
    1.4e154, // square overflows
    8.98e307,
    f64::MAX,
];

/// Finite numbers of all magnitudes: network-like, any bit pattern, and edges of both signs.
pub(crate) fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64 as bits;
    prop_oneof![
        3 => -8.0..8.0_f64,
        2 => bits::POSITIVE | bits::NEGATIVE | bits::NORMAL | bits::SUBNORMAL | bits::ZERO,
        1 => (0..EDGES.len(), any::<bool>()).prop_map(|(index, negative)| if negative {
            -EDGES[index]
        } else {
            EDGES[index]
        }),
    ]
}

/// Numbers a network meets: no overflow, no underflow in a few operations.
pub(crate) fn moderate() -> impl Strategy<Value = f64> {
    prop_oneof![-8.0..8.0_f64, -1e-3..1e-3_f64, Just(0.0), -1e6..1e6_f64]
}

fn ordered((first, second): (f64, f64)) -> (f64, f64) {
    (first.min(second), first.max(second))
}

/// Sets with finite ends of any magnitude; one in five is a point.
pub(crate) fn enclosure() -> impl Strategy<Value = Enclosure> {
    let pair = prop_oneof![4 => (number(), number()), 1 => number().prop_map(|x| (x, x))];
    pair.prop_map(|pair| {
        let (lower, upper) = ordered(pair);
        Enclosure::from_bounds(lower, upper).expect("ordered and finite")
    })
}

/// As [`enclosure`], with an end at infinity now and then.
pub(crate) fn unbounded_enclosure() -> impl Strategy<Value = Enclosure> {
    (enclosure(), 0..6).prop_map(|(set, case)| match case {
        0 => Enclosure::from_bounds(f64::NEG_INFINITY, set.sup()).expect("ordered"),
        1 => Enclosure::from_bounds(set.inf(), f64::INFINITY).expect("ordered"),
        _ => set,
    })
}

/// Sets whose ends are small multiples of 1/8: sums and products of a few are exact.
pub(crate) fn dyadic_enclosure() -> impl Strategy<Value = Enclosure> {
    (-64_i32..64, -64_i32..64).prop_map(|(first, second)| {
        let (lower, upper) = ordered((f64::from(first) / 8.0, f64::from(second) / 8.0));
        Enclosure::from_bounds(lower, upper).expect("ordered")
    })
}

pub(crate) fn interval() -> impl Strategy<Value = Interval<f64>> {
    (moderate(), moderate()).prop_map(|pair| Interval::try_from(ordered(pair)).expect("ordered"))
}

pub(crate) fn interval_f32() -> impl Strategy<Value = Interval<f32>> {
    (-8.0_f32..8.0, -8.0_f32..8.0)
        .prop_map(|(first, second)| Interval::new(first.min(second), first.max(second)).expect("ordered"))
}

/// Position of a point between the ends of a set; both ends are drawn often.
pub(crate) fn position() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..1.0_f64, 1 => Just(0.0), 1 => Just(1.0)]
}

/// The float at `position` between two ends, finite and inside.
pub(crate) fn between(lower: f64, upper: f64, position: f64) -> f64 {
    let (lower, upper) = (lower.max(f64::MIN), upper.min(f64::MAX));
    (lower * (1.0 - position) + upper * position).clamp(lower, upper)
}

pub(crate) fn point_in(set: Enclosure, position: f64) -> f64 {
    between(set.inf(), set.sup(), position)
}

/// The part of `set` between two of its points.
pub(crate) fn subset(set: Enclosure, first: f64, second: f64) -> Enclosure {
    let (lower, upper) = ordered((point_in(set, first), point_in(set, second)));
    Enclosure::from_bounds(lower, upper).expect("ordered")
}
