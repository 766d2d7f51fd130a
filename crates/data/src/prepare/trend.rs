//! A straight line through time, taken out of a record and put back into predictions.
//!
//! The line of a channel is b·(p - p̄): p is the place of a sample in time, counted in samples, b the least-squares slope of the channel over the
//! training part, and p̄ the mean place there, so that a channel keeps its mean. Places go by the clock: a recording that has one
//! continues the line where it left off, however far that is; a recording without starts where the training record started.

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::experiment::Experiment;
use crate::split::Part;
use crate::time::{Moment, TimeAxis};
use crate::warning::Warning;

/// The line of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What the channel gains from sample to sample.
    pub slope: f64,
    /// The place at which the line is zero: the mean of the training part.
    pub centre: f64,
}

impl Line {
    fn at(self, place: f64) -> f64 {
        self.slope * (place - self.centre)
    }
}

/// Beyond so many lengths of the training part a trend is a guess.
const FAR: f64 = 1.0;

/// Straight lines of some channels, fitted to the training part of a record.
///
/// ```
/// use intervalid_data::{ReadOptions, Split, SplitFractions, Trend, load};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::default())?;
/// let trend = Trend::fit(&dataset, &split.train, &["y"])?;
/// let level = trend.remove(&dataset);
/// let restored = level.experiments()[0].output(0)[900] + trend.output_at(&dataset, 0, 0, 900);
/// assert!((restored - dataset.experiments()[0].output(0)[900]).abs() < 1e-12);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// When place 0 was, where the training record has a clock.
    origin: Option<Moment>,
    /// Samples from the first place of the training part to the last.
    length: f64,
    /// Lines of the inputs, in their places.
    inputs: Vec<Option<Line>>,
    /// Lines of the outputs.
    outputs: Vec<Option<Line>>,
}

