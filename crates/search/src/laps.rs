//! Whether networks drift away where a run goes on for longer than the record.
//!
//! A record says little of modes that are slower than itself: a network may follow it closely and creep away over the next ones, until it is lost. That
//! shows on the same inputs again and again, where the answers of a plant that forgets repeat themselves. One that integrates drifts in all of its
//! networks alike, so that those alone are doubted that drift much farther than what is usual.

use intervalid_data::{Dataset, Experiment, Part};
use intervalid_model::Model;

use crate::error::Result;
use crate::folds::Folds;

/// How often the inputs come.
const LAPS: usize = 8;
/// Samples of a lap at most.
const LONGEST_LAP: usize = 5000;
/// Drifts are doubted from so many standard deviations on, if that is this multiple of what is usual.
const FAR: f64 = 1.0;
const UNUSUAL: f64 = 3.0;

/// Inputs of the longest stretch again and again.
pub(crate) struct Laps {
    dataset: Dataset,
    lap: usize,
    deviations: Vec<f64>,
}

impl Laps {
    pub(crate) fn new(folds: &Folds<'_>) -> Result<Option<Self>> {
        let Some(longest) = folds.all.segments().iter().max_by_key(|segment| segment.len()) else {
            return Ok(None);
        };
        let lap = longest.len().min(LONGEST_LAP);
        let source = folds.dataset;
        let experiment = &source.experiments()[longest.experiment];
        let again = |column: &[f64]| column[longest.start..longest.start + lap].repeat(LAPS);
        let columns = |count: usize, of: &dyn Fn(usize) -> Vec<f64>| (0..count).map(of).collect::<Vec<_>>();
        let experiment = Experiment::new(
            "laps",
            columns(source.inputs().len(), &|channel| again(experiment.input(channel))),
            columns(source.outputs().len(), &|channel| again(experiment.output(channel))),
        );
        let (inputs, outputs) = (source.inputs().to_vec(), source.outputs().to_vec());
        let dataset = Dataset::new("laps", inputs, outputs, source.sample_time(), vec![experiment])?;
        Ok(Some(Self {
            dataset: dataset.with_preparation(source.preparation().clone()),
            lap,
            deviations: folds.normaliser.outputs.iter().map(|scale| scale.std).collect(),
        }))
    }

    /// How far a free run still moves from the last lap but one to the last, root mean square in standard deviations; infinite where it ends early. What
    /// merely takes long to settle has nearly done so by then.
    pub(crate) fn drift(&self, model: &Model) -> f64 {
        let Ok(bands) = model.simulate(&self.dataset, &Part::whole(&self.dataset)) else {
            return f64::INFINITY;
        };
        let [band] = bands.as_slice() else {
            return f64::INFINITY;
        };
        if band.diverged_at.is_some() || band.len() < 2 * self.lap {
            return f64::INFINITY;
        }
        let (mut squares, mut count) = (0.0, 0_usize);
        for (centre, deviation) in band.centre.iter().zip(&self.deviations) {
            let (before, last) = centre[centre.len() - 2 * self.lap..].split_at(self.lap);
            let distances = last.iter().zip(before).map(|(a, b)| (a - b) / deviation);
            squares += distances.map(|distance| distance * distance).sum::<f64>();
            count += self.lap;
        }
        (squares / count.max(1) as f64).sqrt()
    }
}

/// Which of these drifts are much farther than what is usual among them.
pub(crate) fn unusual(drifts: &[f64]) -> Vec<bool> {
    let mut sorted = drifts.to_vec();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    drifts
        .iter()
        .map(|drift| *drift > FAR && *drift > UNUSUAL * usual)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_do_is_no_drift() {
        assert_eq!(unusual(&[0.01, 0.02, 0.01, 40.0]), [false, false, false, true]);
        assert_eq!(unusual(&[30.0, 40.0, 50.0]), [false; 3], "they integrate");
        assert_eq!(unusual(&[0.001, 0.001, 0.1]), [false; 3], "a little");
        assert_eq!(unusual(&[f64::INFINITY, 0.1]), [true, false]);
        assert_eq!(unusual(&[f64::INFINITY; 2]), [false; 2]);
        assert_eq!(unusual(&[]), [false; 0]);
    }
}
