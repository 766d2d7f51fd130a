//! A part of a mini-batch: up to [`TILE`] windows with the buffers of its passes.
//!
//! Parts are what threads share out. Losses and gradients of parts are added up in the order of the parts, so that the bits
//! do not depend on how many threads there are.

use intervalid_data::{InitialState, Lags, Scaled, Window};
use intervalid_interval::Real;
use rayon::prelude::*;

use crate::network::batch_fill::fill;
use crate::network::{Architecture, Batch, Network, TILE};

/// Sizes of a mini-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchShape {
    pub(super) windows: usize,
    /// Predicted samples of a window.
    pub(super) steps: usize,
    /// How many of them are not scored.
    pub(super) warmup: usize,
}

impl BatchShape {
    /// The shapes of its parts.
    pub(super) fn parts(self) -> impl Iterator<Item = Self> {
        (0..self.windows.max(1)).step_by(TILE).map(move |first| Self {
            windows: (self.windows - first).min(TILE),
            ..self
        })
    }
}

/// Who works on the parts of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Team {
    /// The thread that asks.
    Alone,
    /// The threads of the pool that it belongs to.
    Pool,
}

impl Team {
    pub(super) fn each<P: Send>(self, parts: &mut [P], work: impl Fn(&mut P) + Sync + Send) {
        match self {
            Self::Pool if parts.len() > 1 => parts.par_iter_mut().for_each(work),
            Self::Pool | Self::Alone => parts.iter_mut().for_each(work),
        }
    }
}

/// A loss of simulated windows as the sum over their targets, each times a share; writes its derivative with respect to the
/// predictions, zero in padding and warm-up.
pub(super) type Loss<T> = fn(&Batch<T>, f64, &mut [T]) -> f64;

/// Some windows of a batch: simulation, a loss and its gradient.
pub(super) struct Part<T> {
    pub(super) network: Network<T>,
    pub(super) batch: Batch<T>,
    pub(super) y_adjoint: Vec<T>,
    /// This part's share of the loss, and its gradient.
    pub(super) loss: f64,
    pub(super) gradient: Vec<T>,
}

impl<T: Real> Part<T> {
    pub(super) fn new(architecture: &Architecture, shape: BatchShape) -> Self {
        let batch = Batch::new(architecture, shape.windows, shape.steps, shape.warmup);
        let network = Network::new(architecture);
        Self {
            y_adjoint: vec![T::zero(); batch.y.len()],
            loss: 0.0,
            gradient: vec![T::zero(); network.layout().len()],
            network,
            batch,
        }
    }

    /// Simulates the windows; every target counts with weight `share`.
    pub(super) fn gradient(&mut self, theta: &[T], loss: Loss<T>, share: f64) {
        self.network.forward(theta, &mut self.batch);
        self.loss = loss(&self.batch, share, &mut self.y_adjoint);
        self.gradient.fill(T::zero());
        self.network
            .backward(theta, &self.batch, &mut self.y_adjoint, None, &mut self.gradient);
    }
}

/// Shares windows out to the parts of a batch, in order.
pub(super) fn fill_parts<'a, T: Real>(
    parts: impl Iterator<Item = &'a mut Part<T>>,
    scaled: &Scaled<T>,
    lags: Lags,
    initial: InitialState,
    windows: &[Window],
) {
    let mut left = windows;
    for part in parts {
        let (mine, rest) = left.split_at(left.len().min(TILE));
        fill(&mut part.batch, scaled, lags, initial, mine);
        left = rest;
    }
    assert!(left.is_empty(), "more windows than the batch holds");
}

/// Sets `to` to the sum of the parts' numbers.
pub(super) fn sum_parts<'a, T: Real>(to: &mut [T], parts: impl Iterator<Item = &'a [T]>) {
    to.fill(T::zero());
    for part in parts {
        for (to, &from) in to.iter_mut().zip(part) {
            *to += from;
        }
    }
}
