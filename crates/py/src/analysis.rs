//! Looking at a fitted model: plain data with the keys of `analyse --json`, which `python/intervalid/analysis.py` makes arrays of.

use std::path::PathBuf;
use std::sync::Arc;

use intervalid_analysis::{
    FrequencyResponse, LinearForm, Linearisation as Linear, PointRequest, Responses, StaticCurve, excitation,
    fits_ahead as all_fits_ahead, input_limits, next_recording, residuals as all_residuals,
    width_shares as all_width_shares,
};
use intervalid_data::{Dataset, Part, Scale};
use intervalid_model::{Band, Model as AnyModel};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::plain;
use crate::error;
use crate::model::Model;
use crate::record::Record;

/// Name and the least and greatest value of an input.
type Limits = Vec<(String, [f64; 2])>;

/// A model around a point, and the views that start there.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Linearisation {
    model: Arc<AnyModel>,
    linear: Linear,
}

#[pymethods]
impl Linearisation {
    /// Linearises at a point: names and values of channels.
    #[new]
    fn new(py: Python<'_>, model: &Model, at: Vec<(String, f64)>) -> PyResult<Self> {
        let model = Arc::clone(&model.model);
        let request = PointRequest { values: at };
        let linear = py.detach(|| Linear::new(&model, &request)).map_err(error::analysis)?;
        Ok(Self { model, linear })
    }

    /// A, B, C, D, poles, zeros, gains, intervals, and `notes`.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = plain(py, &self.linear)?;
        view.cast::<PyDict>()?.set_item("notes", self.linear.notes())?;
        Ok(view)
    }

    /// Writes the system, replacing the file in one step; false where the name says no form that there is.
    fn save(&self, path: PathBuf) -> PyResult<bool> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let Some(form) = LinearForm::of_ending(ending) else {
            return Ok(false);
        };
        let content = form
            .content(&self.linear)
            .map_err(|error| PyRuntimeError::new_err(format!("cannot be written: {error}")))?;
        intervalid_files::replace_file(&path, &content)?;
        Ok(true)
    }

    /// Bode and Nyquist; with a record, what it shows beside them.
    #[pyo3(signature = (record=None))]
    fn frequency_response<'py>(&self, py: Python<'py>, record: Option<&Record>) -> PyResult<Bound<'py, PyAny>> {
        let dataset = record.map(|record| &*record.dataset);
        let found = py
            .detach(|| FrequencyResponse::new(&self.linear, dataset))
            .map_err(error::analysis)?;
        plain(py, &found)
    }

    /// Steps and pulses of an input, counted from 0.
    fn responses<'py>(&self, py: Python<'py>, input: usize, amplitudes: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
        let found = py
            .detach(|| Responses::new(&self.model, &self.linear, input, &amplitudes))
            .map_err(error::analysis)?;
        plain(py, &found)
    }

    /// What a record leaves open.
    fn next_recording<'py>(&self, py: Python<'py>, record: &Record, limits: Limits) -> PyResult<Bound<'py, PyAny>> {
        let dataset: &Dataset = &record.dataset;
        let found = py.detach(|| {
            let bands = simulate(&self.model, dataset)?;
            let limits = input_limits(&self.linear, self.scales(), Some(dataset), &limits)?;
            let response = self.response_beside(dataset)?;
            Ok(next_recording(
                &self.linear,
                response.as_ref(),
                (dataset, &bands),
                &limits,
            ))
        });
        plain(py, &found.map_err(error::analysis)?)
    }

    /// Inputs for the next recording; with a record, for what it leaves open.
    #[pyo3(signature = (record, limits, samples=None))]
    fn excitation<'py>(
        &self,
        py: Python<'py>,
        record: Option<&Record>,
        limits: Limits,
        samples: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dataset = record.map(|record| &*record.dataset);
        let found = py.detach(|| {
            let limits = input_limits(&self.linear, self.scales(), dataset, &limits)?;
            let response = match dataset.map(|dataset| self.response_beside(dataset)).transpose()? {
                Some(Some(response)) => response,
                _ => FrequencyResponse::new(&self.linear, None)?,
            };
            let next = dataset
                .map(|dataset| {
                    let bands = simulate(&self.model, dataset)?;
                    let open = next_recording(&self.linear, Some(&response), (dataset, &bands), &limits);
                    Ok::<_, intervalid_analysis::AnalysisError>(open)
                })
                .transpose()?;
            excitation(&self.linear, &response, next.as_ref(), &limits, samples)
        });
        plain(py, &found.map_err(error::analysis)?)
    }
}

impl Linearisation {
    fn scales(&self) -> &[Scale] {
        &self.model.interface().normaliser.inputs
    }

    /// With what the record shows, or without where it is too short to show anything; none of a model without inputs.
    fn response_beside(&self, dataset: &Dataset) -> intervalid_analysis::Result<Option<FrequencyResponse>> {
        FrequencyResponse::beside(&self.linear, Some(dataset)).map(|(found, _)| found)
    }
}

/// Where outputs come to rest for every value of an input, counted from 0.
#[pyfunction]
#[pyo3(signature = (model, input, record=None))]
pub(crate) fn static_curve<'py>(
    py: Python<'py>,
    model: &Model,
    input: usize,
    record: Option<&Record>,
) -> PyResult<Bound<'py, PyAny>> {
    let dataset = record.map(|record| &*record.dataset);
    let found = py
        .detach(|| StaticCurve::new(&model.model, input, dataset))
        .map_err(error::analysis)?;
    plain(py, &found)
}

/// Errors of the free run over a record, one entry per output.
#[pyfunction]
pub(crate) fn residuals<'py>(py: Python<'py>, model: &Model, record: &Record) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| {
        let bands = simulate(&model.model, &record.dataset)?;
        all_residuals(&model.model, &record.dataset, &bands)
    });
    plain(py, &found.map_err(error::analysis)?)
}

/// Fits by samples ahead, the free run last.
#[pyfunction]
pub(crate) fn fits_ahead<'py>(py: Python<'py>, model: &Model, record: &Record) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| all_fits_ahead(&model.model, &record.dataset, &Part::whole(&record.dataset)));
    plain(py, &found.map_err(error::analysis)?)
}

/// What the band over a record is made of, one entry per output.
#[pyfunction]
pub(crate) fn width_shares<'py>(py: Python<'py>, model: &Model, record: &Record) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| {
        let bands = simulate(&model.model, &record.dataset)?;
        all_width_shares(&model.model, &record.dataset, &bands)
    });
    plain(py, &found.map_err(error::analysis)?)
}

fn simulate(model: &AnyModel, dataset: &Dataset) -> intervalid_analysis::Result<Vec<Band>> {
    Ok(model.simulate(dataset, &Part::whole(dataset))?)
}
