//! Crisp products on tiles: `Y += W·X`, its transpose for adjoints of inputs, and outer products for adjoints of weights.

use super::vector::Vector;
use super::{LANES, area};
use crate::real::Real;
use crate::simd_dispatch;

/// Sets every sample of channel `c` of a tile to `values[c]` (a bias).
pub fn fill_channels<T: Real>(values: &[T], tile: &mut [T], width: usize) {
    assert_eq!(tile.len(), area(values.len(), width), "tile shape");
    for (channel, &value) in tile.chunks_exact_mut(width).zip(values) {
        channel.fill(value);
    }
}

/// `y += W·x` for one tile: `w` is `[out, in]`, `x` is `[in][width]`, `y` is `[out][width]`.
pub fn matmul_add<T: Real>(w: &[T], x: &[T], y: &mut [T], width: usize) {
    let (out, inner) = (y.len() / width, x.len() / width);
    assert_shapes(w, x, y, width, out, inner);
    // SAFETY: the shapes are asserted; w[o·inner + i] is inside for o < out and i < inner.
    unsafe { strided_product(Start::Sum, w, inner, 1, x, y, width) }
}

/// `y = W·x + b` for one tile, shaped as in [`matmul_add`]; `bias` has one number per output.
pub fn affine<T: Real>(w: &[T], bias: &[T], x: &[T], y: &mut [T], width: usize) {
    let (out, inner) = (y.len() / width, x.len() / width);
    assert_shapes(w, x, y, width, out, inner);
    assert_eq!(bias.len(), out, "bias of {out} outputs");
    // SAFETY: the shapes are asserted; w[o·inner + i] is inside for o < out and i < inner.
    unsafe { strided_product(Start::Bias(bias), w, inner, 1, x, y, width) }
}

/// `x = Wᵀ·y` for one tile, the adjoint of [`matmul_add`] with respect to its input.
pub fn matmul_transposed<T: Real>(w: &[T], y: &[T], x: &mut [T], width: usize) {
    let (out, inner) = (y.len() / width, x.len() / width);
    assert_shapes(w, x, y, width, out, inner);
    // SAFETY: the shapes are asserted; w[i + o·inner] is inside for i < inner and o < out.
    unsafe { strided_product(Start::Zero, w, 1, inner, y, x, width) }
}

/// `x += Wᵀ·y` for one tile, as [`matmul_transposed`].
pub fn matmul_transposed_add<T: Real>(w: &[T], y: &[T], x: &mut [T], width: usize) {
    let (out, inner) = (y.len() / width, x.len() / width);
    assert_shapes(w, x, y, width, out, inner);
    // SAFETY: the shapes are asserted; w[i + o·inner] is inside for i < inner and o < out.
    unsafe { strided_product(Start::Sum, w, 1, inner, y, x, width) }
}

fn assert_shapes<T>(w: &[T], x: &[T], y: &[T], width: usize, out: usize, inner: usize) {
    assert!(
        width.is_multiple_of(LANES),
        "tile width {width} is not a multiple of {LANES}"
    );
    assert_eq!(x.len(), area(inner, width), "input tile shape");
    assert_eq!(y.len(), area(out, width), "output tile shape");
    assert_eq!(w.len(), area(out, inner), "weight shape [{out}, {inner}]");
}

/// What a product is added to.
#[derive(Clone, Copy)]
enum Start<'a, T> {
    /// What is there already.
    Sum,
    Zero,
    /// One number per row.
    Bias(&'a [T]),
}

