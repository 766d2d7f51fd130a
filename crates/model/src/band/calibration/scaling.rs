//! Scales of the two sides of a band.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::levels::{self, LevelScaling};
use super::renew::Renewal;
use crate::band::prediction::Band;

/// The online band starts with no less of the band.
const START: f64 = 0.1;

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
    /// How many standard deviations of the members' predictions a side reaches, after the floor and before the factor; without it
    /// as many as the coverage's normal quantile, before the floor. Of models with several members alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The share of this band that the online band starts with, at most 1: what blocks needed together, without caution. It is for later
    /// data that nobody measures; an online band grows within a few misses and takes long to shrink. Without it all of the band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online_start: Option<f64>,
}

impl Scaling {
    /// With an online band that starts with this share, as far as that makes sense.
    pub(super) fn starting_at(self, share: f64) -> Self {
        let is_sound = share.is_finite() && share > 0.0;
        Self {
            online_start: is_sound.then(|| share.clamp(START, 1.0)),
            ..self
        }
    }

    /// The share of this band that its online band starts with.
    pub(super) fn start(&self) -> f64 {
        self.online_start.unwrap_or(1.0)
    }

    /// The scaled bounds of one sample.
    #[must_use]
    pub fn bounds(&self, lower: f64, centre: f64, upper: f64) -> (f64, f64) {
        (
            centre - self.lower * (centre - lower).max(self.floor),
            centre + self.upper * (upper - centre).max(self.floor),
        )
    }

    /// What a file may not hold, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        let sound = |value: f64| value.is_finite() && value >= 0.0;
        let spread = self.spread.unwrap_or(0.0);
        if let Some(start) = self.online_start.filter(|start| !(START..=1.0).contains(start)) {
            return Err(format!(
                "its online band starts with {start} of the band, expected {START} to 1"
            ));
        }
        match sound(self.lower) && sound(self.upper) && sound(self.floor) && sound(spread) {
            true => Ok(()),
            false => Err(format!(
                "its calibration has lower {}, upper {}, floor {} and spread {spread}, expected numbers, none negative",
                self.lower, self.upper, self.floor
            )),
        }
    }
}

/// What held-out blocks said about a band, and the scaling that follows from it.
///
/// **What it is.** Quantiles of errors of free runs over stretches that the simulating model had not been fitted on, and how much
/// they differ ([`calibrate`](crate::calibrate)).
///
/// **What it is not.** A guarantee: that would need exchangeable errors, and those of a simulation are correlated and
/// drift with the plant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Per output.
    pub outputs: Vec<Scaling>,
    /// The quantile level used, at least the coverage asked for; versions up to 0.1 raised it.
    pub level: f64,
    /// Held-out blocks.
    pub blocks: usize,
    /// Cuts of the record, one side of each fitted and the other judged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cuts: usize,
    /// Aligned samples in the blocks.
    pub samples: usize,
    /// How many independent samples would tell as much.
    pub effective_samples: f64,
    /// Share inside a band sized by all blocks together, block by block: what drift does to coverage.
    pub block_coverage: Vec<f64>,
    /// The same of every cut: what extrapolation does to coverage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_coverage: Vec<f64>,
    /// Between which shares the coverage of the band as it is lies in blocks and cuts, all but the worst and the best; of several
    /// outputs the one with the least. None where there are too few to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<(f64, f64)>,
    /// The scaling for other coverages, ascending, and this one among them: bands that lie inside one another. Empty in files of
    /// versions that stored none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelScaling>,
    /// Where the scale comes from recordings after the fit: with which weight. All that is said of blocks is then of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
    /// Whether the coverage is that of all outputs together: a sample is inside if every output is.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub together: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(cuts: &usize) -> bool {
    *cuts == 0
}

impl Calibration {
    /// The same for bands that are, before they are scaled, narrower by these ratios than those that were looked at, one per output. What
    /// the disagreement of members adds stays as it is.
    ///
    /// # Panics
    /// If there is not one ratio per output.
    #[must_use]
    pub fn for_widths(mut self, ratios: &[f64]) -> Self {
        assert_eq!(ratios.len(), self.outputs.len(), "one ratio per output");
        let levels = self.levels.iter_mut().map(|level| &mut level.outputs);
        for outputs in levels.chain([&mut self.outputs]) {
            for (scaling, ratio) in outputs.iter_mut().zip(ratios) {
                scaling.lower *= ratio;
                scaling.upper *= ratio;
                scaling.spread = scaling.spread.map(|spread| spread / ratio);
            }
        }
        self
    }

