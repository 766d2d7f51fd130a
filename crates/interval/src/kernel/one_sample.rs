//! Interval products of one sample, for models that run step by step.
//!
//! A single sample cannot fill the lanes of a tile. Products with crisp inputs put the outputs there instead; products
//! with interval inputs follow the sign classes of their row, as the kernels for tiles do. Both add in the order of those
//! kernels, so a step gives the same bits as a tile that holds the step.

use super::centred_product::CentredWeights;
use super::interval_product::{Entry, IntervalWeights};
use super::vector::{Quad, Vector};
use super::{LANES, area, padded};
use crate::real::Real;
use crate::simd_dispatch;

/// [`CentredWeights`] transposed for one sample: `[in][out]`, the outputs of each group padded to whole registers.
#[derive(Clone, Debug)]
pub struct CentredColumns<T> {
    inner: usize,
    width: usize,
    centre: Vec<T>,
    radius: Vec<T>,
}

/// [`IntervalWeights`] for one sample: both bounds of a row lie side by side in one register, and four rows run at a time, so that
/// none waits for its own last sum.
#[derive(Clone, Debug)]
pub struct IntervalRows<T> {
    inner: usize,
    width: usize,
    sorted: SortedRows<T>,
    /// `[a, b, a, b]` of every input `[a, b]`: read from the first place it is (a, b), from the second (b, a).
    pairs: Vec<T>,
}

#[derive(Clone, Debug)]
struct SortedRows<T> {
    blocks: Vec<Block>,
    /// Where the input of every weight is read among the pairs, `[entry][row of the block]`: at its first place for weights that are
    /// positive or straddle zero, at its second, which swaps its bounds, for negative ones.
    places: Vec<[u32; ROWS]>,
    /// `[w, W, W, w]` of every weight `[w, W]`, so that one register holds both orders.
    weights: Vec<T>,
}

/// Rows that run side by side.
const ROWS: usize = 4;
/// Numbers that a weight or an input takes.
const QUAD: usize = 4;

/// Rows that run side by side: first the weights of one sign, then those that straddle zero. Rows with fewer are filled up with
/// weights of zero on an input of -0, whose products change no sum, not even its sign.
#[derive(Clone, Debug)]
struct Block {
    /// Where the outputs of its rows lie; fewer than [`ROWS`] in the last one.
    outputs: Vec<usize>,
    start: usize,
    straddling: usize,
    end: usize,
}

/// Numbers of all outputs when they come in groups (the gates of a cell), each padded on its own.
fn padded_outputs(outputs: usize, groups: usize) -> usize {
    assert!(
        groups > 0 && outputs.is_multiple_of(groups),
        "{outputs} outputs do not make {groups} equal groups"
    );
    area(groups, padded(outputs / groups))
}

/// Place of output `out` when outputs come in groups (the gates of a cell), each padded on its own.
fn place(out: usize, outputs: usize, groups: usize) -> usize {
    let size = outputs / groups;
    out / size * padded(size) + out % size
}

impl<T: Real> CentredColumns<T> {
    /// Transposes weights whose outputs come in `groups` of equal size, each padded to [`padded`] numbers.
    ///
    /// # Panics
    /// If the outputs do not make that many groups.
    #[must_use]
    pub fn new(weights: &CentredWeights<T>, groups: usize) -> Self {
        let (out, inner) = weights.shape();
        let width = padded_outputs(out, groups);
        let transposed = |values: &[T]| {
            let mut table = vec![T::zero(); area(inner, width)];
            for (index, &value) in values.iter().enumerate() {
                table[index % inner * width + place(index / inner, out, groups)] = value;
            }
            table
        };
        Self {
            inner,
            width,
            centre: transposed(weights.centre()),
            radius: transposed(weights.radius()),
        }
    }

    /// Adds the product with a crisp input to the bounds of the padded outputs.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn forward_add(&self, input: &[T], lower: &mut [T], upper: &mut [T]) {
        assert_eq!(input.len(), self.inner, "inputs");
        assert_eq!([lower.len(), upper.len()], [self.width; 2], "padded outputs");
        // SAFETY: the lengths are asserted, and padded to whole registers.
        unsafe { columns_forward(self, input, lower, upper) }
    }
}

