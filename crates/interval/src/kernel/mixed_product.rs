//! Products where one side is crisp, forward and reverse (spec section 3).
//!
//! Interval weights `[w, W]` and a crisp input x: lower = (x < 0 ? W : w)·x, upper = (x < 0 ? w : W)·x.
//! A crisp weight w and an interval input `[a, A]`: lower = w·(w < 0 ? A : a), upper = w·(w < 0 ? a : A).

use super::LANES;
use super::interval_product::WeightAdjoint;
use super::matmul::sum_lanes;
use super::vector::{Vector, prefetch};
use crate::real::Real;
use crate::simd_dispatch;

/// Adds interval weights times a crisp tile to the bounds of the outputs.
///
/// `weight_lower` and `weight_upper` are `[out, in]`, `input` is `[in][width]`, `lower` and `upper` are `[out][width]`
/// and hold the bias on entry.
pub fn interval_weights_forward<T: Real>(
    weight_lower: &[T],
    weight_upper: &[T],
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    let inner = input.len() / width;
    assert_shapes(weight_lower, weight_upper, inner, lower, upper, width);
    assert_eq!(input.len(), inner * width, "tile of inputs");
    interval_weights(weight_lower, weight_upper, input, lower, upper, width);
}

/// Reverse mode of [`interval_weights_forward`] for one tile: adds to the adjoint of the crisp inputs (`[in][width]`)
/// and to that of the weights.
#[expect(
    clippy::too_many_arguments,
    reason = "two bounds each of weights and outputs, and the tile's shape"
)]
pub fn interval_weights_backward<T: Real>(
    weight_lower: &[T],
    weight_upper: &[T],
    input: &[T],
    lower_adjoint: &[T],
    upper_adjoint: &[T],
    input_adjoint: &mut [T],
    weight_adjoint: &mut WeightAdjoint<T>,
    width: usize,
) {
    let inner = input.len() / width;
    assert_shapes(weight_lower, weight_upper, inner, lower_adjoint, upper_adjoint, width);
    assert_eq!(input.len(), inner * width, "tile of inputs");
    assert_eq!(input_adjoint.len(), inner * width, "adjoint of the inputs");
    assert_eq!(
        weight_adjoint.shape(),
        (lower_adjoint.len() / width, inner),
        "adjoint of the weights"
    );
    interval_weights_reverse(
        weight_lower,
        weight_upper,
        input,
        lower_adjoint,
        upper_adjoint,
        input_adjoint,
        weight_adjoint,
        width,
    );
}

/// Adds crisp weights `[out, in]` times an interval tile `[in][width]` to the bounds of the outputs `[out][width]`.
pub fn crisp_weights_forward<T: Real>(
    weight: &[T],
    input_lower: &[T],
    input_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    let inner = input_lower.len() / width;
    assert_shapes(weight, weight, inner, lower, upper, width);
    assert_eq!(input_lower.len(), input_upper.len(), "bounds of the inputs");
    crisp_weights(weight, input_lower, input_upper, lower, upper, width);
}

/// Reverse mode of [`crisp_weights_forward`] for one tile: adds to the adjoints of the inputs' bounds (`[in][width]`)
/// and to that of the weights (`[out, in]`).
#[expect(
    clippy::too_many_arguments,
    reason = "two bounds each of inputs and outputs, and the tile's shape"
)]
pub fn crisp_weights_backward<T: Real>(
    weight: &[T],
    input_lower: &[T],
    input_upper: &[T],
    lower_adjoint: &[T],
    upper_adjoint: &[T],
    input_lower_adjoint: &mut [T],
    input_upper_adjoint: &mut [T],
    weight_adjoint: &mut [T],
    width: usize,
) {
    let inner = input_lower.len() / width;
    assert_shapes(weight, weight_adjoint, inner, lower_adjoint, upper_adjoint, width);
    assert_eq!(input_lower.len(), input_upper.len(), "bounds of the inputs");
    assert_eq!(
        input_lower_adjoint.len(),
        inner * width,
        "adjoint of the inputs' lower bounds"
    );
    assert_eq!(
        input_upper_adjoint.len(),
        inner * width,
        "adjoint of the inputs' upper bounds"
    );
    crisp_weights_reverse(
        weight,
        input_lower,
        input_upper,
        lower_adjoint,
        upper_adjoint,
        input_lower_adjoint,
        input_upper_adjoint,
        weight_adjoint,
        width,
    );
}

fn assert_shapes<T>(weight_lower: &[T], weight_upper: &[T], inner: usize, lower: &[T], upper: &[T], width: usize) {
    let out = lower.len() / width;
    assert!(
        width.is_multiple_of(LANES),
        "tile width {width} is not a multiple of {LANES}"
    );
    assert_eq!(lower.len(), out * width, "tile of outputs");
    assert_eq!(lower.len(), upper.len(), "bounds of the outputs");
    assert_eq!(weight_lower.len(), out * inner, "weights [{out}, {inner}]");
    assert_eq!(weight_upper.len(), out * inner, "weights [{out}, {inner}]");
}

