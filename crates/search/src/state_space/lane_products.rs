//! Small matrices against vectors, sixteen models side by side.
//!
//! Sums of four rows or columns run at a time: what they share is read once, and no sum waits for the one before. Every sum has the
//! order of its plain loop, so tiles change no bits.

use intervalid_interval::kernel::Vector;

use super::lanes::Models;
use super::levels::Simd;

/// Calls `tile::<N>(from)` for N = 4, 2, 1 until all of `0..count` are done.
macro_rules! in_tiles {
    ($simd:ident, $count:expr, $tile:ident($($argument:expr),*)) => {{
        let mut from = 0;
        while from + 4 <= $count {
            $tile::<V, 4>($simd, $($argument,)* from);
            from += 4;
        }
        if from + 2 <= $count {
            $tile::<V, 2>($simd, $($argument,)* from);
            from += 2;
        }
        if from < $count {
            $tile::<V, 1>($simd, $($argument,)* from);
        }
    }};
}

/// out_r += Σ_c M_rc v_c, `matrix` row by row.
#[inline(always)]
pub(crate) fn add_product<V: Vector<f32>>(simd: Simd<V>, matrix: &[Models], vector: &[Models], out: &mut [Models]) {
    #[inline(always)]
    fn tile<V: Vector<f32>, const N: usize>(
        simd: Simd<V>,
        matrix: &[Models],
        vector: &[Models],
        out: &mut [Models],
        from: usize,
    ) {
        let width = vector.len();
        let mut sums: [Models; N] = std::array::from_fn(|row| out[from + row]);
        let rows: [&[Models]; N] = std::array::from_fn(|row| &matrix[(from + row) * width..(from + row + 1) * width]);
        for (column, value) in vector.iter().enumerate() {
            for row in 0..N {
                sums[row] = simd.add_product(sums[row], rows[row][column], *value);
            }
        }
        out[from..from + N].copy_from_slice(&sums);
    }
    in_tiles!(simd, out.len(), tile(matrix, vector, out));
}

/// out_c += Σ_r M_rc v_r for the first columns of a matrix of `width` columns, row by row.
#[inline(always)]
pub(crate) fn add_transposed_product<V: Vector<f32>>(
    simd: Simd<V>,
    (matrix, width): (&[Models], usize),
    vector: &[Models],
    out: &mut [Models],
) {
    #[inline(always)]
    fn tile<V: Vector<f32>, const N: usize>(
        simd: Simd<V>,
        (matrix, width): (&[Models], usize),
        vector: &[Models],
        out: &mut [Models],
        from: usize,
    ) {
        let mut sums: [Models; N] = std::array::from_fn(|column| out[from + column]);
        for (row, value) in matrix.chunks_exact(width).zip(vector) {
            let row = &row[from..from + N];
            for column in 0..N {
                sums[column] = simd.add_product(sums[column], row[column], *value);
            }
        }
        out[from..from + N].copy_from_slice(&sums);
    }
    if width > 0 {
        in_tiles!(simd, out.len(), tile((matrix, width), vector, out));
    }
}

/// G_rc += Σ_k a_r(k) b_c(k), the last sample first. `left` and `right` are `[sample][entry]`; `gradient` is G row by row.
#[inline(always)]
pub(crate) fn add_outer_products<V: Vector<f32>>(
    simd: Simd<V>,
    (left, rows): (&[Models], usize),
    (right, columns): (&[Models], usize),
    gradient: &mut [Models],
) {
    #[inline(always)]
    fn tile<V: Vector<f32>, const N: usize>(
        simd: Simd<V>,
        (left, rows): (&[Models], usize),
        (right, columns): (&[Models], usize),
        gradient: &mut [Models],
        from: usize,
    ) {
        for column in 0..columns {
            let mut sums: [Models; N] = std::array::from_fn(|row| gradient[(from + row) * columns + column]);
            for (left, right) in left.chunks_exact(rows).zip(right.chunks_exact(columns)).rev() {
                let (left, right) = (&left[from..from + N], right[column]);
                for row in 0..N {
                    sums[row] = simd.add_product(sums[row], left[row], right);
                }
            }
            for (row, sum) in sums.into_iter().enumerate() {
                gradient[(from + row) * columns + column] = sum;
            }
        }
    }
    if columns > 0 {
        in_tiles!(simd, rows, tile((left, rows), (right, columns), gradient));
    }
}

/// g_r += Σ_k a_r(k), the last sample first.
#[inline(always)]
pub(crate) fn add_sums<V: Vector<f32>>(simd: Simd<V>, (left, rows): (&[Models], usize), gradient: &mut [Models]) {
    for left in left.chunks_exact(rows.max(1)).rev() {
        for (sum, value) in gradient.iter_mut().zip(left) {
            *sum = simd.sum(*sum, *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::Portable;

    use super::*;
    use crate::state_space::lanes::Lane;

    fn numbers(count: usize, rate: f32) -> Vec<Models> {
        let value = |at: usize, lane: usize| (1.0 + rate * at as f32 + 0.1 * lane as f32).sin();
        (0..count)
            .map(|at| Lane(std::array::from_fn(|lane| value(at, lane))))
            .collect()
    }

    /// Against plain loops, to the bit, for all remainders of the tiles.
    #[test]
    fn tiles_have_the_bits_of_plain_loops() {
        // SAFETY: every processor runs the portable form.
        let simd = unsafe { Simd::<Portable<f32>>::new() };
        for (rows, columns, samples) in [(1, 1, 1), (3, 5, 2), (4, 2, 8), (7, 6, 5), (13, 3, 8)] {
            let matrix = numbers(rows * columns, 0.7);
            let (by_column, by_row) = (numbers(columns, 1.3), numbers(rows, 0.9));
            let (mut found, mut expected) = (numbers(rows, 0.2), numbers(rows, 0.2));
            add_product(simd, &matrix, &by_column, &mut found);
            for (row, sum) in expected.iter_mut().enumerate() {
                for column in 0..columns {
                    *sum = simd.add_product(*sum, matrix[row * columns + column], by_column[column]);
                }
            }
            assert_eq!(found, expected);
            let (mut found, mut expected) = (numbers(columns, 0.2), numbers(columns, 0.2));
            add_transposed_product(simd, (&matrix, columns), &by_row, &mut found);
            for (column, sum) in expected.iter_mut().enumerate() {
                for row in 0..rows {
                    *sum = simd.add_product(*sum, matrix[row * columns + column], by_row[row]);
                }
            }
            assert_eq!(found, expected);
            let (left, right) = (numbers(samples * rows, 0.3), numbers(samples * columns, 0.4));
            let (mut found, mut expected) = (matrix.clone(), matrix.clone());
            add_outer_products(simd, (&left, rows), (&right, columns), &mut found);
            for k in (0..samples).rev() {
                for row in 0..rows {
                    for column in 0..columns {
                        let at = row * columns + column;
                        expected[at] =
                            simd.add_product(expected[at], left[k * rows + row], right[k * columns + column]);
                    }
                }
            }
            assert_eq!(found, expected);
            let mut sums = vec![Models::ZERO; rows];
            add_sums(simd, (&left, rows), &mut sums);
            let expected: f32 = (0..samples).map(|k| left[k * rows].0[0]).sum();
            assert!((sums[0].0[0] - expected).abs() < 1e-5);
        }
    }
}
