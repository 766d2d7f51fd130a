//! One recording, sample by sample.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::channel::{Channel, ChannelKind};
use crate::error::DataError;
use crate::prepare::{Filled, fill_gaps};
use crate::read::Position;
use crate::spot::Mark;
use crate::time::TimeAxis;

/// Fewer samples may well be equal by chance.
pub(crate) const TELLING: usize = 10;

/// One uninterrupted recording: a column per channel, one sample per row.
///
/// The columns are unchecked until the experiment becomes part of a [`Dataset`](crate::Dataset).
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    name: String,
    inputs: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
    time: Option<TimeAxis>,
    first_row: Option<Position>,
    row_stride: u64,
    /// What was done at some of its samples.
    marks: Vec<Mark>,
    /// Whether no sample can follow its last one.
    is_closed: bool,
}

impl Experiment {
    /// Columns in channel order; [`Dataset::new`](crate::Dataset::new) checks them.
    pub fn new(name: impl Into<String>, inputs: Vec<Vec<f64>>, outputs: Vec<Vec<f64>>) -> Self {
        Self {
            name: name.into(),
            inputs,
            outputs,
            time: None,
            first_row: None,
            row_stride: 1,
            marks: Vec::new(),
            is_closed: false,
        }
    }

    /// The same experiment with the times of its samples.
    #[must_use]
    pub fn with_time(self, time: Option<TimeAxis>) -> Self {
        Self { time, ..self }
    }

    /// The same experiment with the row of its file that the first sample comes from; the others follow it.
    #[must_use]
    pub fn with_first_row(self, first_row: Option<Position>) -> Self {
        Self { first_row, ..self }
    }

    /// When samples were taken, where a file or a table said so.
    pub fn time(&self) -> Option<&TimeAxis> {
        self.time.as_ref()
    }

    /// Where in its file a sample, counted from 0, is; none of samples that are not there as they are.
    pub fn row(&self, sample: usize) -> Option<Position> {
        self.first_row.map(|first| first.plus(sample as u64 * self.row_stride))
    }

    /// Rows of the file from one sample to the next.
    pub(crate) fn row_stride(&self) -> u64 {
        self.row_stride
    }

    pub(crate) fn with_row_stride(self, row_stride: u64) -> Self {
        Self { row_stride, ..self }
    }

