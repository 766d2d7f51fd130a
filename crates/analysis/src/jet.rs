//! Values with their derivatives: the one pass that gives a step and its exact Jacobian.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

/// A vector v and ∂v/∂z with respect to the variables z of a step; without variables a vector alone.
///
/// **Formula.** Forward accumulation: `affine` gives W·v + b and W·∂v, an elementwise φ gives φ(v) and diag φ'(v)·∂v, a product
/// a∘b gives diag(b)·∂a + diag(a)·∂b.
#[derive(Clone, Debug)]
pub(crate) struct Jet {
    pub(crate) value: DVector<f64>,
    pub(crate) slope: DMatrix<f64>,
}

impl Jet {
    /// The variables themselves.
    pub(crate) fn variables(value: DVector<f64>) -> Self {
        let slope = DMatrix::identity(value.len(), value.len());
        Self { value, slope }
    }

    /// Numbers of which no derivative is wanted.
    pub(crate) fn numbers(value: DVector<f64>) -> Self {
        let slope = DMatrix::zeros(value.len(), 0);
        Self { value, slope }
    }

    pub(crate) fn rows(&self, range: Range<usize>) -> Self {
        Self {
            value: self.value.rows(range.start, range.len()).into_owned(),
            slope: self.slope.rows(range.start, range.len()).into_owned(),
        }
    }

    /// One below the other.
    pub(crate) fn stack(parts: &[&Self]) -> Self {
        let rows = parts.iter().map(|part| part.value.len()).sum();
        let columns = parts.first().map_or(0, |part| part.slope.ncols());
        let mut stacked = Self {
            value: DVector::zeros(rows),
            slope: DMatrix::zeros(rows, columns),
        };
        let mut at = 0;
        for part in parts {
            let count = part.value.len();
            stacked.value.rows_mut(at, count).copy_from(&part.value);
            stacked.slope.rows_mut(at, count).copy_from(&part.slope);
            at += count;
        }
        stacked
    }

    pub(crate) fn times(&self, weight: &DMatrix<f64>) -> Self {
        Self {
            value: weight * &self.value,
            slope: weight * &self.slope,
        }
    }

    pub(crate) fn affine(&self, weight: &DMatrix<f64>, bias: &DMatrix<f64>) -> Self {
        let mut product = self.times(weight);
        product.value += bias.column(0);
        product
    }

    pub(crate) fn plus(mut self, other: &Self) -> Self {
        self.value += &other.value;
        self.slope += &other.slope;
        self
    }

    pub(crate) fn minus(mut self, other: &Self) -> Self {
        self.value -= &other.value;
        self.slope -= &other.slope;
        self
    }

    /// φ of every entry; `both` gives φ and φ'.
    fn map(mut self, both: impl Fn(f64) -> (f64, f64)) -> Self {
        for (index, entry) in self.value.iter_mut().enumerate() {
            let (value, slope) = both(*entry);
            *entry = value;
            self.slope.row_mut(index).scale_mut(slope);
        }
        self
    }

    pub(crate) fn tanh(self) -> Self {
        self.map(|x| {
            let y = x.tanh();
            (y, 1.0 - y * y)
        })
    }

    pub(crate) fn sigmoid(self) -> Self {
        self.map(|x| {
            let y = 1.0 / (1.0 + (-x).exp());
            (y, y * (1.0 - y))
        })
    }

    /// Entry by entry.
    pub(crate) fn product(&self, other: &Self) -> Self {
        let mut slope = self.slope.clone();
        for row in 0..self.value.len() {
            let (own, others) = (self.value[row], other.value[row]);
            for column in 0..slope.ncols() {
                slope[(row, column)] = others * slope[(row, column)] + own * other.slope[(row, column)];
            }
        }
        Self {
            value: self.value.component_mul(&other.value),
            slope,
        }
    }
}
