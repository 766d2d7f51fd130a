//! A magneto-rheological damper by the Bouc–Wen model.

use std::f64::consts::TAU;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Uniform};

use super::record::{SyntheticRecord, check};
use super::signal::runge_kutta;
use crate::channel::Channel;
use crate::error::DataError;

/// Force of a damper with hysteresis, driven by a displacement x(t) that is a sum of sines:
///
/// F = c₀ẋ + k₀(x - x₀) + αz, ż = -γ|ẋ|z|z|^(n-1) - βẋ|z|^n + Aẋ.
///
/// The input is the piston velocity ẋ in cm/s, the output the force in N, as in the `mr-damper` record. z is integrated
/// by the fourth-order Runge–Kutta method with `substeps` steps per sample.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `viscous` | c₀ | 50 N·s/cm | |
/// | `stiffness` | k₀ | 25 N/cm | |
/// | `offset` | x₀ | 3.8 cm | |
/// | `hysteresis` | α | 880 N/cm | |
/// | `gamma`, `beta` | γ, β | 100 cm⁻² | γ+β > 0 |
/// | `exponent` | n | 2 | ≥ 1 |
/// | `slope` | A | 120 | |
/// | `amplitude` | | 0.5 cm | > 0; of the displacement |
/// | `sample_time` | | 0.005 s | > 0 |
/// | `substeps` | | 40 | ≥ 1 |
/// | `noise_std` | | 10 N | ≥ 0 |
///
/// **Reference.** B. F. Spencer, S. J. Dyke, M. K. Sain, J. D. Carlson, Phenomenological model for magnetorheological
/// dampers, *J. Eng. Mech.* 123 (1997) 230–238, doi:10.1061/(ASCE)0733-9399(1997)123:3(230): the Bouc–Wen model there; the
/// defaults are of the size of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct BoucWenDamper {
    /// c₀ in N·s/cm.
    pub viscous: f64,
    /// k₀ in N/cm.
    pub stiffness: f64,
    /// x₀ in cm.
    pub offset: f64,
    /// α in N/cm.
    pub hysteresis: f64,
    /// γ in cm⁻².
    pub gamma: f64,
    /// β in cm⁻².
    pub beta: f64,
    /// n.
    pub exponent: f64,
    /// A.
    pub slope: f64,
    /// Amplitude of the displacement in cm.
    pub amplitude: f64,
    /// Seconds between samples.
    pub sample_time: f64,
    /// Integration steps per sample.
    pub substeps: usize,
    /// Standard deviation of the noise on the force in N.
    pub noise_std: f64,
}

impl Default for BoucWenDamper {
    fn default() -> Self {
        Self {
            viscous: 50.0,
            stiffness: 25.0,
            offset: 3.8,
            hysteresis: 880.0,
            gamma: 100.0,
            beta: 100.0,
            exponent: 2.0,
            slope: 120.0,
            amplitude: 0.5,
            sample_time: 0.005,
            substeps: 40,
            noise_std: 10.0,
        }
    }
}

/// Sines in the displacement, and their range of frequencies in Hz.
const SINES: usize = 8;
const FREQUENCIES: (f64, f64) = (0.2, 3.0);

impl BoucWenDamper {
    /// A record from z = 0; the same seed gives the same record.
    ///
    /// # Errors
    /// If a parameter is out of range, there are no samples, or the integration overflows.
    pub fn generate(&self, samples: usize, seed: u64) -> Result<SyntheticRecord, DataError> {
        let positive = |name, value: f64| check(name, value, value > 0.0, "> 0");
        check("noise_std", self.noise_std, self.noise_std >= 0.0, "≥ 0")?;
        check("exponent", self.exponent, self.exponent >= 1.0, "≥ 1")?;
        check("substeps", self.substeps as f64, self.substeps >= 1, "≥ 1")?;
        positive("amplitude", self.amplitude)?;
        positive("sample_time", self.sample_time)?;
        positive("gamma + beta", self.gamma + self.beta)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let sines = draw_sines(&mut rng);
        let share = self.amplitude / (SINES as f64).sqrt();
        let displacement = |time: f64| {
            sines
                .iter()
                .map(|(rate, phase)| share * (rate * time + phase).sin())
                .sum::<f64>()
        };
        let velocity = |time: f64| {
            sines
                .iter()
                .map(|(rate, phase)| share * rate * (rate * time + phase).cos())
                .sum::<f64>()
        };
        let derivative = |time: f64, [z]: [f64; 1]| {
            let v = velocity(time);
            let size = z.abs().powf(self.exponent - 1.0);
            [self.slope * v - self.gamma * v.abs() * z * size - self.beta * v * z.abs() * size]
        };
        let step = self.sample_time / self.substeps as f64;
        let mut state = [0.0];
        let (mut input, mut truth) = (Vec::with_capacity(samples), Vec::with_capacity(samples));
        for k in 0..samples {
            let time = k as f64 * self.sample_time;
            let spring = self.stiffness * (displacement(time) - self.offset);
            input.push(velocity(time));
            truth.push(self.viscous * velocity(time) + spring + self.hysteresis * state[0]);
            for substep in 0..self.substeps {
                state = runge_kutta(time + substep as f64 * step, state, step, derivative);
            }
        }
        let channels = [Channel::new("u").with_unit("cm/s"), Channel::new("y").with_unit("N")];
        let noise_std = vec![self.noise_std; samples];
        SyntheticRecord::new(
            "bouc-wen-damper",
            channels,
            Some(self.sample_time),
            input,
            truth,
            noise_std,
            &mut rng,
        )
    }
}

/// Angular frequencies and phases.
fn draw_sines(rng: &mut ChaCha8Rng) -> Vec<(f64, f64)> {
    // The range is a constant and valid; the fallback is never used.
    let unit = Uniform::new(0.0, 1.0).ok();
    let mut draw = || unit.map_or(0.5, |unit| unit.sample(rng));
    let (low, high) = FREQUENCIES;
    (0..SINES)
        .map(|_| (TAU * (low + (high - low) * draw()), TAU * draw()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integration_has_converged_and_the_state_is_bounded() {
        let coarse = BoucWenDamper::default().generate(1000, 3).expect("generates");
        let fine = BoucWenDamper {
            substeps: 160,
            ..BoucWenDamper::default()
        }
        .generate(1000, 3)
        .expect("generates");
        let worst = coarse
            .truth()
            .iter()
            .zip(fine.truth())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        // Against forces of hundreds of newtons.
        assert!(worst < 0.1, "{worst}");
        // |z| ≤ (A/(γ+β))^(1/n) bounds the hysteretic force.
        let damper = BoucWenDamper {
            viscous: 0.0,
            stiffness: 0.0,
            ..BoucWenDamper::default()
        };
        let bound = 880.0 * (120.0_f64 / 200.0).sqrt() * (1.0 + 1e-3);
        assert!(
            damper
                .generate(2000, 1)
                .expect("generates")
                .truth()
                .iter()
                .all(|force| force.abs() <= bound)
        );
    }
}
