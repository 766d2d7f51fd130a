//! One mini-batch: losses and gradients.

use intervalid_data::{InitialState, Lags, Scaled, Window};
use intervalid_interval::Real;

use super::bounds::{Bounds, Enclosure, margin_gradients};
use super::part::{BatchShape, Loss, Part, Team, fill_parts, sum_parts};
use crate::config::MarginActivation;
use crate::network::{Architecture, Batch, IntervalParameters, Layout, TrajectoryAdjoint};
use crate::train::loss::{RqrW, mean_squared_error};
use crate::train::margin::RawMargins;
use crate::train::optim::GradNorm;

/// Gradient of a loss of crisp free runs with respect to θ over a batch of windows.
pub(super) struct Crisp<T> {
    parts: Vec<Part<T>>,
    loss: Loss<T>,
    team: Team,
    pub(super) gradient: Vec<T>,
}

impl<T: Real> Crisp<T> {
    pub(super) fn new(architecture: &Architecture, shape: BatchShape, loss: Loss<T>, team: Team) -> Self {
        Self {
            parts: shape.parts().map(|part| Part::new(architecture, part)).collect(),
            loss,
            team,
            gradient: vec![T::zero(); architecture.layout().len()],
        }
    }

    pub(super) fn fill(&mut self, scaled: &Scaled<T>, lags: Lags, initial: InitialState, windows: &[Window]) {
        fill_parts(self.parts.iter_mut(), scaled, lags, initial, windows);
    }

    /// What the batch holds now, part by part.
    pub(super) fn batches_mut(&mut self) -> impl Iterator<Item = &mut Batch<T>> {
        self.parts.iter_mut().map(|part| &mut part.batch)
    }

    /// Number of targets that count in the loss.
    pub(super) fn scored(&self) -> usize {
        scored(self.parts.iter())
    }

    /// Simulates the batch and fills `gradient`; returns the loss.
    pub(super) fn gradient(&mut self, theta: &[T]) -> f64 {
        let share = 1.0 / self.scored() as f64;
        let loss = self.loss;
        self.team
            .each(&mut self.parts, |part| part.gradient(theta, loss, share));
        sum_parts(
            &mut self.gradient,
            self.parts.iter().map(|part| part.gradient.as_slice()),
        );
        self.parts.iter().map(|part| part.loss).sum()
    }
}

fn scored<'a, T: Real>(parts: impl Iterator<Item = &'a Part<T>>) -> usize {
    parts.map(|part| part.batch.scored()).sum()
}

/// Everything of one joint iteration (docs/method.md, section 6).
pub(super) struct Joint<T> {
    parts: Vec<JointPart<T>>,
    team: Team,
    layout: Layout,
    enclosure: Enclosure<T>,
    /// s₁∇L_MSE + s₂∇L_RQR-W
    pub(super) gradient: Vec<T>,
    rqr_gradient: Vec<T>,
    pub(super) margin_gradients: [Vec<T>; 2],
}

/// Both losses of some windows, and their gradients.
struct JointPart<T> {
    crisp: Part<T>,
    bounds: Bounds<T>,
    trajectory: TrajectoryAdjoint<T>,
    /// This part's share of L_RQR-W, and its gradient with respect to θ.
    rqr_w: f64,
    rqr_gradient: Vec<T>,
}

impl<T: Real> JointPart<T> {
    fn new(architecture: &Architecture, shape: BatchShape) -> Self {
        let crisp = Part::new(architecture, shape);
        let layout = crisp.network.layout();
        Self {
            bounds: Bounds::new(layout, architecture.outputs, crisp.batch.width()),
            trajectory: TrajectoryAdjoint::zeros(&crisp.batch.frames),
            rqr_w: 0.0,
            rqr_gradient: vec![T::zero(); layout.len()],
            crisp,
        }
    }

