//! A band that learns from its misses as measurements arrive.

use intervalid_data::Dataset;
use serde::{Deserialize, Serialize};

use crate::band::metrics::{Aligned, align};
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::model::Model;

/// A band of one output whose two sides widen after a miss and narrow after a hit.
///
/// **Method.** Each side has a scale s, at first [`Scaling::online_start`](crate::Scaling::online_start) or 1, and should be missed by a share β = (1-α)/2 of the samples. After a
/// measurement outside that side s is multiplied by e^(γ(1-β)), after any other by e^(-γβ). The band at sample k depends
/// on measurements up to k-1 only; the simulation itself stays a free run.
///
/// **What it promises.** ln s moves by γ(miss - β) per sample, so over any n samples the share of misses on a side differs
/// from β by |ln s(n) - ln s(0)|/(γn): coverage over a long record is α whatever the plant does, as long as the scale
/// stays between its limits. **What it does not.** Coverage at a given sample, or of the first few hundred.
///
/// **Reference.** I. Gibbs, E. Candès, Adaptive conformal inference under distribution shift, NeurIPS 2021, eq. (2);
/// A. Angelopoulos, E. Candès, R. Tibshirani, Conformal PID control for time series prediction, NeurIPS 2023, section 2
/// (here on a logarithmic scale, so that it is the same in every unit).
///
/// ```
/// let mut band = intervalid_model::OnlineBand::new(0.9, 0.01);
/// let (lower, upper) = band.bounds(-1.0, 0.0, 1.0);
/// assert_eq!((lower, upper), (-1.0, 1.0));
/// band.observe(3.0);
/// assert!(band.bounds(-1.0, 0.0, 1.0).1 > 1.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineBand {
    /// Factors of the lower and the upper side.
    scales: [f64; 2],
    /// The bounds given last.
    last: [f64; 2],
    floor: f64,
    start: f64,
    grow: f64,
    shrink: f64,
}

/// The numbers by which an [`OnlineBand`] moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineConstants {
    /// Factor of a side's scale after a miss there.
    pub grow: f64,
    /// Factor after any other sample.
    pub shrink: f64,
    /// Least half-width before scaling, in the output's unit.
    pub floor: f64,
    /// Scale of both sides before the first sample.
    pub start: f64,
    /// Least and greatest scale.
    pub limits: (f64, f64),
}

/// γ: three misses quadruple a side, twenty-eight hits halve it (at 90 %). Errors of simulations stay on one side for long: of the rates
/// tried on 129 outputs of free runs (0.1 to 1) those from 0.4 to 0.8 had the best interval scores, and the larger cost most where errors are
/// independent (docs/results/auto.md).
const RATE: f64 = 0.5;
/// A scale outside these limits follows no residual any more.
const LIMITS: (f64, f64) = (1e-3, 1e4);

impl OnlineBand {
    /// A band for this coverage α. `floor` is the least distance of a bound from the point prediction before scaling: a
    /// side of width zero could never grow.
    #[must_use]
    pub fn new(coverage: f64, floor: f64) -> Self {
        let misses = 0.5 * (1.0 - coverage);
        Self {
            scales: [1.0, 1.0],
            last: [f64::NEG_INFINITY, f64::INFINITY],
            floor,
            start: 1.0,
            grow: (RATE * (1.0 - misses)).exp(),
            shrink: (-RATE * misses).exp(),
        }
    }

    /// The same with another scale before the first sample.
    #[must_use]
    pub fn starting_at(self, start: f64) -> Self {
        Self {
            scales: [start, start],
            start,
            ..self
        }
    }

    /// The band of the next sample from the model's own; the point prediction stays inside.
    pub fn bounds(&mut self, lower: f64, centre: f64, upper: f64) -> (f64, f64) {
        self.last = [
            centre - self.scales[0] * (centre - lower).max(self.floor),
            centre + self.scales[1] * (upper - centre).max(self.floor),
        ];
        (self.last[0], self.last[1])
    }

    /// What was then measured.
    pub fn observe(&mut self, measured: f64) {
        let missed = [measured < self.last[0], measured > self.last[1]];
        for (scale, missed) in self.scales.iter_mut().zip(missed) {
            let factor = if missed { self.grow } else { self.shrink };
            *scale = (*scale * factor).clamp(LIMITS.0, LIMITS.1);
        }
    }

    /// The factors and the bounds given last, if any, for a saved simulation.
    pub(crate) fn memory(&self) -> ([f64; 2], Option<[f64; 2]>) {
        (self.scales, self.last[0].is_finite().then_some(self.last))
    }

    /// Goes on from a [`memory`](Self::memory); false if its numbers make no sense.
    pub(crate) fn recall(&mut self, scales: [f64; 2], last: Option<[f64; 2]>) -> bool {
        let in_range = |scale: f64| (LIMITS.0..=LIMITS.1).contains(&scale);
        let sound = scales.into_iter().all(in_range) && last.is_none_or(|last| last.iter().all(|l| l.is_finite()));
        if sound {
            self.scales = scales;
            self.last = last.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        }
        sound
    }

    /// Factors of one side after a miss and after any other sample, and the limits of its scale.
    #[must_use]
    pub fn constants(&self) -> OnlineConstants {
        OnlineConstants {
            grow: self.grow,
            shrink: self.shrink,
            floor: self.floor,
            start: self.start,
            limits: LIMITS,
        }
    }

