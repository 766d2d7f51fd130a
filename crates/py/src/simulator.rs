//! A model running step by step.

use std::sync::Arc;

use intervalid_model::{History, Model as AnyModel, Simulator as Stepwise, SimulatorState};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{column, plain};
use crate::error;
use crate::model::Model;
use crate::monitor::config;
use crate::record::{ChannelNames, names};

/// Mean, lower and upper bounds, and the bounds of the band that follows the measurements; one number per output.
type Step = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// Model file and state.
type Remembered<'py> = (Bound<'py, PyBytes>, String);

/// A simulation in progress.
#[pyclass(module = "intervalid._intervalid")]
pub(crate) struct Simulator {
    model: Arc<AnyModel>,
    simulator: Stepwise,
}

#[pymethods]
impl Simulator {
    /// A simulation of the model, to be started with `reset`.
    #[new]
    #[pyo3(signature = (model, *, false_alarm=None, block=None, horizon=None))]
    fn new(model: &Model, false_alarm: Option<f64>, block: Option<usize>, horizon: Option<usize>) -> PyResult<Self> {
        let simulator = match false_alarm {
            None => Stepwise::new(&model.model),
            Some(false_alarm) => Stepwise::monitored(&model.model, config(false_alarm, block, horizon)),
        };
        Ok(Self {
            simulator: simulator.map_err(error::model)?,
            model: Arc::clone(&model.model),
        })
    }

    /// What its monitor says, if it has one.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let monitor = self.simulator.monitor();
        monitor.map(|monitor| plain(py, &monitor.report())).transpose()
    }

    /// Samples before the first step: useful inputs, needed inputs, needed outputs.
    #[getter]
    fn needs(&self) -> (usize, usize, usize) {
        let needs = self.simulator.needs();
        (needs.inputs, needs.least_inputs, needs.outputs)
    }

    /// Steps since the start; `None` before it.
    #[getter]
    fn steps(&self) -> Option<u64> {
        self.simulator.steps()
    }

    /// (name, unit) of every input.
    #[getter]
    fn inputs(&self) -> ChannelNames {
        names(&self.simulator.interface().inputs)
    }

    /// (name, unit) of every output.
    #[getter]
    fn outputs(&self) -> ChannelNames {
        names(&self.simulator.interface().outputs)
    }

    /// Starts from the samples before the first step, one column per channel.
    fn reset(&mut self, inputs: Vec<Bound<'_, PyAny>>, outputs: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let (inputs, outputs) = (rows(&inputs)?, rows(&outputs)?);
        let history = History {
            inputs: &inputs,
            outputs: &outputs,
        };
        self.simulator.reset(history).map_err(error::model)
    }

    /// Predicts the next sample from its inputs.
    fn step(&mut self, inputs: Vec<f64>) -> PyResult<Step> {
        let band = self.simulator.step(&inputs).map_err(error::model)?;
        let [mean, lower, upper] = [band.y, band.lower, band.upper].map(<[f64]>::to_vec);
        let [online_lower, online_upper] = [band.online_lower, band.online_upper].map(<[f64]>::to_vec);
        Ok((mean, lower, upper, online_lower, online_upper))
    }

    /// What was then measured.
    fn observe(&mut self, outputs: Vec<f64>) -> PyResult<()> {
        self.simulator.observe(&outputs).map_err(error::model)
    }

    /// What was then measured, for predictions from it.
    fn correct(&mut self, outputs: Vec<f64>) -> PyResult<()> {
        self.simulator.correct(&outputs).map_err(error::model)
    }

    /// The same simulation, to go on independently.
    fn copy(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            simulator: self.simulator.clone(),
        }
    }

    /// All that it remembers, as JSON.
    fn state(&self) -> PyResult<String> {
        serde_json::to_string(&self.simulator.state()).map_err(not_a_state)
    }

    /// Goes on from a state.
    fn restore(&mut self, state: &str) -> PyResult<()> {
        let state: SimulatorState = serde_json::from_str(state).map_err(not_a_state)?;
        self.simulator.restore(&state).map_err(error::model)
    }

    /// From a pickle.
    #[staticmethod]
    fn rebuild(bytes: Vec<u8>, state: &str) -> PyResult<Self> {
        let model = Model::from(AnyModel::from_bytes(bytes).map_err(error::model)?);
        let saved: SimulatorState = serde_json::from_str(state).map_err(not_a_state)?;
        let mut simulator = match saved.monitor_config() {
            None => Self::new(&model, None, None, None)?,
            Some(config) => Self::new(&model, Some(config.false_alarm), config.block, config.horizon)?,
        };
        simulator.restore(state)?;
        Ok(simulator)
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Remembered<'py>)> {
        let rebuild = py.get_type::<Self>().getattr("rebuild")?;
        let bytes = self.model.to_bytes().map_err(error::model)?;
        Ok((rebuild, (PyBytes::new(py, &bytes), self.state()?)))
    }
}

pub(crate) fn not_a_state(reason: serde_json::Error) -> PyErr {
    error::exception(
        "StateError",
        format!("the saved state cannot be used: {reason}"),
        "State",
    )
}

/// Columns as rows of samples.
fn rows(columns: &[Bound<'_, PyAny>]) -> PyResult<Vec<f64>> {
    let columns = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
    let samples = columns.iter().map(Vec::len).min().unwrap_or(0);
    Ok((0..samples)
        .flat_map(|sample| columns.iter().map(move |column| column[sample]))
        .collect())
}
