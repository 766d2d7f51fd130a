//! All channels of a recording over one axis, experiment after experiment.

use intervalid_data::Dataset;
use serde::Serialize;

use crate::api_error::ApiResult;
use crate::app::App;
use crate::choice::Choice;
use crate::series::{Grid, Lines, Pieces};

/// A stretch of all channels.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    samples: usize,
    from: usize,
    to: usize,
    #[serde(flatten)]
    lines: Lines,
}

impl App {
    /// Samples `from..to` of all channels for so many pixels.
    pub(crate) fn series(
        &self,
        id: &str,
        choice: Choice,
        from: usize,
        to: Option<usize>,
        pixels: usize,
    ) -> ApiResult<Series> {
        let dataset = self.dataset(&self.request(id, &choice)?)?;
        let samples = dataset.samples();
        let to = to.unwrap_or(samples).min(samples);
        let from = from.min(to);
        let grid = Grid::new(from..to, pixels);
        let lines = (0..dataset.inputs().len())
            .map(|channel| inputs(&dataset, channel))
            .chain((0..dataset.outputs().len()).map(|channel| outputs(&dataset, channel)));
        Ok(Series {
            samples,
            from,
            to,
            lines: Lines {
                lines: lines.map(|pieces| grid.line(&pieces)).collect(),
                x: grid.positions(),
                exact: grid.is_exact(),
            },
        })
    }
}

/// First sample of each experiment in the whole record.
pub(crate) fn starts(dataset: &Dataset) -> Vec<usize> {
    let lengths = dataset.experiments().iter().map(|experiment| experiment.len());
    let sums = lengths.scan(0, |sum, length| {
        let start = *sum;
        *sum += length;
        Some(start)
    });
    sums.collect()
}

fn inputs(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    for (experiment, start) in dataset.experiments().iter().zip(starts(dataset)) {
        pieces.push(start, experiment.input(channel));
    }
    pieces
}

/// An output over the whole record.
pub(crate) fn outputs(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    for (experiment, start) in dataset.experiments().iter().zip(starts(dataset)) {
        pieces.push(start, experiment.output(channel));
    }
    pieces
}
