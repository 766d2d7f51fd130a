//! Cholesky factors of the normal equations, compiled for the instructions at hand.
//!
//! A = L Lᵀ column by column: l_j = (a_j - Σ_{k<j} L_jk l_k) / √L_jj, four columns k at a time.

use intervalid_interval::kernel::Vector;
use nalgebra::{Cholesky, DMatrix, Dyn};

use super::lanes::{LANES, Lane};
use super::levels::{Simd, per_level};

/// The factor of a symmetric matrix, of which the lower triangle counts; none if it is not positive definite.
///
/// # Panics
/// If it is not square.
pub(crate) fn cholesky(mut matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    assert!(matrix.is_square(), "a square matrix");
    let mut is_positive = true;
    let size = matrix.nrows();
    factor(matrix.as_mut_slice(), size, &mut is_positive);
    is_positive.then(|| Cholesky::pack_dirty(matrix))
}

per_level! {
    /// L into the lower triangle of a matrix, column by column.
    fn factor(matrix: &mut [f64], size: usize, is_positive: &mut bool) = factor_body in f64;
}

/// Columns that are subtracted at a time.
const AT_A_TIME: usize = 4;

#[inline(always)]
fn factor_body<V: Vector<f64>>(simd: Simd<V>, matrix: &mut [f64], size: usize, is_positive: &mut bool) {
    for column in 0..size {
        let (before, rest) = matrix.split_at_mut(column * size);
        let to = &mut rest[column..size];
        let full = column - column % AT_A_TIME;
        for first in (0..full).step_by(AT_A_TIME) {
            let from = std::array::from_fn(|k| &before[(first + k) * size + column..(first + k + 1) * size]);
            subtract::<V, AT_A_TIME>(simd, to, from);
        }
        for k in full..column {
            subtract::<V, 1>(simd, to, [&before[k * size + column..(k + 1) * size]]);
        }
        let pivot = to[0];
        // NaN is not positive either.
        if !(pivot > 0.0 && pivot.is_finite()) {
            *is_positive = false;
            return;
        }
        let root = pivot.sqrt();
        to.iter_mut().for_each(|value| *value /= root);
    }
}

/// to -= Σ from₀ · from
#[inline(always)]
fn subtract<V: Vector<f64>, const N: usize>(simd: Simd<V>, to: &mut [f64], from: [&[f64]; N]) {
    let factors = from.map(|from| -from[0]);
    let lanes = from.map(|from| from.as_chunks::<LANES>().0);
    let (full, rest) = to.as_chunks_mut::<LANES>();
    let done = full.len() * LANES;
    for (at, to) in full.iter_mut().enumerate() {
        let mut sum = Lane(*to);
        for k in 0..N {
            sum = simd.add_product(sum, Lane::splat(factors[k]), Lane(lanes[k][at]));
        }
        *to = sum.0;
    }
    for (at, to) in rest.iter_mut().enumerate() {
        for k in 0..N {
            *to += factors[k] * from[k][done + at];
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_interval::kernel::{SimdLevel, with_level};
    use nalgebra::DVector;

    use super::*;

    #[test]
    fn the_factor_solves_and_what_is_not_positive_is_told() {
        for &level in SimdLevel::available() {
            with_level(level, || {
                for size in [1, 2, 3, 4, 5, 17, 40] {
                    let rows = DMatrix::from_fn(size + 3, size, |row, column| {
                        (1.0 + 0.7 * row as f64 + 1.9 * (column * column) as f64).sin()
                    });
                    let matrix = rows.transpose() * &rows + DMatrix::identity(size, size) * 0.1;
                    let right = DVector::from_fn(size, |row, _| (row as f64).cos());
                    // What lies above the diagonal does not count.
                    let mut lower = matrix.clone();
                    lower.fill_upper_triangle(f64::NAN, 1);
                    let found = cholesky(lower).expect("positive definite").solve(&right);
                    assert!((&matrix * found - right).amax() < 1e-10, "{level:?} {size}");
                    let mut singular = matrix;
                    singular[(size - 1, size - 1)] = -1.0;
                    assert!(cholesky(singular.clone()).is_none());
                    singular[(size - 1, size - 1)] = f64::NAN;
                    assert!(cholesky(singular).is_none());
                }
            });
        }
    }
}