    /// Where the width of the band comes from and what to expect of it, for people.
    #[must_use]
    pub fn in_words(&self) -> String {
        if let Some(renewal) = &self.renewal {
            return self.renewal_in_words(renewal);
        }
        let cuts = match self.cut_coverage.len() {
            0 => String::new(),
            1 => ", and what lies beyond a cut of the record".to_owned(),
            cuts => format!(", and what lies beyond {cuts} cuts of the record"),
        };
        let mut words = format!(
            "The band is sized by errors on data that the fits had not seen: {} samples in {} blocks (worth about {:.0} independent \
             ones){cuts}.",
            self.samples, self.blocks, self.effective_samples
        );
        if self.together {
            words += " A sample counts as inside if all outputs are.";
        }
        let percent = |share: f64| 100.0 * share;
        if let Some((least, most)) = self.expected {
            let (least, most) = (percent(least), percent(most));
            let _ = write!(
                words,
                " Of those stretches, all but the best and the worst have {least:.0} to {most:.0} % inside; expect as much of new \
                 data like them."
            );
        }
        words
    }

    /// The same for another coverage, from the levels that were stored; none where they do not reach so far. What blocks said about
    /// the band that was asked for is left out.
    #[must_use]
    pub fn at(&self, coverage: f64) -> Option<Self> {
        Some(Self {
            outputs: levels::scalings_at(&self.levels, coverage)?,
            level: coverage,
            block_coverage: Vec::new(),
            cut_coverage: Vec::new(),
            expected: None,
            ..self.clone()
        })
    }

    /// The same where the disagreement of members adds nothing to the band.
    pub(crate) fn without_spread(mut self) -> Self {
        let levels = self.levels.iter_mut().flat_map(|level| &mut level.outputs);
        for scaling in self.outputs.iter_mut().chain(levels) {
            scaling.spread = Some(0.0);
        }
        self
    }

    /// The least and the greatest coverage that [`at`](Self::at) knows; none where no levels were stored.
    #[must_use]
    pub fn reach(&self) -> Option<(f64, f64)> {
        Some((self.levels.first()?.coverage, self.levels.last()?.coverage))
    }

    fn renewal_in_words(&self, renewal: &Renewal) -> String {
        let mut words = format!(
            "The band was recalibrated by errors on {} samples of recordings after the fit (worth about {:.0} independent ones), with weight \
             {} for them and {} for the scale of the fit.",
            renewal.new_samples, renewal.new_effective_samples, renewal.new_weight, renewal.old_weight
        );
        if let Some((least, most)) = self.expected {
            let _ = write!(
                words,
                " Of stretches of those recordings, all but the best and the worst have {:.0} to {:.0} % inside.",
                100.0 * least,
                100.0 * most
            );
        }
        words
    }

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
        self.outputs.iter().try_for_each(Scaling::check)?;
        levels::check(&self.levels, outputs)?;
        if let Some(renewal) = &self.renewal {
            let share = |weight: f64| (0.0..=1.0).contains(&weight);
            if !(share(renewal.new_weight) && share(renewal.old_weight) && sound(renewal.new_effective_samples)) {
                return Err(format!(
                    "its calibration has weights {} and {}, expected shares",
                    renewal.new_weight, renewal.old_weight
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
    fn a_narrower_band_of_the_same_shape_is_scaled_to_the_same_bounds() {
        let scaling = Scaling {
            lower: 2.0,
            upper: 0.5,
            floor: 0.0,
            spread: Some(3.0),
            online_start: None,
        };
        let wide = Calibration {
            outputs: vec![scaling],
            levels: vec![LevelScaling {
                coverage: 0.5,
                outputs: vec![scaling],
            }],
            ..crate::calibrate(
                (&[Vec::new()], &[Vec::new()]),
                &[0.0],
                crate::CoverageTarget::of_each(0.9),
                1,
            )
        };
        let narrow = wide.clone().for_widths(&[4.0]);
        for (wide, narrow) in [
            (wide.outputs[0], narrow.outputs[0]),
            (wide.levels[0].outputs[0], narrow.levels[0].outputs[0]),
        ] {
            assert_eq!(wide.bounds(-3.0, 1.0, 9.0), narrow.bounds(0.0, 1.0, 3.0));
            // What members' disagreement adds, spread times scale, is the same.
            assert_eq!(
                wide.spread.map(|spread| spread * wide.lower),
                narrow.spread.map(|spread| spread * narrow.lower)
            );
        }
    }

    #[test]
    fn sides_scale_from_the_point_prediction() {
        let scaling = Scaling {
            lower: 2.0,
            upper: 0.5,
            floor: 0.25,
            spread: None,
            online_start: None,
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
                spread: None,
                online_start: None,
            }],
            level: 0.9,
            blocks: 5,
            samples: 100,
            effective_samples: 20.0,
            block_coverage: vec![0.9; 5],
            cuts: 0,
            cut_coverage: Vec::new(),
            expected: None,
            levels: Vec::new(),
            renewal: None,
            together: false,
        };
        assert_eq!(good.check(1), Ok(()));
        assert!(good.check(2).is_err());
        for break_it in [
            |c: &mut Calibration| c.outputs[0].lower = -1.0,
            |c: &mut Calibration| c.outputs[0].floor = f64::NAN,
            |c: &mut Calibration| c.outputs[0].spread = Some(-1.0),
            |c: &mut Calibration| c.level = 1.5,
        ] {
            let mut bad = good.clone();
            break_it(&mut bad);
            assert!(bad.check(1).is_err(), "{bad:?}");
        }
    }
}
