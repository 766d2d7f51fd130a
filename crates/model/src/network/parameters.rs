//! Interval parameters ready for the kernels, and the adjoints that come back from them.

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredAdjoint, CentredWeights, IntervalWeights, WeightAdjoint};

use super::layout::{Layout, Matrix};

/// θ̃ = [θ - Δ_lo, θ + Δ_hi] with the weights that meet interval inputs sorted for their kernel.
#[derive(Clone, Debug)]
pub(crate) struct IntervalParameters<T> {
    pub(crate) lower: Vec<T>,
    pub(crate) upper: Vec<T>,
    /// Weights on crisp values, in the order of [`Layout::crisp_input`].
    pub(crate) crisp: Vec<CentredWeights<T>>,
    /// Weights on bounds, in the order of [`Layout::interval_input`].
    pub(crate) interval: Vec<IntervalWeights<T>>,
    places: Places,
}

/// Where the matrices lie in the flat vector.
#[derive(Clone, Debug)]
struct Places {
    crisp: Vec<Matrix>,
    interval: Vec<Matrix>,
    has_linear_path: bool,
}

impl Places {
    fn new(layout: &Layout) -> Self {
        Self {
            crisp: layout.crisp_input(),
            interval: layout.interval_input(),
            has_linear_path: !layout.linear.is_empty(),
        }
    }
}

impl<T: Real> IntervalParameters<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let zeros = vec![T::zero(); layout.len()];
        let places = Places::new(layout);
        let sorted = |matrix: &Matrix| {
            let zeros = &zeros[matrix.range.clone()];
            IntervalWeights::new(zeros, zeros, matrix.rows, matrix.columns)
        };
        let centred = |matrix: &Matrix| CentredWeights::new(matrix.rows, matrix.columns);
        Self {
            crisp: places.crisp.iter().map(centred).collect(),
            interval: places.interval.iter().map(sorted).collect(),
            lower: zeros.clone(),
            upper: zeros,
            places,
        }
    }

    /// Takes the centre θ and non-negative margins.
    pub(crate) fn update(&mut self, theta: &[T], margin_lower: &[T], margin_upper: &[T]) {
        for (index, &centre) in theta.iter().enumerate() {
            self.lower[index] = centre - margin_lower[index];
            self.upper[index] = centre + margin_upper[index];
        }
        let (lower, upper) = (&self.lower, &self.upper);
        let of = |matrix: &Matrix| (&lower[matrix.range.clone()], &upper[matrix.range.clone()]);
        for (weights, matrix) in self.crisp.iter_mut().zip(&self.places.crisp) {
            let (from, to) = of(matrix);
            weights.update(from, to);
        }
        for (weights, matrix) in self.interval.iter_mut().zip(&self.places.interval) {
            let (from, to) = of(matrix);
            weights.update(from, to);
        }
    }

    /// The linear path of a network of layers.
    pub(crate) fn linear(&self) -> Option<&CentredWeights<T>> {
        self.crisp.last().filter(|_| self.places.has_linear_path)
    }
}

/// Adjoints of both bounds of all parameters, summed over tiles.
#[derive(Clone, Debug)]
pub(crate) struct IntervalAdjoint<T> {
    /// As in [`IntervalParameters`].
    pub(crate) crisp: Vec<CentredAdjoint<T>>,
    /// As in [`IntervalParameters`].
    pub(crate) interval: Vec<WeightAdjoint<T>>,
    /// Flat; only the biases are written before [`finish`](Self::finish).
    pub(crate) lower: Vec<T>,
    /// As `lower`.
    pub(crate) upper: Vec<T>,
    places: Places,
}

impl<T: Real> IntervalAdjoint<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let places = Places::new(layout);
        let (crisp, interval) = (places.crisp.iter(), places.interval.iter());
        Self {
            crisp: crisp
                .map(|matrix| CentredAdjoint::new(matrix.rows, matrix.columns))
                .collect(),
            interval: interval
                .map(|matrix| WeightAdjoint::new(matrix.rows, matrix.columns))
                .collect(),
            lower: vec![T::zero(); layout.len()],
            upper: vec![T::zero(); layout.len()],
            places,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.lower.fill(T::zero());
        self.upper.fill(T::zero());
    }

    /// The linear path of a network of layers.
    pub(crate) fn linear(&mut self) -> Option<&mut CentredAdjoint<T>> {
        self.crisp.last_mut().filter(|_| self.places.has_linear_path)
    }

    /// Moves the weights' partial sums into `lower` and `upper`.
    pub(crate) fn finish(&mut self) {
        for (weights, matrix) in self.crisp.iter_mut().zip(&self.places.crisp) {
            let range = matrix.range.clone();
            weights.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
        for (weights, matrix) in self.interval.iter_mut().zip(&self.places.interval) {
            let range = matrix.range.clone();
            weights.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
    }
}
