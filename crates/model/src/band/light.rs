//! A light band: few members of a mean of many, with a band that was sized for just these.
//!
//! The band of a mean of several models is widened where they disagree, so that whatever runs it runs all of them. The light one leaves the
//! disagreement out and keeps one member of each recipe. Its scale does not come from the full band: held-out stretches were simulated by
//! models like the ones that are kept, one per recipe that had not seen the stretch, and their errors in units of such a band size it.

use intervalid_data::{Dataset, Part};
use serde::{Deserialize, Serialize};

use crate::band::calibration::Calibration;
use crate::error::{ModelError, Result};
use crate::model::Model;

/// Which members of a model make its light one, and how their band is scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LightBand {
    /// Places of the members that stay, ascending.
    pub members: Vec<usize>,
    /// The scaling of the mean of their bands, from held-out stretches; their disagreement adds nothing.
    pub calibration: Calibration,
    /// Root mean square of what ŷ changes by over data that the model was fitted to, per output in its unit.
    pub difference: Vec<f64>,
}

impl LightBand {
    /// What a file may not hold, in words.
    pub(crate) fn check(&self, members: usize, outputs: usize) -> Result<(), String> {
        let ascending = self.members.windows(2).all(|pair| pair[0] < pair[1]);
        let exist = self.members.last().is_some_and(|&last| last < members);
        if !ascending || !exist {
            return Err(format!(
                "its light band has members {:?}, expected ascending places below {members}",
                self.members
            ));
        }
        let sound = |value: &f64| value.is_finite() && *value >= 0.0;
        if self.difference.len() != outputs || !self.difference.iter().all(sound) {
            return Err(format!(
                "its light band differs by {:?}, expected {outputs} number(s), none negative",
                self.difference
            ));
        }
        self.calibration
            .check(outputs)
            .map_err(|reason| format!("its light band: {reason}"))
    }
}

impl Model {
    /// The same model with a light one inside: `members` are the places of those that stay, `calibration` was found for the mean of
    /// their bands on held-out stretches. What that changes about ŷ is measured on `part`.
    ///
    /// # Errors
    /// If there are no such members, the calibration is of another number of outputs, or the part is too short.
    pub fn with_light(
        mut self,
        members: Vec<usize>,
        calibration: Calibration,
        dataset: &Dataset,
        part: &Part,
    ) -> Result<Self> {
        let outputs = self.interface().outputs.len();
        let mut light = LightBand {
            members,
            calibration: calibration.without_spread(),
            difference: vec![0.0; outputs],
        };
        light
            .check(self.members(), outputs)
            .map_err(|reason| ModelError::option("light band", reason, "members of the model and a sound scaling"))?;
        let (full, few) = (
            self.simulate_unlimited(dataset, part)?,
            self.lightened(&light).simulate_unlimited(dataset, part)?,
        );
        for (output, difference) in light.difference.iter_mut().enumerate() {
            let (mut squares, mut count) = (0.0, 0_usize);
            for (full, few) in full.iter().zip(&few) {
                for (a, b) in full.centre[output].iter().zip(&few.centre[output]).skip(full.warmup) {
                    squares += (a - b).powi(2);
                    count += 1;
                }
            }
            *difference = (squares / count.max(1) as f64).sqrt();
        }
        self.set_light(Some(light));
        Ok(self)
    }

    /// The light model: few members with a band that was sized for them. A model of one member is as light as it gets: itself.
    ///
    /// What few samples after a measurement do to the band ([`HorizonScales`](crate::HorizonScales)) is that of the full model: held-out
    /// models of one member per recipe said it of both.
    ///
    /// # Errors
    /// [`ModelError::NoLightBand`] of several members that store none: files of earlier versions, and means that nobody calibrated.
    pub fn light(&self) -> Result<Self> {
        match &self.interface().light {
            Some(light) => Ok(self.lightened(light)),
            None if self.members() == 1 => Ok(self.clone()),
            None => Err(ModelError::NoLightBand {
                members: self.members(),
            }),
        }
    }

