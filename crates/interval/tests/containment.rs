//! `Enclosure` contains the exact result, judged in exact or 320-bit arithmetic, at every magnitude.

use intervalid_interval::Enclosure;
use proptest::prelude::*;

use crate::reference::{self, Big, exact, holds};
use crate::strategies::{between, number, point_in, position, subset, unbounded_enclosure};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sum_difference_and_product_hold_the_exact_result(
        a in unbounded_enclosure(), b in unbounded_enclosure(), s in position(), t in position(),
    ) {
        let (x, y) = (point_in(a, s), point_in(b, t));
        prop_assert!(holds(a + b, &(exact(x) + exact(y))));
        prop_assert!(holds(a - b, &(exact(x) - exact(y))));
        prop_assert!(holds(a * b, &(exact(x) * exact(y))));
        prop_assert!(holds(a.square(), &(exact(x) * exact(x))));
        prop_assert!(holds(a * y, &(exact(x) * exact(y))));
        prop_assert!(holds(y - a, &(exact(y) - exact(x))));
        prop_assert!(holds(-a, &-exact(x)));
    }

    #[test]
    fn points_are_enclosed_by_neighbouring_floats(x in number(), y in number()) {
        let (a, b) = (Enclosure::from_point(x).unwrap(), Enclosure::from_point(y).unwrap());
        for (set, value) in [
            (a + b, exact(x) + exact(y)),
            (a - b, exact(x) - exact(y)),
            (a * b, exact(x) * exact(y)),
        ] {
            prop_assert!(holds(set, &value));
            // Equal ends if and only if the result is a float; otherwise no float fits between them.
            let representable = set.inf().is_finite() && exact(set.inf()) == value;
            prop_assert_eq!(representable, set.wid() <= 0.0);
            prop_assert!(set.inf().next_up() >= set.sup());
        }
    }

    #[test]
    fn margins_hold_the_exact_ends(centre in number(), below in number(), above in number(), s in position()) {
        let (below, above) = (below.abs(), above.abs());
        let set = Enclosure::from_margins(centre, below, above).unwrap();
        prop_assert!(holds(set, &(exact(centre) - exact(between(0.0, below, s)))));
        prop_assert!(holds(set, &(exact(centre) + exact(between(0.0, above, s)))));
    }

    #[test]
    fn radius_and_width_are_upper_bounds(a in unbounded_enclosure(), s in position()) {
        let x = point_in(a, s);
        let distance = exact(x) - exact(a.mid());
        prop_assert!(a.contains(a.mid()));
        prop_assert!(a.rad().is_infinite() || (distance <= exact(a.rad()) && -distance <= exact(a.rad())));
        prop_assert!(a.wid().is_infinite() || exact(a.sup()) - exact(a.inf()) <= exact(a.wid()));
    }

    #[test]
    fn dot_product_holds_the_exact_result(
        start in unbounded_enclosure(),
        terms in prop::collection::vec((unbounded_enclosure(), unbounded_enclosure(), position(), position()), 0..8),
        s in position(),
    ) {
        let left: Vec<_> = terms.iter().map(|term| term.0).collect();
        let right: Vec<_> = terms.iter().map(|term| term.1).collect();
        let value = terms.iter().fold(exact(point_in(start, s)), |sum, &(a, b, s, t)| {
            sum + exact(point_in(a, s)) * exact(point_in(b, t))
        });
        prop_assert!(holds(Enclosure::dot(start, &left, &right).unwrap(), &value));
    }

    #[test]
    fn cancelling_dot_product_holds_the_exact_result(
        terms in prop::collection::vec((-8.0..8.0_f64, -8.0..8.0_f64), 2..32),
    ) {
        // The rounded sum is taken away again, so what is left is what rounding dropped, and its own rounding shows.
        let rounded: f64 = terms.iter().map(|(x, y)| x * y).sum();
        let points = |values: Vec<f64>| -> Vec<_> {
            values.into_iter().map(|value| Enclosure::from_point(value).unwrap()).collect()
        };
        let left = points(terms.iter().map(|term| term.0).chain([-rounded]).collect());
        let right = points(terms.iter().map(|term| term.1).chain([1.0]).collect());
        let value = terms.iter().fold(exact(-rounded), |sum, &(x, y)| sum + exact(x) * exact(y));
        prop_assert!(holds(Enclosure::dot(Enclosure::ZERO, &left, &right).unwrap(), &value));
    }

    #[test]
    fn bounded_dot_product_is_nearly_tight(terms in prop::collection::vec((-8.0..8.0_f64, -8.0..8.0_f64), 1..64)) {
        let points = |values: Vec<f64>| -> Vec<_> {
            values.into_iter().map(|value| Enclosure::from_point(value).unwrap()).collect()
        };
        let left = points(terms.iter().map(|term| term.0).collect());
        let right = points(terms.iter().map(|term| term.1).collect());
        let set = Enclosure::dot(Enclosure::ZERO, &left, &right).unwrap();
        let magnitude: f64 = terms.iter().map(|(x, y)| (x * y).abs()).sum();
        // One rounding of the result, and a second-order part that matters only under cancellation.
        let second_order = 64.0 * 64.0 * f64::EPSILON * f64::EPSILON * magnitude;
        prop_assert!(set.wid() <= 2.0 * f64::EPSILON * set.mag() + second_order);
    }
}