    /// What was done at some of its samples.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    pub(crate) fn with_marks(self, marks: Vec<Mark>) -> Self {
        Self { marks, ..self }
    }

    pub(crate) fn add_marks(&mut self, marks: impl IntoIterator<Item = Mark>) {
        self.marks.extend(marks);
    }

    /// Notes that no sample can follow its last one: in its file, another experiment does.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// A sample for messages: its row, or its number from 0.
    pub(crate) fn place(&self, sample: usize) -> String {
        self.row(sample)
            .map_or_else(|| format!("sample {sample}"), |row| row.to_string())
    }

    /// All samples of a channel, inputs counted before outputs.
    pub(crate) fn column(&self, channel: usize) -> &[f64] {
        let inputs = self.inputs.len();
        match channel < inputs {
            true => &self.inputs[channel],
            false => &self.outputs[channel - inputs],
        }
    }

    pub(crate) fn column_mut(&mut self, channel: usize) -> &mut [f64] {
        let inputs = self.inputs.len();
        match channel < inputs {
            true => &mut self.inputs[channel],
            false => &mut self.outputs[channel - inputs],
        }
    }

    pub(crate) fn map_columns(&self, map: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let mapped = |columns: &[Vec<f64>]| columns.iter().map(|column| map(column)).collect();
        Self {
            inputs: mapped(&self.inputs),
            outputs: mapped(&self.outputs),
            ..self.clone()
        }
    }

    /// The same experiment with gaps of up to `most` missing samples (NaN) as straight lines.
    #[must_use]
    pub fn with_gaps_filled(mut self, most: usize) -> Self {
        let rows = 0..self.len();
        let inputs = self.inputs.len();
        let of_inputs = fill_gaps(&mut self.inputs, std::slice::from_ref(&rows), None, most);
        let of_outputs = fill_gaps(&mut self.outputs, &[rows], None, most);
        let of_outputs = of_outputs.into_iter().map(|filled| filled.of_channel(inputs));
        self.add_marks(of_inputs.into_iter().chain(of_outputs).map(Filled::into_mark));
        self
    }

    /// The same samples, taken when and standing where those of `other` do from sample `first` on.
    #[must_use]
    pub fn placed_like(self, other: &Self, first: usize) -> Self {
        Self {
            time: other.time.map(|axis| TimeAxis {
                start: axis.at(first),
                ..axis
            }),
            first_row: other.row(first),
            row_stride: other.row_stride,
            ..self
        }
    }

    /// The first `samples` of it; all where there are no more.
    #[must_use]
    pub fn first_samples(&self, samples: usize) -> Self {
        let kept = self.marks.iter().filter(|mark| mark.end <= samples).cloned();
        let marks = kept.collect();
        self.map_columns(|column| column[..samples.min(column.len())].to_vec())
            .with_marks(marks)
    }

    /// Name for messages and tables (file stem, experiment label, or both).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.outputs.first().map_or(0, Vec::len)
    }

    /// Whether there are no samples; never true inside a [`Dataset`](crate::Dataset).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its samples are those of `other`, or those of one are the beginning of the other, as where a recording has grown; whatever their names,
    /// times and rows.
    #[must_use]
    pub fn has_samples_of(&self, other: &Self) -> bool {
        self.has_settled_samples_of(other, 0)
    }

    /// The same, where rows to come may change the last `unsettled` samples of the shorter one.
    #[must_use]
    pub fn has_settled_samples_of(&self, other: &Self, unsettled: usize) -> bool {
        if (&self.inputs, &self.outputs) == (&other.inputs, &other.outputs) {
            return true;
        }
        let shared = self.len().min(other.len()).saturating_sub(unsettled);
        let alike = |own: &[Vec<f64>], others: &[Vec<f64>]| {
            let mut pairs = own.iter().zip(others);
            own.len() == others.len() && pairs.all(|(a, b)| a[..shared] == b[..shared])
        };
        self.is_known_by(shared) && alike(&self.inputs, &other.inputs) && alike(&self.outputs, &other.outputs)
    }

    /// Whether its first `samples` are enough to know it by: recordings of one plant may well begin with the same rest.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "a channel at rest repeats the very same number")]
    pub fn is_known_by(&self, samples: usize) -> bool {
        let columns = || self.inputs.iter().chain(&self.outputs);
        let is_at_rest = |sample: &usize| columns().all(|column| column[*sample] == column[0]);
        let samples = samples.min(self.len());
        let rest = (0..samples).take_while(is_at_rest).count();
        samples - rest >= TELLING
    }

    /// Equal for equal samples.
    pub(crate) fn hash_of_samples(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for value in self.inputs.iter().chain(&self.outputs).flatten() {
            // Both zeros are equal.
            (value + 0.0).to_bits().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// All samples of input channel `channel`.
    ///
    /// # Panics
    /// If the data set has no such input.
    pub fn input(&self, channel: usize) -> &[f64] {
        &self.inputs[channel]
    }

    /// All samples of output channel `channel`.
    ///
    /// # Panics
    /// If the data set has no such output.
    pub fn output(&self, channel: usize) -> &[f64] {
        &self.outputs[channel]
    }

    /// What a data set with these channels promises of each of its experiments.
    pub(crate) fn check(&self, inputs: &[Channel], outputs: &[Channel]) -> Result<(), DataError> {
        for (kind, expected, found) in [
            (ChannelKind::Input, inputs.len(), self.inputs.len()),
            (ChannelKind::Output, outputs.len(), self.outputs.len()),
        ] {
            if expected != found {
                return Err(DataError::ExperimentWidth {
                    experiment: self.name.clone(),
                    kind,
                    expected,
                    found,
                });
            }
        }
        let length = self.len();
        if length == 0 {
            return Err(DataError::EmptyExperiment {
                experiment: self.name.clone(),
            });
        }
        let columns = self.inputs.iter().chain(&self.outputs);
        for (channel, column) in inputs.iter().chain(outputs).zip(columns) {
            if column.len() != length {
                return Err(DataError::UnequalLengths {
                    experiment: self.name.clone(),
                    channel: channel.name.clone(),
                    expected: length,
                    found: column.len(),
                });
            }
            if let Some(sample) = column.iter().position(|value| !value.is_finite()) {
                return Err(DataError::NonFiniteSample {
                    experiment: self.name.clone(),
                    channel: channel.name.clone(),
                    sample,
                    found: column[sample],
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_has_grown_holds_the_samples_of_what_it_was() {
        let recording = |rest: usize, samples: usize, seed: u64| {
            let random = |k: usize| ((k as u64 * k as u64 * 7919 + seed * 31) % 101) as f64;
            let column = |scale: f64| {
                let moving = (0..samples - rest).map(move |k| scale * random(k));
                std::iter::repeat_n(2.0, rest).chain(moving).collect::<Vec<_>>()
            };
            Experiment::new("e", vec![column(1.0)], vec![column(0.5)])
        };
        let (short, long) = (recording(0, 40, 1), recording(0, 60, 1));
        assert!(short.has_samples_of(&short) && short.has_samples_of(&long) && long.has_samples_of(&short));
        assert!(!long.has_samples_of(&recording(0, 40, 2)));
        // Its last samples may have been others before it grew.
        let changed = {
            let mut changed = short.clone();
            changed.column_mut(1)[38] += 1.0;
            changed
        };
        assert!(!long.has_samples_of(&changed) && long.has_settled_samples_of(&changed, 2));
        // Chance, and the rest before a test begins, are no sign of the same recording.
        assert!(!long.has_samples_of(&recording(0, 8, 1)));
        assert!(!recording(30, 35, 1).has_samples_of(&recording(30, 60, 1)));
        assert!(recording(30, 50, 1).has_samples_of(&recording(30, 60, 1)));
    }
}