    /// Factors of the lower and the upper side now.
    #[must_use]
    pub fn scales(&self) -> [f64; 2] {
        self.scales
    }
}

/// The bands as they would have been with an [`OnlineBand`] per output and run; point predictions are the same.
///
/// # Errors
/// If a band does not belong to the data.
pub fn online_bands(interface: &ModelInterface, coverage: f64, dataset: &Dataset, bands: &[Band]) -> Result<Vec<Band>> {
    let mut adapted = bands.to_vec();
    for output in 0..dataset.outputs().len() {
        for (run, band) in align(dataset, bands, output)?.iter().zip(&mut adapted) {
            let mut online = interface.online_band(output, coverage);
            follow(&mut online, run, band, output);
        }
    }
    Ok(adapted)
}

/// Lets the band follow one run.
fn follow(online: &mut OnlineBand, run: &Aligned<'_>, band: &mut Band, output: usize) {
    let unscored = band.len() - run.target.len();
    for (step, &measured) in run.target.iter().enumerate() {
        let (lower, upper) = online.bounds(run.lower[step], run.centre[step], run.upper[step]);
        band.lower[output][unscored + step] = lower;
        band.upper[output][unscored + step] = upper;
        online.observe(measured);
    }
}

/// What the adaptive bands of a model have learnt so far, with the fingerprint of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineMemory {
    /// [`Model::fingerprint`]
    model: String,
    /// Factors of the lower and the upper side of every output.
    scales: Vec<[f64; 2]>,
}

impl Model {
    /// The bands of [`online`](Self::online), except that each run goes on from what the one before it has learnt, and the first one from
    /// `memory`. Also gives what the last one has learnt.
    ///
    /// # Errors
    /// [`ModelError::State`] if the memory is of another model or damaged; if the bands do not belong to the data.
    pub fn online_after(
        &self,
        memory: Option<&OnlineMemory>,
        dataset: &Dataset,
        bands: &[Band],
    ) -> Result<(Vec<Band>, OnlineMemory)> {
        let fingerprint = self.fingerprint()?;
        if let Some(memory) = memory.filter(|memory| memory.model != fingerprint) {
            return Err(ModelError::State(format!(
                "it belongs to model {}, this is model {fingerprint}",
                memory.model
            )));
        }
        let outputs = self.interface().outputs.len();
        let damaged = || ModelError::State("its numbers are not those of this model's online band".to_owned());
        if memory.is_some_and(|memory| memory.scales.len() != outputs) {
            return Err(damaged());
        }
        let mut adapted = bands.to_vec();
        let mut scales = Vec::with_capacity(outputs);
        for output in 0..outputs {
            let mut online = self.interface().online_band(output, self.config().coverage);
            if let Some(memory) = memory
                && !online.recall(memory.scales[output], None)
            {
                return Err(damaged());
            }
            for (run, band) in align(dataset, bands, output)?.iter().zip(&mut adapted) {
                follow(&mut online, run, band, output);
            }
            scales.push(online.scales());
        }
        let learnt = OnlineMemory {
            model: fingerprint,
            scales,
        };
        Ok((self.limited(adapted), learnt))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::*;

    /// Share of N(bias(k), spread(k)) inside a band that starts as ±1 around zero.
    fn coverage(asked: f64, samples: usize, residual: impl Fn(usize, f64) -> f64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut band = OnlineBand::new(asked, 1e-6);
        let mut inside = 0;
        for k in 0..samples {
            let (lower, upper) = band.bounds(-1.0, 0.0, 1.0);
            assert!(lower <= 0.0 && 0.0 <= upper);
            let measured = residual(k, rng.sample(StandardNormal));
            inside += usize::from(lower <= measured && measured <= upper);
            band.observe(measured);
        }
        inside as f64 / samples as f64
    }

    #[test]
    fn drifting_residuals_are_covered() {
        for asked in [0.9, 0.95] {
            // Three binomial standard deviations of 2000 samples, and what the recursion itself may be off by:
            // |ln s|/(γn) on each side, with scales up to e^2.
            let margin = 3.0 * (asked * (1.0 - asked) / 2000.0_f64).sqrt() + 2.0 * 2.0 / (RATE * 2000.0);
            let growing = coverage(asked, 2000, |k, e| e * (0.2 + k as f64 / 500.0));
            let shifting = coverage(asked, 2000, |k, e| 0.3 * e + (k as f64 / 300.0).sin());
            for found in [growing, shifting] {
                assert!((found - asked).abs() < margin, "{found} for {asked} ± {margin}");
            }
        }
    }

    #[test]
    fn a_band_that_never_adapts_would_fail_the_same_test() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let inside = (0..2000).filter(|&k| {
            let e: f64 = rng.sample(StandardNormal);
            (e * (0.2 + f64::from(k) / 500.0)).abs() <= 1.0
        });
        assert!(inside.count() < 1400);
    }

    #[test]
    fn the_band_knows_nothing_of_the_sample_it_is_for() {
        let run = |last: f64| {
            let mut band = OnlineBand::new(0.9, 0.1);
            let mut bounds = Vec::new();
            for measured in [0.5, 2.0, -3.0, last] {
                bounds.push(band.bounds(-1.0, 0.0, 1.0));
                band.observe(measured);
            }
            bounds
        };
        assert_eq!(run(0.0), run(1e6));
    }
}
