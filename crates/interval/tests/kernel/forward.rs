//! Interval products: exactness, inclusion, monotonicity, agreement of levels.

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredWeights, IntervalWeights, matmul_add, with_level};
use proptest::prelude::*;

use super::support::{Bounds, Draw, Reference, Shape, at_all_levels, cases, crisp, hull, pair, shape};

/// Whether the inputs of a product are sets, or crisp as those of [`CentredWeights`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    IntervalInput,
    CrispInput,
}

/// Lower bounds, then upper bounds.
fn forward<T: Real>(kind: Kind, w: &Bounds<T>, x: &Bounds<T>, start: &Bounds<T>, shape: Shape) -> Vec<T> {
    let (mut lower, mut upper) = start.clone();
    let width = shape.width;
    match kind {
        Kind::IntervalInput => IntervalWeights::new(&w.0, &w.1, shape.out, shape.inner)
            .forward_add(&x.0, &x.1, &mut lower, &mut upper, width),
        Kind::CrispInput => {
            let mut weights = CentredWeights::new(shape.out, shape.inner);
            weights.update(&w.0, &w.1);
            weights.forward_add(&x.0, &mut lower, &mut upper, width);
        }
    }
    lower.extend(upper);
    lower
}

struct Case<T> {
    w: Bounds<T>,
    x: Bounds<T>,
    start: Bounds<T>,
}

fn case<T: Real>(draw: &mut Draw, kind: Kind, Shape { out, inner, width }: Shape) -> Case<T> {
    Case {
        w: draw.sets(out * inner),
        x: match kind {
            Kind::IntervalInput => draw.sets(inner * width),
            Kind::CrispInput => crisp(&draw.numbers(inner * width)),
        },
        start: draw.sets(out * width),
    }
}

/// Centre and radius round relative to the larger bound, whichever of the two they make.
fn reference<T: Real>(case: &Case<T>, kind: Kind, Shape { out, inner, width }: Shape) -> Reference {
    let mut start = case.start.0.clone();
    start.extend(&case.start.1);
    let mut reference = Reference::starting_at(&start);
    for o in 0..out {
        for i in 0..inner {
            for s in 0..width {
                let (lower, upper) = hull(pair(&case.w, o * inner + i), pair(&case.x, i * width + s));
                let magnitudes = match kind {
                    Kind::IntervalInput => [lower.abs(), upper.abs()],
                    Kind::CrispInput => [lower.abs().max(upper.abs()); 2],
                };
                reference.add_rounded_at(o * width + s, lower, magnitudes[0]);
                reference.add_rounded_at((out + o) * width + s, upper, magnitudes[1]);
            }
        }
    }
    reference
}

fn exact<T: Real>(seed: u64, kind: Kind, shape: Shape) {
    let case = case::<T>(&mut Draw::new(seed), kind, shape);
    let reference = reference(&case, kind, shape);
    for (level, found) in at_all_levels(|| forward(kind, &case.w, &case.x, &case.start, shape)) {
        reference.check(&format!("{kind:?}, {level:?}"), &found, shape.inner);
    }
}

/// Crisp weights and inputs drawn from the sets, and smaller sets, give results inside the bounds.
fn inclusion<T: Real>(seed: u64, kind: Kind, shape: Shape) {
    let mut draw = Draw::new(seed);
    let case = case::<T>(&mut draw, kind, shape);
    let middle = |outer: &Bounds<T>, draw: &mut Draw| -> Bounds<T> {
        let (p, q) = (draw.points_in(outer), draw.points_in(outer));
        p.into_iter().zip(q).map(|(p, q)| (p.min(q), p.max(q))).unzip()
    };
    let smaller = Case {
        w: middle(&case.w, &mut draw),
        x: middle(&case.x, &mut draw),
        start: middle(&case.start, &mut draw),
    };
    let point = Case {
        w: crisp(&draw.points_in(&smaller.w)),
        x: crisp(&draw.points_in(&smaller.x)),
        start: smaller.start.clone(),
    };
    // Magnitudes of the outer terms bound those of the inner ones.
    let magnitudes = reference(&case, kind, shape).magnitudes;
    let tolerance = T::of(2.0 * (shape.inner + 1) as f64) * T::epsilon();
    let outer = at_all_levels(|| forward(kind, &case.w, &case.x, &case.start, shape));
    for (level, outer) in outer {
        let inner = with_level(level, || forward(kind, &smaller.w, &smaller.x, &smaller.start, shape));
        let mut sample = smaller.start.0.clone();
        with_level(level, || matmul_add(&point.w.0, &point.x.0, &mut sample, shape.width));
        let half = outer.len() / 2;
        for place in 0..half {
            let slack = tolerance * T::of(magnitudes[place].max(magnitudes[half + place]));
            let (lower, upper) = (outer[place] - slack, outer[half + place] + slack);
            assert!(
                lower <= inner[place] && inner[half + place] <= upper,
                "{kind:?} {level:?}: subset sticks out"
            );
            assert!(
                lower <= sample[place] && sample[place] <= upper,
                "{kind:?} {level:?}: sample sticks out"
            );
        }
    }
}

