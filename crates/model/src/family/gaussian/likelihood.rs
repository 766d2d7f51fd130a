//! Gaussian negative log-likelihood of a batch and its gradient (docs/method.md, section 8).
//!
//! NLL = ½ln 2π + ln σ + (y-μ)²/(2σ²) with σ = softplus(s), mean over windows, scored steps and outputs.

use intervalid_interval::Real;

use crate::network::Batch;

/// Least σ in normalised units: keeps the likelihood finite where a network claims to know everything.
const LEAST_SIGMA: f64 = 1e-6;

/// σ = softplus(s) and its derivative.
pub(crate) fn sigma(s: f64) -> (f64, f64) {
    // ln(1 + e^s) without overflow above and without cancellation below.
    let value = s.max(0.0) + (-s.abs()).exp().ln_1p();
    (value.max(LEAST_SIGMA), 1.0 / (1.0 + (-s).exp()))
}

/// -ln p(target) under N(mean, σ²).
pub(crate) fn negative_log_likelihood(target: f64, mean: f64, sigma: f64) -> f64 {
    0.5 * core::f64::consts::TAU.ln() + sigma.ln() + 0.5 * ((target - mean) / sigma).powi(2)
}

/// Sum of the NLL of a simulated batch with a Gaussian head times `share`, which makes a mean of it; writes its derivative with
/// respect to the read-out (zero in padding and warm-up).
pub(crate) fn gaussian_nll<T: Real>(batch: &Batch<T>, share: f64, adjoint: &mut [T]) -> f64 {
    let width = batch.width();
    let mut sum = 0.0;
    adjoint.fill(T::zero());
    for tile in batch.scored_tiles() {
        for output in 0..batch.outputs {
            let target = (tile * batch.outputs + output) * width;
            let mean = (tile * batch.rows + output) * width;
            let s = mean + batch.outputs * width;
            for lane in 0..batch.windows {
                let error = (batch.y[mean + lane] - batch.target[target + lane]).as_f64();
                let (sigma, slope) = sigma(batch.y[s + lane].as_f64());
                sum += negative_log_likelihood(error, 0.0, sigma);
                let relative = error / sigma;
                adjoint[mean + lane] = T::of(share * relative / sigma);
                adjoint[s + lane] = T::of(share * slope * (1.0 - relative * relative) / sigma);
            }
        }
    }
    sum * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigma_is_softplus_everywhere() {
        for s in [-30.0_f64, -3.0, -0.1, 0.0, 0.5, 4.0, 300.0] {
            let (value, slope) = sigma(s);
            let expected = if s > 100.0 { s } else { (1.0 + s.exp()).ln() };
            assert!(
                (value - expected.max(LEAST_SIGMA)).abs() <= 1e-12 * expected.max(1.0),
                "{s}: {value}"
            );
            assert!((0.0..=1.0).contains(&slope));
        }
        assert!(sigma(-1e6).0 > 0.0 && sigma(1e6).0.is_finite());
    }

    #[test]
    fn likelihood_is_the_density_of_the_normal_distribution() {
        // -ln of the density at the mean, and one and a half deviations off it.
        let at_mean = negative_log_likelihood(2.0, 2.0, 0.5);
        assert!((at_mean - (0.5 * (2.0 * core::f64::consts::PI).sqrt()).ln()).abs() < 1e-14);
        assert!((negative_log_likelihood(2.75, 2.0, 0.5) - at_mean - 1.125).abs() < 1e-14);
    }
}
