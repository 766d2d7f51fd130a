//! A recording: `Dataset` for Python.

use std::path::PathBuf;
use std::sync::Arc;

use intervalid_data::{
    Channel, DataError, Dataset, Experiment, MissingPolicy, Part, Preparation, ReadOptions, Segment, TimedTable,
    available_names, from_timed_tables, known_dataset, load,
};
use numpy::PyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::convert::column;
use crate::error;
use crate::preparation::spike_limits;

/// Name and unit.
pub(crate) type ChannelNames = Vec<(String, Option<String>)>;

/// Name, input columns and output columns of an experiment.
type Columns<'py> = (String, Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>);

/// Checked inputs and outputs of one or more experiments.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Record {
    pub(crate) dataset: Arc<Dataset>,
    /// Its name in the catalogue, where it was asked for by that; a file of the same name is somebody's own.
    pub(crate) known: Option<&'static str>,
}

fn policy(split_at_gaps: bool) -> MissingPolicy {
    match split_at_gaps {
        true => MissingPolicy::Split,
        false => MissingPolicy::Error,
    }
}

/// Longest gap to fill, limits of spikes as they are typed, samples that become one.
type Prepare = (Option<usize>, Option<String>, Option<usize>);

fn preparation(asked: Option<Prepare>) -> PyResult<Preparation> {
    let (fill_gaps, clip_spikes, decimate) = asked.unwrap_or_default();
    let clip_spikes = clip_spikes.map(|text| text.parse()).transpose().map_err(error::data)?;
    Ok(Preparation {
        fill_gaps,
        clip_spikes: clip_spikes.unwrap_or_default(),
        decimate,
    })
}

fn channels(names: ChannelNames) -> Vec<Channel> {
    let channel = |(name, unit)| Channel { name, unit };
    names.into_iter().map(channel).collect()
}

pub(crate) fn names(channels: &[Channel]) -> ChannelNames {
    let pair = |channel: &Channel| (channel.name.clone(), channel.unit.clone());
    channels.iter().map(pair).collect()
}

/// Names of the data sets that `Record.load` finds without a path.
#[pyfunction]
#[pyo3(signature = (data_dir=None))]
pub(crate) fn available_data(data_dir: Option<PathBuf>) -> Vec<String> {
    available_names(data_dir.as_deref())
}

#[pymethods]
impl Record {
    /// From columns: (name, unit) of every channel, and per experiment its name, input columns and output columns.
    ///
    /// `times` are nanoseconds since 1970 of the rows of every experiment, and whether they are of universal time. `like` is the record that the
    /// columns come from, without the first `skipped` samples of each experiment: its clock and its preparation are theirs.
    #[new]
    #[pyo3(signature = (name, inputs, outputs, sample_time, experiments, known=None, times=None, split_at_gaps=false, resample=None, prepare=None, like=None, skipped=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "all that makes a record")]
    fn new(
        name: String,
        inputs: ChannelNames,
        outputs: ChannelNames,
        sample_time: Option<f64>,
        experiments: Vec<Columns<'_>>,
        known: Option<&str>,
        times: Option<Vec<(Vec<i64>, bool)>>,
        split_at_gaps: bool,
        resample: Option<f64>,
        prepare: Option<Prepare>,
        like: Option<&Self>,
        skipped: Vec<usize>,
    ) -> PyResult<Self> {
        let prepare = preparation(prepare)?;
        if let Some(times) = times {
            let mut tables = Vec::with_capacity(experiments.len());
            for ((name, inputs, outputs), (nanoseconds, universal)) in experiments.into_iter().zip(times) {
                let columns = inputs
                    .iter()
                    .chain(&outputs)
                    .map(column)
                    .collect::<PyResult<Vec<_>>>()?;
                tables.push(TimedTable {
                    name,
                    columns,
                    nanoseconds,
                    universal,
                });
            }
            let options = ReadOptions {
                sample_time,
                resample,
                missing: policy(split_at_gaps),
                prepare,
                ..ReadOptions::default()
            };
            let dataset = from_timed_tables(&name, channels(inputs), channels(outputs), tables, &options);
            return Ok(Self {
                dataset: Arc::new(dataset.map_err(error::data)?),
                known: None,
            });
        }
        let mut checked = Vec::with_capacity(experiments.len());
        for (name, inputs, outputs) in experiments {
            let columns = |columns: Vec<Bound<'_, PyAny>>| columns.iter().map(column).collect::<PyResult<Vec<_>>>();
            checked.push(Experiment::new(name, columns(inputs)?, columns(outputs)?));
        }
        if let Some(most) = prepare.fill_gaps {
            prepare.check().map_err(error::data)?;
            checked = checked
                .into_iter()
                .map(|experiment| experiment.with_gaps_filled(most))
                .collect();
        }
        if let Some(like) = like {
            let others = like.dataset.experiments().iter().enumerate();
            let placed = checked.into_iter().zip(others).map(|(experiment, (index, other))| {
                experiment.placed_like(other, skipped.get(index).copied().unwrap_or(0))
            });
            checked = placed.collect();
        }
        let dataset = Dataset::new(name, channels(inputs), channels(outputs), sample_time, checked);
        let dataset = dataset.map_err(error::data)?;
        let dataset = match like {
            Some(like) => dataset.with_preparation(like.dataset.preparation().clone()),
            None => prepare.apply(dataset).map_err(error::data)?,
        };
        Ok(Self {
            dataset: Arc::new(dataset),
            known: known.and_then(known_dataset).map(|known| known.name),
        })
    }

