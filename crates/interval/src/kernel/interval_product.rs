//! Interval weights times interval inputs, forward and reverse (docs/method.md, section 3); one file, since both directions share the classes
//! of weights and are only right together.
//!
//! For one weight `[w, W]` and one input `[a, A]`, by the sign class of the weight:
//!
//! | class | lower bound of the product | upper bound |
//! |---|---|---|
//! | w ≥ 0 | (a < 0 ? W : w)·a | (A < 0 ? w : W)·A |
//! | W ≤ 0 | (A < 0 ? W : w)·A | (a < 0 ? w : W)·a |
//! | w < 0 < W | min(W·a, w·A) | max(w·a, W·A) |
//!
//! The weight is the same for all samples of a tile, so its class decides which bound is read, not a branch per sample:
//! the first two classes cost one blend and one fused product per sample and bound, and only a straddling weight needs
//! two products and their minimum or maximum. [`IntervalWeights`] sorts the weights by class once per update.
//!
//! Tiles of 32 samples are fastest: the bounds of some forty inputs then stay in the first-level cache, and larger
//! matrices are worked through in chunks of that size.
//!
//! One file in spite of its length: forward and reverse passes of the three classes are read against the table above.

use core::ops::Range;

use super::vector::Vector;
use super::{LANES, area};
use crate::real::Real;
use crate::simd_dispatch;

/// One weight seen from the row or column it is listed under.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<T> {
    /// The other index: the input in a row's list, the output in a column's list.
    pub(super) index: u32,
    pub(super) lower: T,
    pub(super) upper: T,
    /// `-upper/lower`: decides which product is a bound where the weight straddles zero.
    ratio: T,
}

/// The weights of one row (or column) inside one chunk, in the order of the classes of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    pub(super) line: usize,
    pub(super) positive: Range<usize>,
    pub(super) negative: Range<usize>,
    pub(super) straddling: Range<usize>,
}

/// Most channels of a chunk: the bounds of this many, 32 samples of `f32` each, take 12 of 32 KiB of cache.
const CHUNK: usize = 48;

/// A matrix of interval weights `[out, in]`, sorted by sign class and ready for products with tiles.
#[derive(Clone, Debug, Default)]
pub struct IntervalWeights<T> {
    out: usize,
    inner: usize,
    rows: Vec<Span>,
    columns: Vec<Span>,
    by_row: Vec<Entry<T>>,
    by_column: Vec<Entry<T>>,
}

