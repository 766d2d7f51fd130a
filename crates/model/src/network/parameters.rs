//! Interval parameters ready for the kernels, and the adjoints that come back from them.

use intervalid_interval::Real;
use intervalid_interval::kernel::{IntervalWeights, WeightAdjoint};

use super::architecture::Layout;

/// θ̃ = [θ - Δ_lo, θ + Δ_hi] with the weights that meet interval inputs sorted for their kernel.
#[derive(Clone, Debug)]
pub(crate) struct IntervalParameters<T> {
    pub(crate) lower: Vec<T>,
    pub(crate) upper: Vec<T>,
    /// Weights of layer 1, 2, …: layer 0 has crisp inputs.
    pub(crate) inner: Vec<IntervalWeights<T>>,
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
        Self {
            lower: zeros.clone(),
            upper: zeros,
            inner,
            layout: layout.clone(),
        }
    }

    /// Takes the centre θ and non-negative margins.
    pub(crate) fn update(&mut self, theta: &[T], margin_lower: &[T], margin_upper: &[T]) {
        for (index, &centre) in theta.iter().enumerate() {
            self.lower[index] = centre - margin_lower[index];
            self.upper[index] = centre + margin_upper[index];
        }
        for (weights, layer) in self.inner.iter_mut().zip(&self.layout.layers[1..]) {
            weights.update(&self.lower[layer.weight.clone()], &self.upper[layer.weight.clone()]);
        }
    }
}

/// Adjoints of both bounds of all parameters, summed over tiles.
#[derive(Clone, Debug)]
pub(crate) struct IntervalAdjoint<T> {
    /// Per layer: weight and, in LSTM cells, recurrent weight.
    pub(crate) layers: Vec<(WeightAdjoint<T>, Option<WeightAdjoint<T>>)>,
    pub(crate) linear: Option<WeightAdjoint<T>>,
    /// Flat; only the biases are written before [`finish`](Self::finish).
    pub(crate) lower: Vec<T>,
    /// As `lower`.
    pub(crate) upper: Vec<T>,
    layout: Layout,
}

impl<T: Real> IntervalAdjoint<T> {
    pub(crate) fn new(layout: &Layout) -> Self {
        let adjoints = |layer: &super::architecture::Layer| {
            let recurrent = (!layer.recurrent.is_empty()).then(|| WeightAdjoint::new(layer.out, layer.out / 4));
            (WeightAdjoint::new(layer.out, layer.inner), recurrent)
        };
        let outputs = layout.layers.last().map_or(0, |layer| layer.out);
        let linear = (!layout.linear.is_empty()).then(|| WeightAdjoint::new(outputs, layout.linear.len() / outputs));
        Self {
            layers: layout.layers.iter().map(adjoints).collect(),
            linear,
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
        for ((weight, recurrent), layer) in self.layers.iter_mut().zip(&self.layout.layers) {
            weight.drain_into(
                &mut self.lower[layer.weight.clone()],
                &mut self.upper[layer.weight.clone()],
            );
            if let Some(recurrent) = recurrent {
                let range = layer.recurrent.clone();
                recurrent.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
            }
        }
        if let Some(linear) = &mut self.linear {
            let range = self.layout.linear.clone();
            linear.drain_into(&mut self.lower[range.clone()], &mut self.upper[range]);
        }
    }
}
