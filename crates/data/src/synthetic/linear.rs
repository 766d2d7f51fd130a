//! A linear system with Gaussian output noise.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::record::{SyntheticRecord, check};
use super::signal::coloured_noise;
use crate::channel::Channel;
use crate::error::DataError;

/// y₀(k) = Σ_i a_i y₀(k-i) + Σ_j b_j u(k-n_d-j), y(k) = y₀(k) + e(k), with u coloured Gaussian noise of unit variance.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `feedback` | a_1, a_2, … | 1.5, -0.7 | stable |
/// | `feedthrough` | b_0, b_1, … | 1, 0.5 | |
/// | `dead_time` | n_d | 1 | ≥ 0 |
/// | `input_correlation` | ρ | 0 | [0, 1) |
/// | `noise_std` | | 0.1 | ≥ 0 |
///
/// The default is the system that L. Ljung's *System Identification: Theory for the User* (2nd ed., 1999) uses in its
/// examples.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSystem {
    /// Coefficients of past outputs, newest first.
    pub feedback: Vec<f64>,
    /// Coefficients of inputs, newest first.
    pub feedthrough: Vec<f64>,
    /// Samples before an input acts.
    pub dead_time: usize,
    /// Correlation of neighbouring input samples.
    pub input_correlation: f64,
    /// Standard deviation of the output noise.
    pub noise_std: f64,
}

impl Default for LinearSystem {
    fn default() -> Self {
        Self {
            feedback: vec![1.5, -0.7],
            feedthrough: vec![1.0, 0.5],
            dead_time: 1,
            input_correlation: 0.0,
            noise_std: 0.1,
        }
    }
}

impl LinearSystem {
    /// A record from rest; the same seed gives the same record on every machine.
    ///
    /// # Errors
    /// If a parameter is out of range, there are no samples, or an unstable system overflows.
    pub fn generate(&self, samples: usize, seed: u64) -> Result<SyntheticRecord, DataError> {
        check("noise_std", self.noise_std, self.noise_std >= 0.0, "≥ 0")?;
        let rho = self.input_correlation;
        check("input_correlation", rho, (0.0..1.0).contains(&rho), "0 to below 1")?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let input = coloured_noise(samples, rho, &mut rng);
        let truth = self.respond(&input);
        let channels = [Channel::new("u"), Channel::new("y")];
        SyntheticRecord::new(
            "linear",
            channels,
            None,
            input,
            truth,
            vec![self.noise_std; samples],
            &mut rng,
        )
    }

    /// The noise-free response from rest.
    pub fn respond(&self, input: &[f64]) -> Vec<f64> {
        let mut output = vec![0.0; input.len()];
        for k in 0..input.len() {
            let past = |values: &[f64], lag: usize| k.checked_sub(lag).map_or(0.0, |index| values[index]);
            let own = self
                .feedback
                .iter()
                .enumerate()
                .map(|(i, a)| a * past(&output, i + 1))
                .sum::<f64>();
            let driven = self.feedthrough.iter().enumerate();
            output[k] = own + driven.map(|(j, b)| b * past(input, self.dead_time + j)).sum::<f64>();
        }
        output
    }
}
