//! Scales of the two sides of a band.

use serde::{Deserialize, Serialize};

use crate::band::prediction::Band;

/// How the band of one output is scaled: each side of it, at least `floor` wide, times its factor.
///
/// ŷ_lo' = ŷ - `lower`·max(ŷ - ŷ_lo, `floor`), ŷ_hi' likewise; the point prediction ŷ stays inside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// Factor of the lower side, ≥ 0.
    pub lower: f64,
    /// Factor of the upper side, ≥ 0.
    pub upper: f64,
    /// Least distance of a bound from the point prediction before the factor, in the output's unit, ≥ 0.
    pub floor: f64,
}

impl Scaling {
    /// The scaled bounds of one sample.
    #[must_use]
    pub fn bounds(&self, lower: f64, centre: f64, upper: f64) -> (f64, f64) {
        (
            centre - self.lower * (centre - lower).max(self.floor),
            centre + self.upper * (upper - centre).max(self.floor),
        )
    }
}

/// What held-out blocks said about a band, and the scaling that follows from it.
///
/// **What it is.** A quantile of errors of free runs over blocks that the simulating model had not been fitted on, at a
/// level raised for how little independent information such correlated errors hold.
///
/// **What it is not.** A guarantee: that would need exchangeable errors, and those of a simulation are correlated and
/// drift with the plant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Per output.
    pub outputs: Vec<Scaling>,
    /// The quantile level used, at least the coverage asked for.
    pub level: f64,
    /// Held-out blocks.
    pub blocks: usize,
    /// Aligned samples in them.
    pub samples: usize,
    /// How many independent samples would tell as much.
    pub effective_samples: f64,
    /// Share inside the unraised band, block by block: what drift does to coverage.
    pub block_coverage: Vec<f64>,
}

impl Calibration {
    /// Scales a band in place.
    pub(crate) fn apply(&self, band: &mut Band) {
        let Band {
            lower, centre, upper, ..
        } = band;
        for (output, scaling) in self.outputs.iter().enumerate() {
            let sides = lower[output].iter_mut().zip(&mut upper[output]);
            for ((lower, upper), &centre) in sides.zip(&centre[output]) {
                (*lower, *upper) = scaling.bounds(*lower, centre, *upper);
            }
        }
    }

    /// What a file may not hold, in words.
    pub(crate) fn check(&self, outputs: usize) -> Result<(), String> {
        if self.outputs.len() != outputs {
            let found = self.outputs.len();
            return Err(format!("its calibration is of {found} output(s), expected {outputs}"));
        }
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        for scaling in &self.outputs {
            if !(sound(scaling.lower) && sound(scaling.upper) && sound(scaling.floor)) {
                return Err(format!(
                    "its calibration has lower {}, upper {} and floor {}, expected numbers, none negative",
                    scaling.lower, scaling.upper, scaling.floor
                ));
            }
        }
        if !(self.level > 0.0 && self.level <= 1.0 && sound(self.effective_samples)) {
            return Err(format!("its calibration has level {}, expected a share", self.level));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_scale_from_the_point_prediction() {
        let scaling = Scaling {
            lower: 2.0,
            upper: 0.5,
            floor: 0.25,
        };
        let near = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() < 1e-15 && (b - d).abs() < 1e-15;
        assert!(near(scaling.bounds(0.0, 1.0, 3.0), (-1.0, 2.0)));
        // The floor keeps a band that has collapsed from staying so.
        assert!(near(scaling.bounds(1.0, 1.0, 1.0), (0.5, 1.125)));
    }

    #[test]
    fn bad_values_are_named() {
        let good = Calibration {
            outputs: vec![Scaling {
                lower: 1.0,
                upper: 1.0,
                floor: 0.0,
            }],
            level: 0.9,
            blocks: 5,
            samples: 100,
            effective_samples: 20.0,
            block_coverage: vec![0.9; 5],
        };
        assert_eq!(good.check(1), Ok(()));
        assert!(good.check(2).is_err());
        for break_it in [
            |c: &mut Calibration| c.outputs[0].lower = -1.0,
            |c: &mut Calibration| c.outputs[0].floor = f64::NAN,
            |c: &mut Calibration| c.level = 1.5,
        ] {
            let mut bad = good.clone();
            break_it(&mut bad);
            assert!(bad.check(1).is_err(), "{bad:?}");
        }
    }
}
