//! The two losses and their gradients (docs/method.md, section 4).
//!
//! L_MSE is the mean of (y - ŷ)². RQR-W, with κ = (y - ŷ_lo)(y - ŷ_hi), is the mean of
//! (α' - [κ < 0])·κ + λ(ŷ_hi - ŷ_lo)²/2. All means are over windows, scored steps and outputs.

use intervalid_interval::Real;
use serde::{Deserialize, Serialize};

use crate::network::Batch;

/// Which quantile level RQR-W is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuantileLevel {
    /// α' = α + 2λ, so that the share inside is α at the optimum in spite of the width penalty.
    #[default]
    Corrected,
    /// α' = α as printed in the paper: the share inside drops to α - 2λ.
    Literal,
}

/// Relaxed quantile regression with a width penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RqrW {
    /// α'.
    pub level: f64,
    /// λ.
    pub width_penalty: f64,
}

impl RqrW {
    /// The loss for a coverage α.
    #[must_use]
    pub fn new(coverage: f64, width_penalty: f64, level: QuantileLevel) -> Self {
        let level = match level {
            QuantileLevel::Corrected => coverage + 2.0 * width_penalty,
            QuantileLevel::Literal => coverage,
        };
        Self { level, width_penalty }
    }

    /// Loss of one target.
    #[must_use]
    pub fn value(&self, lower: f64, upper: f64, target: f64) -> f64 {
        let kappa = (target - lower) * (target - upper);
        let weight = if kappa >= 0.0 { self.level } else { self.level - 1.0 };
        weight * kappa + self.width_penalty * (upper - lower).powi(2) / 2.0
    }

    /// Sum of the losses of a row of targets; writes their derivatives with respect to the bounds times `share`.
    pub(crate) fn row<T: Real>(
        &self,
        lower: &[T],
        upper: &[T],
        target: &[T],
        share: T,
        lower_adjoint: &mut [T],
        upper_adjoint: &mut [T],
    ) -> f64 {
        let (level, penalty) = (T::of(self.level), T::of(self.width_penalty));
        let half = T::of(0.5);
        let mut sum = 0.0;
        let bounds = lower.iter().zip(upper).zip(target);
        for (((&lower, &upper), &target), (to_lower, to_upper)) in
            bounds.zip(lower_adjoint.iter_mut().zip(upper_adjoint))
        {
            let (above_lower, above_upper, width) = (target - lower, target - upper, upper - lower);
            let kappa = above_lower * above_upper;
            let weight = if kappa < T::zero() { level - T::one() } else { level };
            *to_lower = -(weight * above_upper + penalty * width) * share;
            *to_upper = (penalty * width - weight * above_lower) * share;
            sum += (weight * kappa + penalty * width * width * half).as_f64();
        }
        sum
    }
}

/// Sum of the squared errors of a simulated batch times `share`, which makes L_MSE of it; writes its derivative with respect to
/// the predictions (zero in padding and warm-up).
pub(crate) fn mean_squared_error<T: Real>(batch: &Batch<T>, share: f64, adjoint: &mut [T]) -> f64 {
    let scale = T::of(2.0 * share);
    let width = batch.width();
    let mut sum = 0.0;
    adjoint.fill(T::zero());
    for tile in batch.scored_tiles() {
        for output in 0..batch.outputs {
            let at = (tile * batch.outputs + output) * width;
            let row = at..at + batch.windows;
            let values = batch.y[row.clone()].iter().zip(&batch.target[row.clone()]);
            for (adjoint, (&y, &target)) in adjoint[row].iter_mut().zip(values) {
                let error = y - target;
                *adjoint = scale * error;
                sum += (error * error).as_f64();
            }
        }
    }
    sum * share
}
