//! GradNorm: balances two losses by the size of their gradients on shared weights (docs/method.md, section 6).
//!
//! G_j = s_j·‖∇L_j‖ over θ_sh, Ḡ their mean, r_j = (L_j/L_j(0)) / mean of these ratios. The scales follow
//! L_grad = Σ|G_j - Ḡ·r_jᵝ| with its targets held constant, stay positive and are renormalised to sum 1.
//!
//! Z. Chen, V. Badrinarayanan, C.-Y. Lee, A. Rabinovich: GradNorm, ICML 2018.

use serde::{Deserialize, Serialize};

use super::adam::Adam;

/// How the scales follow the gradient of L_grad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GradNormOptimiser {
    /// By plain steps along it, as before there was a choice.
    #[default]
    Gradient,
    /// By Adam, as the paper's Algorithm 3 has it.
    Adam,
}

/// Scales s and what they need to remember. Index 0 is L_MSE, 1 is L_RQR-W.
#[derive(Clone, Debug, PartialEq)]
pub struct GradNorm {
    /// s₁, s₂: positive, sum 1.
    pub scales: [f64; 2],
    /// L_j(0), the losses of the first iteration; absent before it.
    pub initial_losses: Option<[f64; 2]>,
    /// β: how strongly a loss that lags behind is favoured.
    pub beta: f64,
    /// Step size.
    pub rate: f64,
    /// Adam's moments of s, where Adam moves it.
    pub(crate) adam: Option<Adam<f64>>,
}

/// The quantities of one update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradNormUpdate {
    /// r_j.
    pub relative_rates: [f64; 2],
    /// Ḡ·r_jᵝ.
    pub targets: [f64; 2],
    /// L_grad.
    pub loss: f64,
    /// ∂L_grad/∂s_j.
    pub gradient: [f64; 2],
}

/// Scales never fall below this, so that no loss is switched off for good.
pub(crate) const LEAST_SCALE: f64 = 1e-4;

impl GradNorm {
    /// Equal scales.
    #[must_use]
    pub fn new(beta: f64, rate: f64, optimiser: GradNormOptimiser) -> Self {
        Self {
            scales: [0.5, 0.5],
            initial_losses: None,
            beta,
            rate,
            adam: match optimiser {
                GradNormOptimiser::Gradient => None,
                GradNormOptimiser::Adam => Some(Adam::new(2)),
            },
        }
    }

    /// What an update would be computed from, given the losses and ‖∇L_j‖ over θ_sh.
    #[must_use]
    pub fn quantities(&self, losses: [f64; 2], shared_norms: [f64; 2]) -> GradNormUpdate {
        let initial = self.initial_losses.unwrap_or(losses);
        let norms = [self.scales[0] * shared_norms[0], self.scales[1] * shared_norms[1]];
        let mean_norm = (norms[0] + norms[1]) / 2.0;
        let ratios = [losses[0] / initial[0], losses[1] / initial[1]];
        let mean_ratio = (ratios[0] + ratios[1]) / 2.0;
        let relative_rates = ratios.map(|ratio| ratio / mean_ratio);
        let targets = relative_rates.map(|rate| mean_norm * rate.powf(self.beta));
        let differences = [norms[0] - targets[0], norms[1] - targets[1]];
        let gradient = [0, 1].map(|j| sign(differences[j]) * shared_norms[j]);
        GradNormUpdate {
            relative_rates,
            targets,
            loss: differences[0].abs() + differences[1].abs(),
            gradient,
        }
    }

    /// Moves the scales one step.
    pub fn update(&mut self, losses: [f64; 2], shared_norms: [f64; 2]) {
        let update = self.quantities(losses, shared_norms);
        self.initial_losses.get_or_insert(losses);
        if !update.gradient.iter().all(|g| g.is_finite()) {
            return;
        }
        let mut moved = self.scales;
        match &mut self.adam {
            None => moved = [0, 1].map(|j| self.scales[j] - self.rate * update.gradient[j]),
            Some(adam) => adam.update(&mut moved, &update.gradient, self.rate),
        }
        let moved = moved.map(|scale| scale.max(LEAST_SCALE));
        let sum = moved[0] + moved[1];
        self.scales = moved.map(|scale| scale / sum);
    }
}

/// Zero at zero, unlike `f64::signum`.
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use intervalid_testkit::{Tolerance, assert_all_close, assert_close, golden};

    use super::*;

    #[test]
    fn quantities_match_the_golden_values() {
        let tolerance = Tolerance::relative(1e-10);
        for case in golden().cases {
            let expected = case.gradnorm;
            let gradnorm = GradNorm {
                scales: expected.s,
                initial_losses: Some(expected.initial_losses),
                beta: expected.beta,
                rate: 0.1,
                adam: None,
            };
            let found = gradnorm.quantities([case.loss.mse, case.loss.rqr_w], expected.shared_gradient_norms);
            assert_all_close("r", &expected.relative_rates, &found.relative_rates, tolerance);
            assert_all_close("targets", &expected.targets, &found.targets, tolerance);
            assert_close("L_grad", expected.loss, found.loss, tolerance);
            assert_all_close("dL_grad/ds", &expected.grad_s, &found.gradient, tolerance);
        }
    }

    #[test]
    fn scales_sum_to_one_stay_positive_and_favour_the_smaller_gradient() {
        for optimiser in [GradNormOptimiser::Gradient, GradNormOptimiser::Adam] {
            let mut gradnorm = GradNorm::new(0.5, 0.05, optimiser);
            for _ in 0..200 {
                gradnorm.update([1.0, 1.0], [4.0, 1.0]);
                assert!((gradnorm.scales[0] + gradnorm.scales[1] - 1.0).abs() < 1e-12);
                assert!(gradnorm.scales.iter().all(|&s| s > 0.0));
            }
            assert!(
                gradnorm.scales[1] > 0.6,
                "the weaker gradient is scaled up: {:?}",
                gradnorm.scales
            );
        }
    }

    /// By hand: Adam's steps have the size of its rate while gradients keep their sign and size, whatever that is.
    #[test]
    fn adam_moves_the_scales_by_its_rate_not_by_the_gradients_size() {
        for size in [1.0, 1e6] {
            let mut gradnorm = GradNorm::new(0.5, 0.01, GradNormOptimiser::Adam);
            // G₁ is above the mean and G₂ below it, so s₁ falls by the rate and s₂ rises by it.
            for expected in [0.49, 0.48] {
                gradnorm.update([1.0, 1.0], [4.0 * size, size]);
                assert_close("s₁", expected, gradnorm.scales[0], Tolerance::relative(1e-6));
            }
        }
        let mut plain = GradNorm::new(0.5, 0.01, GradNormOptimiser::Gradient);
        plain.update([1.0, 1.0], [4.0, 1.0]);
        // 0.5 - 0.01·4 and 0.5 + 0.01·1, renormalised.
        assert_close("s₁", 0.46 / 0.97, plain.scales[0], Tolerance::relative(1e-12));
    }

    #[test]
    fn a_loss_that_lags_behind_is_favoured() {
        let lagging = |beta: f64| {
            let mut gradnorm = GradNorm::new(beta, 0.01, GradNormOptimiser::Gradient);
            gradnorm.update([1.0, 1.0], [1.0, 1.0]);
            for _ in 0..20 {
                gradnorm.update([0.2, 0.9], [1.0, 1.0]);
            }
            gradnorm.scales[1]
        };
        assert!(lagging(1.0) > 0.5);
        assert!(lagging(1.0) >= lagging(0.1));
    }
}