    /// Reads files or built-in data sets, as the command line does.
    #[staticmethod]
    #[pyo3(signature = (data, *, inputs=None, outputs=None, experiment=None, sample_time=None, delimiter=None, decimal_comma=false, split_at_gaps=false, data_dir=None, time=None, resample=None, skip_rows=0, units=Vec::new(), prepare=None))]
    #[expect(clippy::too_many_arguments, reason = "the options of a reader")]
    fn load(
        py: Python<'_>,
        data: Vec<String>,
        inputs: Option<Vec<String>>,
        outputs: Option<Vec<String>>,
        experiment: Option<String>,
        sample_time: Option<f64>,
        delimiter: Option<char>,
        decimal_comma: bool,
        split_at_gaps: bool,
        data_dir: Option<PathBuf>,
        time: Option<String>,
        resample: Option<f64>,
        skip_rows: usize,
        units: Vec<(String, String)>,
        prepare: Option<Prepare>,
    ) -> PyResult<Self> {
        let mut options = ReadOptions {
            inputs,
            outputs,
            experiment,
            sample_time,
            delimiter,
            time,
            resample,
            skip_rows,
            units,
            missing: policy(split_at_gaps),
            prepare: preparation(prepare)?,
            ..ReadOptions::default()
        };
        if decimal_comma {
            options.decimal = intervalid_data::Decimal::Comma;
        }
        let dataset = py.detach(|| load(&data, data_dir.as_deref(), &options));
        let known = match data.as_slice() {
            [name] => known_dataset(name).map(|known| known.name),
            _ => None,
        };
        Ok(Self {
            dataset: Arc::new(dataset.map_err(error::data)?),
            known,
        })
    }