/// A function on sets beside its exact counterpart on points, and how many floats wide the image of a point may be.
type Function = (&'static str, fn(Enclosure) -> Enclosure, fn(f64) -> Big);
const FUNCTIONS: [Function; 4] = [
    ("exp", Enclosure::exp, reference::exp),
    ("tanh", Enclosure::tanh, reference::tanh),
    ("sigmoid", Enclosure::sigmoid, reference::sigmoid),
    ("softplus", Enclosure::softplus, reference::softplus),
];

/// Arguments within the range where the functions have not overflowed far beyond any use.
fn argument() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => -8.0..8.0_f64,
        1 => -50.0..50.0_f64,
        1 => -760.0..760.0_f64,
        1 => number().prop_filter("beyond range", |x| x.abs() < 1e4),
        1 => (-1000_i32..1000).prop_map(|k| f64::from(k) * std::f64::consts::LN_2 / 2.0), // argument reduction borders
        1 => (-40_i32..-10, -8.0..8.0_f64).prop_map(|(power, x)| x * f64::from(power).exp2()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn functions_hold_the_exact_value(first in argument(), second in argument(), s in position()) {
        let (lower, upper) = (first.min(second), first.max(second));
        let set = Enclosure::from_bounds(lower, upper).unwrap();
        let x = between(lower, upper, s);
        for (name, function, exact_function) in FUNCTIONS {
            let value = exact_function(x);
            prop_assert!(holds(function(set), &value), "{name} of {set} misses the image of {x:?}");
            let point = function(Enclosure::from_point(x).unwrap());
            prop_assert!(holds(point, &value), "{name}: {point} misses the image of {x:?}");
        }
        prop_assert!(holds(set.relu(), &exact(x.max(0.0))));
    }

    #[test]
    fn functions_are_nearly_isotone(set in unbounded_enclosure(), s in position(), t in position()) {
        let part = subset(set, s, t);
        for (name, function, _) in FUNCTIONS {
            // The underlying functions need not be monotone in the last bits: allow the widening itself.
            let (whole, image) = (function(set), function(part));
            let slack = |value: f64| 16.0 * f64::EPSILON * value.abs() + 16.0 * 5e-324;
            prop_assert!(
                image.inf() >= whole.inf() - slack(whole.inf()) && image.sup() <= whole.sup() + slack(whole.sup()),
                "{name}: {image} of {part} outside {whole} of {set}"
            );
        }
    }
}

#[test]
fn ranges_are_respected_at_the_extremes() {
    let extremes = [
        0.0, -0.0, 5e-324, -5e-324, 1.0, 19.99, 20.0, 40.0, -40.0, 709.78, 709.79, -745.1, -745.2, 1e308, -1e308,
    ];
    for x in extremes {
        let set = Enclosure::from_point(x).unwrap();
        assert!(set.exp().inf() >= 0.0);
        assert!(set.tanh().mag() <= 1.0);
        assert!(set.sigmoid().inf() >= 0.0 && set.sigmoid().sup() <= 1.0);
        assert!(set.softplus().inf() >= 0.0);
        assert!(set.softplus().sup() >= x);
        if x.abs() < 1e4 {
            for (name, function, exact_function) in FUNCTIONS {
                assert!(holds(function(set), &exact_function(x)), "{name} at {x:?}");
            }
        }
    }
}

#[test]
fn unbounded_sets_have_the_limits_as_images() {
    let left = Enclosure::from_bounds(f64::NEG_INFINITY, 0.0).unwrap();
    let right = Enclosure::from_bounds(0.0, f64::INFINITY).unwrap();
    let bounds = |lower, upper| Enclosure::from_bounds(lower, upper).unwrap();
    assert_eq!(left.exp(), bounds(0.0, 1.0));
    assert_eq!(right.exp(), bounds(1.0, f64::INFINITY));
    assert_eq!(left.tanh(), bounds(-1.0, 0.0));
    assert_eq!(right.sigmoid(), bounds(0.5, 1.0));
    assert_eq!(Enclosure::ENTIRE.softplus(), bounds(0.0, f64::INFINITY));
    assert_eq!(Enclosure::ENTIRE.relu(), bounds(0.0, f64::INFINITY));
}
