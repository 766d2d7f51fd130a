//! Interval parameters ready for the kernels, and the adjoints that come back from them.

use intervalid_interval::Real;
use intervalid_interval::kernel::{CentredAdjoint, CentredWeights, IntervalWeights, WeightAdjoint};

use super::architecture::Layout;

/// θ̃ = [θ - Δ_lo, θ + Δ_hi] with the weights that meet interval inputs sorted for their kernel.
#[derive(Clone, Debug)]
pub(crate) struct IntervalParameters<T> {
    pub(crate) lower: Vec<T>,
    pub(crate) upper: Vec<T>,
    /// Weights of layer 0, whose input is crisp.
    pub(crate) first: CentredWeights<T>,
    /// Weights of layer 1, 2, …
    pub(crate) inner: Vec<IntervalWeights<T>>,
    /// Recurrent weights of each LSTM cell: the states before a step are crisp.
    pub(crate) recurrent: Vec<CentredWeights<T>>,
    /// The linear path.
    pub(crate) linear: Option<CentredWeights<T>>,
    layout: Layout,
}

impl<T: Real> IntervalParameters<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let zeros = vec![T::zero(); layout.len()];
        let sorted = |layer: &super::architecture::Layer| {
            let zeros = &zeros[layer.weight.clone()];
            IntervalWeights::new(zeros, zeros, layer.out, layer.inner)
        };
        let inner = layout.layers[1..].iter().map(sorted).collect();
        let cells = layout.layers.iter().filter(|layer| !layer.recurrent.is_empty());
        let outputs = layout.layers.last().map_or(0, |layer| layer.out);
        Self {
            first: CentredWeights::new(layout.layers[0].out, layout.layers[0].inner),
            inner,
            recurrent: cells
                .map(|layer| CentredWeights::new(layer.out, layer.out / 4))
                .collect(),
            linear: (!layout.linear.is_empty()).then(|| CentredWeights::new(outputs, layout.linear.len() / outputs)),
            lower: zeros.clone(),
            upper: zeros,
            layout: layout.clone(),
        }
    }

    /// Takes the centre θ and non-negative margins.
    pub(crate) fn update(&mut self, theta: &[T], margin_lower: &[T], margin_upper: &[T]) {
        for (index, &centre) in theta.iter().enumerate() {
            self.lower[index] = centre - margin_lower[index];
            self.upper[index] = centre + margin_upper[index];
        }
        let (lower, upper) = (&self.lower, &self.upper);
        let of = |range: &core::ops::Range<usize>| (&lower[range.clone()], &upper[range.clone()]);
        let (from, to) = of(&self.layout.layers[0].weight);
        self.first.update(from, to);
        for (weights, layer) in self.inner.iter_mut().zip(&self.layout.layers[1..]) {
            let (from, to) = of(&layer.weight);
            weights.update(from, to);
        }
        for (weights, layer) in self.recurrent.iter_mut().zip(&self.layout.layers) {
            let (from, to) = of(&layer.recurrent);
            weights.update(from, to);
        }
        if let Some(weights) = &mut self.linear {
            let (from, to) = of(&self.layout.linear);
            weights.update(from, to);
        }
    }
}

/// Adjoints of both bounds of all parameters, summed over tiles.
#[derive(Clone, Debug)]
pub(crate) struct IntervalAdjoint<T> {
    /// As in [`IntervalParameters`].
    pub(crate) first: CentredAdjoint<T>,
    /// As in [`IntervalParameters`].
    pub(crate) inner: Vec<WeightAdjoint<T>>,
    /// As in [`IntervalParameters`].
    pub(crate) recurrent: Vec<CentredAdjoint<T>>,
    /// As in [`IntervalParameters`].
    pub(crate) linear: Option<CentredAdjoint<T>>,
    /// Flat; only the biases are written before [`finish`](Self::finish).
    pub(crate) lower: Vec<T>,
    /// As `lower`.
    pub(crate) upper: Vec<T>,
    layout: Layout,
}

impl<T: Real> IntervalAdjoint<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let cells = layout.layers.iter().filter(|layer| !layer.recurrent.is_empty());
        let outputs = layout.layers.last().map_or(0, |layer| layer.out);
        Self {
            first: CentredAdjoint::new(layout.layers[0].out, layout.layers[0].inner),
            inner: layout.layers[1..]
                .iter()
                .map(|layer| WeightAdjoint::new(layer.out, layer.inner))
                .collect(),
            recurrent: cells
                .map(|layer| CentredAdjoint::new(layer.out, layer.out / 4))
                .collect(),
            linear: (!layout.linear.is_empty()).then(|| CentredAdjoint::new(outputs, layout.linear.len() / outputs)),
            lower: vec![T::zero(); layout.len()],
            upper: vec![T::zero(); layout.len()],
            layout: layout.clone(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.lower.fill(T::zero());
        self.upper.fill(T::zero());
    }

    /// Moves the weights' partial sums into `lower` and `upper`.
    pub(crate) fn finish(&mut self) {
        let layers = &self.layout.layers;
        let range = layers[0].weight.clone();
        self.first
            .drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        for (weights, layer) in self.inner.iter_mut().zip(&layers[1..]) {
            let range = layer.weight.clone();
            weights.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
        for (weights, layer) in self.recurrent.iter_mut().zip(layers) {
            let range = layer.recurrent.clone();
            weights.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
        if let Some(weights) = &mut self.linear {
            let range = self.layout.linear.clone();
            weights.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
    }
}
