//! A fitted model.

use std::path::PathBuf;
use std::sync::Arc;

use intervalid_data::Part;
use intervalid_model::{Band, BandQuality, Elasticity, Model as AnyModel, RecursionMode, Renewal, evaluate};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::convert::plain;
use crate::error;
use crate::record::{ChannelNames, Record, names};

/// Stretches of a record: (experiment, first sample, one past the last).
type Segments = Option<Vec<(usize, usize, usize)>>;

/// A fitted model of any kind.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Model {
    pub(crate) model: Arc<AnyModel>,
}

impl From<AnyModel> for Model {
    fn from(model: AnyModel) -> Self {
        Self { model: Arc::new(model) }
    }
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| AnyModel::load(path)).map_err(error::model)?;
        Ok(model.into())
    }

    /// The model in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> PyResult<Self> {
        Ok(AnyModel::from_bytes(bytes).map_err(error::model)?.into())
    }

    /// Writes a model file, replacing it in one step.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(path)).map_err(error::model)
    }

    /// What `intervalid export` does with these options, and the object that it prints with `--json`.
    fn export<'py>(&self, py: Python<'py>, options: Vec<std::ffi::OsString>) -> PyResult<Bound<'py, PyAny>> {
        let written = py.detach(|| intervalid_cli::export_model(&self.model, &options));
        crate::convert::json(py, &written.map_err(|failure| error::export(&failure))?)
    }

    /// The same model with a band for another coverage.
    fn at_coverage(&self, coverage: f64) -> PyResult<Self> {
        Ok(self.model.at_coverage(coverage).map_err(error::model)?.into())
    }

    /// Few of its members, with a band that was sized for these.
    fn light(&self) -> PyResult<Self> {
        Ok(self.model.light().map_err(error::model)?.into())
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(error::model)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let names = |channels: ChannelNames| {
            channels
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (model, parameters) = (self.kind(), self.parameters());
        format!(
            "<Model {model}: {} from {}, {parameters} parameters>",
            names(self.outputs()),
            names(self.inputs())
        )
    }

    /// Such as `inode`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.model.kind().name()
    }

    /// The resolved configuration.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.model.config())
    }

    /// What is done to data and to predictions around the model, as parameters of the estimators.
    #[getter]
    fn data_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::preparation::parameters(py, self.model.interface())
    }

    /// Scaling of the band found on held-out blocks, if it was calibrated.
    #[getter]
    fn calibration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.model.interface().calibration)
    }

    /// (name, unit) of every input.
    #[getter]
    fn inputs(&self) -> ChannelNames {
        names(&self.model.interface().inputs)
    }

    /// (name, unit) of every output.
    #[getter]
    fn outputs(&self) -> ChannelNames {
        names(&self.model.interface().outputs)
    }

    /// Seconds between samples, if known.
    #[getter]
    fn sample_time(&self) -> Option<f64> {
        self.model.interface().sample_time
    }

    /// What it remembers of the past, in words: `lags 2,1,3`, or `3 states`.
    #[getter]
    fn memory(&self) -> String {
        self.model.memory_in_words()
    }

    /// Numbers that were fitted.
    #[getter]
    fn parameters(&self) -> usize {
        self.model.parameters()
    }

    /// Interval networks whose mean it is.
    #[getter]
    fn members(&self) -> usize {
        self.model.members()
    }

    /// Difference equation, gains and poles of a linear model; none of others.
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let view = intervalid_model::LinearView::of(&self.model);
        view.map(|view| crate::convert::plain(py, &view)).transpose()
    }

    /// Measured outputs that a free run needs to start.
    #[getter]
    fn initial_outputs(&self) -> usize {
        let config = self.model.config();
        config.initial.known_samples(config.lags)
    }

    /// Predicted samples at the start of a run that are led by measured outputs.
    #[getter]
    fn warmup(&self) -> usize {
        let initial = self.model.config().initial;
        // A history is no part of the run.
        initial.unscored() - initial.looks_back()
    }

    /// Free runs: per segment a dict with `experiment`, `first`, `warmup`, `diverged_at` and, per output, `lower`, `mean` and
    /// `upper`. With `online` the band follows the measured outputs; `recursion` is `recentred`, `full` or a number of steps; `horizon`
    /// predicts so many samples ahead of measurements instead.
    #[pyo3(signature = (record, segments=None, *, online=false, recursion=None, horizon=None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        record: &Record,
        segments: Segments,
        online: bool,
        recursion: Option<Recursion>,
        horizon: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let part = record.part(segments).map_err(error::data)?;
        let dataset = &record.dataset;
        let (bands, flags) = py
            .detach(|| {
                let bands = match (recursion, horizon) {
                    (_, Some(horizon)) => self.model.predict_ahead(dataset, &part, horizon)?,
                    (None, None) => self.model.simulate(dataset, &part)?,
                    (Some(recursion), None) => self.model.simulate_with(dataset, &part, recursion.into())?,
                };
                let bands = match online {
                    true => self.model.online(dataset, &bands)?,
                    false => bands,
                };
                let flags = self.model.extrapolated(dataset, &bands)?;
                Ok((bands, flags))
            })
            .map_err(error::model)?;
        let mut flags = flags.map(Vec::into_iter);
        let one = |band| view(py, band, flags.as_mut().and_then(Iterator::next));
        bands.into_iter().map(one).collect()
    }

    /// Metrics of free runs over the segments, as `evaluate --json` has them.
    #[pyo3(signature = (record, segments=None, *, online=false))]
    fn metrics<'py>(
        &self,
        py: Python<'py>,
        record: &Record,
        segments: Segments,
        online: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let part = record.part(segments).map_err(error::data)?;
        let dataset = &record.dataset;
        let evaluation = py
            .detach(|| {
                let mut bands = self.model.simulate(dataset, &part)?;
                if online {
                    bands = self.model.online(dataset, &bands)?;
                }
                evaluate(dataset, &bands, self.model.config().coverage)
            })
            .map_err(error::model)?;
        plain(py, &evaluation)
    }

    /// What there is to say of the model's trend over a record, in words.
    fn trend_warnings(&self, record: &Record) -> Vec<String> {
        let warnings = self.model.trend_warnings(&record.dataset);
        warnings.iter().map(ToString::to_string).collect()
    }

    /// The same model with its band scaled by new recordings, and what that did.
    #[pyo3(signature = (record, *, weight=1.0))]
    fn recalibrated<'py>(&self, py: Python<'py>, record: &Record, weight: f64) -> PyResult<(Self, Bound<'py, PyAny>)> {
        let dataset = &record.dataset;
        let found = py
            .detach(|| self.model.recalibrated(dataset, &Part::whole(dataset), weight))
            .map_err(error::model)?;
        let said = Said {
            renewal: found.renewal,
            before: found.before,
            after: found.after,
        };
        Ok((found.model.into(), plain(py, &said)?))
    }

    /// Elasticity: (layer, role, input, output, value or None where unbounded) of every parameter.
    fn elasticity(&self) -> PyResult<Vec<ElasticityRow>> {
        let elasticity = Elasticity::of(&self.model).map_err(error::model)?;
        let mut rows = Vec::new();
        for layer in &elasticity.layers {
            for channel in &layer.channels {
                for (output, value) in layer.outputs.iter().zip(&channel.parameters) {
                    rows.push((
                        layer.layer.clone(),
                        channel.role.name(),
                        channel.name.clone(),
                        output.clone(),
                        *value,
                    ));
                }
            }
        }
        Ok(rows)
    }
}

