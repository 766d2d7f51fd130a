//! The scale of a band from recordings that were made after the fit.

use std::ops::Range;

use intervalid_data::{Dataset, Part};
use serde::{Deserialize, Serialize};

use super::blocks::{BlockScores, Scores, calibrate, expected, scores};
use super::levels::LevelScaling;
use super::quality::{BandQuality, scaled_by_halves};
use super::scaling::{Calibration, Scaling};
use super::together::CoverageTarget;
use crate::band::light::LightBand;
use crate::band::metrics::align;
use crate::band::prediction::Band;
use crate::error::{ModelError, Result};
use crate::model::Model;

/// How much of a band's scale comes from recordings after the fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// Weight of the new recordings, from above 0 to 1.
    pub new_weight: f64,
    /// Weight of the scale that the band had before.
    pub old_weight: f64,
    /// Scored samples of the new recordings, all outputs together.
    pub new_samples: usize,
    /// How many independent ones would tell as much.
    pub new_effective_samples: f64,
}

/// A model whose band was scaled anew, and what that did.
#[derive(Clone, Debug)]
pub struct Recalibrated {
    /// The new model; its networks are those of the old one.
    pub model: Model,
    /// Where the scale comes from.
    pub renewal: Renewal,
    /// The old band on the new recordings.
    pub before: BandQuality,
    /// The new band on them, each half scaled by what the other half says: neither has seen what it is judged on.
    pub after: BandQuality,
}

/// Most blocks that new recordings are cut into, an even number.
const BLOCKS: usize = 6;
/// Misses that the independent samples must lead to expect, or the quantile is a guess.
const LEAST_MISSES: f64 = 3.0;
/// No block is shorter.
const SHORTEST: usize = 10;

impl Model {
    /// The same model with its band scaled by the errors of free runs over new recordings; networks and point predictions stay.
    ///
    /// **Method.** Errors are taken in units of the band before its scale, as in [`calibrate`], over at most six equal stretches of the
    /// new recordings, which gives each side its scale s_new. The scale becomes s_new^w · s_old^(1-w) with w = `new_weight`: 1 forgets what the fit knew,
    /// which is right where the plant has changed. The share of the band that its online band starts with is mixed in the same way, and what
    /// to expect of the band is what it has inside in those stretches, whatever either scale had.
    ///
    /// # Errors
    /// [`ModelError::TooFewSamples`] if the recordings are worth too few independent samples for the coverage; if `new_weight` is not
    /// between 0 and 1, a run diverges, or the data have other channels.
    pub fn recalibrated(&self, dataset: &Dataset, part: &Part, new_weight: f64) -> Result<Recalibrated> {
        let target = self.interface().coverage_target(self.config().coverage);
        self.recalibrated_for(target, dataset, part, new_weight)
    }

