//! Interval vectors and matrices on the batch kernels.
//!
//! Lower and upper ends are kept apart, as the kernels want them. Products pad and transpose inside; code that runs many
//! of them on the same weights (training) calls the [`kernel`](crate::kernel) itself and keeps its tiles.

use crate::kernel::{
    self, IntervalWeights, crisp_weights_forward, interval_weights_forward, padded, relu, sigmoid, softplus, tanh,
};
use crate::{Interval, IntervalError, Real};

/// A matrix of [`Interval`]s, row-major with shape `[rows, columns]`; a vector is a matrix of one column.
///
/// Promise: every element has `lower <= upper` and no NaN. Bounds are computed in ordinary rounding, as those of
/// [`Interval`]: not rigorous, within `columns * epsilon` relative to the sum of the magnitudes of the terms. The
/// rigorous twin is [`EnclosureMatrix`](crate::EnclosureMatrix).
///
/// ```
/// use intervalid_interval::{Interval, IntervalMatrix};
///
/// let weights = IntervalMatrix::from_margins(1, 2, &[1.0, -2.0], &[0.5, 0.0], &[0.5, 0.0])?;
/// let input = IntervalMatrix::column(&[2.0, 1.0], &[2.0, 3.0])?;
/// let output = weights.product(&input)?;
/// assert_eq!(output.get(0, 0), Some(Interval::new(-5.0, 1.0)?));
/// # Ok::<(), intervalid_interval::IntervalError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalMatrix<T> {
    rows: usize,
    columns: usize,
    lower: Vec<T>,
    upper: Vec<T>,
}

fn check_length(
    operation: &'static str,
    argument: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), IntervalError> {
    if expected == found {
        return Ok(());
    }
    Err(IntervalError::Length {
        operation,
        argument,
        expected,
        found,
    })
}

impl<T: Real> IntervalMatrix<T> {
    /// A matrix from lower and upper ends, row by row; the same slice twice gives a crisp matrix.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless both hold `rows * columns` ends, [`IntervalError::NotANumber`] or
    /// [`IntervalError::Reversed`] for the first pair that is no interval.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// assert!(IntervalMatrix::from_bounds(1, 2, &[0.0, 1.0], &[1.0, 1.0]).is_ok());
    /// let error = IntervalMatrix::from_bounds(1, 2, &[0.0, 1.0], &[1.0, 0.5]).unwrap_err();
    /// assert_eq!(error.to_string(), "lower bound 1 is above upper bound 0.5");
    /// ```
    pub fn from_bounds(rows: usize, columns: usize, lower: &[T], upper: &[T]) -> Result<Self, IntervalError> {
        let count = rows.saturating_mul(columns);
        check_length("matrix", "lower", count, lower.len())?;
        check_length("matrix", "upper", count, upper.len())?;
        for (&lower, &upper) in lower.iter().zip(upper) {
            Interval::new(lower, upper)?;
        }
        Ok(Self {
            rows,
            columns,
            lower: lower.to_vec(),
            upper: upper.to_vec(),
        })
    }

    /// The interval parameters `[centre - below, centre + above]`, row by row.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless all three hold `rows * columns` values, [`IntervalError::Margin`] for a margin
    /// that is negative, infinite or NaN, [`IntervalError::NotANumber`] for a centre that is.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let weights = IntervalMatrix::from_margins(1, 1, &[1.0], &[0.25], &[2.0])?;
    /// assert_eq!((weights.lower(), weights.upper()), (&[0.75][..], &[3.0][..]));
    /// assert!(IntervalMatrix::from_margins(1, 1, &[1.0], &[-0.25], &[2.0]).is_err());
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_margins(
        rows: usize,
        columns: usize,
        centre: &[T],
        below: &[T],
        above: &[T],
    ) -> Result<Self, IntervalError> {
        let count = rows.saturating_mul(columns);
        check_length("matrix", "centre", count, centre.len())?;
        check_length("matrix", "below", count, below.len())?;
        check_length("matrix", "above", count, above.len())?;
        for &margin in below.iter().chain(above) {
            if !(margin.is_finite() && margin >= T::zero()) {
                return Err(IntervalError::Margin {
                    margin: margin.as_f64(),
                });
            }
        }
        let lower: Vec<T> = centre.iter().zip(below).map(|(&c, &d)| c - d).collect();
        let upper: Vec<T> = centre.iter().zip(above).map(|(&c, &d)| c + d).collect();
        Self::from_bounds(rows, columns, &lower, &upper)
    }

