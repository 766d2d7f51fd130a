//! Which samples a model may run on: checked once, where they enter.

use intervalid_data::{
    Channel, Dataset, InitialState, Lags, Part, Regressor, Scale, Scaled, Segment, Window, free_run_windows,
};
use intervalid_interval::Real;

use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::model::Model;

/// Inputs, and measured outputs that a run starts from, must lie within this many standard deviations of their channel's training
/// mean: far outside what any plant does (an overload mark such as 9.9e37 is refused), far inside single precision.
pub const SAMPLE_LIMIT: f64 = 1e6;

/// An input this many times as far from its training mean as any training sample is hardly a value of the plant: it is a mark for a missing sample, or in
/// another unit.
const FAR: f64 = 10.0;

/// An input that lies far outside of what a model knows.
#[derive(Clone, Debug, PartialEq)]
pub struct FarInput {
    /// Input channel.
    pub channel: String,
    /// Experiment.
    pub experiment: String,
    /// Sample, counted from 0.
    pub sample: usize,
    /// Its value.
    pub value: f64,
    /// Least and greatest value of the training data, with a little room.
    pub known: (f64, f64),
}

impl Model {
    /// The first input of a part that is far outside of the training data; none where the model does not know these, or knows them less a trend.
    #[must_use]
    pub fn far_input(&self, dataset: &Dataset, part: &Part) -> Option<FarInput> {
        let interface = self.interface();
        let region = interface.region.as_ref().filter(|region| !region.lowest.is_empty())?;
        if interface.trend.is_some() || dataset.inputs().len() != interface.inputs.len() {
            return None;
        }
        let regressor = Regressor::new(region.lags, interface.inputs.len(), interface.outputs.len());
        let far = |(channel, scale): (usize, &Scale), segment: &Segment| {
            let row = regressor.input_row(0, channel);
            let (lowest, highest) = (*region.lowest.get(row)?, *region.highest.get(row)?);
            let furthest = FAR * lowest.abs().max(highest.abs());
            let experiment = dataset.experiments().get(segment.experiment)?;
            let values = experiment.input(channel).get(segment.start..segment.end)?;
            let place = values
                .iter()
                .position(|value| scale.to_normalised(*value).abs() > furthest)?;
            Some(FarInput {
                channel: interface.inputs[channel].name.clone(),
                experiment: experiment.name().to_owned(),
                sample: segment.start + place,
                value: values[place],
                known: (scale.to_physical(lowest), scale.to_physical(highest)),
            })
        };
        let scales = || interface.normaliser.inputs.iter().enumerate();
        part.segments()
            .iter()
            .find_map(|segment| scales().find_map(|channel| far(channel, segment)))
    }
}

/// A value beyond [`SAMPLE_LIMIT`] as an error; `sample` names the experiment and counts from 0.
pub(crate) fn check_range(
    what: &'static str,
    (channel, scale): (&Channel, Scale),
    value: f64,
    sample: Option<(&str, usize)>,
) -> Result<()> {
    if scale.to_normalised(value).abs() <= SAMPLE_LIMIT {
        return Ok(());
    }
    Err(ModelError::OutOfRange {
        what,
        channel: channel.name.clone(),
        value,
        least: scale.to_physical(-SAMPLE_LIMIT),
        most: scale.to_physical(SAMPLE_LIMIT),
        sample: sample.map(|(experiment, index)| (experiment.to_owned(), index)),
    })
}

impl ModelInterface {
    /// New data in the model's units, and the free runs over a part of them.
    ///
    /// # Errors
    /// If the data have other channels, the part is too short, or a sample that a run takes is beyond [`SAMPLE_LIMIT`].
    pub(crate) fn runs<T: Real>(
        &self,
        dataset: &Dataset,
        part: &Part,
        (lags, initial): (Lags, InitialState),
    ) -> Result<(Scaled<T>, Vec<Window>)> {
        let scaled = self.scale(dataset)?;
        let windows = free_run_windows(dataset, part, lags, initial)?;
        for window in &windows {
            let end = window.start + window.len;
            let first = (window.start + 1).saturating_sub(lags.input_age(lags.nx));
            self.check_inputs(dataset, window.experiment, first..end)?;
            let known = initial.known_outputs(window.start, lags);
            self.check_outputs(dataset, window.experiment, known.start..known.end.min(end))?;
        }
        Ok((scaled, windows))
    }