impl Trend {
    /// Fits a line to each of the named channels over `part`.
    ///
    /// # Errors
    /// If there is no channel of a name, or the part has a single sample.
    pub fn fit<S: AsRef<str>>(dataset: &Dataset, part: &Part, channels: &[S]) -> Result<Self, DataError> {
        let inputs = dataset.inputs().len();
        let mut lines = vec![None; inputs + dataset.outputs().len()];
        let origin = dataset
            .experiments()
            .first()
            .and_then(Experiment::time)
            .map(|axis| axis.start);
        let mut trend = Self {
            origin,
            length: 0.0,
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let mut places: Vec<(usize, usize, f64)> = Vec::new();
        for segment in part.segments() {
            let first = trend.first_place(dataset, segment.experiment);
            places
                .extend((segment.start..segment.end).map(|sample| (segment.experiment, sample, first + sample as f64)));
        }
        let count = places.len().max(1) as f64;
        let centre = places.iter().map(|(.., place)| place).sum::<f64>() / count;
        let spread: f64 = places.iter().map(|(.., place)| (place - centre).powi(2)).sum();
        if spread <= 0.0 {
            return Err(DataError::NoTrend { samples: places.len() });
        }
        let extremes = places
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), (.., place)| {
                (least.min(*place), most.max(*place))
            });
        trend.length = extremes.1 - extremes.0;
        for name in channels {
            let index = dataset.channel_index(name.as_ref())?;
            let value = |experiment: usize, sample: usize| dataset.experiments()[experiment].column(index)[sample];
            let mean = places
                .iter()
                .map(|&(experiment, sample, _)| value(experiment, sample))
                .sum::<f64>()
                / count;
            let covariance: f64 = places
                .iter()
                .map(|&(experiment, sample, place)| (place - centre) * (value(experiment, sample) - mean))
                .sum();
            let slope = covariance / spread;
            lines[index] = Some(Line { slope, centre });
        }
        trend.outputs = lines.split_off(inputs);
        trend.inputs = lines;
        Ok(trend)
    }

    /// Refuses what no fit gives: another number of channels, or lines that are no lines.
    ///
    /// # Errors
    /// What was found and expected, in words.
    pub fn check(&self, inputs: usize, outputs: usize) -> Result<(), String> {
        if (self.inputs.len(), self.outputs.len()) != (inputs, outputs) {
            return Err(format!(
                "its trend is of {} input(s) and {} output(s), expected {inputs} and {outputs}",
                self.inputs.len(),
                self.outputs.len()
            ));
        }
        let sound = |line: &Line| line.slope.is_finite() && line.centre.is_finite();
        let start = self.origin.is_none_or(Moment::is_finite);
        let lines = self.inputs.iter().chain(&self.outputs).flatten();
        match lines.clone().all(sound) && start && self.length.is_finite() && self.length > 0.0 {
            true => Ok(()),
            false => Err("its trend is not of finite numbers".to_owned()),
        }
    }

    /// Lines of the inputs and of the outputs, in their places.
    #[must_use]
    pub fn lines(&self) -> (&[Option<Line>], &[Option<Line>]) {
        (&self.inputs, &self.outputs)
    }

    /// What it does, in a sentence with the names of the channels.
    #[must_use]
    pub fn in_words(&self, channels: &[&str]) -> String {
        let lines = self.inputs.iter().chain(&self.outputs).zip(channels);
        let drift = |(line, name): (&Option<Line>, &&str)| {
            let drift = line.as_ref()?.slope * self.length;
            // Four digits that count.
            let decimals = (3.0 - drift.abs().log10().floor()).clamp(0.0, 12.0) as usize;
            Some(format!("{name} ({drift:+.decimals$} over it)"))
        };
        format!(
            "A straight line through the training part is taken out, and put back into predictions: {}.",
            lines.filter_map(drift).collect::<Vec<_>>().join(", ")
        )
    }

    /// The record without its trend.
    ///
    /// # Panics
    /// If it has other numbers of channels.
    #[must_use]
    pub fn remove(&self, dataset: &Dataset) -> Dataset {
        let lines: Vec<Option<Line>> = self.inputs.iter().chain(&self.outputs).copied().collect();
        let mut level = dataset.clone();
        for experiment in 0..dataset.experiments().len() {
            let first = self.first_place(dataset, experiment);
            for (index, line) in lines.iter().enumerate() {
                let Some(line) = line else { continue };
                let column = level.experiment_mut(experiment).column_mut(index);
                for (sample, value) in column.iter_mut().enumerate() {
                    *value -= line.at(first + sample as f64);
                }
            }
        }
        level
    }

    /// What was taken out of an output at a sample of an experiment.
    ///
    /// # Panics
    /// If there is no such output or experiment.
    #[must_use]
    pub fn output_at(&self, dataset: &Dataset, experiment: usize, output: usize, sample: usize) -> f64 {
        let first = self.first_place(dataset, experiment);
        self.outputs[output].map_or(0.0, |line| line.at(first + sample as f64))
    }

    /// What there is to say of the lines over a record: that they start anew where it has no clock or one without days, or go on far beyond the
    /// training part.
    #[must_use]
    pub fn warnings(&self, dataset: &Dataset) -> Vec<Warning> {
        let record = || dataset.name().to_owned();
        let lengths = self.beyond(dataset);
        let unclocked = match (self.lacks_clock(dataset), self.origin) {
            (true, _) => Some(Warning::TrendWithoutClock { record: record() }),
            (false, Some(Moment::TimeOfDay(_))) => Some(Warning::TrendByTimeOfDay { record: record() }),
            (false, _) => None,
        };
        let far = (lengths > FAR).then(|| Warning::TrendFarOn {
            record: record(),
            lengths,
        });
        unclocked.into_iter().chain(far).collect()
    }

    /// Whether a record lacks the clock by which the lines go on: they start anew with it.
    fn lacks_clock(&self, dataset: &Dataset) -> bool {
        let is_timed = |experiment: &Experiment| {
            experiment.time().is_some_and(|axis| {
                self.origin
                    .is_some_and(|origin| axis.start.seconds_since(origin).is_some())
            })
        };
        self.origin.is_some() && !dataset.experiments().iter().all(is_timed)
    }

    /// How far a record leaves the time of the training part, in lengths of that part; 0 where it lies inside.
    fn beyond(&self, dataset: &Dataset) -> f64 {
        let Some(centre) = self
            .inputs
            .iter()
            .chain(&self.outputs)
            .flatten()
            .map(|line| line.centre)
            .next()
        else {
            return 0.0;
        };
        let places = (0..dataset.experiments().len()).flat_map(|index| {
            let first = self.first_place(dataset, index);
            [
                first,
                first + dataset.experiments()[index].len().saturating_sub(1) as f64,
            ]
        });
        let furthest = places.map(|place| (place - centre).abs()).fold(0.0, f64::max);
        (furthest / self.length - 0.5).max(0.0)
    }

    /// Place of the first sample of an experiment: by the clock, or by its row among those of the record.
    fn first_place(&self, dataset: &Dataset, experiment: usize) -> f64 {
        let experiments = dataset.experiments();
        let by_clock = |axis: &TimeAxis| Some(axis.start.seconds_since(self.origin?)? / axis.step);
        if let Some(place) = experiments[experiment].time().and_then(by_clock) {
            return place;
        }
        let row = |experiment: &Experiment| experiment.row(0).map(|row| row.number());
        let first = experiments.iter().filter_map(row).min();
        match (row(&experiments[experiment]), first) {
            (Some(row), Some(first)) => (row - first) as f64 / experiments[experiment].row_stride() as f64,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use crate::read::Position;
    use crate::split::{Split, SplitFractions};

    fn dataset(experiments: Vec<Experiment>) -> Dataset {
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        Dataset::new("d", inputs, outputs, Some(2.0), experiments).expect("valid")
    }

    /// y wiggles around a line of this slope; `first` is the place of its first sample.
    fn drifting(samples: usize, first: usize, slope: f64) -> Experiment {
        let u = (0..samples).map(|k| f64::from(u8::from(k % 7 < 3))).collect();
        let y = |k: usize| 5.0 + slope * (first + k) as f64 + 0.1 * f64::from(u8::from(k.is_multiple_of(2)));
        Experiment::new("run", vec![u], vec![(0..samples).map(y).collect()])
    }

    fn clock(start: f64) -> Option<TimeAxis> {
        Some(TimeAxis {
            start: Moment::Seconds(start),
            step: 2.0,
        })
    }

    #[test]
    fn the_slope_is_that_of_the_training_part_alone() {
        let mut record = drifting(100, 0, 0.25);
        // The test part goes the other way, and nobody looks.
        record.column_mut(1)[60..].iter_mut().for_each(|value| *value = -1e3);
        let dataset = dataset(vec![record.with_time(clock(100.0))]);
        let split = Split::new(&dataset, SplitFractions::new(0.5, 0.1, 0.4).expect("shares")).expect("splits");
        let trend = Trend::fit(&dataset, &split.train, &["y"]).expect("fits");
        let line = trend.lines().1[0].expect("a line");
        assert!((line.slope - 0.25).abs() < 1e-3, "{line:?}");
        assert!(trend.lines().0[0].is_none(), "u was not asked for");
        let level = trend.remove(&dataset);
        let (first, last) = (
            level.experiments()[0].output(0)[0],
            level.experiments()[0].output(0)[48],
        );
        assert!((first - last).abs() < 0.1, "{first} {last}");
        assert!((trend.output_at(&dataset, 0, 0, 99) - line.slope * (99.0 - 24.5)).abs() < 1e-12);
    }

    #[test]
    fn the_line_goes_on_by_the_clock_or_by_rows() {
        let training = dataset(vec![drifting(100, 0, 0.25).with_time(clock(100.0))]);
        let trend = Trend::fit(&training, &Part::whole(&training), &["y"]).expect("fits");
        // 300 s later are 150 samples later.
        let later = dataset(vec![drifting(50, 150, 0.25).with_time(clock(400.0))]);
        let level = trend.remove(&later);
        let mean =
            |dataset: &Dataset| dataset.experiments()[0].output(0).iter().sum::<f64>() / dataset.samples() as f64;
        let before = trend.remove(&training);
        assert!(
            (mean(&level) - mean(&before)).abs() < 0.02,
            "{} {}",
            mean(&level),
            mean(&before)
        );
        assert!((trend.beyond(&later) - 1.0).abs() < 0.05 && trend.beyond(&training) <= 1e-12);
        // Without a clock: pieces of one file by their rows, a file of its own from its start.
        let pieces = [(0, 40), (60, 40)].map(|(first, samples)| {
            drifting(samples, first, 0.25).with_first_row(Some(Position::Line(2 + first as u64)))
        });
        let record = dataset(pieces.to_vec());
        let trend = Trend::fit(&record, &Part::whole(&record), &["y"]).expect("fits");
        assert!((trend.lines().1[0].expect("a line").slope - 0.25).abs() < 1e-3);
        let other = dataset(vec![drifting(40, 0, 0.25)]);
        assert!((trend.output_at(&other, 0, 0, 5) - trend.output_at(&record, 0, 0, 5)).abs() < 1e-12);
    }

    #[test]
    fn files_that_were_edited_are_refused() {
        let training = dataset(vec![drifting(20, 0, 0.25)]);
        let trend = Trend::fit(&training, &Part::whole(&training), &["y"]).expect("fits");
        assert_eq!(trend.check(1, 1), Ok(()));
        assert!(trend.check(2, 1).is_err());
        let mut edited = trend.clone();
        edited.outputs[0] = Some(Line {
            slope: f64::INFINITY,
            centre: 0.0,
        });
        assert!(edited.check(1, 1).is_err());
        let single = dataset(vec![drifting(1, 0, 0.25)]);
        let refused = Trend::fit(&single, &Part::whole(&single), &["y"]).expect_err("a point has no slope");
        assert_eq!(refused.to_string(), "a trend needs two samples to train on, found 1");
        let refused = Trend::fit(&training, &Part::whole(&training), &["x"]).expect_err("no such channel");
        assert!(refused.to_string().starts_with("no channel 'x'"), "{refused}");
    }
}
