//! GradNorm: balances two losses by the size of their gradients on shared weights (docs/method.md, section 6).
//!
//! G_j = s_j·‖∇L_j‖ over θ_sh, Ḡ their mean, r_j = (L_j/L_j(0)) / mean of these ratios. The scales follow
//! L_grad = Σ|G_j - Ḡ·r_jᵝ| with its targets held constant, stay positive and are renormalised to sum 1.
//!
//! Z. Chen, V. Badrinarayanan, C.-Y. Lee, A. Rabinovich: GradNorm, ICML 2018.

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
const LEAST_SCALE: f64 = 1e-4;

impl GradNorm {
    /// Equal scales.
    #[must_use]
    pub fn new(beta: f64, rate: f64) -> Self {
        Self {
            scales: [0.5, 0.5],
            initial_losses: None,
            beta,
            rate,
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
        let moved = [0, 1].map(|j| (self.scales[j] - self.rate * update.gradient[j]).max(LEAST_SCALE));
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
        let mut gradnorm = GradNorm::new(0.5, 0.05);
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

    #[test]
    fn a_loss_that_lags_behind_is_favoured() {
        let lagging = |beta: f64| {
            let mut gradnorm = GradNorm::new(beta, 0.01);
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
