//! The one type every later step starts from: named channels, one or more experiments, checked once.

use std::collections::HashSet;

use crate::channel::{Channel, channel_index};
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::prepare::Preparation;
use crate::warning::Warning;

/// Recorded inputs and outputs of one system, in one or more experiments.
///
/// A value of this type has finite samples, equal column lengths, unique channel names, at least one output and at least
/// one sample per experiment, and a positive sample time if any. No later step checks these again.
///
/// No inputs at all is allowed: that is an autonomous time series.
///
/// ```
/// use intervalid_data::{Channel, Dataset, Experiment};
///
/// let experiment = Experiment::new("first", vec![vec![0.0, 1.0, 1.0]], vec![vec![0.0, 0.0, 0.5]]);
/// let dataset = Dataset::new("step", vec![Channel::new("u")], vec![Channel::new("y")], Some(0.1), vec![experiment])?;
/// assert_eq!(dataset.samples(), 3);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    name: String,
    inputs: Vec<Channel>,
    outputs: Vec<Channel>,
    sample_time: Option<f64>,
    experiments: Vec<Experiment>,
    warnings: Vec<Warning>,
    preparation: Preparation,
    unsettled: usize,
    experiment_column: Option<String>,
}

impl Dataset {
    /// Checks everything the type promises.
    ///
    /// # Errors
    /// Names the experiment, channel and sample (from 0) that break a promise.
    pub fn new(
        name: impl Into<String>,
        inputs: Vec<Channel>,
        outputs: Vec<Channel>,
        sample_time: Option<f64>,
        experiments: Vec<Experiment>,
    ) -> Result<Self, DataError> {
        if outputs.is_empty() {
            return Err(DataError::NoOutputs);
        }
        let mut seen = HashSet::new();
        for channel in inputs.iter().chain(&outputs) {
            if !seen.insert(channel.name.as_str()) {
                return Err(DataError::DuplicateChannel {
                    name: channel.name.clone(),
                });
            }
        }
        if let Some(seconds) = sample_time
            && !(seconds.is_finite() && seconds > 0.0)
        {
            return Err(DataError::SampleTime { found: seconds });
        }
        if experiments.is_empty() {
            return Err(DataError::NoExperiments);
        }
        for experiment in &experiments {
            experiment.check(&inputs, &outputs)?;
        }
        Ok(Self {
            name: name.into(),
            inputs,
            outputs,
            sample_time,
            experiments,
            warnings: Vec::new(),
            preparation: Preparation::default(),
            unsettled: 0,
            experiment_column: None,
        })
    }

    /// Name for messages, tables and file names.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Input channels in column order.
    pub fn inputs(&self) -> &[Channel] {
        &self.inputs
    }

    /// Output channels in column order.
    pub fn outputs(&self) -> &[Channel] {
        &self.outputs
    }

    /// Seconds between samples, where known. Metadata: nothing computes with it.
    pub fn sample_time(&self) -> Option<f64> {
        self.sample_time
    }

    /// All experiments, in file order.
    pub fn experiments(&self) -> &[Experiment] {
        &self.experiments
    }

    /// Samples in all experiments together.
    pub fn samples(&self) -> usize {
        self.experiments.iter().map(Experiment::len).sum()
    }

    /// What the reader noticed but did not refuse, such as gaps at which a file was split.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What was done to the recordings before they became this record.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// The same record, known to have been prepared like this: for records that are put together from pieces of a prepared one.
    #[must_use]
    pub fn with_preparation(self, preparation: Preparation) -> Self {
        Self { preparation, ..self }
    }