simd_dispatch! {
    fn interval_weights<T>(
        weight_lower: &[T],
        weight_upper: &[T],
        input: &[T],
        lower: &mut [T],
        upper: &mut [T],
        width: usize,
    ) = interval_weights_body;
}

#[inline(always)]
fn interval_weights_body<T: Real, V: Vector<T>>(
    weight_lower: &[T],
    weight_upper: &[T],
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    // SAFETY: the samples of each block lie inside the tile, whose shape the public function asserts.
    unsafe {
        let mut sample = 0;
        while sample + 4 * V::LANES <= width {
            forward_block::<T, V, 4>(weight_lower, weight_upper, input, lower, upper, width, sample);
            sample += 4 * V::LANES;
        }
        while sample < width {
            forward_block::<T, V, 1>(weight_lower, weight_upper, input, lower, upper, width, sample);
            sample += V::LANES;
        }
    }
}

#[inline(always)]
unsafe fn forward_block<T: Real, V: Vector<T>, const N: usize>(
    weight_lower: &[T],
    weight_upper: &[T],
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
    sample: usize,
) {
    let (out, inner) = (lower.len() / width, input.len() / width);
    // SAFETY: the caller vouches for the samples; outputs and inputs are inside the asserted shapes.
    unsafe {
        let input = input.as_ptr().add(sample);
        for o in 0..out {
            let lower = lower.as_mut_ptr().add(o * width + sample);
            let upper = upper.as_mut_ptr().add(o * width + sample);
            let mut lower_sum: [V; N] = core::array::from_fn(|n| V::load(lower.add(n * V::LANES)));
            let mut upper_sum: [V; N] = core::array::from_fn(|n| V::load(upper.add(n * V::LANES)));
            for i in 0..inner {
                let w_lower = V::splat(*weight_lower.get_unchecked(o * inner + i));
                let w_upper = V::splat(*weight_upper.get_unchecked(o * inner + i));
                for n in 0..N {
                    let x = V::load(input.add(i * width + n * V::LANES));
                    lower_sum[n] = x.select_negative(w_upper, w_lower).mul_add(x, lower_sum[n]);
                    upper_sum[n] = x.select_negative(w_lower, w_upper).mul_add(x, upper_sum[n]);
                }
            }
            for n in 0..N {
                lower_sum[n].store(lower.add(n * V::LANES));
                upper_sum[n].store(upper.add(n * V::LANES));
            }
        }
    }
}

simd_dispatch! {
    fn interval_weights_reverse<T>(
        weight_lower: &[T],
        weight_upper: &[T],
        input: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_adjoint: &mut [T],
        weight_adjoint: &mut WeightAdjoint<T>,
        width: usize,
    ) = interval_weights_reverse_body;
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as its public caller")]
fn interval_weights_reverse_body<T: Real, V: Vector<T>>(
    weight_lower: &[T],
    weight_upper: &[T],
    input: &[T],
    lower_adjoint: &[T],
    upper_adjoint: &[T],
    input_adjoint: &mut [T],
    weight_adjoint: &mut WeightAdjoint<T>,
    width: usize,
) {
    let (out, inner) = weight_adjoint.shape();
    for i in 0..inner {
        let column = Column {
            weight_lower: &weight_lower[i..],
            weight_upper: &weight_upper[i..],
            input: &input[i * width..],
            lower_adjoint,
            upper_adjoint,
            lanes: weight_adjoint.column::<V>(i),
            width,
            out,
            inner,
        };
        let input_adjoint = &mut input_adjoint[i * width..];
        // SAFETY: the samples of each block lie inside the tile, whose shape the public function asserts.
        unsafe {
            let mut sample = 0;
            while sample + 4 * V::LANES <= width {
                column.reverse_block::<V, 4>(input_adjoint, sample);
                sample += 4 * V::LANES;
            }
            while sample < width {
                column.reverse_block::<V, 1>(input_adjoint, sample);
                sample += V::LANES;
            }
        }
    }
}

/// Where one input's share of the reverse pass reads and writes.
struct Column<'a, T> {
    weight_lower: &'a [T],
    weight_upper: &'a [T],
    input: &'a [T],
    lower_adjoint: &'a [T],
    upper_adjoint: &'a [T],
    lanes: *mut T,
    width: usize,
    out: usize,
    inner: usize,
}

