//! What a model wants done to data, as parameters of the estimators say it.

use intervalid_data::{Channel, ClipSpikes};
use intervalid_model::ModelInterface;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `fill_gaps`, `clip_spikes`, `decimate`, `detrend` and `output_range`, without those that are nothing.
pub(crate) fn parameters<'py>(py: Python<'py>, interface: &ModelInterface) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let prepared = &interface.preparation;
    if let Some(gaps) = prepared.fill_gaps {
        found.set_item("fill_gaps", gaps)?;
    }
    if let Some(samples) = prepared.decimate {
        found.set_item("decimate", samples)?;
    }
    let channels: Vec<&Channel> = interface.inputs.iter().chain(&interface.outputs).collect();
    let limits = match &prepared.clip_spikes {
        ClipSpikes::None => Vec::new(),
        ClipSpikes::Outputs(limit) => interface.outputs.iter().map(|output| (&*output.name, *limit)).collect(),
        ClipSpikes::Named(names) => names.iter().map(|(name, limit)| (&**name, *limit)).collect(),
        ClipSpikes::Channels(limits) => {
            let pairs = channels.iter().zip(limits);
            pairs
                .filter_map(|(channel, limit)| Some((&*channel.name, (*limit)?)))
                .collect()
        }
    };
    if !limits.is_empty() {
        let by_name = PyDict::new(py);
        limits
            .into_iter()
            .try_for_each(|(name, limit)| by_name.set_item(name, limit))?;
        found.set_item("clip_spikes", by_name)?;
    }
    if let Some(trend) = &interface.trend {
        let (inputs, outputs) = trend.lines();
        let lines = channels.iter().zip(inputs.iter().chain(outputs));
        let names: Vec<&str> = lines
            .filter(|(_, line)| line.is_some())
            .map(|(channel, _)| &*channel.name)
            .collect();
        found.set_item("detrend", names)?;
    }
    let ranges = PyDict::new(py);
    for (output, range) in interface.outputs.iter().zip(&interface.output_ranges) {
        if range.least.is_some() || range.most.is_some() {
            ranges.set_item(&output.name, (range.least, range.most))?;
        }
    }
    if !ranges.is_empty() {
        found.set_item("output_range", ranges)?;
    }
    Ok(found)
}
