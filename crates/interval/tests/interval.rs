//! `Interval`: set laws up to the rounding it admits.

use intervalid_interval::{Interval, IntervalError, Real};
use proptest::prelude::*;

use crate::reference::{self, Big, error_in_ulps, exact};
use crate::strategies::{between, interval, interval_f32, moderate, position};

fn point_in(set: Interval<f64>, position: f64) -> f64 {
    between(set.inf(), set.sup(), position)
}

/// The definition: least and greatest of all four end-point products.
fn four_products<T: Real>(a: Interval<T>, b: Interval<T>) -> Interval<T> {
    let products = [
        a.inf() * b.inf(),
        a.inf() * b.sup(),
        a.sup() * b.inf(),
        a.sup() * b.sup(),
    ];
    let lower = products.into_iter().fold(T::infinity(), T::min);
    let upper = products.into_iter().fold(T::neg_infinity(), T::max);
    Interval::new(lower, upper).unwrap()
}

/// The product as sums of products of positive and negative parts, `p⁺ = max(p, 0)` and `p⁻ = max(-p, 0)`:
///     lower = a_lo⁺b_lo⁺ + a_hi⁻b_hi⁻ - max(a_hi⁺b_lo⁻, a_lo⁻b_hi⁺)
///     upper = max(a_hi⁺b_hi⁺, a_lo⁻b_lo⁻) - a_lo⁺b_hi⁻ - a_hi⁻b_lo⁺
fn product_by_parts<T: Real>(a: Interval<T>, b: Interval<T>) -> Interval<T> {
    let plus = |value: T| value.max(T::zero());
    let minus = |value: T| (-value).max(T::zero());
    let (al, au, bl, bu) = (a.inf(), a.sup(), b.inf(), b.sup());
    let lower = plus(al) * plus(bl) + minus(au) * minus(bu) - (plus(au) * minus(bl)).max(minus(al) * plus(bu));
    let upper = (plus(au) * plus(bu)).max(minus(al) * minus(bl)) - plus(al) * minus(bu) - minus(au) * plus(bl);
    Interval::new(lower, upper).unwrap()
}

proptest! {
    #[test]
    fn arithmetic_holds_the_rounded_point_results(
        a in interval(), b in interval(), s in position(), t in position(),
    ) {
        // Rounding to nearest is monotone, so rounded point results land inside without any slack.
        let (x, y) = (point_in(a, s), point_in(b, t));
        prop_assert!((a + b).contains(x + y));
        prop_assert!((a - b).contains(x - y));
        prop_assert!((a * b).contains(x * y));
        prop_assert!((a * y).contains(x * y));
        prop_assert!((y - a).contains(y - x));
        prop_assert!((-a).contains(-x));
        prop_assert!(a.square().contains(x * x));
    }

    #[test]
    fn ends_are_within_half_a_unit_of_the_exact_range(a in interval(), b in interval()) {
        let sum = a + b;
        prop_assert!(error_in_ulps(sum.inf(), &(exact(a.inf()) + exact(b.inf()))) <= 0.5);
        prop_assert!(error_in_ulps(sum.sup(), &(exact(a.sup()) + exact(b.sup()))) <= 0.5);
        let product = a * b;
        let least = [(a.inf(), b.inf()), (a.inf(), b.sup()), (a.sup(), b.inf()), (a.sup(), b.sup())]
            .into_iter()
            .map(|(x, y)| exact(x) * exact(y))
            .reduce(Big::min)
            .expect("four products");
        prop_assert!(error_in_ulps(product.inf(), &least) <= 0.5);
    }

    #[test]
    fn activations_hold_the_exact_values_within_three_units(a in interval(), s in position()) {
        let a = Interval::new(a.inf().max(-700.0), a.sup().clamp(-700.0, 700.0)).unwrap_or(a);
        prop_assume!(a.mag() <= 700.0);
        let x = point_in(a, s);
        let images: [(&str, Interval<f64>, Big); 4] = [
            ("exp", a.exp(), reference::exp(x)),
            ("tanh", a.tanh(), reference::tanh(x)),
            ("sigmoid", a.sigmoid(), reference::sigmoid(x)),
            ("softplus", a.softplus(), reference::softplus(x)),
        ];
        for (name, image, value) in images {
            let inside = |end: f64, below: bool| {
                let ordered = if below { exact(end) <= value } else { exact(end) >= value };
                ordered || error_in_ulps(end, &value) <= 3.0
            };
            prop_assert!(inside(image.inf(), true) && inside(image.sup(), false), "{name} of {a} at {x:?}: {image}");
        }
        prop_assert!(a.relu().contains(x.max(0.0)));
    }

    #[test]
    fn single_precision_activations_are_the_rounded_exact_values(x in -80.0_f32..80.0) {
        let point = Interval::point(x).unwrap();
        let wide = f64::from(x);
        for (image, value) in [
            (point.exp(), reference::exp(wide)),
            (point.tanh(), reference::tanh(wide)),
            (point.sigmoid(), reference::sigmoid(wide)),
            (point.softplus(), reference::softplus(wide)),
        ] {
            let unit = f64::from(image.sup().abs().next_up()) - f64::from(image.sup().abs());
            let error = (reference::precise(f64::from(image.sup())) - value) / reference::precise(unit);
            prop_assert!(error.to_f64().value().abs() <= 0.501);
        }
    }

    #[test]
    fn arithmetic_is_isotone(
        a in interval(), b in interval(), p in (position(), position()), q in (position(), position()),
    ) {
        let part = |set: Interval<f64>, (s, t): (f64, f64)| {
            let (x, y) = (point_in(set, s), point_in(set, t));
            Interval::new(x.min(y), x.max(y)).unwrap()
        };
        let (part_a, part_b) = (part(a, p), part(b, q));
        prop_assert!((a + b).contains_interval(part_a + part_b));
        prop_assert!((a - b).contains_interval(part_a - part_b));
        prop_assert!((a * b).contains_interval(part_a * part_b));
        prop_assert!(a.square().contains_interval(part_a.square()));
        prop_assert!(a.relu().contains_interval(part_a.relu()));
        prop_assert!(a.hull(b).contains_interval(part_b));
    }

    #[test]
    fn points_behave_as_numbers(x in moderate(), y in moderate()) {
        let (a, b) = (Interval::point(x).unwrap(), Interval::point(y).unwrap());
        prop_assert_eq!(a + b, Interval::point(x + y).unwrap());
        prop_assert_eq!(a - b, Interval::point(x - y).unwrap());
        prop_assert_eq!(a * b, Interval::point(x * y).unwrap());
        prop_assert_eq!(a.square(), Interval::point(x * x).unwrap());
        prop_assert_eq!(a.tanh(), Interval::point(libm::tanh(x)).unwrap());
        prop_assert!(a.sigmoid().wid() <= 0.0 && a.softplus().wid() <= 0.0 && a.exp().wid() <= 0.0);
    }

    #[test]
    fn product_equals_the_four_products(a in interval(), b in interval(), c in interval_f32(), d in interval_f32()) {
        prop_assert_eq!(a * b, four_products(a, b));
        prop_assert_eq!(c * d, four_products(c, d));
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!(a + b, b + a);
    }

    #[test]
    fn product_equals_the_sum_over_signed_parts(
        a in interval(), b in interval(), c in interval_f32(), d in interval_f32(),
    ) {
        // At most one term of the identity is not zero at each end, so it holds bit for bit.
        prop_assert_eq!(a * b, product_by_parts(a, b));
        prop_assert_eq!(c * d, product_by_parts(c, d));
    }

    #[test]
    fn midpoint_and_radius_describe_the_set(a in interval()) {
        prop_assert!(a.contains(a.mid()));
        prop_assert!(a.mig() <= a.mag());
        prop_assert!((2.0 * a.rad() - a.wid()).abs() <= 4.0 * f64::EPSILON * a.mag());
    }
}

