//! Predictions that lie higher or lower than the fit put them: what is done where a record's level has moved by its end.

use crate::error::{ModelError, Result};
use crate::model::Model;

impl Model {
    /// The same model of a plant whose outputs lie higher by so much, each in its unit: what it is told of measured outputs and what it
    /// says are moved alike, so that nothing else changes, in exports neither.
    ///
    /// # Errors
    /// If there are other numbers than one finite one per output.
    pub fn raised(self, by: &[f64]) -> Result<Self> {
        let outputs = self.interface().outputs.len();
        if by.len() != outputs || !by.iter().all(|shift| shift.is_finite()) {
            let expected = format!("{outputs} finite number(s), one per output");
            return Err(ModelError::option("raise", format!("{by:?}"), &expected));
        }
        if by.iter().all(|&shift| shift == 0.0) {
            return Ok(self);
        }
        Ok(self.map_interface(|interface| {
            interface.raised.resize(outputs, 0.0);
            let scales = interface.normaliser.outputs.iter_mut();
            for ((scale, raised), shift) in scales.zip(&mut interface.raised).zip(by) {
                scale.mean += shift;
                *raised += shift;
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Dataset, Experiment, Part};

    use crate::fixtures::recipes;

    /// The record with outputs that lie higher.
    fn higher(dataset: &Dataset, by: f64) -> Dataset {
        let experiments = dataset.experiments().iter().map(|experiment| {
            let columns = |count: usize, of: &dyn Fn(usize) -> Vec<f64>| (0..count).map(of).collect::<Vec<_>>();
            let inputs = columns(dataset.inputs().len(), &|index| experiment.input(index).to_vec());
            let outputs = columns(dataset.outputs().len(), &|index| {
                experiment.output(index).iter().map(|y| y + by).collect()
            });
            Experiment::new("e", inputs, outputs)
        });
        let channels = (dataset.inputs().to_vec(), dataset.outputs().to_vec());
        let experiments = experiments.collect();
        Dataset::new("higher", channels.0, channels.1, dataset.sample_time(), experiments).expect("valid")
    }

    #[test]
    fn a_plant_that_lies_higher_is_the_same_plant() {
        for recipe in recipes(0.05) {
            let model = recipe.model::<f64>().to_model();
            let (dataset, part): (Dataset, Part) = recipe.dataset(60);
            let by = vec![0.75; recipe.outputs];
            let raised = model.clone().raised(&by).expect("one per output");
            assert_eq!(raised.interface().raised, by);
            let before = model.simulate(&dataset, &part).expect("runs");
            let after = raised.simulate(&higher(&dataset, 0.75), &part).expect("runs");
            for (before, after) in before.iter().zip(&after) {
                for (before, after) in [
                    (&before.lower, &after.lower),
                    (&before.centre, &after.centre),
                    (&before.upper, &after.upper),
                ] {
                    for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
                        assert!((before + 0.75 - after).abs() < 1e-9, "{before} {after}");
                    }
                }
            }
            let back = raised.raised(&vec![-0.75; recipe.outputs]).expect("one per output");
            assert!(back.interface().raised.iter().all(|&shift| shift == 0.0));
            assert!(model.clone().raised(&[]).is_err());
            assert!(model.raised(&vec![f64::NAN; recipe.outputs]).is_err());
        }
    }
}
