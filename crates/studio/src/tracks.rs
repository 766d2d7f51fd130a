//! All channels of a recording over one axis, experiment after experiment; before and after it was prepared.

use std::ops::Range;

use intervalid_data::{Dataset, Experiment, SpotKind, spots};
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
    /// The recording as it was, over the samples of what became of it; none where nothing is done to it.
    before: Option<Lines>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    pub(crate) pixels: usize,
    /// Whether the recording as it was is wanted too.
    pub(crate) before: bool,
}

impl App {
    /// A stretch of all channels for so many pixels.
    pub(crate) fn series(&self, id: &str, choice: &Choice, asked: Stretch) -> ApiResult<Series> {
        let dataset = self.prepared(id, choice)?;
        let samples = dataset.samples();
        let to = asked.to.unwrap_or(samples).min(samples);
        let from = asked.from.min(to);
        let grid = Grid::new(from..to, asked.pixels);
        let channels = 0..dataset.inputs().len() + dataset.outputs().len();
        let before = match asked.before && choice.prepares() {
            true => Some(self.before(id, choice, &dataset, from..to, asked.pixels)?),
            false => None,
        };
        Ok(Series {
            samples,
            from,
            to,
            lines: Lines {
                lines: channels
                    .map(|channel| grid.line(&whole(&dataset, |experiment| column(experiment, &dataset, channel))))
                    .collect(),
                x: grid.positions(),
                exact: grid.is_exact(),
            },
            before,
        })
    }

    /// The recording as it was, over samples of what became of it. What was missing is missing here.
    fn before(
        &self,
        id: &str,
        choice: &Choice,
        after: &Dataset,
        range: Range<usize>,
        pixels: usize,
    ) -> ApiResult<Lines> {
        let recorded = self.dataset(&self.request(id, &choice.unprepared())?)?;
        let axis = Axis {
            before: starts(&recorded),
            after: starts(after),
            factor: after.preparation().decimate.unwrap_or(1),
        };
        let to_recorded = |sample| axis.recorded(sample).min(recorded.samples());
        let grid = Grid::new(to_recorded(range.start)..to_recorded(range.end), pixels);
        let channels = 0..recorded.inputs().len() + recorded.outputs().len();
        Ok(Lines {
            lines: channels.map(|channel| grid.line(&known(&recorded, channel))).collect(),
            x: grid
                .positions()
                .into_iter()
                .map(|sample| axis.prepared(sample))
                .collect(),
            exact: grid.is_exact(),
        })
    }
}

/// Samples of a recording, and of what became of them, of which there are fewer.
struct Axis {
    /// First samples of the experiments.
    before: Vec<usize>,
    after: Vec<usize>,
    /// Samples that became one.
    factor: usize,
}

impl Axis {
    fn recorded(&self, sample: usize) -> usize {
        let experiment = self.after.partition_point(|start| *start <= sample).saturating_sub(1);
        self.before[experiment] + (sample - self.after[experiment]) * self.factor
    }

    fn prepared(&self, sample: f64) -> f64 {
        let experiment = self.before.partition_point(|start| *start as f64 <= sample);
        let experiment = experiment.saturating_sub(1);
        self.after[experiment] as f64 + (sample - self.before[experiment] as f64) / self.factor as f64
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

/// A channel, inputs counted before outputs.
fn column<'a>(experiment: &'a Experiment, dataset: &Dataset, channel: usize) -> &'a [f64] {
    match channel.checked_sub(dataset.inputs().len()) {
        None => experiment.input(channel),
        Some(output) => experiment.output(output),
    }
}

fn whole<'a>(dataset: &'a Dataset, column: impl Fn(&'a Experiment) -> &'a [f64]) -> Pieces<'a> {
    let mut pieces = Pieces::default();
    for (experiment, start) in dataset.experiments().iter().zip(starts(dataset)) {
        pieces.push(start, column(experiment));
    }
    pieces
}

/// A channel without the samples that were missing in the file.
fn known(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    let mut pieces = Pieces::default();
    let mut filled = spots(dataset, &[])
        .into_iter()
        .filter(|spot| spot.kind == SpotKind::GapFilled && spot.channel == Some(channel))
        .peekable();
    for (index, (experiment, start)) in dataset.experiments().iter().zip(starts(dataset)).enumerate() {
        let values = column(experiment, dataset, channel);
        let mut next = 0;
        while let Some(gap) = filled.next_if(|gap| gap.experiment == index) {
            pieces.push(start + next, &values[next..gap.start]);
            next = gap.end;
        }
        pieces.push(start + next, &values[next..]);
    }
    pieces
}

/// An output over the whole record.
pub(crate) fn outputs(dataset: &Dataset, channel: usize) -> Pieces<'_> {
    whole(dataset, |experiment| experiment.output(channel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_before_and_after_stand_over_each_other() {
        // Experiments of 10 and 7 samples, of which 3 become one: 4 and 3 are left.
        let axis = Axis {
            before: vec![0, 10],
            after: vec![0, 4],
            factor: 3,
        };
        assert_eq!([0, 1, 3, 4, 6].map(|sample| axis.recorded(sample)), [0, 3, 9, 10, 16]);
        let back = [0.0, 3.0, 9.0, 10.0, 16.0].map(|sample| axis.prepared(sample));
        for (found, expected) in back.iter().zip([0.0, 1.0, 3.0, 4.0, 6.0]) {
            assert!((found - expected).abs() < 1e-12, "{back:?}");
        }
    }
}