simd_dispatch! {
    unsafe fn columns_forward<T>(weights: &CentredColumns<T>, input: &[T], lower: &mut [T], upper: &mut [T]) = columns_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with lengths as [`CentredColumns::forward_add`] asserts them.
#[inline(always)]
unsafe fn columns_body<T: Real, V: Vector<T>>(
    weights: &CentredColumns<T>,
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
) {
    let mut first = 0;
    // SAFETY: one or four registers of outputs from `first` on are inside, since lanes divide the width; the rest is passed
    // on to the caller.
    unsafe {
        while first + 4 * V::LANES <= weights.width {
            columns_block::<T, V, 4>(weights, input, lower, upper, first);
            first += 4 * V::LANES;
        }
        while first < weights.width {
            columns_block::<T, V, 1>(weights, input, lower, upper, first);
            first += V::LANES;
        }
    }
}

/// # Safety
/// As [`columns_body`]; outputs `first..first + N·V::LANES` are inside.
#[inline(always)]
unsafe fn columns_block<T: Real, V: Vector<T>, const N: usize>(
    weights: &CentredColumns<T>,
    input: &[T],
    lower: &mut [T],
    upper: &mut [T],
    first: usize,
) {
    // SAFETY: the caller vouches for the instructions, the lengths and `N` registers from `first` on; the tables are
    // `[in][width]` since they were made.
    unsafe {
        let zero = V::splat(T::zero());
        let (mut centre, mut radius) = ([zero; N], [zero; N]);
        for (i, &x) in input.iter().enumerate() {
            let x = V::splat(x);
            let magnitude = x.max(zero.sub(x));
            let c = weights.centre.as_ptr().add(i * weights.width + first);
            let r = weights.radius.as_ptr().add(i * weights.width + first);
            for n in 0..N {
                centre[n] = V::load(c.add(n * V::LANES)).mul_add(x, centre[n]);
                radius[n] = V::load(r.add(n * V::LANES)).mul_add(magnitude, radius[n]);
            }
        }
        for n in 0..N {
            let at = lower.as_mut_ptr().add(first + n * V::LANES);
            V::load(at).add(centre[n].sub(radius[n])).store(at);
            let at = upper.as_mut_ptr().add(first + n * V::LANES);
            V::load(at).add(centre[n].add(radius[n])).store(at);
        }
    }
}

impl<T: Real> IntervalRows<T> {
    /// The rows of weights whose outputs come in `groups` of equal size, each padded to [`padded`] numbers.
    ///
    /// # Panics
    /// If the outputs do not make that many groups.
    #[must_use]
    pub fn new(weights: &IntervalWeights<T>, groups: usize) -> Self {
        let (out, inner) = weights.shape();
        let (spans, entries) = weights.by_row();
        let mut sorted = SortedRows {
            blocks: Vec::with_capacity(spans.len().div_ceil(ROWS)),
            places: Vec::new(),
            weights: Vec::new(),
        };
        // A row has a span per chunk of inputs, whose sums follow one another: no block holds two of them.
        let chunks = spans.chunk_by(|span, next| span.line < next.line);
        for rows in chunks.flat_map(|chunk| chunk.chunks(ROWS)) {
            let start = sorted.places.len();
            let signed = |row: usize| {
                let span = &rows[row];
                let positive = span.positive.clone().map(|entry| (entry, 0));
                positive.chain(span.negative.clone().map(|entry| (entry, 1)))
            };
            let straddling = |row: usize| rows[row].straddling.clone().map(|entry| (entry, 0));
            sorted.append(rows.len(), entries, inner, signed);
            let after_signed = sorted.places.len();
            sorted.append(rows.len(), entries, inner, straddling);
            sorted.blocks.push(Block {
                outputs: rows.iter().map(|span| place(span.line, out, groups)).collect(),
                start,
                straddling: after_signed,
                end: sorted.places.len(),
            });
        }
        let mut pairs = vec![T::zero(); QUAD * (inner + 1) + LANES];
        pairs[QUAD * inner..].fill(-T::zero());
        Self {
            inner,
            width: padded_outputs(out, groups),
            sorted,
            pairs,
        }
    }

    /// Adds the product with an interval input to the bounds of the padded outputs. Inputs may be padded.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn forward_add(&mut self, input_lower: &[T], input_upper: &[T], lower: &mut [T], upper: &mut [T]) {
        assert!(
            input_lower.len().min(input_upper.len()) >= self.inner,
            "bounds of {} inputs",
            self.inner
        );
        assert_eq!([lower.len(), upper.len()], [self.width; 2], "padded outputs");
        let inputs = input_lower.iter().zip(input_upper);
        for (quad, (&a, &b)) in self.pairs.chunks_exact_mut(QUAD).zip(inputs.take(self.inner)) {
            quad.copy_from_slice(&[a, b, a, b]);
        }
        // SAFETY: `pairs` were made for the inputs that the sorted rows list.
        unsafe { rows_forward(&self.sorted, &self.pairs, lower, upper) }
    }
}