    /// The same for what another band has promised: that of a model which this one replaces.
    ///
    /// # Errors
    /// Those of [`Model::recalibrated`].
    pub fn recalibrated_for(
        &self,
        target: CoverageTarget,
        dataset: &Dataset,
        part: &Part,
        new_weight: f64,
    ) -> Result<Recalibrated> {
        if !(new_weight > 0.0 && new_weight <= 1.0) {
            return Err(ModelError::option(
                "weight",
                new_weight,
                "a weight of the new recordings above 0, at most 1",
            ));
        }
        let old = self.scalings();
        let unit: Vec<Scaling> = old
            .iter()
            .map(|scaling| Scaling {
                lower: 1.0,
                upper: 1.0,
                ..*scaling
            })
            .collect();
        // Limits come last: a side that one has cut says nothing of how wide the band is.
        let unscaled = self
            .clone()
            .scaled(unit)?
            .simulate_unlimited(&*self.level(dataset)?, part)?;
        let bands = self.with_its_trend(dataset, unscaled);
        if let Some(step) = bands.iter().find_map(|band| band.diverged_at) {
            return Err(ModelError::RunDiverged { step: step as u64 + 1 });
        }
        let stretches = stretches(dataset, &bands, self.interface().outputs.len())?;
        let count = stretches.first().map_or(0, Vec::len);
        let floors = vec![0.0; old.len()];
        let found = calibrate((&stretches, &[]), &floors, target, 1);
        let needed = LEAST_MISSES / (1.0 - target.share);
        if count < 2 || found.effective_samples < needed {
            return Err(ModelError::TooFewSamples {
                samples: found.samples,
                effective: if count < 2 { 0.0 } else { found.effective_samples },
                needed,
            });
        }
        let mixed = |fresh: &Calibration| -> Vec<Scaling> {
            let mix = |old: f64, new: f64| match old > 0.0 && new > 0.0 {
                true => (new_weight * new.ln() + (1.0 - new_weight) * old.ln()).exp(),
                false => new_weight * new + (1.0 - new_weight) * old,
            };
            old.iter()
                .zip(&fresh.outputs)
                .map(|(old, new)| {
                    let scaling = Scaling {
                        lower: mix(old.lower, new.lower),
                        upper: mix(old.upper, new.upper),
                        ..*old
                    };
                    scaling.starting_at(mix(old.start(), new.start()))
                })
                .collect()
        };
        let renewal = Renewal {
            new_weight,
            old_weight: 1.0 - new_weight,
            new_samples: found.samples,
            new_effective_samples: found.effective_samples,
        };
        // Each half is judged with the scale that the other one asks for.
        let half = |first: bool| -> Vec<Vec<BlockScores>> {
            let part = |blocks: &Vec<BlockScores>| match first {
                true => blocks[..count / 2].to_vec(),
                false => blocks[count / 2..].to_vec(),
            };
            stretches.iter().map(part).collect()
        };
        let (early, late) = (half(true), half(false));
        let by = |seen: &[Vec<BlockScores>]| mixed(&calibrate((seen, &[]), &floors, target, 1));
        let (by_early, by_late) = (by(&early), by(&late));
        let border = early[0].iter().map(|block| block.error.len()).sum();
        let halves = self.limited(scaled_by_halves(&bands, border, &by_late, &by_early));
        let judged = |bands: &[Band]| BandQuality::of(self.interface(), dataset, bands);
        let (before, after) = (judged(&self.simulate(dataset, part)?)?, judged(&halves)?);
        let outputs = mixed(&found);
        let calibration = Calibration {
            levels: other_levels(&found, &outputs),
            expected: expected_of(&stretches, &outputs, found.together),
            outputs,
            renewal: Some(renewal),
            ..found
        };
        let horizons = self.interface().horizons.clone();
        let mut model = self.clone().calibrated(Some(calibration))?;
        // Errors are assumed to have grown by the same share at every horizon.
        model.set_horizons(horizons);
        model.set_light(self.recalibrated_light(dataset, part, new_weight)?);
        Ok(Recalibrated {
            model,
            renewal,
            before,
            after,
        })
    }

