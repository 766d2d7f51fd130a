//! Elementwise interval products, forward and reverse.

use intervalid_interval::Real;
use intervalid_interval::kernel::{Operand, product, product_backward};
use intervalid_testkit::{Scheme, Tolerance, assert_all_close, gradient_with};
use proptest::prelude::*;

use super::support::{Bounds, Draw, Reference, at_all_levels, hull, pair};

fn exact<T: Real>(seed: u64, count: usize) {
    let mut draw = Draw::new(seed);
    let (a, b): (Bounds<T>, Bounds<T>) = (draw.sets(count), draw.sets(count));
    let mut reference = Reference::starting_at(&vec![T::zero(); 2 * count]);
    for place in 0..count {
        let (lower, upper) = hull(pair(&a, place), pair(&b, place));
        reference.add(place, lower);
        reference.add(count + place, upper);
    }
    let found = at_all_levels(|| {
        let (mut lower, mut upper) = (vec![T::one(); count], vec![T::one(); count]);
        product(&a.0, &a.1, &b.0, &b.1, &mut lower, &mut upper);
        lower.extend(upper);
        lower
    });
    for (level, found) in found {
        reference.check(&format!("{level:?}"), &found, 1);
    }
}

/// All ends of `a`, then of `b`: lower then upper.
fn split(values: &[f64]) -> [&[f64]; 4] {
    let quarter = values.len() / 4;
    core::array::from_fn(|k| &values[k * quarter..(k + 1) * quarter])
}

proptest! {
    #[test]
    fn products_are_hulls(seed in any::<u64>(), count in 0..70_usize) {
        exact::<f32>(seed, count);
        exact::<f64>(seed, count);
    }

    #[test]
    fn reverse_agrees_with_differences(seed in any::<u64>(), count in 1..40_usize) {
        let mut draw = Draw::new(seed);
        let (a, b): (Bounds<f64>, Bounds<f64>) = (draw.clear_sets(count, false), draw.clear_sets(count, true));
        let (g, h): (Vec<f64>, Vec<f64>) = (draw.numbers(count), draw.numbers(count));
        let ends = [a.0, a.1, b.0, b.1].concat();
        let objective = |ends: &[f64]| {
            let [a_lower, a_upper, b_lower, b_upper] = split(ends);
            let (mut lower, mut upper) = (vec![0.0; count], vec![0.0; count]);
            product(a_lower, a_upper, b_lower, b_upper, &mut lower, &mut upper);
            (0..count).map(|s| g[s] * lower[s] + h[s] * upper[s]).sum::<f64>()
        };
        // Piecewise quadratic: a central difference is exact up to rounding.
        let expected: Vec<f64> = gradient_with(Scheme::Central, objective, &ends, 1e-4).iter().map(|d| d + 1.0).collect();
        let [a_lower, a_upper, b_lower, b_upper] = split(&ends);
        let mut adjoint = vec![1.0; 4 * count]; // products add to what is there
        let [p, q, r, s] = adjoint.get_disjoint_mut([0..count, count..2 * count, 2 * count..3 * count, 3 * count..4 * count]).unwrap();
        let mut a = Operand { lower: a_lower, upper: a_upper, lower_adjoint: p, upper_adjoint: q };
        let mut b = Operand { lower: b_lower, upper: b_upper, lower_adjoint: r, upper_adjoint: s };
        product_backward(&mut a, &mut b, &g, &h);
        assert_all_close("adjoint", &expected, &adjoint, Tolerance::relative(1e-9));
    }
}

#[test]
#[should_panic(expected = "unequal lengths")]
fn lengths_are_asserted() {
    product(&[0.0], &[0.0], &[0.0], &[0.0], &mut [0.0], &mut [0.0, 0.0]);
}
