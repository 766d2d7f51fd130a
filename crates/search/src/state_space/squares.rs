//! SᵀS and Sᵀe, row by row of S.

use intervalid_interval::kernel::Vector;

use super::lanes::{LANES, Lane};
use super::levels::{Simd, per_level};

/// Rows of S that wait to be added, and what has been added so far.
pub(crate) struct Squares {
    /// `[row][lane of columns]`
    rows: Vec<Lane>,
    filled: usize,
    chunks: usize,
    /// SᵀS, `[row][lane of columns]`; lanes that lie wholly left of the diagonal are not computed.
    normal: Vec<Lane>,
    /// Sᵀe
    right: Vec<Lane>,
}

/// Rows that are added at a time: many enough that sums stay in registers, few enough that they stay in the second-level cache.
const BLOCK: usize = 64;

impl Squares {
    pub(crate) fn new(columns: usize) -> Self {
        let chunks = columns.div_ceil(LANES);
        Self {
            rows: vec![Lane::ZERO; BLOCK * chunks],
            filled: 0,
            chunks,
            normal: vec![Lane::ZERO; chunks * LANES * chunks],
            right: vec![Lane::ZERO; chunks],
        }
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.filled = 0;
        self.normal.fill(Lane::ZERO);
        self.right.fill(Lane::ZERO);
    }

    /// Lets `fill(row, right)` write a row of S, all lanes of it, and add its product with the error to Sᵀe.
    #[inline]
    pub(crate) fn push(&mut self, fill: impl FnOnce(&mut [Lane], &mut [Lane])) {
        let row = &mut self.rows[self.filled * self.chunks..(self.filled + 1) * self.chunks];
        fill(row, &mut self.right);
        self.filled += 1;
        if self.filled == BLOCK {
            self.flush();
        }
    }

    /// Adds a row of S that is there as numbers.
    pub(crate) fn push_numbers(&mut self, values: &[f64], error: f64) {
        self.push(|row, right| {
            let (full, rest) = values.as_chunks::<LANES>();
            for (to, from) in row.iter_mut().zip(full) {
                *to = Lane(*from);
            }
            if !rest.is_empty() {
                row[full.len()] = Lane::ZERO;
                row[full.len()].0[..rest.len()].copy_from_slice(rest);
            }
            add_times(row, error, right);
        });
    }

    /// Adds what is left; [`normal`](Self::normal) is then that of all rows.
    pub(crate) fn flush(&mut self) {
        let rows = &self.rows[..self.filled * self.chunks];
        add_squares(rows, self.chunks, &mut self.normal);
        self.filled = 0;
    }

    /// An entry of SᵀS.
    #[inline]
    pub(crate) fn normal(&self, row: usize, column: usize) -> f64 {
        let (row, column) = (row.min(column), row.max(column));
        self.normal[row * self.chunks + column / LANES].0[column % LANES]
    }

    /// An entry of Sᵀe.
    #[inline]
    pub(crate) fn right(&self, column: usize) -> f64 {
        self.right[column / LANES].0[column % LANES]
    }
}

per_level! {
    /// sum += factor · row
    fn add_times(row: &[Lane], factor: f64, sum: &mut [Lane]) = times_body in f64;
}

#[inline(always)]
fn times_body<V: Vector<f64>>(simd: Simd<V>, row: &[Lane], factor: f64, sum: &mut [Lane]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum = simd.add_product(*sum, Lane::splat(factor), *value);
    }
}

per_level! {
    /// normal += Σ rows rowsᵀ from the diagonal on, rows of `chunks` lanes.
    fn add_squares(rows: &[Lane], chunks: usize, normal: &mut [Lane]) = squares_body in f64;
}

/// Rows of the matrix in one tile.
const TILE: usize = 4;

#[inline(always)]
fn squares_body<V: Vector<f64>>(simd: Simd<V>, rows: &[Lane], chunks: usize, normal: &mut [Lane]) {
    let is_wide = V::LANES == LANES;
    for (index, tile) in normal.chunks_exact_mut(TILE * chunks).enumerate() {
        let first = index * TILE;
        let mut chunk = first / LANES;
        // A lane is one register of 512 bits or two of 256, of which there are half as many.
        while is_wide && chunk + 4 <= chunks {
            squares_tile::<V, 4>(simd, rows, (chunks, first, chunk), tile);
            chunk += 4;
        }
        while chunk < chunks {
            squares_tile::<V, 1>(simd, rows, (chunks, first, chunk), tile);
            chunk += 1;
        }
    }
}

#[inline(always)]
fn squares_tile<V: Vector<f64>, const N: usize>(
    simd: Simd<V>,
    rows: &[Lane],
    (chunks, first, chunk): (usize, usize, usize),
    tile: &mut [Lane],
) {
    let mut sums = [[Lane::ZERO; N]; TILE];
    for (row, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&tile[row * chunks + chunk..row * chunks + chunk + N]);
    }
    let (of, within) = (first / LANES, first % LANES);
    for row in rows.chunks_exact(chunks) {
        let factors = &row[of].0[within..within + TILE];
        let values = &row[chunk..chunk + N];
        for (factor, sums) in factors.iter().zip(&mut sums) {
            let factor = Lane::splat(*factor);
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = simd.add_product(*sum, factor, *value);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        tile[row * chunks + chunk..row * chunks + chunk + N].copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, with_level};

    use super::*;

    /// Against plain loops at every level, with and without rows left over from the last block.
    #[test]
    fn squares_are_those_of_plain_loops() {
        for &level in SimdLevel::available() {
            with_level(level, || {
                for (columns, count) in [(1, 3), (7, 64), (21, 65), (50, 130)] {
                    let entry = |row: usize, column: usize| (1.0 + 0.37 * row as f64 + 1.3 * column as f64).sin();
                    let error = |row: usize| (0.7 * row as f64).cos();
                    let mut squares = Squares::new(columns);
                    squares.push_numbers(&vec![9.0; columns], 9.0);
                    squares.reset();
                    for row in 0..count {
                        let values: Vec<f64> = (0..columns).map(|column| entry(row, column)).collect();
                        squares.push_numbers(&values, error(row));
                    }
                    squares.flush();
                    for i in 0..columns {
                        let expected: f64 = (0..count).map(|row| entry(row, i) * error(row)).sum();
                        assert!((squares.right(i) - expected).abs() < 1e-11, "{level:?} {i}");
                        for j in 0..columns {
                            let expected: f64 = (0..count).map(|row| entry(row, i) * entry(row, j)).sum();
                            assert!((squares.normal(i, j) - expected).abs() < 1e-11, "{level:?} {i} {j}");
                        }
                    }
                }
            });
        }
    }
}
