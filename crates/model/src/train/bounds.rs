//! The interval branch on tiles of a crisp trajectory: L_RQR-W and its adjoints.

use intervalid_interval::Real;

use super::part::sum_parts;
use crate::config::MarginActivation;
use crate::network::{Frames, IntervalAdjoint, IntervalParameters, Layout, Network, TrajectoryAdjoint};
use crate::train::loss::RqrW;
use crate::train::margin::RawMargins;

/// Interval parameters of the moment, which all tiles of a batch read.
pub(super) struct Enclosure<T> {
    pub(super) parameters: IntervalParameters<T>,
    margins: [Vec<T>; 2],
}

impl<T: Real> Enclosure<T> {
    pub(super) fn new(layout: &Layout) -> Self {
        let zeros = vec![T::zero(); layout.len()];
        Self {
            parameters: IntervalParameters::new(layout),
            margins: [zeros.clone(), zeros],
        }
    }

    /// Takes θ and Δ'.
    pub(super) fn update(&mut self, theta: &[T], raw: &RawMargins<T>, margin: MarginActivation) {
        let [lower, upper] = &mut self.margins;
        margin.apply(&raw.lower, lower);
        margin.apply(&raw.upper, upper);
        self.parameters.update(theta, lower, upper);
    }
}

/// Bounds tile by tile, and the adjoints of the parameters' bounds summed over the tiles.
pub(super) struct Bounds<T> {
    pub(super) adjoint: IntervalAdjoint<T>,
    /// Bounds of a tile and their adjoints.
    tile: [Vec<T>; 4],
}

impl<T: Real> Bounds<T> {
    pub(super) fn new(layout: &Layout, outputs: usize, width: usize) -> Self {
        Self {
            adjoint: IntervalAdjoint::new(layout),
            tile: core::array::from_fn(|_| vec![T::zero(); outputs * width]),
        }
    }

    /// Forward, loss and reverse of one tile; `filled` of its samples count, each with weight `share`.
    #[expect(clippy::too_many_arguments, reason = "a tile and where its adjoints go")]
    pub(super) fn tile(
        &mut self,
        parameters: &IntervalParameters<T>,
        network: &mut Network<T>,
        frames: &Frames<T>,
        tile: usize,
        target: &[T],
        filled: usize,
        loss: &RqrW,
        share: f64,
        trajectory: &mut TrajectoryAdjoint<T>,
    ) -> f64 {
        let width = frames.width;
        let [lower, upper, lower_adjoint, upper_adjoint] = &mut self.tile;
        network.interval_forward(parameters, frames, tile, lower, upper);
        if filled < width {
            lower_adjoint.fill(T::zero());
            upper_adjoint.fill(T::zero());
        }
        let mut sum = 0.0;
        for at in (0..target.len()).step_by(width) {
            let row = at..at + filled;
            let to = (&mut lower_adjoint[row.clone()], &mut upper_adjoint[row.clone()]);
            sum += loss.row(
                &lower[row.clone()],
                &upper[row.clone()],
                &target[row],
                T::of(share),
                to.0,
                to.1,
            );
        }
        let adjoint = &mut self.adjoint;
        network.interval_backward(
            parameters,
            frames,
            tile,
            lower_adjoint,
            upper_adjoint,
            adjoint,
            trajectory,
        );
        sum * share
    }
}

/// Gradients with respect to Δ' below and above, from the sums of the parts' adjoints.
pub(super) fn margin_gradients<'a, T: Real>(
    parts: impl Iterator<Item = &'a Bounds<T>> + Clone,
    raw: &RawMargins<T>,
    margin: MarginActivation,
    gradients: &mut [Vec<T>; 2],
) {
    let [lower, upper] = gradients;
    sum_parts(lower, parts.clone().map(|part| part.adjoint.lower.as_slice()));
    sum_parts(upper, parts.map(|part| part.adjoint.upper.as_slice()));
    margin.chain(&raw.lower, -T::one(), lower);
    margin.chain(&raw.upper, T::one(), upper);
}