impl<T: Real> IntervalWeights<T> {
    /// Sorts the weights `[out, in]` with the given bounds.
    ///
    /// # Panics
    /// If the slices are not `out * inner` long.
    #[must_use]
    pub fn new(lower: &[T], upper: &[T], out: usize, inner: usize) -> Self {
        let mut weights = Self {
            out,
            inner,
            rows: Vec::new(),
            columns: Vec::new(),
            by_row: Vec::new(),
            by_column: Vec::new(),
        };
        weights.update(lower, upper);
        weights
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.out, self.inner)
    }

    /// Rows chunk by chunk, and the weights they list.
    pub(super) fn by_row(&self) -> (&[Span], &[Entry<T>]) {
        (&self.rows, &self.by_row)
    }

    /// Takes new bounds of the same shape, without allocating.
    ///
    /// # Panics
    /// If the slices are not `out * inner` long.
    pub fn update(&mut self, lower: &[T], upper: &[T]) {
        let (out, inner) = (self.out, self.inner);
        assert_eq!(lower.len(), area(out, inner), "lower weights [{out}, {inner}]");
        assert_eq!(upper.len(), area(out, inner), "upper weights [{out}, {inner}]");
        sort(&mut self.rows, &mut self.by_row, out, inner, |row, i| {
            (lower[row * inner + i], upper[row * inner + i])
        });
        sort(&mut self.columns, &mut self.by_column, inner, out, |column, o| {
            (lower[o * inner + column], upper[o * inner + column])
        });
    }

    /// Adds the product with a tile of interval inputs to the bounds of the outputs.
    ///
    /// `input_lower` and `input_upper` are `[in][width]`; `lower` and `upper` are `[out][width]` and hold the bias (or
    /// another summand) on entry.
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn forward_add(&self, input_lower: &[T], input_upper: &[T], lower: &mut [T], upper: &mut [T], width: usize) {
        self.assert_shapes(input_lower, input_upper, lower, upper, width);
        // SAFETY: the shapes are asserted.
        unsafe { forward(self, input_lower, input_upper, lower, upper, width) }
    }

    /// Reverse mode of [`forward_add`](Self::forward_add) for one tile.
    ///
    /// `lower_adjoint` and `upper_adjoint` (`[out][width]`) are those of the outputs; the adjoints of the inputs are
    /// added to `input_lower_adjoint` and `input_upper_adjoint` (`[in][width]`), those of the weights to `weight_adjoint`.
    ///
    /// # Panics
    /// If a shape does not fit.
    #[expect(
        clippy::too_many_arguments,
        reason = "two bounds each of outputs and inputs, and the tile's shape"
    )]
    pub fn backward_add(
        &self,
        input_lower: &[T],
        input_upper: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_lower_adjoint: &mut [T],
        input_upper_adjoint: &mut [T],
        weight_adjoint: &mut WeightAdjoint<T>,
        width: usize,
    ) {
        self.assert_shapes(input_lower, input_upper, lower_adjoint, upper_adjoint, width);
        assert_eq!(
            input_lower_adjoint.len(),
            self.inner * width,
            "adjoint of the inputs' lower bounds"
        );
        assert_eq!(
            input_upper_adjoint.len(),
            self.inner * width,
            "adjoint of the inputs' upper bounds"
        );
        assert_eq!(weight_adjoint.shape(), (self.out, self.inner), "adjoint of the weights");
        // SAFETY: the shapes are asserted.
        unsafe {
            backward(
                self,
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
    }

    fn assert_shapes(&self, input_lower: &[T], input_upper: &[T], lower: &[T], upper: &[T], width: usize) {
        assert!(
            width.is_multiple_of(LANES),
            "tile width {width} is not a multiple of {LANES}"
        );
        let (inputs, outputs) = (area(self.inner, width), area(self.out, width));
        assert_eq!(input_lower.len(), inputs, "lower bounds of {} inputs", self.inner);
        assert_eq!(input_upper.len(), inputs, "upper bounds of {} inputs", self.inner);
        assert_eq!(lower.len(), outputs, "lower bounds of {} outputs", self.out);
        assert_eq!(upper.len(), outputs, "upper bounds of {} outputs", self.out);
    }
}

/// Lists all weights: by chunk of the other index, then by line, then by class.
///
/// The kernels rely on it for memory safety: spans are ranges of entries, their lines are below `lines` and the indices of
/// their entries below `length`.
fn sort<T: Real>(
    spans: &mut Vec<Span>,
    entries: &mut Vec<Entry<T>>,
    lines: usize,
    length: usize,
    weight: impl Fn(usize, usize) -> (T, T),
) {
    spans.clear();
    entries.clear();
    let chunks = length.div_ceil(CHUNK).max(1);
    let chunk = length.div_ceil(chunks).max(1);
    for first in (0..length).step_by(chunk) {
        let indices = first..(first + chunk).min(length);
        for line in 0..lines {
            let mut list = |class: fn(T, T) -> bool| {
                let start = entries.len();
                for index in indices.clone() {
                    let (lower, upper) = weight(line, index);
                    if class(lower, upper) {
                        entries.push(Entry {
                            index: index as u32,
                            lower,
                            upper,
                            ratio: -upper / lower,
                        });
                    }
                }
                start..entries.len()
            };
            spans.push(Span {
                line,
                positive: list(|lower, _| lower >= T::zero()),
                negative: list(|lower, upper| lower < T::zero() && upper <= T::zero()),
                // Also what is not a number: products with it must not go missing.
                straddling: list(|lower, upper| !(lower >= T::zero() || lower < T::zero() && upper <= T::zero())),
            });
        }
    }
}

/// Adjoint of interval weights, kept as partial sums over SIMD lanes until all tiles have been seen.
#[derive(Clone, Debug)]
pub struct WeightAdjoint<T> {
    out: usize,
    inner: usize,
    /// `[in][out][lower, upper][lane]` with as many lanes as the registers in use have.
    lanes: Vec<Line<T>>,
}

/// Partial sums that begin at a cache line, so that no register of them crosses one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line<T>([T; LANES]);

impl<T: Real> WeightAdjoint<T> {
    /// Zero adjoint of `[out, in]` weights.
    #[must_use]
    pub fn new(out: usize, inner: usize) -> Self {
        Self {
            out,
            inner,
            lanes: vec![Line([T::zero(); LANES]); area(area(out, inner), 2)],
        }
    }

    /// `(out, in)`
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.out, self.inner)
    }

    /// The partial sums of the weights on input `i`: lower and upper of output 0, of output 1, …
    #[inline(always)]
    fn column<V: Vector<T>>(&mut self, i: usize) -> *mut T {
        assert!(i < self.inner, "input {i} of {}", self.inner);
        // SAFETY: lines are arrays of whole registers, and the place is inside: there are `2 * out * inner` lines, and a
        // register has at most the `LANES` numbers of one.
        unsafe { self.lanes.as_mut_ptr().cast::<T>().add(2 * i * self.out * V::LANES) }
    }

    /// Adds the sums to `lower` and `upper` (`[out, in]`) and starts again at zero.
    ///
    /// # Panics
    /// If the slices are not `out * inner` long.
    pub fn drain_into(&mut self, lower: &mut [T], upper: &mut [T]) {
        assert_eq!(lower.len(), self.out * self.inner, "adjoint of the lower weights");
        assert_eq!(upper.len(), self.out * self.inner, "adjoint of the upper weights");
        // SAFETY: the partial sums are those of `new`.
        unsafe { drain(self, lower, upper) }
    }
}