impl<T: Real> SortedRows<T> {
    /// Appends the entries that `of(row)` lists for each row, with the place (0 or 1) at which their input is read.
    fn append<I: Iterator<Item = (usize, u32)>>(
        &mut self,
        rows: usize,
        entries: &[Entry<T>],
        inner: usize,
        of: impl Fn(usize) -> I,
    ) {
        let mut lists: Vec<I> = (0..rows).map(of).collect();
        loop {
            let next: Vec<Option<(usize, u32)>> = lists.iter_mut().map(Iterator::next).collect();
            if next.iter().all(Option::is_none) {
                return;
            }
            let mut places = [(QUAD * inner) as u32; ROWS];
            let mut quads = [T::zero(); QUAD * ROWS];
            for (row, (entry, swap)) in next.iter().enumerate().filter_map(|(row, next)| Some((row, (*next)?))) {
                let Entry {
                    index, lower, upper, ..
                } = entries[entry];
                places[row] = QUAD as u32 * index + swap;
                quads[QUAD * row..QUAD * (row + 1)].copy_from_slice(&[lower, upper, upper, lower]);
            }
            self.places.push(places);
            self.weights.extend_from_slice(&quads);
        }
    }
}

simd_dispatch! {
    unsafe fn rows_forward<T>(sorted: &SortedRows<T>, pairs: &[T], lower: &mut [T], upper: &mut [T]) = rows_body;
}

/// # Safety
/// Call it through `simd_dispatch!`, with rows and pairs of one [`IntervalRows`].
#[inline(always)]
unsafe fn rows_body<T: Real, V: Vector<T>>(sorted: &SortedRows<T>, pairs: &[T], lower: &mut [T], upper: &mut [T]) {
    // SAFETY: passed on to the caller.
    unsafe { rows_quad::<T, V::Quad>(sorted, pairs, lower, upper) }
}

