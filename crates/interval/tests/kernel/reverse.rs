//! Vector–Jacobian products: against the rule of the table on random sets, against differences clear of kinks.

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredAdjoint, CentredWeights, IntervalWeights, WeightAdjoint, with_level};
use intervalid_testkit::{Scheme, Tolerance, assert_all_close, gradient_with};
use proptest::prelude::*;

use super::support::{Bounds, Draw, Reference, Shape, at_all_levels, cases, pair, shape};

/// Which ends (weight, input; `true` is the upper one) the bounds of a product are made of, lower bound first.
fn ends_in_bounds(w: (f64, f64), x: (f64, f64)) -> [(bool, bool); 2] {
    if w.0 >= 0.0 {
        [(x.0 < 0.0, false), (x.1 >= 0.0, true)]
    } else if w.1 <= 0.0 {
        [(x.1 < 0.0, true), (x.0 >= 0.0, false)]
    } else {
        let lower_reads_upper = w.1 * x.0 >= w.0 * x.1;
        let upper_reads_lower = w.0 * x.0 > w.1 * x.1;
        [
            (!lower_reads_upper, lower_reads_upper),
            (!upper_reads_lower, !upper_reads_lower),
        ]
    }
}

struct Case<T> {
    shape: Shape,
    tiles: usize,
    w: Bounds<T>,
    /// `[tiles][in][width]`
    x: Bounds<T>,
    /// Adjoints of the outputs, `[tiles][out][width]`.
    g: Vec<T>,
    h: Vec<T>,
}

/// What the reverse pass adds to: adjoints of weights and inputs, lower then upper.
struct Adjoints<R> {
    weights: R,
    inputs: R,
}

impl<T: Real> Case<T> {
    fn new(draw: &mut Draw, shape: Shape, tiles: usize, clear: bool) -> Self {
        let Shape { out, inner, width } = shape;
        let mut sets = |count, input| {
            if clear {
                draw.clear_sets(count, input)
            } else {
                draw.sets(count)
            }
        };
        let (w, x) = (sets(out * inner, false), sets(tiles * inner * width, true));
        let (g, h) = (draw.numbers(tiles * out * width), draw.numbers(tiles * out * width));
        // Ties of straddling sets are decided by rounding: keep them out of comparisons (they have their own test).
        Self {
            shape,
            tiles,
            w,
            x,
            g,
            h,
        }
    }

    fn reference(&self, start: &Adjoints<Vec<T>>) -> Adjoints<Reference> {
        let Shape { out, inner, width } = self.shape;
        let mut adjoints = Adjoints {
            weights: Reference::starting_at(&start.weights),
            inputs: Reference::starting_at(&start.inputs),
        };
        for tile in 0..self.tiles {
            for (o, i) in (0..out).flat_map(|o| (0..inner).map(move |i| (o, i))) {
                for s in 0..width {
                    let (at_w, at_x) = (o * inner + i, (tile * inner + i) * width + s);
                    let at_y = (tile * out + o) * width + s;
                    let (w, x) = (pair(&self.w, at_w), pair(&self.x, at_x));
                    let bounds = [self.g[at_y].as_f64(), self.h[at_y].as_f64()];
                    for ((w_upper, x_upper), adjoint) in ends_in_bounds(w, x).into_iter().zip(bounds) {
                        let (w, x) = (if w_upper { w.1 } else { w.0 }, if x_upper { x.1 } else { x.0 });
                        let (w_half, x_half) = (out * inner, self.tiles * inner * width);
                        adjoints.weights.add(at_w + usize::from(w_upper) * w_half, adjoint * x);
                        adjoints.inputs.add(at_x + usize::from(x_upper) * x_half, adjoint * w);
                    }
                }
            }
        }
        adjoints
    }