    /// Samples at the end of a recording that rows to come may still change, by what was done to it.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.unsettled
    }

    pub(crate) fn with_unsettled(self, unsettled: usize) -> Self {
        Self { unsettled, ..self }
    }

    /// The column of the recordings that told experiments apart, if one did.
    #[must_use]
    pub fn experiment_column(&self) -> Option<&str> {
        self.experiment_column.as_deref()
    }

    pub(crate) fn with_experiment_column(self, experiment_column: Option<String>) -> Self {
        Self {
            experiment_column,
            ..self
        }
    }

    /// The same channels with other experiments.
    pub(crate) fn with_experiments(
        self,
        sample_time: Option<f64>,
        experiments: Vec<Experiment>,
    ) -> Result<Self, DataError> {
        let (preparation, column) = (self.preparation, self.experiment_column);
        let other = Self::new(self.name, self.inputs, self.outputs, sample_time, experiments)?;
        let other = other.with_warnings(self.warnings).with_preparation(preparation);
        Ok(other.with_experiment_column(column))
    }

    /// The same record without [unsettled](Self::unsettled) samples; none where nothing else is there.
    ///
    /// Rows to come lengthen the last experiment of a file alone. It is left out while all of it is unsettled.
    #[must_use]
    pub fn settled(&self) -> Option<Self> {
        let settled = |experiment: &Experiment| match experiment.is_closed() {
            true => Some(experiment.clone()),
            false => {
                let samples = experiment.len().saturating_sub(self.unsettled);
                (samples > 0).then(|| experiment.first_samples(samples))
            }
        };
        let experiments: Vec<Experiment> = self.experiments.iter().filter_map(settled).collect();
        (!experiments.is_empty()).then(|| Self {
            experiments,
            unsettled: 0,
            ..self.clone()
        })
    }

    pub(crate) fn experiment_mut(&mut self, index: usize) -> &mut Experiment {
        &mut self.experiments[index]
    }

    /// Input channels, then output channels.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// Where a channel of this name is, inputs counted before outputs.
    pub(crate) fn channel_index(&self, name: &str) -> Result<usize, DataError> {
        channel_index(&self.inputs, &self.outputs, name)
    }

    pub(crate) fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// The same data under another name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same data with units by channel name, which win over those they have.
    ///
    /// # Errors
    /// If there is no channel of such a name.
    pub fn with_units_by_name(mut self, units: &[(String, String)]) -> Result<Self, DataError> {
        for (name, unit) in units {
            let index = self.channel_index(name)?;
            let mut channels = self.inputs.iter_mut().chain(&mut self.outputs);
            if let Some(channel) = channels.nth(index) {
                channel.unit = Some(unit.clone());
            }
        }
        Ok(self)
    }

    /// The same data with units for the channels of these names that have none: those of the file or the user know better.
    pub(crate) fn with_usual_units(mut self, units: &[(&str, Option<&str>)]) -> Self {
        for channel in self.inputs.iter_mut().chain(&mut self.outputs) {
            let usual = units.iter().find(|(name, _)| channel.name == *name);
            channel.unit = channel
                .unit
                .take()
                .or(usual.and_then(|(_, unit)| unit.map(str::to_owned)));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(names: &[&str]) -> Vec<Channel> {
        names.iter().map(|name| Channel::new(*name)).collect()
    }

    fn message(
        inputs: &[&str],
        outputs: &[&str],
        sample_time: Option<f64>,
        experiments: Vec<Experiment>,
    ) -> Option<String> {
        Dataset::new("d", channels(inputs), channels(outputs), sample_time, experiments)
            .err()
            .map(|e| e.to_string())
    }

    fn good() -> Experiment {
        Experiment::new("a", vec![vec![1.0, 2.0]], vec![vec![3.0, 4.0]])
    }

    #[test]
    fn every_promise_is_checked() {
        let cases = [
            (
                message(&["u"], &[], None, vec![good()]),
                "no output channel: name at least one output",
            ),
            (
                message(&["u"], &["u"], None, vec![good()]),
                "channel 'u' is named twice: channel names must be unique",
            ),
            (
                message(&["u"], &["y"], Some(0.0), vec![good()]),
                "sample time 0 is not a positive number of seconds",
            ),
            (
                message(&["u"], &["y"], None, vec![]),
                "no experiments: a data set needs at least one",
            ),
            (
                message(
                    &["u"],
                    &["y"],
                    None,
                    vec![Experiment::new("a", vec![vec![]], vec![vec![]])],
                ),
                "experiment 'a' has no samples",
            ),
            (
                message(&["u", "v"], &["y"], None, vec![good()]),
                "experiment 'a' has 1 input column(s), expected 2: all experiments must have the same channels",
            ),
            (
                message(
                    &["u"],
                    &["y"],
                    None,
                    vec![Experiment::new("a", vec![vec![1.0]], vec![vec![1.0, 2.0]])],
                ),
                "experiment 'a': channel 'u' has 1 samples, expected 2 like the first output",
            ),
            (
                message(
                    &["u"],
                    &["y"],
                    None,
                    vec![Experiment::new("a", vec![vec![f64::NAN]], vec![vec![1.0]])],
                ),
                "experiment 'a': channel 'u' is NaN at sample 0 (counted from 0): samples must be finite",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_whole_name_of_a_channel_comes_before_its_short_form() {
        let experiment = Experiment::new("a", vec![vec![1.0], vec![1.0]], vec![vec![1.0]]);
        let inputs = channels(&["flow", "flow [l/s]"]);
        let dataset = Dataset::new("d", inputs, channels(&["level"]), None, vec![experiment]).expect("valid");
        for (name, index) in [("flow", 0), ("flow [l/s]", 1), ("flow [m3/h]", 0), ("level [m]", 2)] {
            assert_eq!(dataset.channel_index(name).expect(name), index, "{name}");
        }
        let units = [("flow [l/s]".to_owned(), "m3/h".to_owned())];
        let dataset = dataset.with_units_by_name(&units).expect("known");
        let units: Vec<Option<&str>> = dataset.channels().map(|channel| channel.unit.as_deref()).collect();
        assert_eq!(units, [None, Some("m3/h"), None]);
    }

    #[test]
    fn rows_to_come_change_the_last_experiment_of_a_file_alone() {
        let experiment = |name: &str, samples: usize, is_closed: bool| {
            let mut experiment = Experiment::new(name, vec![], vec![vec![1.0; samples]]);
            if is_closed {
                experiment.close();
            }
            experiment
        };
        let settled = |experiments: Vec<Experiment>| {
            let dataset = Dataset::new("d", vec![], channels(&["y"]), None, experiments).expect("valid");
            let settled = dataset.with_unsettled(5).settled()?;
            assert_eq!(settled.unsettled(), 0);
            let lengths = settled.experiments().iter().map(|e| (e.name().to_owned(), e.len()));
            Some(lengths.collect::<Vec<_>>())
        };
        let of = |name: &str, samples| (name.to_owned(), samples);
        assert_eq!(
            settled(vec![experiment("a#1", 3, true), experiment("a#2", 9, false)]),
            Some(vec![of("a#1", 3), of("a#2", 4)])
        );
        // Left out while it is too short; the other file has another end.
        let files = vec![
            experiment("a#1", 8, true),
            experiment("a#2", 5, false),
            experiment("b", 6, false),
        ];
        assert_eq!(settled(files), Some(vec![of("a#1", 8), of("b", 1)]));
        assert_eq!(settled(vec![experiment("a", 5, false)]), None);
    }

    #[test]
    fn a_time_series_without_inputs_is_allowed() {
        let dataset = Dataset::new(
            "d",
            vec![],
            channels(&["y"]),
            None,
            vec![Experiment::new("a", vec![], vec![vec![1.0]])],
        );
        assert!(dataset.is_ok_and(|dataset| dataset.inputs().is_empty() && dataset.samples() == 1));
    }
}
