//! Algebra of `Enclosure`: laws that hold bit for bit, bad input, overflow.

use intervalid_interval::{Enclosure, EnclosureMatrix, Interval, IntervalError};
use proptest::prelude::*;

use crate::strategies::{dyadic_enclosure, number, position, subset, unbounded_enclosure};

proptest! {
    #[test]
    fn arithmetic_is_isotone(
        a in unbounded_enclosure(), b in unbounded_enclosure(),
        p in (position(), position()), q in (position(), position()),
    ) {
        let (part_a, part_b) = (subset(a, p.0, p.1), subset(b, q.0, q.1));
        prop_assert!((a + b).contains_enclosure(part_a + part_b));
        prop_assert!((a - b).contains_enclosure(part_a - part_b));
        prop_assert!((a * b).contains_enclosure(part_a * part_b));
        prop_assert!(a.square().contains_enclosure(part_a.square()));
    }

    #[test]
    fn sum_and_product_commute(a in unbounded_enclosure(), b in unbounded_enclosure()) {
        prop_assert_eq!(a + b, b + a);
        prop_assert_eq!(a * b, b * a);
        prop_assert_eq!(a - b, -(b - a));
        prop_assert_eq!((-a) * b, -(a * b));
    }

    #[test]
    fn product_is_sub_distributive(a in dyadic_enclosure(), b in dyadic_enclosure(), c in dyadic_enclosure()) {
        // Exact on these operands, so the law of set arithmetic shows undisturbed by rounding.
        prop_assert!((a * b + a * c).contains_enclosure(a * (b + c)));
        let crisp = Enclosure::from_point(a.inf()).unwrap();
        prop_assert_eq!(crisp * b + crisp * c, crisp * (b + c));
    }

    #[test]
    fn exact_operations_add_no_width(a in dyadic_enclosure(), b in dyadic_enclosure()) {
        let (x, y) = (Interval::new(a.inf(), a.sup()).unwrap(), Interval::new(b.inf(), b.sup()).unwrap());
        for (set, ordinary) in [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a.square(), x.square())] {
            prop_assert_eq!(set, Enclosure::try_from(ordinary).unwrap());
        }
        prop_assert_eq!(Enclosure::dot(a, &[a, b], &[b, a]).unwrap(), a + a * b + a * b);
    }

    #[test]
    fn rigorous_product_holds_the_ordinary_one(
        a in (number(), number()), b in (number(), number()),
    ) {
        let interval = |(x, y): (f64, f64)| Interval::new(x.min(y), x.max(y)).unwrap();
        let (x, y) = (interval(a), interval(b));
        let set = Enclosure::try_from(x).unwrap() * Enclosure::try_from(y).unwrap();
        let ordinary = x * y;
        // Rounding to nearest lies between rounding down and up; an overflowed end is the same infinity
        // or one float inside it.
        prop_assert!(set.inf() <= ordinary.inf() && ordinary.inf() <= set.inf().next_up());
        prop_assert!(set.sup() >= ordinary.sup() && ordinary.sup() >= set.sup().next_down());
    }
}

#[test]
fn overflow_stays_rigorous() {
    let huge = Enclosure::from_point(f64::MAX).unwrap();
    let beyond = Enclosure::from_bounds(f64::MAX, f64::INFINITY).unwrap();
    assert_eq!(huge + huge, beyond);
    assert_eq!(huge * huge, beyond);
    assert_eq!(-huge - huge, -beyond);
    assert_eq!(beyond - beyond, Enclosure::ENTIRE);
    assert_eq!(Enclosure::dot(huge, &[huge], &[huge]).unwrap(), beyond);
    // The head overflows on the way, although the exact sum is 0.
    let sum = Enclosure::dot(
        Enclosure::ZERO,
        &[huge, huge, -huge, -huge],
        &[Enclosure::from_point(1.0).unwrap(); 4],
    );
    assert!(sum.unwrap().contains(0.0));
}

#[test]
fn underflow_stays_rigorous() {
    let smallest = Enclosure::from_point(5e-324).unwrap();
    assert_eq!(smallest * smallest, Enclosure::from_bounds(0.0, 5e-324).unwrap());
    assert_eq!(-smallest * smallest, Enclosure::from_bounds(-5e-324, 0.0).unwrap());
    assert_eq!(smallest * 0.5, Enclosure::from_bounds(0.0, 5e-324).unwrap());
    assert_eq!(smallest * 3.0, Enclosure::from_point(1.5e-323).unwrap());
    assert_eq!(smallest - smallest, Enclosure::ZERO);
}

#[test]
fn zero_times_unbounded_is_zero() {
    assert_eq!(Enclosure::ENTIRE * 0.0, Enclosure::ZERO);
    assert_eq!(Enclosure::ENTIRE * -0.0, Enclosure::ZERO);
    assert_eq!(
        Enclosure::dot(Enclosure::ZERO, &[Enclosure::ENTIRE], &[Enclosure::ZERO]).unwrap(),
        Enclosure::ZERO
    );
}

#[test]
fn scalars_that_are_not_real_tell_nothing() {
    for scalar in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Enclosure::ZERO + scalar, Enclosure::ENTIRE);
        assert_eq!(scalar - Enclosure::ZERO, Enclosure::ENTIRE);
    }
}

#[test]
fn bad_bounds_are_named_in_the_error() {
    let message = |lower, upper| Enclosure::from_bounds(lower, upper).unwrap_err().to_string();
    assert_eq!(message(2.0, 1.0), "lower bound 2 is above upper bound 1");
    assert_eq!(
        message(f64::NAN, 1.0),
        "bounds must be numbers, found lower NaN and upper 1"
    );
    assert_eq!(
        message(f64::INFINITY, f64::INFINITY),
        "bounds inf and inf hold no real number"
    );
    assert_eq!(
        Enclosure::from_margins(1.0, -0.5, 0.0).unwrap_err().to_string(),
        "margin must be finite and at least 0, found -0.5"
    );
    assert!(Enclosure::from_margins(1.0, 0.0, f64::NAN).is_err());
    assert!(Enclosure::from_margins(f64::NAN, 0.0, 0.0).is_err());
}

#[test]
fn wrong_shapes_are_named_in_the_error() {
    let zero = Enclosure::ZERO;
    assert_eq!(
        Enclosure::dot(zero, &[zero; 2], &[zero; 3]).unwrap_err().to_string(),
        "dot: right must have length 2, found 3"
    );
    assert_eq!(
        EnclosureMatrix::from_bounds(2, 2, &[0.0; 4], &[0.0; 3]).unwrap_err(),
        IntervalError::Length {
            operation: "matrix",
            argument: "upper",
            expected: 4,
            found: 3
        }
    );
    let matrix = EnclosureMatrix::new(2, 3, vec![zero; 6]).unwrap();
    assert_eq!(
        matrix.affine(&[zero; 2], &[zero; 2]).unwrap_err().to_string(),
        "affine map: input must have length 3, found 2"
    );
    assert_eq!(
        matrix.affine(&[zero; 3], &[zero; 1]).unwrap_err().to_string(),
        "affine map: bias must have length 2, found 1"
    );
}

#[test]
fn display_reads_back() {
    let set = Enclosure::from_bounds(0.1, 1e300).unwrap();
    let text = set.to_string();
    let (lower, upper) = text.trim_matches(['[', ']']).split_once(", ").unwrap();
    assert_eq!(
        Enclosure::from_bounds(lower.parse().unwrap(), upper.parse().unwrap()).unwrap(),
        set
    );
}