simd_dispatch! {
    unsafe fn drain<T>(adjoint: &mut WeightAdjoint<T>, lower: &mut [T], upper: &mut [T]) = drain_body;
}

/// # Safety
/// Call it through `simd_dispatch!`.
#[inline(always)]
unsafe fn drain_body<T: Real, V: Vector<T>>(adjoint: &mut WeightAdjoint<T>, lower: &mut [T], upper: &mut [T]) {
    let (out, inner) = adjoint.shape();
    let lanes = adjoint.lanes.as_mut_ptr().cast::<T>();
    let zero = T::zero();
    for (position, (i, o)) in (0..inner).flat_map(|i| (0..out).map(move |o| (i, o))).enumerate() {
        // SAFETY: there are two registers for each of the `out * inner` weights, in lines of `LANES` numbers that a register
        // does not exceed; the caller vouches for the instructions.
        unsafe {
            let lanes = lanes.add(2 * position * V::LANES);
            lower[o * inner + i] += V::load(lanes).sum();
            upper[o * inner + i] += V::load(lanes.add(V::LANES)).sum();
            V::splat(zero).store(lanes);
            V::splat(zero).store(lanes.add(V::LANES));
        }
    }
}

simd_dispatch! {
    unsafe fn forward<T>(
        weights: &IntervalWeights<T>,
        input_lower: &[T],
        input_upper: &[T],
        lower: &mut [T],
        upper: &mut [T],
        width: usize,
    ) = forward_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with shapes as `forward_add` asserts them.
#[inline(always)]
unsafe fn forward_body<T: Real, V: Vector<T>>(
    weights: &IntervalWeights<T>,
    input_lower: &[T],
    input_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
) {
    // SAFETY: the samples of each block lie inside the tiles that the caller vouches for, since lanes divide `width`.
    unsafe {
        let mut sample = 0;
        while sample + 4 * V::LANES <= width {
            forward_block::<T, V, 4>(weights, input_lower, input_upper, lower, upper, width, sample);
            sample += 4 * V::LANES;
        }
        while sample + 2 * V::LANES <= width {
            forward_block::<T, V, 2>(weights, input_lower, input_upper, lower, upper, width, sample);
            sample += 2 * V::LANES;
        }
        while sample < width {
            forward_block::<T, V, 1>(weights, input_lower, input_upper, lower, upper, width, sample);
            sample += V::LANES;
        }
    }
}

/// # Safety
/// As [`forward_body`]; samples `sample..sample + N·V::LANES` are inside the tiles.
#[inline(always)]
unsafe fn forward_block<T: Real, V: Vector<T>, const N: usize>(
    weights: &IntervalWeights<T>,
    input_lower: &[T],
    input_upper: &[T],
    lower: &mut [T],
    upper: &mut [T],
    width: usize,
    sample: usize,
) {
    // SAFETY: the caller vouches for the instructions, the shapes and the samples; `sort` makes spans of entries, with
    // lines below `out` and indices below `inner`.
    unsafe {
        let input_lower = input_lower.as_ptr().add(sample);
        let input_upper = input_upper.as_ptr().add(sample);
        for span in &weights.rows {
            let lower = lower.as_mut_ptr().add(span.line * width + sample);
            let upper = upper.as_mut_ptr().add(span.line * width + sample);
            let mut lower_sum: [V; N] = core::array::from_fn(|n| V::load(lower.add(n * V::LANES)));
            let mut upper_sum: [V; N] = core::array::from_fn(|n| V::load(upper.add(n * V::LANES)));
            let positive = weights.by_row.get_unchecked(span.positive.clone());
            add_plain(
                positive,
                input_lower,
                input_upper,
                width,
                &mut lower_sum,
                &mut upper_sum,
            );
            let negative = weights.by_row.get_unchecked(span.negative.clone());
            add_plain(
                negative,
                input_upper,
                input_lower,
                width,
                &mut lower_sum,
                &mut upper_sum,
            );
            for entry in weights.by_row.get_unchecked(span.straddling.clone()) {
                let place = entry.index as usize * width;
                let (w_lower, w_upper) = (V::splat(entry.lower), V::splat(entry.upper));
                for n in 0..N {
                    let a = V::load(input_lower.add(place + n * V::LANES));
                    let b = V::load(input_upper.add(place + n * V::LANES));
                    lower_sum[n] = lower_sum[n].add(w_upper.mul(a).min(w_lower.mul(b)));
                    upper_sum[n] = upper_sum[n].add(w_lower.mul(a).max(w_upper.mul(b)));
                }
            }
            for n in 0..N {
                lower_sum[n].store(lower.add(n * V::LANES));
                upper_sum[n].store(upper.add(n * V::LANES));
            }
        }
    }
}

/// Adds the products with weights of constant sign: `near` is the input's bound that the lower bound reads.
///
/// A function, not a closure: only functions can be told to be inlined, and this must not leave the registers.
///
/// # Safety
/// Call it from a body that `simd_dispatch!` runs; at `near` and `far`, `width` numbers further for every input, `N`
/// registers are readable for each input in the list.
#[inline(always)]
unsafe fn add_plain<T: Real, V: Vector<T>, const N: usize>(
    entries: &[Entry<T>],
    near: *const T,
    far: *const T,
    width: usize,
    lower_sum: &mut [V; N],
    upper_sum: &mut [V; N],
) {
    for entry in entries {
        let place = entry.index as usize * width;
        // SAFETY: the caller vouches for the instructions and for `N` registers at each input in the list.
        unsafe {
            let (w_lower, w_upper) = (V::splat(entry.lower), V::splat(entry.upper));
            for n in 0..N {
                let near = V::load(near.add(place + n * V::LANES));
                let far = V::load(far.add(place + n * V::LANES));
                lower_sum[n] = near.select_negative(w_upper, w_lower).mul_add(near, lower_sum[n]);
                upper_sum[n] = far.select_negative(w_lower, w_upper).mul_add(far, upper_sum[n]);
            }
        }
    }
}

simd_dispatch! {
    unsafe fn backward<T>(
        weights: &IntervalWeights<T>,
        input_lower: &[T],
        input_upper: &[T],
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        input_lower_adjoint: &mut [T],
        input_upper_adjoint: &mut [T],
        weight_adjoint: &mut WeightAdjoint<T>,
        width: usize,
    ) = backward_body;
}

/// For each input, the adjoints of its bounds are summed over the outputs in registers while the weights' own adjoints
/// pass through the first-level cache.
///
/// # Safety
/// Call it through `simd_dispatch!`, with shapes as `backward_add` asserts them.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "as its public caller")]
unsafe fn backward_body<T: Real, V: Vector<T>>(
    weights: &IntervalWeights<T>,
    input_lower: &[T],
    input_upper: &[T],
    lower_adjoint: &[T],
    upper_adjoint: &[T],
    input_lower_adjoint: &mut [T],
    input_upper_adjoint: &mut [T],
    weight_adjoint: &mut WeightAdjoint<T>,
    width: usize,
) {
    for span in &weights.columns {
        let lanes = weight_adjoint.column::<V>(span.line);
        // SAFETY: `sort` makes spans of entries, with lines below `inner` and indices below `out`; the samples of each block
        // lie inside the tiles that the caller vouches for, since lanes divide `width`.
        unsafe {
            let column = Column {
                input_lower: input_lower.as_ptr().add(span.line * width),
                input_upper: input_upper.as_ptr().add(span.line * width),
                lower_adjoint: lower_adjoint.as_ptr(),
                upper_adjoint: upper_adjoint.as_ptr(),
                input_lower_adjoint: input_lower_adjoint.as_mut_ptr().add(span.line * width),
                input_upper_adjoint: input_upper_adjoint.as_mut_ptr().add(span.line * width),
                lanes,
                width,
            };
            let mut sample = 0;
            let positive = weights.by_column.get_unchecked(span.positive.clone());
            let negative = weights.by_column.get_unchecked(span.negative.clone());
            let straddling = weights.by_column.get_unchecked(span.straddling.clone());
            // More than two registers of samples would spill their parts.
            while sample + 2 * V::LANES <= width {
                column.plain_block::<V, 2, false>(positive, sample);
                column.plain_block::<V, 2, true>(negative, sample);
                column.straddling_block::<V, 2>(straddling, sample);
                sample += 2 * V::LANES;
            }
            while sample < width {
                column.plain_block::<V, 1, false>(positive, sample);
                column.plain_block::<V, 1, true>(negative, sample);
                column.straddling_block::<V, 1>(straddling, sample);
                sample += V::LANES;
            }
        }
    }
}

/// Where one input's share of the reverse pass reads and writes: pointers to the input's `width` samples, to output 0 of
/// the tiles of outputs, and to the partial sums of the input's weights.
struct Column<T> {
    input_lower: *const T,
    input_upper: *const T,
    lower_adjoint: *const T,
    upper_adjoint: *const T,
    input_lower_adjoint: *mut T,
    input_upper_adjoint: *mut T,
    lanes: *mut T,
    width: usize,
}

impl<T: Real> Column<T> {
    /// Weights of constant sign, `SWAPPED` if that is negative.
    ///
    /// `g` is the adjoint of the bound that reads the input's lower bound and `near` the weight's bound beside it; for
    /// negative weights the two bounds of outputs and of weights trade places.
    ///
    /// # Safety
    /// Call it from a body that `simd_dispatch!` runs. The pointers are what [`Column`] says, of tiles that hold every
    /// output in the list; samples `sample..sample + N·V::LANES` are below `width`.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "iterators over registers are not always inlined, which costs more than half of the speed"
    )]
    unsafe fn plain_block<V: Vector<T>, const N: usize, const SWAPPED: bool>(
        &self,
        entries: &[Entry<T>],
        sample: usize,
    ) {
        if entries.is_empty() {
            return;
        }
        // SAFETY: the caller vouches for the instructions, the pointers, the outputs in the list and the samples; the
        // partial sums hold two registers per output.
        unsafe {
            let zero = V::splat(T::zero());
            // Positive and negative parts of both bounds; the negative part also carries the sign.
            let mut parts = [[zero; N]; 4];
            for n in 0..N {
                let a = V::load(self.input_lower.add(sample + n * V::LANES));
                let b = V::load(self.input_upper.add(sample + n * V::LANES));
                parts[0][n] = a.max(zero);
                parts[1][n] = a.min(zero);
                parts[2][n] = b.max(zero);
                parts[3][n] = b.min(zero);
            }
            let [a_positive, a_negative, b_positive, b_negative] = parts;
            let (mut of_lower, mut of_upper) = ([zero; N], [zero; N]);
            let (g, h) = (self.lower_adjoint, self.upper_adjoint);
            let (g, h) = if SWAPPED { (h, g) } else { (g, h) };
            for entry in entries {
                let place = entry.index as usize * self.width + sample;
                let (lower, upper) = (V::splat(entry.lower), V::splat(entry.upper));
                let (near, far) = if SWAPPED { (upper, lower) } else { (lower, upper) };
                let lanes = self.lanes.add(2 * entry.index as usize * V::LANES);
                let near_lanes = lanes.add(usize::from(SWAPPED) * V::LANES);
                let far_lanes = lanes.add(usize::from(!SWAPPED) * V::LANES);
                let (mut near_sum, mut far_sum) = (V::load(near_lanes), V::load(far_lanes));
                for n in 0..N {
                    let g = V::load(g.add(place + n * V::LANES));
                    let h = V::load(h.add(place + n * V::LANES));
                    of_lower[n] = g.mul_add(a_negative[n].select_negative(far, near), of_lower[n]);
                    of_upper[n] = h.mul_add(b_negative[n].select_negative(near, far), of_upper[n]);
                    // Two products first, then one sum: the chain of sums is what takes time.
                    near_sum = near_sum.add(h.mul_add(b_negative[n], g.mul(a_positive[n])));
                    far_sum = far_sum.add(h.mul_add(b_positive[n], g.mul(a_negative[n])));
                }
                near_sum.store(near_lanes);
                far_sum.store(far_lanes);
            }
            self.add_to_inputs::<V, N>(of_lower, of_upper, sample);
        }
    }

    /// Weights on both sides of zero: each bound follows the product that it was.
    ///
    /// # Safety
    /// As [`plain_block`](Self::plain_block).
    #[inline(always)]
    unsafe fn straddling_block<V: Vector<T>, const N: usize>(&self, entries: &[Entry<T>], sample: usize) {
        if entries.is_empty() {
            return;
        }
        // SAFETY: the caller vouches for the instructions, the pointers, the outputs in the list and the samples; the
        // partial sums hold two registers per output.
        unsafe {
            let zero = V::splat(T::zero());
            let a: [V; N] = core::array::from_fn(|n| V::load(self.input_lower.add(sample + n * V::LANES)));
            let b: [V; N] = core::array::from_fn(|n| V::load(self.input_upper.add(sample + n * V::LANES)));
            let (mut of_lower, mut of_upper) = ([zero; N], [zero; N]);
            for entry in entries {
                let place = entry.index as usize * self.width + sample;
                let (g, h) = (self.lower_adjoint.add(place), self.upper_adjoint.add(place));
                let (w_lower, w_upper) = (V::splat(entry.lower), V::splat(entry.upper));
                let ratio = V::splat(entry.ratio);
                let lower_lanes = self.lanes.add(2 * entry.index as usize * V::LANES);
                let upper_lanes = lower_lanes.add(V::LANES);
                let (mut lower_sum, mut upper_sum) = (V::load(lower_lanes), V::load(upper_lanes));
                for n in 0..N {
                    let (g, h) = (V::load(g.add(n * V::LANES)), V::load(h.add(n * V::LANES)));
                    // W·a < w·b exactly where (W/|w|)·a + b < 0, and w·a > W·b where (W/|w|)·b + a < 0.
                    let g_a = ratio.mul_add(a[n], b[n]).select_negative(g, zero);
                    let g_b = g.sub(g_a);
                    let h_a = ratio.mul_add(b[n], a[n]).select_negative(h, zero);
                    let h_b = h.sub(h_a);
                    of_lower[n] = h_a.mul_add(w_lower, g_a.mul_add(w_upper, of_lower[n]));
                    of_upper[n] = h_b.mul_add(w_upper, g_b.mul_add(w_lower, of_upper[n]));
                    lower_sum = lower_sum.add(h_a.mul_add(a[n], g_b.mul(b[n])));
                    upper_sum = upper_sum.add(h_b.mul_add(b[n], g_a.mul(a[n])));
                }
                lower_sum.store(lower_lanes);
                upper_sum.store(upper_lanes);
            }
            self.add_to_inputs::<V, N>(of_lower, of_upper, sample);
        }
    }

    /// # Safety
    /// As [`plain_block`](Self::plain_block), of which it is the end.
    #[inline(always)]
    unsafe fn add_to_inputs<V: Vector<T>, const N: usize>(&self, of_lower: [V; N], of_upper: [V; N], sample: usize) {
        // SAFETY: the caller vouches for the instructions, the pointers and the samples.
        unsafe {
            for n in 0..N {
                let lower = self.input_lower_adjoint.add(sample + n * V::LANES);
                V::load(lower).add(of_lower[n]).store(lower);
                let upper = self.input_upper_adjoint.add(sample + n * V::LANES);
                V::load(upper).add(of_upper[n]).store(upper);
            }
        }
    }
}