    /// The light band scaled by its own errors on the same recordings; none where they say too little about it.
    fn recalibrated_light(&self, dataset: &Dataset, part: &Part, new_weight: f64) -> Result<Option<LightBand>> {
        let Some(light) = &self.interface().light else {
            return Ok(None);
        };
        match self.light()?.recalibrated(dataset, part, new_weight) {
            Ok(found) => Ok(found
                .model
                .interface()
                .calibration
                .clone()
                .map(|calibration| LightBand {
                    calibration,
                    ..light.clone()
                })),
            Err(ModelError::TooFewSamples { .. } | ModelError::RunDiverged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How each output is scaled now; a side that had no floor gets one, or it could never grow.
    fn scalings(&self) -> Vec<Scaling> {
        let interface = self.interface();
        let of = |output: usize| {
            let least = interface.least_half_width(output);
            match interface.calibration.as_ref().map(|found| found.outputs[output]) {
                Some(scaling) => Scaling {
                    floor: scaling.floor.max(least),
                    ..scaling
                },
                None => Scaling {
                    lower: 1.0,
                    upper: 1.0,
                    floor: least,
                    spread: None,
                    online_start: None,
                },
            }
        };
        (0..interface.outputs.len()).map(of).collect()
    }

    fn scaled(self, outputs: Vec<Scaling>) -> Result<Self> {
        let level = self.config().coverage;
        let together = self.interface().is_together();
        self.calibrated(Some(Calibration {
            outputs,
            level,
            blocks: 0,
            cuts: 0,
            samples: 0,
            effective_samples: 0.0,
            block_coverage: Vec::new(),
            cut_coverage: Vec::new(),
            expected: None,
            levels: Vec::new(),
            renewal: None,
            together,
        }))
    }
}

/// Scales for other coverages, in the same ratio to the one asked for as the new recordings have it.
fn other_levels(found: &Calibration, mixed: &[Scaling]) -> Vec<LevelScaling> {
    let ratio = |level: f64, asked: f64| if asked > 0.0 { level / asked } else { 1.0 };
    let of = |level: &LevelScaling| LevelScaling {
        coverage: level.coverage,
        outputs: mixed
            .iter()
            .zip(found.outputs.iter().zip(&level.outputs))
            .map(|(mixed, (asked, level))| Scaling {
                lower: mixed.lower * ratio(level.lower, asked.lower),
                upper: mixed.upper * ratio(level.upper, asked.upper),
                ..*mixed
            })
            .collect(),
    };
    found.levels.iter().map(of).collect()
}

/// What to expect of a band of these scales on stretches like these, `[output][stretch]`, which its floors are part of already.
fn expected_of(stretches: &[Vec<BlockScores>], scalings: &[Scaling], together: bool) -> Option<(f64, f64)> {
    let in_units = |stretches: &Vec<BlockScores>| stretches.iter().map(|stretch| scores(stretch, 0.0)).collect();
    let stretches: Vec<Vec<Scores>> = stretches.iter().map(in_units).collect();
    let none = vec![Vec::new(); stretches.len()];
    expected((&stretches, &none), scalings, together)
}

/// Scored samples of every output in stretches, in the order of time.
fn stretches(dataset: &Dataset, bands: &[Band], outputs: usize) -> Result<Vec<Vec<BlockScores>>> {
    let mut found = Vec::new();
    for output in 0..outputs {
        let scores = BlockScores::of(&align(dataset, bands, output)?);
        let block = |samples: Range<usize>| BlockScores {
            error: scores.error[samples.clone()].to_vec(),
            below: scores.below[samples.clone()].to_vec(),
            above: scores.above[samples].to_vec(),
        };
        found.push(ranges(scores.error.len()).map(block).collect());
    }
    Ok(found)
}

/// So many samples in at most six stretches that differ in length by one at most: a short one would count as much as the others.
fn ranges(total: usize) -> impl Iterator<Item = Range<usize>> {
    let count = (total / SHORTEST).clamp(1, BLOCKS);
    (0..count).map(move |index| index * total / count..(index + 1) * total / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stretch_is_much_shorter_than_the_others() {
        for total in 20..=200 {
            let found: Vec<Range<usize>> = ranges(total).collect();
            assert!((2..=BLOCKS).contains(&found.len()), "{total}: {found:?}");
            assert_eq!((found[0].start, found[found.len() - 1].end), (0, total));
            assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start), "{found:?}");
            let lengths = || found.iter().map(ExactSizeIterator::len);
            let (least, most) = (lengths().min().unwrap(), lengths().max().unwrap());
            assert!(least >= SHORTEST && most - least <= 1, "{total}: {found:?}");
        }
        // Too few for two are one, which is refused.
        assert!([0, 9, 19].iter().all(|total| ranges(*total).count() == 1));
    }
}
