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
    let limits = spike_limits(&prepared.clip_spikes, &interface.inputs, &interface.outputs);
    if !limits.is_empty() {
        let by_name = PyDict::new(py);
        limits
            .into_iter()
            .try_for_each(|(name, limit)| by_name.set_item(name, limit))?;
        found.set_item("clip_spikes", by_name)?;
    }
    if let Some(trend) = &interface.trend {
        let (inputs, outputs) = trend.lines();
        let channels = interface.inputs.iter().chain(&interface.outputs);
        let lines = channels.zip(inputs.iter().chain(outputs));
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

/// The channels whose spikes are clipped, with their limits, in the order of the channels.
pub(crate) fn spike_limits<'a>(
    clip: &ClipSpikes,
    inputs: &'a [Channel],
    outputs: &'a [Channel],
) -> Vec<(&'a str, f64)> {
    let limit = |place: usize, channel: &Channel| match clip {
        ClipSpikes::None => None,
        ClipSpikes::Outputs(limit) => (place >= inputs.len()).then_some(*limit),
        ClipSpikes::Named(names) => names
            .iter()
            .find(|(name, _)| *name == channel.name)
            .map(|(_, limit)| *limit),
        ClipSpikes::Channels(limits) => limits.get(place).copied().flatten(),
    };
    let channels = inputs.iter().chain(outputs).enumerate();
    channels
        .filter_map(|(place, channel)| Some((channel.name.as_str(), limit(place, channel)?)))
        .collect()
}