    /// Tile by tile, then drained; starts at `start`.
    fn backward(&self, start: &Adjoints<Vec<T>>) -> Adjoints<Vec<T>> {
        let Shape { out, inner, width } = self.shape;
        let weights = IntervalWeights::new(&self.w.0, &self.w.1, out, inner);
        let mut sums = WeightAdjoint::new(out, inner);
        let (mut of_weights, mut of_inputs) = (start.weights.clone(), start.inputs.clone());
        let (lower, upper) = of_inputs.split_at_mut(self.tiles * inner * width);
        for tile in 0..self.tiles {
            let (x, y) = (
                tile * inner * width..(tile + 1) * inner * width,
                tile * out * width..(tile + 1) * out * width,
            );
            weights.backward_add(
                &self.x.0[x.clone()],
                &self.x.1[x.clone()],
                &self.g[y.clone()],
                &self.h[y],
                &mut lower[x.clone()],
                &mut upper[x],
                &mut sums,
                width,
            );
        }
        let (lower, upper) = of_weights.split_at_mut(out * inner);
        sums.drain_into(lower, upper);
        // Drained sums are zero: nothing is added twice.
        let mut again = (vec![T::zero(); out * inner], vec![T::zero(); out * inner]);
        sums.drain_into(&mut again.0, &mut again.1);
        assert!(
            again.0.iter().chain(&again.1).all(|v| v.as_f64().abs() <= 0.0),
            "drain does not reset"
        );
        Adjoints {
            weights: of_weights,
            inputs: of_inputs,
        }
    }

    fn objective(&self, w: &Bounds<T>, x: &Bounds<T>) -> T {
        let Shape { out, inner, width } = self.shape;
        let weights = IntervalWeights::new(&w.0, &w.1, out, inner);
        let (mut lower, mut upper) = (vec![T::zero(); self.g.len()], vec![T::zero(); self.g.len()]);
        for tile in 0..self.tiles {
            let (x_at, y) = (
                tile * inner * width..(tile + 1) * inner * width,
                tile * out * width..(tile + 1) * out * width,
            );
            weights.forward_add(
                &x.0[x_at.clone()],
                &x.1[x_at],
                &mut lower[y.clone()],
                &mut upper[y],
                width,
            );
        }
        weighted(&self.g, &lower) + weighted(&self.h, &upper)
    }
}

fn weighted<T: Real>(adjoint: &[T], values: &[T]) -> T {
    adjoint.iter().zip(values).map(|(&g, &v)| g * v).sum()
}

fn halves<T: Real>(values: &[T]) -> Bounds<T> {
    let (lower, upper) = values.split_at(values.len() / 2);
    (lower.to_vec(), upper.to_vec())
}

fn follows_the_rule<T: Real>(seed: u64, shape: Shape, tiles: usize, clear: bool) {
    let mut draw = Draw::new(seed);
    let case = Case::<T>::new(&mut draw, shape, tiles, clear);
    let start = Adjoints {
        weights: draw.numbers(2 * shape.out * shape.inner),
        inputs: draw.numbers(2 * tiles * shape.inner * shape.width),
    };
    let reference = case.reference(&start);
    for (level, found) in at_all_levels(|| case.backward(&start).weights) {
        reference
            .weights
            .check(&format!("weights, {level:?}"), &found, 2 * tiles * shape.width);
    }
    for (level, found) in at_all_levels(|| case.backward(&start).inputs) {
        reference
            .inputs
            .check(&format!("inputs, {level:?}"), &found, 2 * shape.out);
    }
}

fn centred<T: Real>(w: &Bounds<T>, shape: Shape) -> CentredWeights<T> {
    let mut weights = CentredWeights::new(shape.out, shape.inner);
    weights.update(&w.0, &w.1);
    weights
}

/// Adjoints of the weights' lower and upper bounds, which begin at `start`, then those of the crisp inputs.
fn centred_backward<T: Real>(w: &Bounds<T>, x: &[T], g: &[T], h: &[T], shape: Shape, start: T) -> Vec<T> {
    let Shape { out, inner, width } = shape;
    let weights = centred(w, shape);
    let mut sums = CentredAdjoint::new(out, inner);
    let mut inputs = vec![T::zero(); x.len()];
    let tiles = x
        .chunks_exact(inner * width)
        .zip(inputs.chunks_exact_mut(inner * width));
    let adjoints = g.chunks_exact(out * width).zip(h.chunks_exact(out * width));
    for ((x, to), (g, h)) in tiles.zip(adjoints) {
        weights.backward_add(x, g, h, to, &mut sums, width);
    }
    let (mut lower, mut upper) = (vec![start; out * inner], vec![start; out * inner]);
    sums.drain_into(&mut lower, &mut upper);
    let mut again = (vec![T::zero(); out * inner], vec![T::zero(); out * inner]);
    sums.drain_into(&mut again.0, &mut again.1);
    assert!(
        again.0.iter().chain(&again.1).all(|v| v.is_zero()),
        "drain does not reset"
    );
    [lower, upper, inputs].concat()
}