    /// Its name in the catalogue of data sets, whose settings in the paper are then its preset.
    #[getter]
    fn known(&self) -> Option<&'static str> {
        self.known
    }

    /// What the reader noticed, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.dataset.warnings().iter().map(ToString::to_string).collect()
    }

    /// Whether spikes were clipped or samples thinned out; gaps that were filled do not show.
    #[getter]
    fn is_prepared(&self) -> bool {
        let done = self.dataset.preparation();
        done.decimate.is_some() || !done.clip_spikes.is_none()
    }

    /// Whether what was done to it is what is asked for, but for gaps that were filled, which do not show.
    fn is_prepared_as(&self, prepare: Prepare) -> PyResult<bool> {
        let (asked, done) = (preparation(Some(prepare))?, self.dataset.preparation());
        let (inputs, outputs) = (self.dataset.inputs(), self.dataset.outputs());
        let limits = |clip| spike_limits(clip, inputs, outputs);
        Ok(asked.decimate == done.decimate && limits(&asked.clip_spikes) == limits(&done.clip_spikes))
    }

    /// The same record after preparation, of which a record that has no gaps needs no filling.
    fn prepared(&self, prepare: Prepare) -> PyResult<Self> {
        let bare = (*self.dataset).clone().with_preparation(Preparation::default());
        Ok(Self {
            dataset: Arc::new(preparation(Some(prepare))?.apply(bare).map_err(error::data)?),
            known: self.known,
        })
    }

    /// When the first sample of an experiment was taken, and where in its file it is, where known.
    fn start(&self, experiment: usize) -> (Option<String>, Option<u64>) {
        let Some(experiment) = self.dataset.experiments().get(experiment) else {
            return (None, None);
        };
        let time = experiment.time().map(|time| time.start.to_string());
        (time, experiment.row(0).map(|row| row.number()))
    }

    /// Name for messages.
    #[getter]
    fn name(&self) -> &str {
        self.dataset.name()
    }

    /// (name, unit) of every input.
    #[getter]
    fn inputs(&self) -> ChannelNames {
        names(self.dataset.inputs())
    }

    /// (name, unit) of every output.
    #[getter]
    fn outputs(&self) -> ChannelNames {
        names(self.dataset.outputs())
    }

    /// Seconds between samples, if known.
    #[getter]
    fn sample_time(&self) -> Option<f64> {
        self.dataset.sample_time()
    }

    /// Whether its sample time comes from times of its samples: one that somebody merely gave is a label.
    #[getter]
    fn has_times(&self) -> bool {
        let is_timed = |experiment: &Experiment| experiment.time().is_some();
        self.dataset.experiments().iter().any(is_timed)
    }

    /// Name and number of samples of every experiment.
    #[getter]
    fn experiments(&self) -> Vec<(String, usize)> {
        let pair = |experiment: &Experiment| (experiment.name().to_owned(), experiment.len());
        self.dataset.experiments().iter().map(pair).collect()
    }

    /// The paper's shares of training, validation and test, for a data set with a known name.
    #[getter]
    fn known_split(&self) -> Option<(f64, f64, f64)> {
        let split = known_dataset(self.known?)?.split();
        Some((split.train, split.validation, split.test))
    }

    /// A copy of an input's samples.
    fn input<'py>(&self, py: Python<'py>, experiment: usize, channel: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.samples(py, experiment, channel, true)
    }

    /// A copy of an output's samples.
    fn output<'py>(&self, py: Python<'py>, experiment: usize, channel: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.samples(py, experiment, channel, false)
    }
}

impl Record {
    fn samples<'py>(
        &self,
        py: Python<'py>,
        experiment: usize,
        channel: usize,
        is_input: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let count = match is_input {
            true => self.dataset.inputs().len(),
            false => self.dataset.outputs().len(),
        };
        match self.dataset.experiments().get(experiment) {
            Some(samples) if channel < count => Ok(PyArray1::from_slice(
                py,
                match is_input {
                    true => samples.input(channel),
                    false => samples.output(channel),
                },
            )),
            _ => Err(PyIndexError::new_err(format!(
                "no channel {channel} in experiment {experiment}"
            ))),
        }
    }

    /// The segments (experiment, start, end) as a part; all of the record without any.
    pub(crate) fn part(&self, segments: Option<Vec<(usize, usize, usize)>>) -> Result<Part, DataError> {
        let Some(segments) = segments else {
            return Ok(Part::whole(&self.dataset));
        };
        let segment = |(experiment, start, end)| Segment { experiment, start, end };
        Ok(Part::from_segments(segments.into_iter().map(segment).collect()))
    }
}