    /// Whether a model with this interface may run on the inputs of a part.
    ///
    /// # Errors
    /// [`ModelError::Channels`] if the data have other numbers of channels, [`ModelError::OutOfRange`] for the first input beyond
    /// [`SAMPLE_LIMIT`].
    pub fn check_part(&self, dataset: &Dataset, part: &Part) -> Result<()> {
        self.check_channels(dataset)?;
        part.check(dataset)?;
        for segment in part.segments() {
            self.check_inputs(dataset, segment.experiment, segment.start..segment.end)?;
        }
        Ok(())
    }

    /// Whether a model may take the measured outputs of all samples of these runs, as predictions from measurements do.
    pub(crate) fn check_measured(&self, dataset: &Dataset, windows: &[Window]) -> Result<()> {
        self.check_channels(dataset)?;
        for window in windows {
            self.check_outputs(dataset, window.experiment, window.start..window.start + window.len)?;
        }
        Ok(())
    }

    fn check_inputs(&self, dataset: &Dataset, experiment: usize, samples: std::ops::Range<usize>) -> Result<()> {
        let record = &dataset.experiments()[experiment];
        let channels = dataset.inputs().iter().zip(&self.normaliser.inputs);
        for (index, (channel, &scale)) in channels.enumerate() {
            for k in samples.clone() {
                let sample = Some((record.name(), k));
                check_range("input", (channel, scale), record.input(index)[k], sample)?;
            }
        }
        Ok(())
    }

    fn check_outputs(&self, dataset: &Dataset, experiment: usize, samples: std::ops::Range<usize>) -> Result<()> {
        let record = &dataset.experiments()[experiment];
        let channels = dataset.outputs().iter().zip(&self.normaliser.outputs);
        for (index, (channel, &scale)) in channels.enumerate() {
            for k in samples.clone() {
                let sample = Some((record.name(), k));
                check_range("measured output", (channel, scale), record.output(index)[k], sample)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::Experiment;

    use super::*;
    use crate::fixtures::recipes;

    /// The record with one other value.
    fn with(dataset: &Dataset, is_input: bool, sample: usize, value: f64) -> Dataset {
        let record = &dataset.experiments()[0];
        let mut inputs: Vec<Vec<f64>> = (0..dataset.inputs().len()).map(|c| record.input(c).to_vec()).collect();
        let mut outputs: Vec<Vec<f64>> = (0..dataset.outputs().len())
            .map(|c| record.output(c).to_vec())
            .collect();
        let column = if is_input { &mut inputs[0] } else { &mut outputs[0] };
        column[sample] = value;
        let record = Experiment::new(record.name(), inputs, outputs);
        let (inputs, outputs) = (dataset.inputs().to_vec(), dataset.outputs().to_vec());
        Dataset::new("other", inputs, outputs, None, vec![record]).unwrap()
    }

    #[test]
    fn an_overload_mark_is_refused_by_name_and_never_a_band_of_no_width() {
        for recipe in recipes(0.1) {
            let (dataset, whole) = recipe.dataset(40);
            for model in [recipe.model::<f32>().into(), recipe.model::<f64>().into()] {
                let model: Model = model;
                let error = model.simulate(&with(&dataset, true, 20, 9.9e37), &whole).unwrap_err();
                let message = error.to_string();
                assert!(matches!(error, ModelError::OutOfRange { .. }), "{message}");
                for part in ["'u0'", "9.9e37", "sample 20", "standard deviations"] {
                    assert!(message.contains(part), "{message}");
                }
                // Measured outputs matter where a run starts, not where they are compared with it.
                let late = with(&dataset, false, 30, 9.9e37);
                assert!(model.simulate(&late, &whole).is_ok(), "{recipe:?}");
                assert!(model.predict_ahead(&late, &whole, 2).is_err(), "here they are taken");
                let start = model.simulate(&dataset, &whole).unwrap()[0].first - 1;
                assert!(model.simulate(&with(&dataset, false, start, 9.9e37), &whole).is_err());
                // Nothing outside of the part is looked at.
                let part = Part::from_segments(vec![Segment {
                    experiment: 0,
                    start: 0,
                    end: 15,
                }]);
                assert!(model.simulate(&with(&dataset, true, 20, 9.9e37), &part).is_ok());
            }
        }
    }
}
