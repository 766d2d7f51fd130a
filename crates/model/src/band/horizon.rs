//! Bands of predictions a few samples ahead: the free run's band, scaled by how much smaller errors are so soon after a measurement.

use serde::{Deserialize, Serialize};

/// Per horizon the factor by which the free run's band shrinks (or grows), output by output.
///
/// The factor of horizon K is s_K/s, what held-out stretches ask for of predictions K samples ahead and of free runs, in half-widths of the free run's
/// band ([`horizon_scales`](crate::horizon_scales)). Of a model that was not calibrated both are quantiles over the data that it was
/// fitted to ([`Model::with_horizons`](crate::Model::with_horizons)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HorizonScales {
    /// Samples ahead, ascending.
    pub horizons: Vec<usize>,
    /// `[horizon][output]`
    pub scales: Vec<Vec<f64>>,
}

/// Horizons at which errors are looked at; others lie between two of them.
pub(crate) const HORIZONS: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

/// So many times the furthest horizon that was looked at, a prediction is taken for a free run.
const AS_FAR_AS_FREE: usize = 10;

/// Further horizons than this are in no file of ours, with room for a hundred times as far: exports hold a number for every sample up to the last.
const FURTHEST_IN_FILES: usize = 100 * AS_FAR_AS_FREE * HorizonScales::FURTHEST;

impl HorizonScales {
    /// The furthest that is looked at.
    pub const FURTHEST: usize = HORIZONS[HORIZONS.len() - 1];

    /// Of the horizons that were looked at; none of none. Nobody looked further, and errors go on growing: there the band approaches that of the
    /// free run.
    pub(crate) fn learnt(mut horizons: Vec<usize>, mut scales: Vec<Vec<f64>>) -> Option<Self> {
        let (&furthest, last) = (horizons.last()?, scales.last()?);
        let free = last.iter().map(|scale| scale.max(1.0)).collect();
        horizons.push(furthest.saturating_mul(AS_FAR_AS_FREE));
        scales.push(free);
        Some(Self { horizons, scales })
    }

    /// The factor of an output at a horizon: linear in the logarithm of the horizon between those that were looked at.
    #[must_use]
    pub fn at(&self, horizon: usize, output: usize) -> f64 {
        let after = self.horizons.partition_point(|&known| known < horizon);
        let scale = |index: usize| self.scales[index][output];
        if after == 0 {
            return scale(0);
        }
        if after == self.horizons.len() {
            return scale(after - 1);
        }
        let place = |steps: usize| (steps as f64).ln();
        let (from, to) = (self.horizons[after - 1], self.horizons[after]);
        let share = (place(horizon) - place(from)) / (place(to) - place(from));
        scale(after - 1) + share * (scale(after) - scale(after - 1))
    }

    /// What a file may not hold, in words.
    pub(crate) fn check(&self, outputs: usize) -> Result<(), String> {
        let ascending = self.horizons.windows(2).all(|pair| pair[0] < pair[1]);
        if self.horizons.is_empty() || self.horizons[0] == 0 || !ascending || self.scales.len() != self.horizons.len() {
            return Err(format!(
                "its horizons are {:?} with {} scales, expected ascending numbers of samples with as many",
                self.horizons,
                self.scales.len()
            ));
        }
        if let Some(furthest) = self.horizons.last().filter(|furthest| **furthest > FURTHEST_IN_FILES) {
            return Err(format!(
                "its last horizon is {furthest} samples ahead, expected at most {FURTHEST_IN_FILES}"
            ));
        }
        let sound = |scale: &f64| scale.is_finite() && *scale >= 0.0;
        match self
            .scales
            .iter()
            .find(|row| row.len() != outputs || !row.iter().all(sound))
        {
            Some(row) => Err(format!(
                "a horizon has scales {row:?}, expected {outputs} number(s), none negative"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_lie_between_their_neighbours() {
        let scales = HorizonScales {
            horizons: vec![1, 10, 100],
            scales: vec![vec![0.1], vec![0.5], vec![0.9]],
        };
        let near = |horizon, expected: f64| assert!((scales.at(horizon, 0) - expected).abs() < 1e-12, "{horizon}");
        near(1, 0.1);
        near(10, 0.5);
        near(1000, 0.9);
        assert!(scales.at(3, 0) > 0.1 && scales.at(3, 0) < 0.5);
        assert!(scales.check(1).is_ok() && scales.check(2).is_err());
        let empty = HorizonScales {
            horizons: vec![],
            scales: vec![],
        };
        assert!(empty.check(1).is_err());
    }

    #[test]
    fn horizons_that_no_fit_looks_at_are_refused() {
        let up_to = |last| HorizonScales {
            horizons: vec![1, last],
            scales: vec![vec![0.1], vec![1.0]],
        };
        assert!(up_to(HorizonScales::FURTHEST * AS_FAR_AS_FREE).check(1).is_ok());
        assert_eq!(
            up_to(2_000_000_000).check(1),
            Err("its last horizon is 2000000000 samples ahead, expected at most 100000".to_owned())
        );
    }
}
