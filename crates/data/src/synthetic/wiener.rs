//! A Wiener system whose noise grows with its output.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::linear::LinearSystem;
use super::record::{SyntheticRecord, check};
use super::signal::coloured_noise;
use crate::channel::Channel;
use crate::error::DataError;

/// Linear dynamics, then a saturating curve: x = G(q) u, y₀ = x / √(1 + (x/s)²), y = y₀ + σ(k) e(k) with
/// σ(k) = `noise_floor` + `noise_slope`·|y₀(k)| and e standard normal. So the width of an interval of given coverage is
/// known and changes with the working point.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `dynamics` | G(q) | a = 1.2, -0.5; b = 0.4, 0.2; n_d = 1 | stable; its noise is not used |
/// | `saturation` | s | 1.5 | > 0 |
/// | `noise_floor` | | 0.02 | ≥ 0 |
/// | `noise_slope` | | 0.1 | ≥ 0 |
#[derive(Clone, Debug, PartialEq)]
pub struct WienerSystem {
    /// The linear part.
    pub dynamics: LinearSystem,
    /// Output level that is never passed.
    pub saturation: f64,
    /// Noise standard deviation at output 0.
    pub noise_floor: f64,
    /// Growth of the noise standard deviation per unit of output.
    pub noise_slope: f64,
}

impl Default for WienerSystem {
    fn default() -> Self {
        let dynamics = LinearSystem {
            feedback: vec![1.2, -0.5],
            feedthrough: vec![0.4, 0.2],
            dead_time: 1,
            input_correlation: 0.8,
            noise_std: 0.0,
        };
        Self {
            dynamics,
            saturation: 1.5,
            noise_floor: 0.02,
            noise_slope: 0.1,
        }
    }
}

impl WienerSystem {
    /// A record from rest; the same seed gives the same record.
    ///
    /// # Errors
    /// If a parameter is out of range or there are no samples.
    pub fn generate(&self, samples: usize, seed: u64) -> Result<SyntheticRecord, DataError> {
        let rho = self.dynamics.input_correlation;
        check("input_correlation", rho, (0.0..1.0).contains(&rho), "0 to below 1")?;
        check("saturation", self.saturation, self.saturation > 0.0, "> 0")?;
        check("noise_floor", self.noise_floor, self.noise_floor >= 0.0, "≥ 0")?;
        check("noise_slope", self.noise_slope, self.noise_slope >= 0.0, "≥ 0")?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let input = coloured_noise(samples, rho, &mut rng);
        let curve = |x: f64| x / (1.0 + (x / self.saturation).powi(2)).sqrt();
        let truth: Vec<f64> = self.dynamics.respond(&input).into_iter().map(curve).collect();
        let noise_std = truth
            .iter()
            .map(|y| self.noise_floor + self.noise_slope * y.abs())
            .collect();
        let channels = [Channel::new("u"), Channel::new("y")];
        SyntheticRecord::new("wiener", channels, None, input, truth, noise_std, &mut rng)
    }
}