/// As [`follows_the_rule`] with points for inputs. The adjoints of centre and radius are sums over both bounds, and round
/// relative to those.
fn crisp_follows_the_rule<T: Real>(seed: u64, shape: Shape, tiles: usize) {
    let Shape { out, inner, width } = shape;
    let mut draw = Draw::new(seed);
    let w = draw.sets::<T>(out * inner);
    let x: Vec<T> = draw.numbers(tiles * inner * width);
    let (g, h): (Vec<T>, Vec<T>) = (draw.numbers(tiles * out * width), draw.numbers(tiles * out * width));
    let start = T::of(0.5);
    let mut weights = Reference::starting_at(&vec![start; 2 * out * inner]);
    let mut inputs = Reference::starting_at(&vec![T::zero(); tiles * inner * width]);
    for tile in 0..tiles {
        for (o, i) in (0..out).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let at_w = o * inner + i;
            let (w_lower, w_upper) = pair(&w, at_w);
            let larger = w_lower.abs().max(w_upper.abs());
            for s in 0..width {
                let (at_x, at_y) = ((tile * inner + i) * width + s, (tile * out + o) * width + s);
                let (x, g, h) = (x[at_x].as_f64(), g[at_y].as_f64(), h[at_y].as_f64());
                let (with_lower, with_upper) = if x < 0.0 { (h, g) } else { (g, h) };
                let both = g.abs() + h.abs();
                weights.add_rounded_at(at_w, with_lower * x, both * x.abs());
                weights.add_rounded_at(out * inner + at_w, with_upper * x, both * x.abs());
                inputs.add_rounded_at(at_x, with_lower * w_lower + with_upper * w_upper, both * larger);
            }
        }
    }
    for (level, found) in at_all_levels(|| centred_backward(&w, &x, &g, &h, shape, start)) {
        let (of_weights, of_inputs) = found.split_at(2 * out * inner);
        weights.check(&format!("weights {level:?}"), of_weights, 2 * tiles * width);
        inputs.check(&format!("inputs {level:?}"), of_inputs, 2 * out);
    }
}

fn small_shape() -> impl Strategy<Value = Shape> {
    (1..6_usize, 1..6_usize, proptest::sample::select(vec![16, 32, 48])).prop_map(|(out, inner, width)| Shape {
        out,
        inner,
        width,
    })
}

/// Objectives are piecewise quadratic, so a central difference errs by rounding only: some hundred terms of order one,
/// divided by the step.
const STEP: f64 = 1e-4;
const ROUNDING: Tolerance = Tolerance::relative(1e-8);

