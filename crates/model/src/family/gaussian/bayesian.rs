//! Mean-field variational inference (docs/method.md, section 8): every parameter is N(m, v²) with v = softplus(p), prior N(0, ρ²).
//!
//! Loss = mean NLL + KL/(number of training targets). One draw w = m + v·ε per mini-batch (the reparameterisation), so
//! with g = ∂NLL/∂w: ∂m = g + m/(ρ²K) and ∂p = (g·ε + (v/ρ² - 1/v)/K)·σ(p), K targets. Windows overlap and K counts each of
//! their targets, as the mean NLL does; the prior is that much weaker than if every sample counted once.
//!
//! C. Blundell, J. Cornebise, K. Kavukcuoglu, D. Wierstra: Weight uncertainty in neural networks, ICML 2015.

use intervalid_interval::Real;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::likelihood::sigma;

/// v at the start: small against the weights, so that early draws are of one and the same network.
const INITIAL_SPREAD: f64 = 0.02;

/// Start of training: the means, then p of every parameter.
pub(crate) fn initial_posterior<T: Real>(mut means: Vec<T>) -> Vec<T> {
    let p = T::of(INITIAL_SPREAD.exp_m1().ln());
    means.resize(2 * means.len(), p);
    means
}

/// Means m and p of all parameters, in one vector of twice their number.
pub(crate) struct Posterior<'a, T> {
    means: &'a [T],
    raw: &'a [T],
}

impl<'a, T: Real> Posterior<'a, T> {
    pub(crate) fn new(parameters: &'a [T]) -> Self {
        let (means, raw) = parameters.split_at(parameters.len() / 2);
        Self { means, raw }
    }

    /// v of all parameters.
    pub(crate) fn spread(&self) -> Vec<T> {
        self.raw.iter().map(|p| T::of(sigma(p.as_f64()).0)).collect()
    }

    /// Draws w = m + v·ε and keeps ε.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng, drawn: &mut [T], noise: &mut [T]) {
        for (index, (to, noise)) in drawn.iter_mut().zip(noise).enumerate() {
            let epsilon: f64 = rng.sample(StandardNormal);
            *noise = T::of(epsilon);
            *to = self.means[index] + T::of(sigma(self.raw[index].as_f64()).0) * *noise;
        }
    }

    /// KL(posterior ‖ prior) = Σ ln(ρ/v) + (v² + m²)/(2ρ²) - ½.
    pub(crate) fn kl(&self, prior_std: f64) -> f64 {
        let one = |(m, p): (&T, &T)| {
            let (m, (v, _)) = (m.as_f64(), sigma(p.as_f64()));
            (prior_std / v).ln() + (v * v + m * m) / (2.0 * prior_std * prior_std) - 0.5
        };
        self.means.iter().zip(self.raw).map(one).sum()
    }

    /// The gradient with respect to m and p, from that of the drawn network.
    pub(crate) fn gradient(&self, drawn: &[T], noise: &[T], prior_std: f64, targets: f64, gradient: &mut [T]) {
        let (to_means, to_raw) = gradient.split_at_mut(self.means.len());
        let precision = 1.0 / (prior_std * prior_std);
        for index in 0..self.means.len() {
            let g = drawn[index].as_f64();
            let (v, slope) = sigma(self.raw[index].as_f64());
            to_means[index] = T::of(g + self.means[index].as_f64() * precision / targets);
            let from_kl = (v * precision - 1.0 / v) / targets;
            to_raw[index] = T::of((g * noise[index].as_f64() + from_kl) * slope);
        }
    }
}

/// Draws w = m + v·ε from a fitted posterior.
pub(super) fn draw<T: Real>(means: &[T], spread: &[T], rng: &mut ChaCha8Rng) -> Vec<T> {
    let one = |(&m, &v): (&T, &T)| m + v * T::of(rng.sample::<f64, _>(StandardNormal));
    means.iter().zip(spread).map(one).collect()
}

#[cfg(test)]
mod tests {
    use intervalid_testkit::{Tolerance, assert_all_close, gradient};
    use rand::SeedableRng;

    use super::*;

    const PRIOR: f64 = 0.7;

    fn parameters() -> Vec<f64> {
        vec![0.3, -1.2, 0.0, -2.0, 0.4, 1.1]
    }

