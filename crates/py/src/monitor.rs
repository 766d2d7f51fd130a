//! A watch over a model in use.

use std::sync::Arc;

use intervalid_data::Part;
use intervalid_model::{Model as AnyModel, Monitor as Watch, MonitorConfig, MonitorState};
use pyo3::prelude::*;

use crate::convert::plain;
use crate::error;
use crate::model::Model;
use crate::record::Record;
use crate::simulator::not_a_state;

/// A monitor and its model.
#[pyclass(module = "intervalid._intervalid")]
pub(crate) struct Monitor {
    model: Arc<AnyModel>,
    horizon: Option<usize>,
    monitor: Watch,
}

/// The settings of a monitor.
pub(crate) fn config(false_alarm: f64, block: Option<usize>, horizon: Option<usize>) -> MonitorConfig {
    MonitorConfig {
        false_alarm,
        block,
        horizon,
    }
}

#[pymethods]
impl Monitor {
    /// A monitor of the model that has seen nothing.
    #[new]
    #[pyo3(signature = (model, *, false_alarm=0.01, block=None, horizon=None))]
    fn new(model: &Model, false_alarm: f64, block: Option<usize>, horizon: Option<usize>) -> PyResult<Self> {
        let monitor = Watch::new(&model.model, config(false_alarm, block, horizon)).map_err(error::model)?;
        Ok(Self {
            model: Arc::clone(&model.model),
            horizon,
            monitor,
        })
    }

    /// Runs the model over recordings and takes their samples; every experiment is a run of its own.
    fn update(&mut self, py: Python<'_>, record: &Record) -> PyResult<()> {
        let (model, monitor, horizon) = (&self.model, &mut self.monitor, self.horizon);
        let dataset = &record.dataset;
        py.detach(|| {
            let part = Part::whole(dataset);
            let bands = match horizon {
                None => model.simulate(dataset, &part)?,
                Some(horizon) => model.predict_ahead(dataset, &part, horizon)?,
            };
            let flags = model.extrapolated(dataset, &bands)?;
            for (index, band) in bands.iter().enumerate() {
                let flags = flags.as_ref().map(|flags| flags[index].as_slice());
                monitor.observe_band(dataset, band, flags, 0)?;
            }
            Ok(())
        })
        .map_err(error::model)
    }

    /// `ok`, `watch` or `refit`.
    #[getter]
    fn health(&self) -> &'static str {
        self.monitor.health().name()
    }

    /// What `intervalid monitor --json` prints, but for the names of files.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.monitor.report())
    }

    /// All that it remembers, as JSON.
    fn state(&self) -> PyResult<String> {
        serde_json::to_string(self.monitor.state()).map_err(not_a_state)
    }

    /// Goes on from a state.
    fn restore(&mut self, state: &str) -> PyResult<()> {
        let state: MonitorState = serde_json::from_str(state).map_err(not_a_state)?;
        self.monitor.restore(state).map_err(error::model)
    }
}
