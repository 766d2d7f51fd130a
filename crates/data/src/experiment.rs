//! One recording, sample by sample.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::channel::{Channel, ChannelKind};
use crate::error::DataError;
use crate::prepare::{Filled, fill_gaps};
use crate::read::Position;
use crate::spot::Mark;
use crate::time::TimeAxis;

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

    /// Whether its samples are those of `other`, whatever their names, times and rows.
    #[must_use]
    pub fn has_samples_of(&self, other: &Self) -> bool {
        (&self.inputs, &self.outputs) == (&other.inputs, &other.outputs)
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