    /// A crisp matrix: every interval is a point.
    ///
    /// # Errors
    ///
    /// As [`from_bounds`](Self::from_bounds).
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let identity = IntervalMatrix::from_points(2, 2, &[1.0, 0.0, 0.0, 1.0])?;
    /// let vector = IntervalMatrix::column(&[-1.0, 2.0], &[1.0, 3.0])?;
    /// assert_eq!(identity.product(&vector)?, vector);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn from_points(rows: usize, columns: usize, values: &[T]) -> Result<Self, IntervalError> {
        Self::from_bounds(rows, columns, values, values)
    }

    /// A vector, that is a matrix of one column.
    ///
    /// # Errors
    ///
    /// As [`from_bounds`](Self::from_bounds).
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let vector = IntervalMatrix::column(&[0.0, -1.0], &[0.5, 1.0])?;
    /// assert_eq!((vector.rows(), vector.columns()), (2, 1));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn column(lower: &[T], upper: &[T]) -> Result<Self, IntervalError> {
        Self::from_bounds(lower.len(), 1, lower, upper)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Lower ends, row by row.
    #[must_use]
    pub fn lower(&self) -> &[T] {
        &self.lower
    }

    /// Upper ends, row by row.
    #[must_use]
    pub fn upper(&self) -> &[T] {
        &self.upper
    }

    /// One element, or `None` outside the matrix.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<Interval<T>> {
        let place = (row < self.rows && column < self.columns).then(|| row * self.columns + column)?;
        Some(Interval::from_ends(self.lower[place], self.upper[place]))
    }

    /// Sum, element by element.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] if the shapes differ.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let x = IntervalMatrix::column(&[1.0], &[2.0])?;
    /// assert_eq!(x.sum(&x)?, IntervalMatrix::column(&[2.0], &[4.0])?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn sum(&self, other: &Self) -> Result<Self, IntervalError> {
        self.check_same_shape("sum", other)?;
        let sum = |a: &[T], b: &[T]| a.iter().zip(b).map(|(&a, &b)| a + b).collect();
        Ok(self.with_ends(sum(&self.lower, &other.lower), sum(&self.upper, &other.upper)))
    }

    /// Product, element by element (as of the gates and states of a recurrent cell).
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] if the shapes differ.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let gate = IntervalMatrix::column(&[0.0, 0.5], &[0.5, 1.0])?;
    /// let state = IntervalMatrix::column(&[-2.0, 1.0], &[4.0, 2.0])?;
    /// assert_eq!(gate.elementwise_product(&state)?, IntervalMatrix::column(&[-1.0, 0.5], &[2.0, 2.0])?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn elementwise_product(&self, other: &Self) -> Result<Self, IntervalError> {
        self.check_same_shape("elementwise product", other)?;
        let count = self.lower.len();
        let (mut lower, mut upper) = (vec![T::zero(); count], vec![T::zero(); count]);
        kernel::product(
            &self.lower,
            &self.upper,
            &other.lower,
            &other.upper,
            &mut lower,
            &mut upper,
        );
        Ok(self.with_ends(lower, upper))
    }

    /// Matrix product of intervals: the hull of each sum, since every element varies on its own.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless `other` has as many rows as `self` has columns.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let weights = IntervalMatrix::from_bounds(1, 2, &[-1.0, 0.0], &[2.0, 1.0])?;
    /// let batch = IntervalMatrix::from_bounds(2, 2, &[-1.0, 1.0, 0.0, 2.0], &[3.0, 1.0, 0.0, 4.0])?;
    /// let outputs = weights.product(&batch)?;
    /// assert_eq!((outputs.lower(), outputs.upper()), (&[-3.0, -1.0][..], &[6.0, 6.0][..]));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn product(&self, other: &Self) -> Result<Self, IntervalError> {
        check_length("matrix product", "rows of the right factor", self.columns, other.rows)?;
        let weights = IntervalWeights::new(&self.lower, &self.upper, self.rows, self.columns);
        let (x_lower, x_upper) = (other.tile(&other.lower), other.tile(&other.upper));
        Ok(product_tile(self.rows, other.columns, |lower, upper, width| {
            weights.forward_add(&x_lower, &x_upper, lower, upper, width);
        }))
    }

    /// This matrix times a crisp one, `[self.columns, columns]` row by row.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless `values` holds `self.columns * columns` numbers, [`IntervalError::NotANumber`]
    /// if one of them is NaN.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let weights = IntervalMatrix::from_bounds(1, 2, &[-1.0, 0.0], &[2.0, 1.0])?;
    /// let output = weights.product_with_points(&[3.0, -1.0], 1)?;
    /// assert_eq!(output, IntervalMatrix::column(&[-4.0], &[6.0])?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn product_with_points(&self, values: &[T], columns: usize) -> Result<Self, IntervalError> {
        let input = Self::from_points(self.columns, columns, values)?;
        let x = input.tile(&input.lower);
        Ok(product_tile(self.rows, columns, |lower, upper, width| {
            interval_weights_forward(&self.lower, &self.upper, &x, lower, upper, width);
        }))
    }

    /// A crisp matrix `[rows, self.rows]`, row by row, times this one.
    ///
    /// # Errors
    ///
    /// [`IntervalError::Length`] unless `values` holds `rows * self.rows` numbers, [`IntervalError::NotANumber`] if one
    /// of them is NaN.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let state = IntervalMatrix::column(&[-1.0, 0.0], &[2.0, 1.0])?;
    /// let output = state.product_from_points(&[3.0, -1.0], 1)?;
    /// assert_eq!(output, IntervalMatrix::column(&[-4.0], &[6.0])?);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    pub fn product_from_points(&self, values: &[T], rows: usize) -> Result<Self, IntervalError> {
        let weights = Self::from_points(rows, self.rows, values)?;
        let (x_lower, x_upper) = (self.tile(&self.lower), self.tile(&self.upper));
        Ok(product_tile(rows, self.columns, |lower, upper, width| {
            crisp_weights_forward(&weights.lower, &x_lower, &x_upper, lower, upper, width);
        }))
    }

    /// Hyperbolic tangent of every element, within [`TANH_ERROR_F32`](crate::kernel::TANH_ERROR_F32) in `f32`.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let x = IntervalMatrix::column(&[-50.0, 0.0], &[0.0, 50.0])?.tanh();
    /// assert_eq!((x.lower(), x.upper()), (&[-1.0, 0.0][..], &[0.0, 1.0][..]));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn tanh(self) -> Self {
        self.map_increasing(tanh)
    }

    /// Logistic sigmoid of every element, within [`TANH_ERROR_F32`](crate::kernel::TANH_ERROR_F32) in `f32`.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// assert_eq!(IntervalMatrix::column(&[0.0], &[800.0])?.sigmoid().lower(), [0.5]);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn sigmoid(self) -> Self {
        self.map_increasing(sigmoid)
    }

    /// Softplus `ln(1 + exp(x))` of every element.
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// assert_eq!(IntervalMatrix::column(&[0.0], &[800.0])?.softplus().upper(), [800.0]);
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn softplus(self) -> Self {
        self.map_increasing(softplus)
    }

    /// Rectifier `max(x, 0)` of every element. (The identity needs no function.)
    ///
    /// ```
    /// use intervalid_interval::IntervalMatrix;
    ///
    /// let x = IntervalMatrix::column(&[-2.0, 1.0], &[3.0, 2.0])?.relu();
    /// assert_eq!((x.lower(), x.upper()), (&[0.0, 1.0][..], &[3.0, 2.0][..]));
    /// # Ok::<(), intervalid_interval::IntervalError>(())
    /// ```
    #[must_use]
    pub fn relu(self) -> Self {
        self.map_increasing(relu)
    }

    fn check_same_shape(&self, operation: &'static str, other: &Self) -> Result<(), IntervalError> {
        check_length(operation, "rows", self.rows, other.rows)?;
        check_length(operation, "columns", self.columns, other.columns)
    }

    fn with_ends(&self, lower: Vec<T>, upper: Vec<T>) -> Self {
        Self::from_computed(self.rows, self.columns, lower, upper)
    }

    fn map_increasing(mut self, function: fn(&mut [T])) -> Self {
        function(&mut self.lower);
        function(&mut self.upper);
        Self::from_computed(self.rows, self.columns, self.lower, self.upper)
    }

    /// Ends that are ordered in exact arithmetic; rounding may have swapped them in the last bits, and an undefined end
    /// (`inf - inf`, `0 * inf`) says nothing.
    fn from_computed(rows: usize, columns: usize, mut lower: Vec<T>, mut upper: Vec<T>) -> Self {
        for (lower, upper) in lower.iter_mut().zip(&mut upper) {
            let ends = if lower.is_nan() || upper.is_nan() {
                Interval::entire()
            } else {
                Interval::from_unordered(*lower, *upper)
            };
            (*lower, *upper) = (ends.inf(), ends.sup());
        }
        Self {
            rows,
            columns,
            lower,
            upper,
        }
    }

    /// Rows of `columns` values, padded with zeros to the width of a tile: rows are channels, columns are samples.
    fn tile(&self, values: &[T]) -> Vec<T> {
        let width = padded(self.columns);
        let mut tile = vec![T::zero(); self.rows * width];
        if self.columns > 0 {
            for (to, from) in tile.chunks_exact_mut(width).zip(values.chunks_exact(self.columns)) {
                to[..self.columns].copy_from_slice(from);
            }
        }
        tile
    }
}

/// Runs a forward kernel on zero bounds and drops the padding.
fn product_tile<T: Real>(
    rows: usize,
    columns: usize,
    forward: impl FnOnce(&mut [T], &mut [T], usize),
) -> IntervalMatrix<T> {
    let width = padded(columns);
    let (mut lower, mut upper) = (vec![T::zero(); rows * width], vec![T::zero(); rows * width]);
    if width > 0 {
        forward(&mut lower, &mut upper, width);
    }
    let drop_padding = |tile: Vec<T>| -> Vec<T> {
        let rows = tile.chunks_exact(width.max(1));
        rows.flat_map(|row| row[..columns].iter().copied()).collect()
    };
    IntervalMatrix::from_computed(rows, columns, drop_padding(lower), drop_padding(upper))
}
