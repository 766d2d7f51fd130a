//! What every fitted model knows of the record it was fitted on.

use intervalid_data::{Channel, Dataset, Normaliser, Scaled, Window};
use intervalid_interval::Real;

use crate::error::{ModelError, Result};
use crate::prediction::Band;

/// Channels of a model and their scaling.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Input channels.
    pub inputs: Vec<Channel>,
    /// Output channels.
    pub outputs: Vec<Channel>,
    /// Seconds between samples, if known.
    pub sample_time: Option<f64>,
    /// Mean and standard deviation of each channel in the training part.
    pub normaliser: Normaliser,
}

impl Signature {
    pub(crate) fn new(dataset: &Dataset, normaliser: Normaliser) -> Self {
        Self {
            inputs: dataset.inputs().to_vec(),
            outputs: dataset.outputs().to_vec(),
            sample_time: dataset.sample_time(),
            normaliser,
        }
    }

    /// New data in the model's units.
    ///
    /// # Errors
    /// [`ModelError::Channels`] if the data have other numbers of channels.
    pub fn scale<T: Real>(&self, dataset: &Dataset) -> Result<Scaled<T>> {
        for (what, expected, found) in [
            ("inputs", self.inputs.len(), dataset.inputs().len()),
            ("outputs", self.outputs.len(), dataset.outputs().len()),
        ] {
            if expected != found {
                return Err(ModelError::Channels { what, expected, found });
            }
        }
        Ok(self.normaliser.scale(dataset))
    }

    /// Simulated values, normalised and `[step][output]`, as a band in physical units.
    pub(crate) fn band<T: Real>(&self, window: Window, warmup: usize, run: &Simulated<'_, T>) -> Band {
        let outputs = self.outputs.len();
        let steps = run.diverged_at.unwrap_or(run.centre.len() / outputs);
        let physical = |values: &[T]| -> Vec<Vec<f64>> {
            let column = |output| {
                let values = values.iter().skip(output).step_by(outputs).take(steps);
                values
                    .map(|&value| self.normaliser.output_to_physical(output, value))
                    .collect()
            };
            (0..outputs).map(column).collect()
        };
        Band {
            experiment: window.experiment,
            first: window.start + 1,
            warmup: warmup.min(steps),
            lower: physical(run.lower),
            centre: physical(run.centre),
            upper: physical(run.upper),
            diverged_at: run.diverged_at,
        }
    }
}

/// One simulation, normalised, `[step][output]`.
pub(crate) struct Simulated<'a, T> {
    pub(crate) lower: &'a [T],
    pub(crate) centre: &'a [T],
    pub(crate) upper: &'a [T],
    pub(crate) diverged_at: Option<usize>,
}