    fn gradients(&mut self, theta: &[T], parameters: &IntervalParameters<T>, loss: &RqrW, share: f64) {
        self.crisp.gradient(theta, mean_squared_error, share);
        let Part {
            network,
            batch,
            y_adjoint,
            ..
        } = &mut self.crisp;
        let (bounds, trajectory) = (&mut self.bounds, &mut self.trajectory);
        bounds.adjoint.clear();
        trajectory.clear();
        let row = batch.outputs * batch.width();
        self.rqr_w = 0.0;
        let filled = batch.windows;
        for tile in batch.scored_tiles() {
            let (frames, target) = (&batch.frames, &batch.target[tile * row..(tile + 1) * row]);
            self.rqr_w += bounds.tile(
                parameters, network, frames, tile, target, filled, loss, share, trajectory,
            );
        }
        bounds.adjoint.finish();
        // θ moves both bounds of every parameter.
        let adjoints = bounds.adjoint.lower.iter().zip(&bounds.adjoint.upper);
        for (to, (&lower, &upper)) in self.rqr_gradient.iter_mut().zip(adjoints) {
            *to = lower + upper;
        }
        y_adjoint.fill(T::zero());
        network.backward(theta, batch, y_adjoint, Some(trajectory), &mut self.rqr_gradient);
    }
}

impl<T: Real> Joint<T> {
    pub(super) fn new(architecture: &Architecture, shape: BatchShape, team: Team) -> Self {
        let layout = architecture.layout();
        let zeros = vec![T::zero(); layout.len()];
        Self {
            parts: shape.parts().map(|part| JointPart::new(architecture, part)).collect(),
            team,
            enclosure: Enclosure::new(&layout),
            layout,
            gradient: zeros.clone(),
            rqr_gradient: zeros.clone(),
            margin_gradients: [zeros.clone(), zeros],
        }
    }

    pub(super) fn fill(&mut self, scaled: &Scaled<T>, lags: Lags, initial: InitialState, windows: &[Window]) {
        let parts = self.parts.iter_mut().map(|part| &mut part.crisp);
        fill_parts(parts, scaled, lags, initial, windows);
    }

    /// Both losses of the batch; leaves s₁∇L_MSE + s₂∇L_RQR-W in `gradient` and moves GradNorm's scales.
    pub(super) fn gradients(
        &mut self,
        theta: &[T],
        raw: &RawMargins<T>,
        margin: MarginActivation,
        loss: &RqrW,
        gradnorm: &mut GradNorm,
    ) -> [f64; 2] {
        self.enclosure.update(theta, raw, margin);
        let share = 1.0 / scored(self.parts.iter().map(|part| &part.crisp)) as f64;
        let parameters = &self.enclosure.parameters;
        self.team
            .each(&mut self.parts, |part| part.gradients(theta, parameters, loss, share));
        let parts = self.parts.iter();
        let mse = parts.clone().map(|part| part.crisp.loss).sum();
        let rqr_w = parts.clone().map(|part| part.rqr_w).sum();
        let gradients = parts.clone().map(|part| part.crisp.gradient.as_slice());
        sum_parts(&mut self.gradient, gradients);
        let gradients = parts.clone().map(|part| part.rqr_gradient.as_slice());
        sum_parts(&mut self.rqr_gradient, gradients);
        let bounds = parts.map(|part| &part.bounds);
        margin_gradients(bounds, raw, margin, &mut self.margin_gradients);

        let norm = |gradient: &[T]| {
            let squares = |range: core::ops::Range<usize>| -> f64 {
                gradient[range].iter().map(|g: &T| g.as_f64() * g.as_f64()).sum()
            };
            self.layout.shared().into_iter().map(squares).sum::<f64>().sqrt()
        };
        let shared = [norm(&self.gradient), norm(&self.rqr_gradient)];
        let [s_mse, s_rqr] = gradnorm.scales.map(T::of);
        for (g, &rqr) in self.gradient.iter_mut().zip(&self.rqr_gradient) {
            *g = s_mse * *g + s_rqr * rqr;
        }
        gradnorm.update([mse, rqr_w], shared);
        [mse, rqr_w]
    }
}
