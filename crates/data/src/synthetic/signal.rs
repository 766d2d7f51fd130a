//! Excitation signals and the integrator that the systems share.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

use crate::error::DataError;

/// Gaussian noise of unit variance with autocorrelation ρ^|τ|.
pub(super) fn coloured_noise(samples: usize, correlation: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let innovation = (1.0 - correlation * correlation).sqrt();
    let mut state: f64 = StandardNormal.sample(rng);
    let mut next = || {
        let current = state;
        let draw: f64 = StandardNormal.sample(rng);
        state = correlation * state + innovation * draw;
        current
    };
    (0..samples).map(|_| next()).collect()
}

/// Uniform levels held for `hold` samples each.
pub(super) fn random_levels(
    samples: usize,
    hold: usize,
    low: f64,
    high: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<f64>, DataError> {
    let levels = Uniform::new_inclusive(low, high).map_err(|_| DataError::SyntheticParameter {
        parameter: "input range",
        value: high - low,
        allowed: "a positive finite width",
    })?;
    let mut values = Vec::with_capacity(samples);
    while values.len() < samples {
        let level = levels.sample(rng);
        let held = hold.max(1).min(samples - values.len());
        values.extend(std::iter::repeat_n(level, held));
    }
    Ok(values)
}

/// One step of the classical fourth-order Runge–Kutta method for x' = f(t, x).
pub(super) fn runge_kutta<const N: usize>(
    time: f64,
    state: [f64; N],
    step: f64,
    derivative: impl Fn(f64, [f64; N]) -> [f64; N],
) -> [f64; N] {
    let ahead = |slope: [f64; N], share: f64| std::array::from_fn(|i| state[i] + share * step * slope[i]);
    let k1 = derivative(time, state);
    let k2 = derivative(time + 0.5 * step, ahead(k1, 0.5));
    let k3 = derivative(time + 0.5 * step, ahead(k2, 0.5));
    let k4 = derivative(time + step, ahead(k3, 1.0));
    std::array::from_fn(|i| state[i] + step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runge_kutta_has_order_four() {
        let error = |steps: i32| {
            let step = 1.0 / f64::from(steps);
            let end = (0..steps).fold([1.0], |x, k| runge_kutta(f64::from(k) * step, x, step, |_, [x]| [-x]));
            (end[0] - (-1.0_f64).exp()).abs()
        };
        let rate = (error(10) / error(20)).log2();
        assert!((rate - 4.0).abs() < 0.2, "{rate}");
    }
}
