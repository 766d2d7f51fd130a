//! What was recorded.

use intervalid_data::{ChannelSummary, Dataset, Split, describe};
use serde::Serialize;

use crate::text::significant;

/// The record in numbers.
#[derive(Serialize)]
pub(super) struct DataView {
    samples: usize,
    experiments: usize,
    sample_time: Option<String>,
    channels: Vec<ChannelView>,
    parts: Vec<(&'static str, usize)>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ChannelView {
    name: String,
    role: &'static str,
    unit: String,
    /// Least, mean, largest, standard deviation.
    cells: Vec<String>,
}

pub(super) fn view(dataset: &Dataset, split: &Split) -> DataView {
    let summary = describe(dataset);
    let inputs = summary.inputs.iter().map(|channel| channel_view(channel, "input"));
    let outputs = summary.outputs.iter().map(|channel| channel_view(channel, "output"));
    DataView {
        samples: summary.samples,
        experiments: summary.experiments.len(),
        sample_time: summary.sample_time.map(|seconds| format!("{seconds} s")),
        channels: inputs.chain(outputs).collect(),
        parts: vec![
            ("training", split.train.samples()),
            ("validation", split.validation.samples()),
            ("test", split.test.samples()),
        ],
        warnings: summary.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn channel_view(summary: &ChannelSummary, role: &'static str) -> ChannelView {
    let cells = [summary.min, summary.mean, summary.max, summary.std];
    ChannelView {
        name: summary.channel.name.clone(),
        role,
        unit: summary.channel.unit.clone().unwrap_or_else(|| "–".to_owned()),
        cells: cells.map(|value| significant(value, 4)).to_vec(),
    }
}
