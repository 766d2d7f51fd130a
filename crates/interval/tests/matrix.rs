//! Interval matrices: products against sums of scalar intervals, checks of what goes in.

use intervalid_interval::{Interval, IntervalError, IntervalMatrix, Real};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn matrix<T: Real>(random: &mut ChaCha8Rng, rows: usize, columns: usize, crisp: bool) -> IntervalMatrix<T> {
    let (lower, upper): (Vec<T>, Vec<T>) = (0..rows * columns)
        .map(|_| {
            let (x, y) = (random.random_range(-1.0..1.0_f32), random.random_range(-1.0..1.0_f32));
            let (x, y) = if crisp { (x, x) } else { (x.min(y), x.max(y)) };
            (T::of(f64::from(x)), T::of(f64::from(y)))
        })
        .unzip();
    IntervalMatrix::from_bounds(rows, columns, &lower, &upper).expect("ordered")
}

fn products<T: Real>(seed: u64, rows: usize, inner: usize, columns: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (left_crisp, right_crisp) in [(false, false), (true, false), (false, true)] {
        let left = matrix::<T>(&mut random, rows, inner, left_crisp);
        let right = matrix::<T>(&mut random, inner, columns, right_crisp);
        let mut found = vec![left.product(&right).expect("shapes agree")];
        if left_crisp {
            found.push(right.product_from_points(left.lower(), rows).expect("shapes agree"));
        }
        if right_crisp {
            found.push(left.product_with_points(right.lower(), columns).expect("shapes agree"));
        }
        // Terms are below one; the kernel and this loop each round once or twice per term.
        let tolerance = T::of(4.0 * (inner * inner + 1) as f64) * T::epsilon();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let zero = Interval::point(T::zero()).expect("a number");
            let expected = (0..inner).fold(zero, |sum, i| {
                sum + left.get(row, i).expect("inside") * right.get(i, column).expect("inside")
            });
            for found in &found {
                assert_eq!((found.rows(), found.columns()), (rows, columns));
                let found = found.get(row, column).expect("inside");
                assert!(
                    (found.inf() - expected.inf()).abs() <= tolerance,
                    "{found} for {expected}"
                );
                assert!(
                    (found.sup() - expected.sup()).abs() <= tolerance,
                    "{found} for {expected}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_are_sums_of_products(seed in any::<u64>(), rows in 0..12_usize, inner in 0..20_usize, columns in 0..40_usize) {
        products::<f32>(seed, rows, inner, columns);
        products::<f64>(seed, rows, inner, columns);
    }

    #[test]
    fn elementwise_operations_are_those_of_the_elements(seed in any::<u64>(), rows in 0..5_usize, columns in 0..40_usize) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (x, y) = (matrix::<f64>(&mut random, rows, columns, false), matrix(&mut random, rows, columns, false));
        let results = [
            (x.sum(&y).unwrap(), (|a, b| a + b) as fn(Interval<f64>, Interval<f64>) -> Interval<f64>),
            (x.elementwise_product(&y).unwrap(), |a, b| a * b),
            (x.clone().tanh(), |a, _| a.tanh()),
            (x.clone().sigmoid(), |a, _| a.sigmoid()),
            (x.clone().softplus(), |a, _| a.softplus()),
            (x.clone().relu(), |a, _| a.relu()),
        ];
        for (found, expected) in results {
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let expected = expected(x.get(row, column).unwrap(), y.get(row, column).unwrap());
                let found = found.get(row, column).unwrap();
                prop_assert!((found.inf() - expected.inf()).abs() <= 4.0 * f64::EPSILON, "{found} for {expected}");
                prop_assert!((found.sup() - expected.sup()).abs() <= 4.0 * f64::EPSILON, "{found} for {expected}");
            }
        }
    }
}

#[test]
fn bad_input_is_named() {
    let length = |operation, argument, expected, found| IntervalError::Length {
        operation,
        argument,
        expected,
        found,
    };
    assert_eq!(
        IntervalMatrix::from_bounds(2, 2, &[0.0; 3], &[0.0; 4]),
        Err(length("matrix", "lower", 4, 3))
    );
    assert_eq!(
        IntervalMatrix::from_bounds(usize::MAX, 2, &[0.0], &[0.0]),
        Err(length("matrix", "lower", usize::MAX, 1))
    );
    assert!(matches!(
        IntervalMatrix::column(&[f64::NAN], &[0.0]),
        Err(IntervalError::NotANumber { .. })
    ));
    assert_eq!(
        IntervalMatrix::from_margins(1, 1, &[0.0], &[0.0], &[f64::INFINITY]),
        Err(IntervalError::Margin { margin: f64::INFINITY })
    );
    let (x, y) = (
        IntervalMatrix::column(&[0.0; 2], &[1.0; 2]).unwrap(),
        IntervalMatrix::column(&[0.0], &[1.0]).unwrap(),
    );
    assert_eq!(x.sum(&y), Err(length("sum", "rows", 2, 1)));
    assert_eq!(
        x.elementwise_product(&y),
        Err(length("elementwise product", "rows", 2, 1))
    );
    assert_eq!(
        x.product(&x),
        Err(length("matrix product", "rows of the right factor", 1, 2))
    );
    assert_eq!(x.get(0, 1), None);
}

#[test]
fn undefined_ends_give_the_whole_line() {
    let endless = IntervalMatrix::column(&[0.0], &[f64::INFINITY]).unwrap();
    let zero = IntervalMatrix::from_points(1, 1, &[0.0]).unwrap();
    assert_eq!(zero.product(&endless).unwrap().get(0, 0), Some(Interval::entire()));
}
