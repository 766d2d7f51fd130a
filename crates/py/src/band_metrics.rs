//! Metrics of a band in arrays.

use intervalid_data::{Channel, Dataset, Experiment};
use intervalid_model::{Band, evaluate};
use pyo3::prelude::*;

use crate::convert::{column, plain};
use crate::error;

/// Compares bands with measured outputs, one column per output, as `evaluate --json` does.
#[pyfunction]
#[pyo3(signature = (outputs, measured, lower, mean, upper, coverage, diverged_at=None))]
#[expect(clippy::too_many_arguments, reason = "the columns of a band")]
pub(crate) fn band_metrics<'py>(
    py: Python<'py>,
    outputs: Vec<String>,
    measured: Vec<Bound<'py, PyAny>>,
    lower: Vec<Bound<'py, PyAny>>,
    mean: Vec<Bound<'py, PyAny>>,
    upper: Vec<Bound<'py, PyAny>>,
    coverage: f64,
    diverged_at: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let columns = |arrays: &[Bound<'_, PyAny>]| arrays.iter().map(column).collect::<PyResult<Vec<_>>>();
    let band = Band {
        experiment: 0,
        first: 0,
        warmup: 0,
        lower: columns(&lower)?,
        centre: columns(&mean)?,
        upper: columns(&upper)?,
        diverged_at,
    };
    let channels = outputs.into_iter().map(Channel::new).collect();
    let experiment = Experiment::new("data", Vec::new(), columns(&measured)?);
    let dataset = Dataset::new("data", Vec::new(), channels, None, vec![experiment]).map_err(error::data)?;
    plain(py, &evaluate(&dataset, &[band], coverage).map_err(error::model)?)
}
