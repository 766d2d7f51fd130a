//! Two tanks in cascade with overflow.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::record::{SyntheticRecord, check};
use super::signal::{random_levels, runge_kutta};
use crate::channel::Channel;
use crate::error::DataError;

/// A pump fills the upper tank, which drains into the lower one:
///
/// ḣ₁ = -k₁√h₁ + k₄u, ḣ₂ = k₂√h₁ - k₃√h₂, both levels kept in [0, `overflow`]; y = h₂ + noise.
///
/// Smooth in normal operation and hard at the rim: a model trained without overflow does not know it. The input holds
/// random levels for `hold` samples.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `outflow_upper` | k₁ | 0.1 | ≥ 0 |
/// | `inflow_lower` | k₂ | 0.12 | ≥ 0 |
/// | `outflow_lower` | k₃ | 0.1 | ≥ 0 |
/// | `pump` | k₄ | 0.1 | |
/// | `overflow` | | 10 | > 0 |
/// | `input_range` | | 0.5 to 4 | |
/// | `hold` | | 20 samples | ≥ 1 |
/// | `sample_time` | | 4 s | > 0 |
/// | `noise_std` | | 0.05 | ≥ 0 |
///
/// **Reference.** M. Schoukens, P. Mattsson, T. Wigren, J.-P. Noël, Cascaded tanks benchmark combining soft and hard
/// nonlinearities, *Workshop on Nonlinear System Identification Benchmarks*, Brussels 2016; the structure, not its
/// parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoTank {
    /// k₁.
    pub outflow_upper: f64,
    /// k₂.
    pub inflow_lower: f64,
    /// k₃.
    pub outflow_lower: f64,
    /// k₄.
    pub pump: f64,
    /// Level of the rim of both tanks.
    pub overflow: f64,
    /// Smallest and largest pump input.
    pub input_range: (f64, f64),
    /// Samples for which an input level is held.
    pub hold: usize,
    /// Seconds between samples.
    pub sample_time: f64,
    /// Standard deviation of the level measurement.
    pub noise_std: f64,
}

impl Default for TwoTank {
    fn default() -> Self {
        Self {
            outflow_upper: 0.1,
            inflow_lower: 0.12,
            outflow_lower: 0.1,
            pump: 0.1,
            overflow: 10.0,
            input_range: (0.5, 4.0),
            hold: 20,
            sample_time: 4.0,
            noise_std: 0.05,
        }
    }
}

/// Integration steps per sample.
const SUBSTEPS: usize = 20;

impl TwoTank {
    /// A record from half-full tanks; the same seed gives the same record.
    ///
    /// # Errors
    /// If a parameter is out of range or there are no samples.
    pub fn generate(&self, samples: usize, seed: u64) -> Result<SyntheticRecord, DataError> {
        for (name, value) in [
            ("outflow_upper", self.outflow_upper),
            ("inflow_lower", self.inflow_lower),
            ("outflow_lower", self.outflow_lower),
            ("noise_std", self.noise_std),
        ] {
            check(name, value, value >= 0.0, "≥ 0")?;
        }
        check("overflow", self.overflow, self.overflow > 0.0, "> 0")?;
        check("sample_time", self.sample_time, self.sample_time > 0.0, "> 0")?;
        check("hold", self.hold as f64, self.hold >= 1, "≥ 1")?;
        check("pump", self.pump, true, "finite")?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (low, high) = self.input_range;
        let input = random_levels(samples, self.hold, low, high, &mut rng)?;
        let step = self.sample_time / SUBSTEPS as f64;
        let mut levels = [0.5 * self.overflow; 2];
        let mut truth = Vec::with_capacity(samples);
        for flow in &input {
            truth.push(levels[1]);
            for _ in 0..SUBSTEPS {
                // Intermediate stages may dip below empty.
                let root = |level: f64| level.max(0.0).sqrt();
                let derivative = |_: f64, [upper, lower]: [f64; 2]| {
                    [
                        self.pump * flow - self.outflow_upper * root(upper),
                        self.inflow_lower * root(upper) - self.outflow_lower * root(lower),
                    ]
                };
                levels = runge_kutta(0.0, levels, step, derivative).map(|level| level.clamp(0.0, self.overflow));
            }
        }
        let channels = [Channel::new("u").with_unit("V"), Channel::new("y").with_unit("cm")];
        let noise_std = vec![self.noise_std; samples];
        SyntheticRecord::new(
            "two-tank",
            channels,
            Some(self.sample_time),
            input,
            truth,
            noise_std,
            &mut rng,
        )
    }
}
