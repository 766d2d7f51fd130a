//! Values with their derivatives: the one pass that gives a step and its exact Jacobian.

use std::fmt::Debug;
use std::ops::{Add, Mul, Range, Sub};

use intervalid_interval::Enclosure;
use nalgebra::{DMatrix, DVector};

/// What vectors and derivatives are made of: numbers, or sets of them.
pub(crate) trait Entry:
    Copy + Debug + PartialEq + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + 'static
{
    const ZERO: Self;

    /// One number, exactly.
    fn point(value: f64) -> Self;

    /// tanh and its derivative.
    fn tanh_and_slope(self) -> (Self, Self);

    /// The logistic function and its derivative.
    fn sigmoid_and_slope(self) -> (Self, Self);
}

impl Entry for f64 {
    const ZERO: Self = 0.0;

    fn point(value: f64) -> Self {
        value
    }

    fn tanh_and_slope(self) -> (Self, Self) {
        let y = self.tanh();
        (y, 1.0 - y * y)
    }

    fn sigmoid_and_slope(self) -> (Self, Self) {
        let y = 1.0 / (1.0 + (-self).exp());
        (y, y * (1.0 - y))
    }
}

impl Entry for Enclosure {
    const ZERO: Self = Self::ZERO;

    fn point(value: f64) -> Self {
        Self::from_point(value).unwrap_or(Self::ENTIRE)
    }

    fn tanh_and_slope(self) -> (Self, Self) {
        let y = self.tanh();
        (y, Self::point(1.0) - y.square())
    }

    /// y (1 - y) = ¼ - (y - ½)², in which y stands once.
    fn sigmoid_and_slope(self) -> (Self, Self) {
        let y = self.sigmoid();
        (y, Self::point(0.25) - (y - Self::point(0.5)).square())
    }
}

/// A vector v and ∂v/∂z with respect to the variables z of a step; without variables a vector alone.
///
/// **Formula.** Forward accumulation: `affine` gives W·v + b and W·∂v, an elementwise φ gives φ(v) and diag φ'(v)·∂v, a product
/// a∘b gives diag(b)·∂a + diag(a)·∂b. Of enclosures, each contains what any choice of numbers inside gives.
#[derive(Clone, Debug)]
pub(crate) struct Jet<T: Entry = f64> {
    pub(crate) value: DVector<T>,
    pub(crate) slope: DMatrix<T>,
}

impl<T: Entry> Jet<T> {
    /// The variables themselves.
    pub(crate) fn variables(value: DVector<T>) -> Self {
        let count = value.len();
        let slope = DMatrix::from_fn(count, count, |row, column| T::point(f64::from(u8::from(row == column))));
        Self { value, slope }
    }

    /// Numbers of which no derivative is wanted.
    pub(crate) fn numbers(value: DVector<T>) -> Self {
        let slope = DMatrix::from_element(value.len(), 0, T::ZERO);
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
            value: DVector::from_element(rows, T::ZERO),
            slope: DMatrix::from_element(rows, columns, T::ZERO),
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

    pub(crate) fn times(&self, weight: &DMatrix<T>) -> Self {
        let value = product(weight, self.value.as_slice(), 1);
        Self {
            value: DVector::from_vec(value),
            slope: DMatrix::from_vec(
                weight.nrows(),
                self.slope.ncols(),
                product(weight, self.slope.as_slice(), self.slope.ncols()),
            ),
        }
    }

    pub(crate) fn affine(&self, weight: &DMatrix<T>, bias: &DMatrix<T>) -> Self {
        let mut product = self.times(weight);
        add(product.value.as_mut_slice(), bias.as_slice());
        product
    }

    pub(crate) fn plus(mut self, other: &Self) -> Self {
        add(self.value.as_mut_slice(), other.value.as_slice());
        add(self.slope.as_mut_slice(), other.slope.as_slice());
        self
    }

    pub(crate) fn minus(mut self, other: &Self) -> Self {
        let less = |own: &mut [T], other: &[T]| own.iter_mut().zip(other).for_each(|(a, b)| *a = *a - *b);
        less(self.value.as_mut_slice(), other.value.as_slice());
        less(self.slope.as_mut_slice(), other.slope.as_slice());
        self
    }

    /// φ of every entry; `both` gives φ and φ'.
    fn map(mut self, both: impl Fn(T) -> (T, T)) -> Self {
        for (index, entry) in self.value.iter_mut().enumerate() {
            let (value, slope) = both(*entry);
            *entry = value;
            self.slope
                .row_mut(index)
                .iter_mut()
                .for_each(|entry| *entry = *entry * slope);
        }
        self
    }

    pub(crate) fn tanh(self) -> Self {
        self.map(T::tanh_and_slope)
    }

    pub(crate) fn sigmoid(self) -> Self {
        self.map(T::sigmoid_and_slope)
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
        let value = self.value.iter().zip(other.value.iter()).map(|(a, b)| *a * *b);
        Self {
            value: DVector::from_iterator(self.value.len(), value),
            slope,
        }
    }
}

fn add<T: Entry>(own: &mut [T], other: &[T]) {
    own.iter_mut().zip(other).for_each(|(a, b)| *a = *a + *b);
}

/// weight·X for so many columns of X, both column by column. Most derivatives are zero: those are passed over.
fn product<T: Entry>(weight: &DMatrix<T>, columns: &[T], count: usize) -> Vec<T> {
    let (rows, inner) = weight.shape();
    let mut found = vec![T::ZERO; rows * count];
    for column in 0..count {
        let to = &mut found[column * rows..(column + 1) * rows];
        let from = &columns[column * inner..(column + 1) * inner];
        for (factor, weights) in from.iter().zip(weight.as_slice().chunks_exact(rows.max(1))) {
            if *factor != T::ZERO {
                to.iter_mut()
                    .zip(weights)
                    .for_each(|(to, weight)| *to = *to + *weight * *factor);
            }
        }
    }
    found
}
