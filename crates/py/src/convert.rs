//! Arrays and plain data across the border.

use crate::error;
use intervalid_workflow::Settings;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::Value;

/// A column of any stride in single or double precision; read in place and copied once, into the record.
pub(crate) fn column(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if let Ok(values) = array.cast::<PyArray1<f64>>() {
        return Ok(values.readonly().as_array().iter().copied().collect());
    }
    if let Ok(values) = array.cast::<PyArray1<f32>>() {
        let values: PyReadonlyArray1<'_, f32> = values.readonly();
        return Ok(values.as_array().iter().map(|&value| f64::from(value)).collect());
    }
    let found = array.get_type().fully_qualified_name()?;
    Err(PyTypeError::new_err(format!(
        "expected a one-dimensional array of float32 or float64, found {found}"
    )))
}

/// Settings by name; `None` means that nobody gave one.
pub(crate) fn settings(dict: &Bound<'_, PyDict>) -> PyResult<Settings> {
    Settings::from_table(&table(dict)?).map_err(error::workflow)
}

/// A dict as a table; what is `None` is not given.
pub(crate) fn table(dict: &Bound<'_, PyDict>) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (key, value) in dict {
        if !value.is_none() {
            table.insert(key.extract()?, setting(&value)?);
        }
    }
    Ok(table)
}

fn setting(value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(toml::Value::Boolean(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(toml::Value::String(text.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(toml::Value::Table(table(dict)?));
    }
    // NumPy's integers count as integers, its floats as floats.
    let is_float = value.is_instance_of::<PyFloat>();
    if !is_float && let Ok(number) = value.extract::<i64>() {
        return Ok(toml::Value::Integer(number));
    }
    if !value.is_instance_of::<PyInt>()
        && let Ok(number) = value.extract::<f64>()
    {
        return Ok(toml::Value::Float(number));
    }
    if let Ok(items) = value.try_iter() {
        let items = items.map(|item| setting(&item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(toml::Value::Array(items));
    }
    let found = value.repr()?;
    Err(PyTypeError::new_err(format!(
        "expected a number, text, a flag or a list of them, found {found}"
    )))
}

/// JSON as the Python objects that `json.loads` would make.
pub(crate) fn json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => PyInt::new(py, number).into_any(),
            (_, Some(number)) => PyInt::new(py, number).into_any(),
            _ => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| json(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Anything serialisable as plain Python objects.
pub(crate) fn plain<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(value)
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(format!("cannot be shown: {error}")))?;
    json(py, &value)
}