/// In registers of four numbers: longer ones would read across two lines of the cache nearly every time.
///
/// # Safety
/// As [`rows_body`].
#[inline(always)]
unsafe fn rows_quad<T: Real, V: Quad<T>>(sorted: &SortedRows<T>, pairs: &[T], lower: &mut [T], upper: &mut [T]) {
    let (places, weights) = (sorted.places.as_slice(), sorted.weights.as_ptr());
    let pairs = pairs.as_ptr();
    let mut lanes = [T::zero(); LANES];
    // The lower bound is the least of two products, the upper bound the largest.
    lanes[0] = -T::one();
    // SAFETY: `IntervalRows::new` takes entries and inputs from sorted weights, and pads the pairs by `LANES` numbers: a register
    // read at the second number of the last one ends inside. Blocks lie inside the list of places, and places of outputs are checked.
    // The caller vouches for the instructions.
    unsafe {
        let is_lower = V::load(lanes.as_ptr());
        for block in &sorted.blocks {
            let mut sums = [V::splat(T::zero()); ROWS];
            for (sum, &output) in sums.iter_mut().zip(&block.outputs) {
                (lanes[0], lanes[1]) = (lower[output], upper[output]);
                *sum = V::load(lanes.as_ptr());
            }
            for entry in block.start..block.straddling {
                let places = places.get_unchecked(entry);
                for row in 0..ROWS {
                    let x = V::load(pairs.add(places[row] as usize));
                    let weight = V::load(weights.add(QUAD * (ROWS * entry + row)));
                    sums[row] = x.select_negative(weight.swap_halves(), weight).mul_add(x, sums[row]);
                }
            }
            for entry in block.straddling..block.end {
                let places = places.get_unchecked(entry);
                for row in 0..ROWS {
                    let pair = pairs.add(places[row] as usize);
                    let weight = V::load(weights.add(QUAD * (ROWS * entry + row)));
                    let with_a = weight.swap_halves().mul(V::splat(*pair));
                    let with_b = weight.mul(V::splat(*pair.add(1)));
                    sums[row] = sums[row].add(is_lower.select_negative(with_a.min(with_b), with_a.max(with_b)));
                }
            }
            for (sum, &output) in sums.iter().zip(&block.outputs) {
                sum.store(lanes.as_mut_ptr());
                (lower[output], upper[output]) = (lanes[0], lanes[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{SimdLevel, with_level};

    /// Numbers in (-1, 1), some of them zero.
    fn numbers<T: Real>(seed: &mut u64, count: usize) -> Vec<T> {
        let mut next = |_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = (*seed >> 33) as f64 / f64::from(1_u32 << 30) - 1.0;
            T::of(if draw.abs() < 0.05 { 0.0 } else { draw })
        };
        (0..count).map(&mut next).collect()
    }

    fn bounds<T: Real>(seed: &mut u64, count: usize) -> (Vec<T>, Vec<T>) {
        let (a, b) = (numbers::<T>(seed, count), numbers::<T>(seed, count));
        a.into_iter().zip(b).map(|(a, b)| (a.min(b), a.max(b))).unzip()
    }

    /// One sample against a tile whose samples are all that sample: the same bits, also in groups and at every level.
    fn same_bits<T: Real>() {
        let mut seed = 7;
        for (out, inner, groups) in [
            (1, 1, 1),
            (5, 3, 1),
            (7, 9, 1),
            (1, 100, 1),
            (3, 130, 1),
            (40, 40, 1),
            (12, 100, 4),
            (120, 34, 4),
        ] {
            let (w_lower, w_upper) = bounds::<T>(&mut seed, out * inner);
            let (x_lower, x_upper) = bounds::<T>(&mut seed, inner);
            let (b_lower, b_upper) = bounds::<T>(&mut seed, out);
            let tile = |values: &[T]| -> Vec<T> { values.iter().flat_map(|&value| [value; LANES]).collect() };
            let in_groups = |values: &[T]| {
                let mut padded_values = vec![T::zero(); groups * padded(out / groups)];
                for (index, &value) in values.iter().enumerate() {
                    padded_values[place(index, out, groups)] = value;
                }
                padded_values
            };
            let mut centred = CentredWeights::new(out, inner);
            centred.update(&w_lower, &w_upper);
            let sorted = IntervalWeights::new(&w_lower, &w_upper, out, inner);
            for &level in SimdLevel::available() {
                with_level(level, || {
                    let compare = |tiled: [Vec<T>; 2], single: [Vec<T>; 2]| {
                        for (tiled, single) in tiled.iter().zip(&single) {
                            for index in 0..out {
                                let (expected, found) = (tiled[index * LANES], single[place(index, out, groups)]);
                                assert!(
                                    expected.as_f64().to_bits() == found.as_f64().to_bits(),
                                    "{level:?} [{out}, {inner}] output {index}: {expected} and {found}"
                                );
                            }
                        }
                    };
                    let mut tiled = [tile(&b_lower), tile(&b_upper)];
                    let mut single = [in_groups(&b_lower), in_groups(&b_upper)];
                    {
                        let ([a, b], [c, d]) = (&mut tiled, &mut single);
                        centred.forward_add(&tile(&x_lower), a, b, LANES);
                        CentredColumns::new(&centred, groups).forward_add(&x_lower, c, d);
                        sorted.forward_add(&tile(&x_lower), &tile(&x_upper), a, b, LANES);
                        IntervalRows::new(&sorted, groups).forward_add(&x_lower, &x_upper, c, d);
                    }
                    compare(tiled, single);
                });
            }
        }
    }

    #[test]
    fn a_single_sample_has_the_bits_of_a_tile() {
        same_bits::<f32>();
        same_bits::<f64>();
    }
}