    /// KL(N(m, v²) ‖ N(0, ρ²)) by quadrature of q·ln(q/p).
    fn kl_by_quadrature(m: f64, v: f64) -> f64 {
        let density = |x: f64, mean: f64, std: f64| {
            (-0.5 * ((x - mean) / std).powi(2)).exp() / (std * core::f64::consts::TAU.sqrt())
        };
        let steps = 40_000;
        let (from, to) = (m - 12.0 * v, m + 12.0 * v);
        let h = (to - from) / f64::from(steps);
        (0..=steps)
            .map(|step| {
                let x = from + h * f64::from(step);
                let (q, p) = (density(x, m, v), density(x, 0.0, PRIOR));
                if q > 0.0 { h * q * (q / p).ln() } else { 0.0 }
            })
            .sum()
    }

    #[test]
    fn kl_is_the_integral_it_stands_for() {
        let parameters = parameters();
        let posterior = Posterior::new(&parameters);
        let expected: f64 = posterior
            .means
            .iter()
            .zip(posterior.spread())
            .map(|(&m, v)| kl_by_quadrature(m, v))
            .sum();
        assert!(
            (posterior.kl(PRIOR) - expected).abs() < 1e-8,
            "{} {expected}",
            posterior.kl(PRIOR)
        );
        // A posterior that is the prior has none.
        let same = [0.0, PRIOR.exp_m1().ln()];
        assert!(Posterior::new(&same).kl(PRIOR).abs() < 1e-12);
    }

    /// Loss whose data term is Σ a·w², so that its gradient with respect to the drawn w is 2a·w.
    #[test]
    fn gradient_is_that_of_the_reparameterised_loss() {
        let (weights, targets) = ([0.5, -0.3, 2.0], 7.0);
        let noise = [0.4, -1.3, 0.9];
        let drawn = |parameters: &[f64]| -> Vec<f64> {
            let posterior = Posterior::new(parameters);
            let spread = posterior.spread();
            (0..3).map(|i| parameters[i] + spread[i] * noise[i]).collect()
        };
        let loss = |parameters: &[f64]| -> f64 {
            let w = drawn(parameters);
            let data: f64 = w.iter().zip(weights).map(|(w, a)| a * w * w).sum();
            data + Posterior::new(parameters).kl(PRIOR) / targets
        };
        let at = parameters();
        let of_drawn: Vec<f64> = drawn(&at).iter().zip(weights).map(|(w, a)| 2.0 * a * w).collect();
        let mut found = vec![0.0; at.len()];
        Posterior::new(&at).gradient(&of_drawn, &noise, PRIOR, targets, &mut found);
        assert_all_close(
            "gradient",
            &gradient(loss, &at, 1e-6),
            &found,
            Tolerance::relative(1e-6),
        );
    }

    #[test]
    fn draws_have_the_posterior_mean_and_spread() {
        let parameters = parameters();
        let posterior = Posterior::new(&parameters);
        let spread = posterior.spread();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut drawn, mut noise) = (vec![0.0; 3], vec![0.0; 3]);
        let n = 20_000;
        let (mut sums, mut squares) = ([0.0; 3], [0.0; 3]);
        for _ in 0..n {
            posterior.draw(&mut rng, &mut drawn, &mut noise);
            for i in 0..3 {
                sums[i] += drawn[i];
                squares[i] += (drawn[i] - posterior.means[i]).powi(2);
            }
        }
        for i in 0..3 {
            let error = (sums[i] / f64::from(n) - posterior.means[i]).abs();
            assert!(error < 4.0 * spread[i] / f64::from(n).sqrt(), "mean {i}");
            let ratio = (squares[i] / f64::from(n)).sqrt() / spread[i];
            assert!((ratio - 1.0).abs() < 0.03, "spread {i}: {ratio}");
        }
    }

    #[test]
    fn training_starts_from_a_narrow_posterior() {
        let parameters = initial_posterior(vec![0.5_f64, -1.0]);
        let posterior = Posterior::new(&parameters);
        assert_eq!(posterior.means, [0.5, -1.0]);
        assert!(posterior.spread().iter().all(|v| (v - INITIAL_SPREAD).abs() < 1e-12));
    }
}