/// With points for sets both bounds are the crisp product, up to the order of its sum.
fn zero_width<T: Real>(seed: u64, kind: Kind, shape: Shape) {
    let mut draw = Draw::new(seed);
    let case = Case {
        w: crisp::<T>(&draw.numbers(shape.out * shape.inner)),
        x: crisp(&draw.numbers(shape.inner * shape.width)),
        start: crisp(&draw.numbers(shape.out * shape.width)),
    };
    let reference = reference(&case, kind, shape);
    for (level, found) in at_all_levels(|| forward(kind, &case.w, &case.x, &case.start, shape)) {
        let mut product = case.start.0.clone();
        with_level(level, || matmul_add(&case.w.0, &case.x.0, &mut product, shape.width));
        let both: Vec<T> = product.iter().chain(&product).copied().collect();
        let expected = Reference {
            values: both.iter().map(|v| v.as_f64()).collect(),
            magnitudes: reference.magnitudes.clone(),
        };
        expected.check(&format!("{kind:?}, {level:?}"), &found, 2 * shape.inner);
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn bounds_are_sums_of_extreme_products(seed in any::<u64>(), shape in shape()) {
        for kind in [Kind::IntervalInput, Kind::CrispInput] {
            exact::<f32>(seed, kind, shape);
            exact::<f64>(seed, kind, shape);
        }
    }

    #[test]
    fn subsets_and_samples_stay_inside(seed in any::<u64>(), shape in shape()) {
        for kind in [Kind::IntervalInput, Kind::CrispInput] {
            // A crisp input has no subsets: that case draws the weights only.
            inclusion::<f32>(seed, kind, shape);
            inclusion::<f64>(seed, kind, shape);
        }
    }

    #[test]
    fn zero_width_is_the_crisp_product(seed in any::<u64>(), shape in shape()) {
        for kind in [Kind::IntervalInput, Kind::CrispInput] {
            zero_width::<f32>(seed, kind, shape);
            zero_width::<f64>(seed, kind, shape);
        }
    }

    #[test]
    fn an_update_equals_new_weights(seed in any::<u64>(), shape in shape()) {
        let mut draw = Draw::new(seed);
        let first = case::<f32>(&mut draw, Kind::IntervalInput, shape);
        let second = case::<f32>(&mut draw, Kind::IntervalInput, shape);
        let mut weights = IntervalWeights::new(&first.w.0, &first.w.1, shape.out, shape.inner);
        weights.update(&second.w.0, &second.w.1);
        let (mut lower, mut upper) = first.start.clone();
        weights.forward_add(&first.x.0, &first.x.1, &mut lower, &mut upper, shape.width);
        lower.extend(upper);
        prop_assert_eq!(lower, forward(Kind::IntervalInput, &second.w, &first.x, &first.start, shape));
    }
}

#[test]
fn a_weight_that_is_not_a_number_shows_in_the_output() {
    let x = [1.0_f32; 16];
    for (w, v) in [(f32::NAN, 1.0), (-1.0, f32::NAN), (1.0, f32::NAN), (f32::NAN, f32::NAN)] {
        let (mut lower, mut upper) = ([0.0; 16], [0.0; 16]);
        IntervalWeights::new(&[w], &[v], 1, 1).forward_add(&x, &x, &mut lower, &mut upper, 16);
        assert!(
            lower[0].is_nan() || upper[0].is_nan(),
            "weight [{w}, {v}] gave [{}, {}]",
            lower[0],
            upper[0]
        );
    }
}

#[test]
fn empty_layers_leave_the_bias() {
    let (mut lower, mut upper) = ([1.0_f64; 16], [2.0_f64; 16]);
    IntervalWeights::new(&[], &[], 1, 0).forward_add(&[], &[], &mut lower, &mut upper, 16);
    assert_eq!((lower, upper), ([1.0; 16], [2.0; 16]));
}

#[test]
#[should_panic(expected = "lower bounds of 2 inputs")]
fn shapes_are_asserted() {
    let weights = IntervalWeights::new(&[0.0; 4], &[1.0; 4], 2, 2);
    weights.forward_add(&[0.0; 16], &[0.0; 16], &mut [0.0; 32], &mut [0.0; 32], 16);
}
