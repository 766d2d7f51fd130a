//! Looking at a fitted model.

use std::sync::Arc;

use intervalid_analysis::{
    FrequencyResponse, Linearisation, PointRequest, Responses, StaticCurve, fits_ahead, mat_file, python_code,
    residuals, width_shares,
};
use intervalid_model::Model as AnyModel;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::plain;
use crate::error;
use crate::model::Segments;
use crate::record::Record;

/// Names and values of an operating point.
type Point = Vec<(String, f64)>;

/// The views of a model, as plain dicts and lists; `analyse --json` has the same keys.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Analysis {
    pub(crate) model: Arc<AnyModel>,
}

impl Analysis {
    fn linearisation(&self, py: Python<'_>, values: Point) -> PyResult<Linearisation> {
        let request = PointRequest { values };
        py.detach(|| Linearisation::new(&self.model, &request))
            .map_err(error::analysis)
    }
}

#[pymethods]
impl Analysis {
    /// A, B, C, D around a point, poles, zeros, gains, intervals.
    fn linearise<'py>(&self, py: Python<'py>, at: Point) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.linearisation(py, at)?)
    }

    /// The linear system as a MAT file.
    fn mat_file<'py>(&self, py: Python<'py>, at: Point) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &mat_file(&self.linearisation(py, at)?)))
    }

    /// The linear system as code for the package control.
    fn python_code(&self, py: Python<'_>, at: Point) -> PyResult<String> {
        Ok(python_code(&self.linearisation(py, at)?))
    }

    /// Bode and Nyquist; with a record, what it shows beside them.
    #[pyo3(signature = (at, record=None))]
    fn frequency_response<'py>(
        &self,
        py: Python<'py>,
        at: Point,
        record: Option<&Record>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let linear = self.linearisation(py, at)?;
        let dataset = record.map(|record| &record.dataset);
        let found = py
            .detach(|| FrequencyResponse::new(&linear, dataset))
            .map_err(error::analysis)?;
        plain(py, &found)
    }

    /// Steps and pulses of an input, counted from 0.
    #[pyo3(signature = (input, at, amplitudes))]
    fn responses<'py>(
        &self,
        py: Python<'py>,
        input: usize,
        at: Point,
        amplitudes: Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let linear = self.linearisation(py, at)?;
        let found = py
            .detach(|| Responses::new(&self.model, &linear, input, &amplitudes))
            .map_err(error::analysis)?;
        plain(py, &found)
    }

    /// Where outputs come to rest for every value of an input, counted from 0.
    #[pyo3(signature = (input, record=None))]
    fn static_curve<'py>(&self, py: Python<'py>, input: usize, record: Option<&Record>) -> PyResult<Bound<'py, PyAny>> {
        let dataset = record.map(|record| &record.dataset);
        let found = py
            .detach(|| StaticCurve::new(&self.model, input, dataset))
            .map_err(error::analysis)?;
        plain(py, &found)
    }

    /// Errors of the free run over a record, one entry per output.
    #[pyo3(signature = (record, segments=None))]
    fn residuals<'py>(&self, py: Python<'py>, record: &Record, segments: Segments) -> PyResult<Bound<'py, PyAny>> {
        let part = record.part(segments).map_err(error::data)?;
        let found = py.detach(|| {
            let bands = self.model.simulate(&record.dataset, &part)?;
            residuals(&self.model, &record.dataset, &bands)
        });
        plain(py, &found.map_err(error::analysis)?)
    }

    /// Fits by samples ahead, the free run last.
    #[pyo3(signature = (record, segments=None))]
    fn fits_ahead<'py>(&self, py: Python<'py>, record: &Record, segments: Segments) -> PyResult<Bound<'py, PyAny>> {
        let part = record.part(segments).map_err(error::data)?;
        let found = py.detach(|| fits_ahead(&self.model, &record.dataset, &part));
        plain(py, &found.map_err(error::analysis)?)
    }

    /// What the band over a record is made of, one entry per output.
    #[pyo3(signature = (record, segments=None))]
    fn width_shares<'py>(&self, py: Python<'py>, record: &Record, segments: Segments) -> PyResult<Bound<'py, PyAny>> {
        let part = record.part(segments).map_err(error::data)?;
        let found = py.detach(|| {
            let bands = self.model.simulate(&record.dataset, &part)?;
            width_shares(&self.model, &record.dataset, &bands)
        });
        plain(py, &found.map_err(error::analysis)?)
    }
}
