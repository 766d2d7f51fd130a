//! Least squares on more rows than fit in memory at once.

use nalgebra::DMatrix;

use crate::error::DataError;

/// Rows gathered before they are folded into the factor: large enough to amortise the factorisation, small enough to
/// stay in cache.
const BLOCK_ROWS: usize = 256;

/// Singular values below this share of the largest count as zero, so that collinear regressors (a tap repeated by a
/// piecewise constant input) get the solution of least norm and not a huge one.
const RANK_TOLERANCE: f64 = 1e-10;

/// The triangular factor R of a tall matrix A = QR, built from its rows in blocks.
///
/// RᵀR = AᵀA, so any least-squares problem between columns of A has the same solution with R in its place, without the
/// squared condition number of the normal equations.
pub(crate) struct TriangularFactor {
    columns: usize,
    factor: DMatrix<f64>,
    block: Vec<f64>,
    rows: usize,
}

impl TriangularFactor {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            factor: DMatrix::zeros(0, columns),
            block: Vec::new(),
            rows: 0,
        }
    }

    /// Appends one row that `write` fills; it starts as zeros.
    pub(crate) fn push_row(&mut self, write: impl FnOnce(&mut [f64])) {
        let start = self.block.len();
        self.block.resize(start + self.columns, 0.0);
        write(&mut self.block[start..]);
        self.rows += 1;
        if self.block.len() >= BLOCK_ROWS.max(self.columns) * self.columns {
            self.fold();
        }
    }

    fn fold(&mut self) {
        let new_rows = self.block.len() / self.columns;
        let old_rows = self.factor.nrows();
        let stacked = DMatrix::from_fn(old_rows + new_rows, self.columns, |row, column| {
            if row < old_rows {
                self.factor[(row, column)]
            } else {
                self.block[(row - old_rows) * self.columns + column]
            }
        });
        self.factor = stacked.qr().r();
        self.block.clear();
    }

    /// Rows seen so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Coefficients of `targets` (one result row each) on `regressors`, both given as column indices.
    pub(crate) fn solve(&mut self, regressors: &[usize], targets: &[usize]) -> Result<Vec<Vec<f64>>, DataError> {
        if !self.block.is_empty() {
            self.fold();
        }
        let matrix = self.factor.select_columns(regressors);
        let right = self.factor.select_columns(targets);
        let iterations = 1000 * regressors.len().max(1);
        let svd = matrix
            .try_svd(true, true, f64::EPSILON, iterations)
            .ok_or(DataError::LeastSquares)?;
        let tolerance = RANK_TOLERANCE * svd.singular_values.max();
        let solution = svd.solve(&right, tolerance).map_err(|_| DataError::LeastSquares)?;
        if solution.iter().any(|value| !value.is_finite()) {
            return Err(DataError::LeastSquares);
        }
        Ok(solution
            .column_iter()
            .map(|column| column.iter().copied().collect())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_give_the_same_solution_as_one_matrix() {
        let mut factor = TriangularFactor::new(3);
        for k in 0..1000 {
            let (a, b) = ((k as f64 * 0.7).sin(), (k as f64 * 0.3).cos());
            factor.push_row(|row| row.copy_from_slice(&[a, b, 2.0 * a - 3.0 * b]));
        }
        let solution = factor.solve(&[0, 1], &[2]).expect("solves");
        assert!((solution[0][0] - 2.0).abs() < 1e-12 && (solution[0][1] + 3.0).abs() < 1e-12);
    }

    #[test]
    fn collinear_columns_share_the_weight() {
        let mut factor = TriangularFactor::new(3);
        for k in 0..10 {
            let a = k as f64 - 4.5;
            factor.push_row(|row| row.copy_from_slice(&[a, a, 2.0 * a]));
        }
        let solution = factor.solve(&[0, 1], &[2]).expect("solves");
        assert!((solution[0][0] - 1.0).abs() < 1e-12 && (solution[0][1] - 1.0).abs() < 1e-12);
    }
}