/// What a recalibration did, as `intervalid recalibrate --json` has it.
#[derive(Serialize)]
struct Said {
    #[serde(flatten)]
    renewal: Renewal,
    before: BandQuality,
    after: BandQuality,
}

/// Layer, role, input, output, value.
type ElasticityRow = (String, &'static str, String, String, Option<f64>);

/// How intervals are fed back.
#[derive(FromPyObject)]
pub(crate) enum Recursion {
    Steps(usize),
    Named(String),
}

impl From<Recursion> for RecursionMode {
    fn from(recursion: Recursion) -> Self {
        match recursion {
            Recursion::Steps(steps) => Self::KStep(steps),
            Recursion::Named(name) if name == "full" => Self::Full,
            Recursion::Named(_) => Self::Recentred,
        }
    }
}

fn view(py: Python<'_>, band: Band, flags: Option<Vec<bool>>) -> PyResult<Bound<'_, PyDict>> {
    let view = PyDict::new(py);
    view.set_item("experiment", band.experiment)?;
    view.set_item("first", band.first)?;
    view.set_item("warmup", band.warmup)?;
    view.set_item("diverged_at", band.diverged_at)?;
    for (name, columns) in [("lower", band.lower), ("mean", band.centre), ("upper", band.upper)] {
        // The memory of a column becomes that of the array.
        let arrays = columns.into_iter().map(|column| PyArray1::from_vec(py, column));
        view.set_item(name, arrays.collect::<Vec<_>>())?;
    }
    view.set_item("extrapolated", flags.map(|flags| PyArray1::from_vec(py, flags)))?;
    Ok(view)
}
