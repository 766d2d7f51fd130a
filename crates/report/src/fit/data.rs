//! What was recorded.

use intervalid_data::{ChannelSummary, Dataset, Split, describe};
use serde::{Deserialize, Serialize};

use crate::text::significant;

/// The record in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DataView {
    pub(crate) samples: usize,
    pub(crate) experiments: usize,
    pub(crate) sample_time: Option<String>,
    pub(crate) channels: Vec<ChannelView>,
    pub(crate) parts: Vec<(String, usize)>,
    pub(crate) warnings: Vec<String>,
    /// What is done to recordings first, a sentence each.
    #[serde(default)]
    pub(crate) preparation: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChannelView {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) unit: String,
    /// Least, mean, largest, standard deviation.
    pub(crate) cells: Vec<String>,
}

pub(super) fn view(dataset: &Dataset, split: &Split, preparation: Vec<String>) -> DataView {
    let summary = describe(dataset);
    let inputs = summary.inputs.iter().map(|channel| channel_view(channel, "input"));
    let outputs = summary.outputs.iter().map(|channel| channel_view(channel, "output"));
    DataView {
        samples: summary.samples,
        experiments: summary.experiments.len(),
        sample_time: summary.sample_time.map(|seconds| format!("{seconds} s")),
        channels: inputs.chain(outputs).collect(),
        parts: vec![
            ("training".to_owned(), split.train.samples()),
            ("validation".to_owned(), split.validation.samples()),
            ("test".to_owned(), split.test.samples()),
        ],
        warnings: summary.warnings.iter().map(ToString::to_string).collect(),
        preparation,
    }
}

fn channel_view(summary: &ChannelSummary, role: &str) -> ChannelView {
    let cells = [summary.min, summary.mean, summary.max, summary.std];
    ChannelView {
        name: summary.channel.name.clone(),
        role: role.to_owned(),
        unit: summary.channel.unit.clone().unwrap_or_else(|| "–".to_owned()),
        cells: cells.map(|value| significant(value, 4)).to_vec(),
    }
}
