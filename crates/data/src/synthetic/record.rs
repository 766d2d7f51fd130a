//! A generated record together with what generated it.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::channel::Channel;
use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::normal;

/// A record with one input and one output whose distribution is known.
///
/// The noise is Gaussian, independent over time and added to the output only, so given the inputs each y(k) is normal
/// with mean `truth()[k]` and standard deviation `noise_std()[k]`, and all its quantiles are known.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticRecord {
    dataset: Dataset,
    truth: Vec<f64>,
    noise_std: Vec<f64>,
}

impl SyntheticRecord {
    /// Adds the noise to the truth.
    pub(super) fn new(
        name: &str,
        channels: [Channel; 2],
        sample_time: Option<f64>,
        input: Vec<f64>,
        truth: Vec<f64>,
        noise_std: Vec<f64>,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, DataError> {
        let measured = truth.iter().zip(&noise_std).map(|(mean, std)| {
            let draw: f64 = StandardNormal.sample(rng);
            mean + std * draw
        });
        let experiment = Experiment::new(name, vec![input], vec![measured.collect()]);
        let [input, output] = channels;
        let dataset = Dataset::new(name, vec![input], vec![output], sample_time, vec![experiment])?;
        Ok(Self {
            dataset,
            truth,
            noise_std,
        })
    }

    /// Inputs and noisy outputs: one experiment, one input, one output.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The record alone.
    pub fn into_dataset(self) -> Dataset {
        self.dataset
    }

    /// The noise-free output, which is the conditional mean and median of y.
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// The conditional standard deviation of y.
    pub fn noise_std(&self) -> &[f64] {
        &self.noise_std
    }

    /// The conditional quantile of y(k) for every k: `truth + z_p · noise_std`. Infinite at probability 0 and 1, NaN
    /// outside [0, 1].
    pub fn quantile(&self, probability: f64) -> Vec<f64> {
        let z = normal::quantile(probability);
        self.truth
            .iter()
            .zip(&self.noise_std)
            .map(|(mean, std)| mean + z * std)
            .collect()
    }
}

/// Refuses a parameter outside `allowed`, which is spelt for the message.
pub(super) fn check(parameter: &'static str, value: f64, valid: bool, allowed: &'static str) -> Result<(), DataError> {
    if valid && value.is_finite() {
        return Ok(());
    }
    Err(DataError::SyntheticParameter {
        parameter,
        value,
        allowed,
    })
}