    fn lightened(&self, light: &LightBand) -> Self {
        let mut interface = self.interface().clone();
        interface.calibration = Some(light.calibration.clone());
        interface.light = None;
        Self::new(interface, self.config().clone(), self.body().only(&light.members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::calibration::{BlockScores, CoverageTarget, calibrate};
    use crate::fixtures::{Recipe, recipes};

    /// A calibration whose scale is about this.
    fn scaled_by(scale: f64, outputs: usize, members: usize) -> Calibration {
        let block = |seed: usize| BlockScores {
            error: (0..50).map(|k| scale * ((k + seed) as f64 * 0.7).sin()).collect(),
            below: vec![1.0; 50],
            above: vec![1.0; 50],
        };
        let blocks: Vec<Vec<BlockScores>> = (0..outputs).map(|_| (0..5).map(block).collect()).collect();
        let target = CoverageTarget::of_each(0.9);
        calibrate((&blocks, &[]), &vec![0.01; outputs], target, members)
    }

    #[test]
    fn the_light_model_is_its_members_with_their_own_scale() {
        let mut tried = 0;
        for recipe in recipes(0.05) {
            let parts: Vec<Model> = (0..3)
                .map(|seed| Recipe { seed, ..recipe.clone() }.model::<f64>().to_model())
                .collect();
            let (dataset, part) = recipe.dataset(60);
            let outputs = recipe.outputs;
            let full = Model::ensemble(parts.clone()).expect("alike");
            let full = full.calibrated(Some(scaled_by(2.0, outputs, 3))).expect("sound");
            assert!(matches!(full.light(), Err(ModelError::NoLightBand { members: 3 })));
            for kept in [vec![1], vec![0, 2]] {
                let calibration = scaled_by(3.0, outputs, 1);
                let with = full
                    .clone()
                    .with_light(kept.clone(), calibration.clone(), &dataset, &part)
                    .expect("exist");
                let light = with.light().expect("stored");
                assert_eq!(light.members(), kept.len());
                // The full one is what it was.
                assert_eq!(
                    with.simulate(&dataset, &part).expect("runs"),
                    full.simulate(&dataset, &part).expect("runs")
                );
                let found = &light.simulate(&dataset, &part).expect("runs")[0];
                let runs: Vec<_> = kept
                    .iter()
                    .map(|&place| parts[place].simulate(&dataset, &part).expect("runs").swap_remove(0))
                    .collect();
                let mean = |of: &dyn Fn(usize) -> f64| (0..kept.len()).map(of).sum::<f64>() / kept.len() as f64;
                let full_run = &full.simulate(&dataset, &part).expect("runs")[0];
                for output in 0..outputs {
                    let scale = calibration.outputs[output].upper;
                    let mut squares = 0.0;
                    for k in 0..found.len() {
                        let centre = mean(&|run| runs[run].centre[output][k]);
                        let above = mean(&|run| runs[run].upper[output][k] - runs[run].centre[output][k]);
                        let expected = centre + scale * above.max(calibration.outputs[output].floor);
                        assert!((found.centre[output][k] - centre).abs() < 1e-12);
                        assert!((found.upper[output][k] - expected).abs() < 1e-9, "{recipe:?}");
                        squares +=
                            (centre - full_run.centre[output][k]).powi(2) * f64::from(u8::from(k >= found.warmup));
                    }
                    let stated = with.interface().light.as_ref().expect("stored").difference[output];
                    let count = (found.len() - found.warmup) as f64;
                    assert!((stated - (squares / count).sqrt()).abs() < 1e-12, "{stated}");
                }
                // A file holds it, to the bit, and at other coverages it is one of theirs.
                let read = Model::from_bytes(with.to_bytes().expect("writes")).expect("reads");
                assert_eq!(read, with);
                let half = with.at_coverage(0.5).expect("stored").light().expect("stored");
                assert_eq!(
                    half.interface()
                        .calibration
                        .as_ref()
                        .map(|found| found.outputs[0].upper),
                    light
                        .at_coverage(0.5)
                        .expect("stored")
                        .interface()
                        .calibration
                        .as_ref()
                        .map(|found| found.outputs[0].upper)
                );
                assert_ne!(
                    light.fingerprint().expect("hashes"),
                    with.fingerprint().expect("hashes")
                );
                // Another scale of the full band says nothing of the light one.
                let other = with.calibrated(Some(scaled_by(9.0, outputs, 3))).expect("sound");
                assert!(other.light().is_err());
                tried += 1;
            }
        }
        assert!(tried > 4);
    }

    #[test]
    fn one_member_is_as_light_as_it_gets() {
        let recipe = &recipes(0.05)[0];
        let model = recipe.model::<f64>().to_model();
        assert_eq!(model.light().expect("itself"), model);
    }

    #[test]
    fn files_with_other_members_are_refused() {
        let good = LightBand {
            members: vec![0, 4],
            calibration: scaled_by(1.0, 1, 1),
            difference: vec![0.1],
        };
        assert_eq!(good.check(5, 1), Ok(()));
        assert!(good.check(4, 1).is_err() && good.check(5, 2).is_err());
        for break_it in [
            |light: &mut LightBand| light.members = vec![],
            |light: &mut LightBand| light.members = vec![2, 1],
            |light: &mut LightBand| light.difference = vec![-1.0],
            |light: &mut LightBand| light.difference = vec![f64::NAN],
            |light: &mut LightBand| light.calibration.outputs[0].upper = f64::NAN,
        ] {
            let mut bad = good.clone();
            break_it(&mut bad);
            assert!(bad.check(5, 1).is_err(), "{bad:?}");
        }
    }
}