#[test]
fn infinite_ends_never_become_nan() {
    let numbers = [
        f64::NEG_INFINITY,
        -f64::MAX,
        -1.0,
        -0.0,
        0.0,
        1.0,
        f64::MAX,
        f64::INFINITY,
    ];
    let sets: Vec<_> = numbers
        .iter()
        .flat_map(|&lower| {
            numbers
                .iter()
                .filter_map(move |&upper| Interval::new(lower, upper).ok())
        })
        .collect();
    for &a in &sets {
        assert!(a.mid().is_finite());
        assert!(a.rad() >= 0.0 && a.wid() >= 0.0);
        for image in [a.exp(), a.tanh(), a.sigmoid(), a.softplus(), a.relu(), a.square(), -a] {
            assert!(image.inf() <= image.sup(), "image {image} of {a}");
        }
        for &b in &sets {
            for result in [a + b, a - b, a * b, a.hull(b)] {
                assert!(result.inf() <= result.sup(), "{result} from {a} and {b}");
            }
        }
    }
}

#[test]
fn undefined_operands_give_the_whole_line() {
    let unit = Interval::new(0.0, 1.0).unwrap();
    let endless = Interval::point(f64::INFINITY).unwrap();
    assert_eq!(unit + f64::NAN, Interval::entire());
    assert_eq!(f64::NAN - unit, Interval::entire());
    assert_eq!(endless - endless, Interval::entire());
    assert_eq!(endless * 0.0, Interval::point(0.0).unwrap());
}

#[test]
fn assignment_operators_follow_the_binary_ones() {
    let (start, other) = (
        Interval::new(1.0_f32, 2.0).unwrap(),
        Interval::new(-1.0_f32, 3.0).unwrap(),
    );
    let mut set = start;
    set += other;
    set -= start;
    set *= other;
    assert_eq!(set, (start + other - start) * other);
}

#[test]
fn bad_bounds_are_reported_with_their_values() {
    assert_eq!(
        Interval::new(1.0, 0.5),
        Err(IntervalError::Reversed { lower: 1.0, upper: 0.5 })
    );
    let message = Interval::point(f32::NAN).unwrap_err().to_string();
    assert_eq!(message, "bounds must be numbers, found lower NaN and upper NaN");
}

#[test]
fn display_passes_the_precision_on() {
    assert_eq!(format!("{:.2}", Interval::new(-1.0, 2.0).unwrap()), "[-1.00, 2.00]");
}