simd_dispatch! {
    unsafe fn strided_product<T>(start: Start<'_, T>, w: &[T], row: usize, column: usize, x: &[T], y: &mut [T], width: usize) = strided_product_body;
}

/// `y[o] = start[o] + Σ_i w[o·row + i·column]·x[i]`, blocked so that the sums of a block stay in registers.
///
/// # Safety
/// Call it through `simd_dispatch!`. `width` is a multiple of [`LANES`], `x` and `y` are whole tiles, and every
/// `w[o·row + i·column]` is inside `w`, as is every row of a bias.
#[inline(always)]
unsafe fn strided_product_body<T: Real, V: Vector<T>>(
    start: Start<'_, T>,
    w: &[T],
    row: usize,
    column: usize,
    x: &[T],
    y: &mut [T],
    width: usize,
) {
    let (out, inner) = (y.len() / width, x.len() / width);
    if out == 1 {
        // One row (a single sample against transposed weights): long rows instead of many hide the latency of the sums.
        let mut sample = 0;
        while sample + 6 * V::LANES <= width {
            // SAFETY: row 0, and six registers of samples, are inside the tiles.
            unsafe { block::<T, V, 1, 6>(start, w, row, column, inner, x, y, width, 0, sample) };
            sample += 6 * V::LANES;
        }
        while sample < width {
            // SAFETY: row 0, and a register of samples, are inside the tiles, since lanes divide `width`.
            unsafe { block::<T, V, 1, 1>(start, w, row, column, inner, x, y, width, 0, sample) };
            sample += V::LANES;
        }
        return;
    }
    let mut sample = 0;
    while sample + 2 * V::LANES <= width {
        let mut o = 0;
        while o + 6 <= out {
            // SAFETY: six rows from `o` on, and two registers of samples, are inside the tiles.
            unsafe { block::<T, V, 6, 2>(start, w, row, column, inner, x, y, width, o, sample) };
            o += 6;
        }
        // SAFETY: the `out - o` < 6 rows left, and two registers of samples, are inside the tiles.
        unsafe {
            match out - o {
                0 => {}
                1 => block::<T, V, 1, 2>(start, w, row, column, inner, x, y, width, o, sample),
                2 => block::<T, V, 2, 2>(start, w, row, column, inner, x, y, width, o, sample),
                3 => block::<T, V, 3, 2>(start, w, row, column, inner, x, y, width, o, sample),
                4 => block::<T, V, 4, 2>(start, w, row, column, inner, x, y, width, o, sample),
                _ => block::<T, V, 5, 2>(start, w, row, column, inner, x, y, width, o, sample),
            }
        }
        sample += 2 * V::LANES;
    }
    if sample < width {
        for o in 0..out {
            // SAFETY: row `o`, and a register of samples, are inside the tiles, since lanes divide `width`.
            unsafe { block::<T, V, 1, 1>(start, w, row, column, inner, x, y, width, o, sample) };
        }
    }
}

/// # Safety
/// As [`strided_product_body`]; rows `o..o + OUT` and samples `sample..sample + N·V::LANES` are inside the tiles, which
/// hold `inner` inputs.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "strides and origin of a block")]
unsafe fn block<T: Real, V: Vector<T>, const OUT: usize, const N: usize>(
    start: Start<'_, T>,
    w: &[T],
    row: usize,
    column: usize,
    inner: usize,
    x: &[T],
    y: &mut [T],
    width: usize,
    o: usize,
    sample: usize,
) {
    // SAFETY: the caller vouches for the instructions, the rows and samples of the block, and their weights.
    unsafe {
        let x = x.as_ptr().add(sample);
        let y = y.as_mut_ptr().add(o * width + sample);
        let w = w.as_ptr().add(o * row);
        let mut sums = [[V::splat(T::zero()); N]; OUT];
        match start {
            Start::Zero => {}
            Start::Sum => {
                for (row, sums) in sums.iter_mut().enumerate() {
                    for (n, sum) in sums.iter_mut().enumerate() {
                        *sum = V::load(y.add(row * width + n * V::LANES));
                    }
                }
            }
            Start::Bias(bias) => {
                for (row, sums) in sums.iter_mut().enumerate() {
                    *sums = [V::splat(*bias.get_unchecked(o + row)); N];
                }
            }
        }
        for i in 0..inner {
            let x: [V; N] = core::array::from_fn(|n| V::load(x.add(i * width + n * V::LANES)));
            for (o, sums) in sums.iter_mut().enumerate() {
                let weight = V::splat(*w.add(o * row + i * column));
                for (sum, x) in sums.iter_mut().zip(x) {
                    *sum = weight.mul_add(x, *sum);
                }
            }
        }
        for (o, sums) in sums.iter().enumerate() {
            for (n, sum) in sums.iter().enumerate() {
                sum.store(y.add(o * width + n * V::LANES));
            }
        }
    }
}

/// `W += Y·Xᵀ` summed over all samples of a sequence of tiles, the adjoint of [`matmul_add`] with respect to its weights.
///
/// `x` is `[tiles][in][width]`, `y` is `[tiles][out][width]`, `w` is `[out, in]`.
pub fn outer_add<T: Real>(y: &[T], x: &[T], w: &mut [T], out: usize, inner: usize, width: usize) {
    if out == 0 || inner == 0 {
        return;
    }
    let tiles = x.len() / area(inner, width);
    assert!(
        width.is_multiple_of(LANES),
        "tile width {width} is not a multiple of {LANES}"
    );
    assert_eq!(x.len(), area(tiles, inner * width), "input tiles");
    assert_eq!(y.len(), area(tiles, area(out, width)), "adjoint tiles");
    assert_eq!(w.len(), area(out, inner), "weight shape [{out}, {inner}]");
    // SAFETY: the shapes are asserted.
    unsafe { outer(y, x, w, out, inner, width) }
}

/// Tiles that are worked through together: their rows stay in the second-level cache while all blocks of weights pass.
const OUTER_TILES: usize = 12;

simd_dispatch! {
    unsafe fn outer<T>(y: &[T], x: &[T], w: &mut [T], out: usize, inner: usize, width: usize) = outer_body;
}

/// # Safety
/// Call it through `simd_dispatch!`. `width` is a multiple of [`LANES`], neither `out` nor `inner` is zero, `y` and `x`
/// are the same number of tiles of `out` and `inner` channels, and `w` is `[out, in]`.
#[inline(always)]
unsafe fn outer_body<T: Real, V: Vector<T>>(y: &[T], x: &[T], w: &mut [T], out: usize, inner: usize, width: usize) {
    let chunks = y
        .chunks(OUTER_TILES * out * width)
        .zip(x.chunks(OUTER_TILES * inner * width));
    for (y, x) in chunks {
        // SAFETY: a chunk of tiles is tiles, as many in `y` as in `x`; the rest is passed on to the caller.
        unsafe { outer_chunk::<T, V>(y, x, w, out, inner, width) };
    }
}

/// # Safety
/// As [`outer_body`].
#[inline(always)]
unsafe fn outer_chunk<T: Real, V: Vector<T>>(y: &[T], x: &[T], w: &mut [T], out: usize, inner: usize, width: usize) {
    let mut o = 0;
    while o < out {
        let outs = match out - o {
            8.. if V::REGISTERS >= 32 => 8,
            4.. => 4,
            _ => 1,
        };
        let mut i = 0;
        while i < inner {
            let inners = (inner - i).min(3);
            // SAFETY: `outs` rows from `o` and `inners` columns from `i` are inside; the rest is passed on to the caller.
            unsafe {
                match (outs, inners) {
                    (8, 3) => outer_block::<T, V, 8, 3>(y, x, w, out, inner, width, o, i),
                    (8, 2) => outer_block::<T, V, 8, 2>(y, x, w, out, inner, width, o, i),
                    (8, _) => outer_block::<T, V, 8, 1>(y, x, w, out, inner, width, o, i),
                    (4, 3) => outer_block::<T, V, 4, 3>(y, x, w, out, inner, width, o, i),
                    (4, 2) => outer_block::<T, V, 4, 2>(y, x, w, out, inner, width, o, i),
                    (4, _) => outer_block::<T, V, 4, 1>(y, x, w, out, inner, width, o, i),
                    (_, 3) => outer_block::<T, V, 1, 3>(y, x, w, out, inner, width, o, i),
                    (_, 2) => outer_block::<T, V, 1, 2>(y, x, w, out, inner, width, o, i),
                    _ => outer_block::<T, V, 1, 1>(y, x, w, out, inner, width, o, i),
                }
            }
            i += inners;
        }
        o += outs;
    }
}

/// # Safety
/// As [`outer_body`]; rows `o..o + OUT` and columns `i..i + IN` are inside the shapes.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "shape and origin of a block")]
unsafe fn outer_block<T: Real, V: Vector<T>, const OUT: usize, const IN: usize>(
    y: &[T],
    x: &[T],
    w: &mut [T],
    out: usize,
    inner: usize,
    width: usize,
    o: usize,
    i: usize,
) {
    // SAFETY: the caller vouches for the instructions and for the block in every tile, and lanes divide `width`.
    unsafe {
        let mut sums = [[V::splat(T::zero()); IN]; OUT];
        for tile in 0..y.len() / (out * width) {
            let y = y.as_ptr().add((tile * out + o) * width);
            let x = x.as_ptr().add((tile * inner + i) * width);
            for sample in (0..width).step_by(V::LANES) {
                let x: [V; IN] = core::array::from_fn(|i| V::load(x.add(i * width + sample)));
                for (o, sums) in sums.iter_mut().enumerate() {
                    let y = V::load(y.add(o * width + sample));
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = y.mul_add(x, *sum);
                    }
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (column, &sum) in sums.iter().enumerate() {
                w[(o + row) * inner + i + column] += sum.sum();
            }
        }
    }
}

/// `sums[c] += Σ tile[c]` over all samples of a sequence of tiles `[tiles][channels][width]`: the adjoint of a bias.
pub fn sum_channels_add<T: Real>(tiles: &[T], sums: &mut [T], width: usize) {
    assert!(
        width.is_multiple_of(LANES),
        "tile width {width} is not a multiple of {LANES}"
    );
    assert!(
        tiles.len().is_multiple_of(area(sums.len(), width)),
        "tiles of {} channels",
        sums.len()
    );
    // SAFETY: the shapes are asserted.
    unsafe { sum_channels(tiles, sums, width) }
}

simd_dispatch! {
    unsafe fn sum_channels<T>(tiles: &[T], sums: &mut [T], width: usize) = sum_channels_body;
}

/// # Safety
/// Call it through `simd_dispatch!`; `width` is a multiple of [`LANES`].
#[inline(always)]
unsafe fn sum_channels_body<T: Real, V: Vector<T>>(tiles: &[T], sums: &mut [T], width: usize) {
    let channels = sums.len();
    for (channel, total) in sums.iter_mut().enumerate() {
        // SAFETY: every tile holds `channels` rows of `width` samples, a multiple of the lanes; the caller vouches for the
        // instructions.
        unsafe {
            let mut sum = V::splat(T::zero());
            for tile in tiles.chunks_exact(channels * width) {
                let row = tile.as_ptr().add(channel * width);
                for sample in (0..width).step_by(V::LANES) {
                    sum = sum.add(V::load(row.add(sample)));
                }
            }
            *total += sum.sum();
        }
    }
}