fn differences(f: impl FnMut(&[f64]) -> f64, at: &[f64]) -> Vec<f64> {
    gradient_with(Scheme::Central, f, at, STEP)
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn interval_products_follow_the_table(seed in any::<u64>(), shape in shape(), tiles in 1..3_usize) {
        follows_the_rule::<f32>(seed, shape, tiles, true);
        follows_the_rule::<f64>(seed, shape, tiles, true);
        // Sets of every kind; in double precision no draw of the test is a tie by accident.
        follows_the_rule::<f64>(seed, shape, tiles, false);
    }

    #[test]
    fn interval_products_agree_with_differences(seed in any::<u64>(), shape in small_shape(), tiles in 1..3_usize) {
        let case = Case::<f64>::new(&mut Draw::new(seed), shape, tiles, true);
        let zero = Adjoints { weights: vec![0.0; 2 * case.w.0.len()], inputs: vec![0.0; 2 * case.x.0.len()] };
        let found = case.backward(&zero);
        let w = differences(|w| case.objective(&halves(w), &case.x), &[&case.w.0[..], &case.w.1].concat());
        assert_all_close("weights", &w, &found.weights, ROUNDING);
        let x = differences(|x| case.objective(&case.w, &halves(x)), &[&case.x.0[..], &case.x.1].concat());
        assert_all_close("inputs", &x, &found.inputs, ROUNDING);
    }

    #[test]
    fn crisp_inputs_agree_with_differences(seed in any::<u64>(), shape in small_shape()) {
        let Shape { out, inner, width } = shape;
        let mut draw = Draw::new(seed);
        let w = draw.sets::<f64>(out * inner);
        let x: Vec<f64> = draw.clear_sets(inner * width, true).0;
        let (g, h): (Vec<f64>, Vec<f64>) = (draw.numbers(out * width), draw.numbers(out * width));
        let objective = |w: &Bounds<f64>, x: &[f64]| {
            let (mut lower, mut upper) = (vec![0.0; out * width], vec![0.0; out * width]);
            centred(w, shape).forward_add(x, &mut lower, &mut upper, width);
            weighted(&g, &lower) + weighted(&h, &upper)
        };
        let of_w = differences(|w| objective(&halves(w), &x), &[&w.0[..], &w.1].concat());
        let of_x = differences(|x| objective(&w, x), &x);
        for (level, found) in at_all_levels(|| centred_backward(&w, &x, &g, &h, shape, 0.0)) {
            let (weights, inputs) = found.split_at(2 * out * inner);
            assert_all_close(&format!("weights {level:?}"), &of_w, weights, ROUNDING);
            assert_all_close(&format!("inputs {level:?}"), &of_x, inputs, ROUNDING);
        }
    }

    #[test]
    fn crisp_inputs_follow_the_table(seed in any::<u64>(), shape in shape(), tiles in 1..3_usize) {
        crisp_follows_the_rule::<f32>(seed, shape, tiles);
        crisp_follows_the_rule::<f64>(seed, shape, tiles);
    }
}

/// At kinks the adjoint of each bound goes somewhere, once: to one end of the weight and one of the input.
#[test]
fn kinks_split_no_adjoint() {
    let kinks = [-1.0_f64, -0.0, 0.0, 1.0];
    let sets: Vec<_> = kinks
        .iter()
        .flat_map(|&l| kinks.iter().map(move |&u| (l, u)))
        .filter(|(l, u)| l <= u)
        .collect();
    for &w in &sets {
        for &x in &sets {
            for &level in intervalid_interval::kernel::SimdLevel::available() {
                let run = |g: f64, h: f64| {
                    let mut sums = WeightAdjoint::new(1, 1);
                    let (mut lower, mut upper) = ([0.0; 16], [0.0; 16]);
                    let weights = IntervalWeights::new(&[w.0], &[w.1], 1, 1);
                    let (g, h) = ([g; 16], [h; 16]);
                    let (x_lower, x_upper) = ([x.0; 16], [x.1; 16]);
                    weights.backward_add(&x_lower, &x_upper, &g, &h, &mut lower, &mut upper, &mut sums, 16);
                    let (mut w_lower, mut w_upper) = ([0.0], [0.0]);
                    sums.drain_into(&mut w_lower, &mut w_upper);
                    (
                        lower[3] * x.0 + upper[3] * x.1,
                        (w_lower[0] * w.0 + w_upper[0] * w.1) / 16.0,
                    )
                };
                // Products are bilinear, so each operand's share adds up to the bound itself.
                for (g, h) in [(1.0, 0.0), (0.0, 1.0)] {
                    let (mut lower, mut upper) = ([0.0; 16], [0.0; 16]);
                    IntervalWeights::new(&[w.0], &[w.1], 1, 1)
                        .forward_add(&[x.0; 16], &[x.1; 16], &mut lower, &mut upper, 16);
                    let bound = g * lower[0] + h * upper[0];
                    let (of_input, of_weight) = with_level(level, || run(g, h));
                    assert!(
                        (of_input - bound).abs() < 1e-15 && (of_weight - bound).abs() < 1e-15,
                        "{w:?} {x:?} {level:?}"
                    );
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "adjoint of the weights")]
fn shapes_are_asserted() {
    let x = [0.0; 16];
    let (mut lower, mut upper) = ([0.0; 16], [0.0; 16]);
    IntervalWeights::new(&[0.0], &[1.0], 1, 1).backward_add(
        &x,
        &x,
        &x,
        &x,
        &mut lower,
        &mut upper,
        &mut WeightAdjoint::new(2, 1),
        16,
    );
}