impl<T: Real> Column<'_, T> {
    #[inline(always)]
    unsafe fn reverse_block<V: Vector<T>, const N: usize>(&self, input_adjoint: &mut [T], sample: usize) {
        // SAFETY: the caller vouches for the samples; outputs are inside the asserted shapes.
        unsafe {
            let zero = V::splat(T::zero());
            let x: [V; N] = core::array::from_fn(|n| V::load(self.input.as_ptr().add(sample + n * V::LANES)));
            let mut sum = [zero; N];
            for o in 0..self.out {
                let w_lower = V::splat(*self.weight_lower.get_unchecked(o * self.inner));
                let w_upper = V::splat(*self.weight_upper.get_unchecked(o * self.inner));
                let g = self.lower_adjoint.as_ptr().add(o * self.width + sample);
                let h = self.upper_adjoint.as_ptr().add(o * self.width + sample);
                let lower_lanes = self.lanes.add(2 * o * V::LANES);
                let upper_lanes = lower_lanes.add(V::LANES);
                prefetch(lower_lanes.wrapping_add(2 * self.out * V::LANES));
                let (mut lower_sum, mut upper_sum) = (V::load(lower_lanes), V::load(upper_lanes));
                for n in 0..N {
                    let (g, h) = (V::load(g.add(n * V::LANES)), V::load(h.add(n * V::LANES)));
                    let with_lower = x[n].select_negative(h, g);
                    let with_upper = x[n].select_negative(g, h);
                    sum[n] = with_upper.mul_add(w_upper, with_lower.mul_add(w_lower, sum[n]));
                    lower_sum = with_lower.mul_add(x[n], lower_sum);
                    upper_sum = with_upper.mul_add(x[n], upper_sum);
                }
                lower_sum.store(lower_lanes);
                upper_sum.store(upper_lanes);
            }
            for (n, &sum) in sum.iter().enumerate() {
                let adjoint = input_adjoint.as_mut_ptr().add(sample + n * V::LANES);
                V::load(adjoint).add(sum).store(adjoint);
            }
        }
    }
}

simd_dispatch! {
    fn crisp_weights<T>(
        weight: &[T],
        input_lower: &[T],
        input_upper: &[T],
        lower: &mut [T],
        upper: &mut [T],
        width: usize,
    ) = crisp_weights_body;
}

#[inline(always)]
fn crisp_weights_body<T: Real, V: Vector<T>>(
    weight: &[T],
    input_lower: &[T],
    input_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    let (out, inner) = (lower.len() / width, input_lower.len() / width);
    // SAFETY: outputs, inputs and samples are inside the shapes that the public function asserts.
    unsafe {
        for sample in (0..width).step_by(V::LANES) {
            for o in 0..out {
                let lower = lower.as_mut_ptr().add(o * width + sample);
                let upper = upper.as_mut_ptr().add(o * width + sample);
                let (mut lower_sum, mut upper_sum) = (V::load(lower), V::load(upper));
                for (i, &w) in weight[o * inner..(o + 1) * inner].iter().enumerate() {
                    let (a, b) = ordered(w, input_lower, input_upper, i * width + sample);
                    lower_sum = V::splat(w).mul_add(V::load(a), lower_sum);
                    upper_sum = V::splat(w).mul_add(V::load(b), upper_sum);
                }
                lower_sum.store(lower);
                upper_sum.store(upper);
            }
        }
    }
}

/// The two bounds at `place`, exchanged for a negative weight.
#[inline(always)]
unsafe fn ordered<T: Real>(w: T, lower: &[T], upper: &[T], place: usize) -> (*const T, *const T) {
    // SAFETY: the caller vouches for `place`.
    let (lower, upper) = unsafe { (lower.as_ptr().add(place), upper.as_ptr().add(place)) };
    if w < T::zero() { (upper, lower) } else { (lower, upper) }
}

simd_dispatch! {
    fn crisp_weights_reverse<T>(
        weight: &[T],
        input_lower: &[T],
        input_upper: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_lower_adjoint: &mut [T],
        input_upper_adjoint: &mut [T],
        weight_adjoint: &mut [T],
        width: usize,
    ) = crisp_weights_reverse_body;
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as its public caller")]
fn crisp_weights_reverse_body<T: Real, V: Vector<T>>(
    weight: &[T],
    input_lower: &[T],
    input_upper: &[T],
    lower_adjoint: &[T],
    upper_adjoint: &[T],
    input_lower_adjoint: &mut [T],
    input_upper_adjoint: &mut [T],
    weight_adjoint: &mut [T],
    width: usize,
) {
    let (out, inner) = (lower_adjoint.len() / width, input_lower.len() / width);
    // SAFETY: outputs, inputs and samples are inside the shapes that the public function asserts.
    unsafe {
        for i in 0..inner {
            for o in 0..out {
                let w = weight[o * inner + i];
                let mut sum = V::splat(T::zero());
                for sample in (0..width).step_by(V::LANES) {
                    let (g, h) = ordered(w, lower_adjoint, upper_adjoint, o * width + sample);
                    let (g, h) = (V::load(g), V::load(h));
                    let place = i * width + sample;
                    sum = g.mul_add(V::load(input_lower.as_ptr().add(place)), sum);
                    sum = h.mul_add(V::load(input_upper.as_ptr().add(place)), sum);
                    let lower = input_lower_adjoint.as_mut_ptr().add(place);
                    g.mul_add(V::splat(w), V::load(lower)).store(lower);
                    let upper = input_upper_adjoint.as_mut_ptr().add(place);
                    h.mul_add(V::splat(w), V::load(upper)).store(upper);
                }
                weight_adjoint[o * inner + i] += sum_lanes(sum);
            }
        }
    }
}
