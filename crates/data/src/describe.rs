//! What a user should know about a record before fitting.

use serde::Serialize;

use crate::channel::Channel;
use crate::dataset::Dataset;
use crate::experiment::Experiment;
use crate::warning::Warning;

/// Statistics of one channel over all experiments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelSummary {
    /// Name and unit.
    pub channel: Channel,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation with n-1; 0 for a single sample.
    pub std: f64,
    /// Distinct values, counted up to [`ChannelSummary::LEVELS_COUNTED`].
    pub levels: usize,
    /// Longest stretch of equal neighbouring samples.
    pub longest_constant: usize,
}

impl ChannelSummary {
    /// Distinct values are not counted further than this.
    pub const LEVELS_COUNTED: usize = 64;
}

/// What [`describe`] finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the data set.
    pub name: String,
    /// Samples in all experiments.
    pub samples: usize,
    /// Name and samples of each experiment.
    pub experiments: Vec<(String, usize)>,
    /// Seconds between samples, where known.
    pub sample_time: Option<f64>,
    /// Input channels.
    pub inputs: Vec<ChannelSummary>,
    /// Output channels.
    pub outputs: Vec<ChannelSummary>,
    /// What the reader noticed, and what the statistics suggest.
    pub warnings: Vec<Warning>,
}

/// A stretch is worth a warning from this many samples on, if it is also 2 % of its experiment.
const LONG_STRETCH: usize = 20;
/// Fewer distinct values than this are worth a warning, once there are ten times as many samples.
const FEW_LEVELS: usize = 16;
/// Share of samples at an extreme value from which on saturation is suspected.
const SATURATED_SHARE: f64 = 0.05;
/// Every record is at its extremes once; in a short one that is a large share already.
const SATURATED_SAMPLES: usize = 5;

/// Standard deviations of the other samples from which on a sample is hardly a measurement.
const FAR: f64 = 9.0;
/// Where more of the samples are as far away, they belong to the plant.
const FAR_SHARE: f64 = 0.1;
/// Spikes are as short as this; what a plant does lasts longer.
const SPIKE: usize = 2;

/// Sizes, statistics per channel, and warnings, in two passes over the data and without copying it.
pub fn describe(dataset: &Dataset) -> Summary {
    let mut warnings = dataset.warnings().to_vec();
    let mut summarise = |channels: &[Channel], column: fn(&Experiment, usize) -> &[f64]| {
        let channels = channels.iter().enumerate();
        channels
            .map(|(index, channel)| summary(dataset, channel, |e| column(e, index), &mut warnings))
            .collect()
    };
    let inputs = summarise(dataset.inputs(), Experiment::input);
    let outputs = summarise(dataset.outputs(), Experiment::output);
    Summary {
        name: dataset.name().to_owned(),
        samples: dataset.samples(),
        experiments: dataset
            .experiments()
            .iter()
            .map(|e| (e.name().to_owned(), e.len()))
            .collect(),
        sample_time: dataset.sample_time(),
        inputs,
        outputs,
        warnings,
    }
}

fn summary<'a>(
    dataset: &'a Dataset,
    channel: &Channel,
    column: impl Fn(&'a Experiment) -> &'a [f64],
    warnings: &mut Vec<Warning>,
) -> ChannelSummary {
    let values = || {
        dataset
            .experiments()
            .iter()
            .flat_map(|experiment| column(experiment).iter().copied())
    };
    let count = dataset.samples();
    let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    // Bit patterns, so that values compare exactly.
    let mut levels: Vec<u64> = Vec::new();
    for value in values() {
        (min, max, sum) = (min.min(value), max.max(value), sum + value);
        if levels.len() < ChannelSummary::LEVELS_COUNTED && !levels.contains(&value.to_bits()) {
            levels.push(value.to_bits());
        }
    }
    let mean = sum / count as f64;
    let (mut squares, mut at_min, mut at_max) = (0.0, 0_usize, 0_usize);
    for value in values() {
        squares += (value - mean).powi(2);
        at_min += usize::from(value <= min);
        at_max += usize::from(value >= max);
    }
    let std = if count > 1 {
        (squares / (count - 1) as f64).sqrt()
    } else {
        0.0
    };
    let constant = min >= max;
    let mut longest_constant = 0;
    let mut long_stretch: Option<(usize, &str, usize, usize)> = None;
    for (index, experiment) in dataset.experiments().iter().enumerate() {
        let (start, samples) = longest_stretch(column(experiment));
        longest_constant = longest_constant.max(samples);
        // A switched input stands still by nature; only a long stand-still among many levels is odd.
        if samples >= LONG_STRETCH
            && samples * 50 >= experiment.len()
            && long_stretch.as_ref().is_none_or(|(.., longest)| samples > *longest)
        {
            long_stretch = Some((index, experiment.name(), start, samples));
        }
    }
    let name = || channel.name.clone();
    let few_levels = levels.len() < FEW_LEVELS && count >= 10 * levels.len();
    if constant {
        warnings.push(Warning::Constant {
            channel: name(),
            value: min,
        });
    } else if few_levels {
        warnings.push(Warning::FewLevels {
            channel: name(),
            levels: levels.len(),
        });
    } else {
        for (value, at) in [(min, at_min), (max, at_max)] {
            let share = at as f64 / count as f64;
            if at >= SATURATED_SAMPLES && share >= SATURATED_SHARE {
                warnings.push(Warning::Saturation {
                    channel: name(),
                    value,
                    share,
                });
            }
        }
    }
    for value in [min, max].into_iter().filter(|_| !few_levels) {
        let columns = || dataset.experiments().iter().map(&column);
        if let Some((deviations, count)) = far_samples(columns, (mean, std), value) {
            warnings.push(Warning::FarSamples {
                channel: name(),
                value,
                deviations: deviations.round(),
                count,
            });
        }
    }
    if let Some((index, experiment, start, samples)) = long_stretch.filter(|_| !constant && !few_levels) {
        warnings.push(Warning::ConstantStretch {
            channel: name(),
            experiment: experiment.to_owned(),
            index,
            start,
            samples,
        });
    }
    ChannelSummary {
        channel: channel.clone(),
        min,
        max,
        mean,
        std,
        levels: levels.len(),
        longest_constant,
    }
}

/// How far an extreme lies from the other samples, in their standard deviations, and how many lie there with it: none of what a plant may do.
/// Marks for failures repeat one number, spikes are short; anything else must be rare enough to be far from the mean of all.
#[expect(clippy::float_cmp, reason = "a mark is the very same number")]
fn far_samples<'a, C: Iterator<Item = &'a [f64]>>(
    columns: impl Fn() -> C,
    (mean, std): (f64, f64),
    extreme: f64,
) -> Option<(f64, usize)> {
    let is_far = |value: f64| (value - mean) / (extreme - mean) > 0.5;
    let (mut far, mut rest, mut sum, mut is_mark) = (0_usize, 0_usize, 0.0, true);
    for &value in columns().flatten() {
        if is_far(value) {
            far += 1;
            is_mark &= value == extreme;
        } else {
            rest += 1;
            sum += value;
        }
    }
    if far as f64 > FAR_SHARE * rest as f64 {
        return None;
    }
    let centre = sum / rest.max(1) as f64;
    let others = columns().flatten().filter(|value| !is_far(**value));
    let spread = (others.map(|value| (value - centre).powi(2)).sum::<f64>() / rest.max(1) as f64).sqrt();
    let deviations = (extreme - centre).abs() / spread;
    let are_spikes = || {
        let mut runs = columns().flat_map(|column| column.chunk_by(|a, b| is_far(*a) == is_far(*b)));
        runs.all(|run| !is_far(run[0]) || run.len() <= SPIKE)
    };
    let is_odd = deviations >= FAR && deviations.is_finite();
    (is_odd && (is_mark || (extreme - mean).abs() >= FAR * std || are_spikes())).then_some((deviations, far))
}

/// Start and length of the longest run of equal samples.
#[expect(clippy::float_cmp, reason = "a stuck channel repeats the very same number")]
fn longest_stretch(column: &[f64]) -> (usize, usize) {
    let mut longest = (0, 0);
    let mut start = 0;
    for run in column.chunk_by(|a, b| a == b) {
        if run.len() > longest.1 {
            longest = (start, run.len());
        }
        start += run.len();
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(u: Vec<f64>, y: Vec<f64>) -> Vec<String> {
        let experiment = Experiment::new("e", vec![u], vec![y]);
        let dataset = Dataset::new(
            "d",
            vec![Channel::new("u")],
            vec![Channel::new("y")],
            None,
            vec![experiment],
        );
        describe(&dataset.expect("valid"))
            .warnings
            .iter()
            .map(Warning::to_string)
            .collect()
    }

    #[test]
    fn the_extremes_of_a_short_record_are_no_saturation() {
        let ramp: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(warnings(ramp.clone(), ramp.clone()), [""; 0]);
        let clipped = |level| ramp.iter().map(|x| x.min(level)).collect();
        assert_eq!(warnings(ramp.clone(), clipped(16.0)), [""; 0]);
        assert_eq!(
            warnings(ramp.clone(), clipped(15.0)),
            ["channel 'y' is exactly 15 in 25 % of the samples: saturation?"]
        );
    }

    #[test]
    fn each_warning() {
        let ramp: Vec<f64> = (0..200).map(f64::from).collect();
        let clipped = ramp.iter().map(|x| x.min(150.0)).collect();
        let binary = (0..200).map(|k| f64::from(k % 2)).collect();
        assert_eq!(warnings(ramp.clone(), ramp.clone()), [""; 0]);
        assert_eq!(
            warnings(ramp.clone(), vec![1.0; 200]),
            ["channel 'y' is constant (1): a model cannot be fitted with it"]
        );
        assert_eq!(
            warnings(binary, ramp.clone()),
            ["channel 'u' takes only 2 distinct values"]
        );
        assert_eq!(
            warnings(ramp, clipped),
            [
                "channel 'y' is exactly 150 in 25 % of the samples: saturation?",
                "channel 'y' of experiment 'e' does not change over 50 samples from sample 150 on"
            ]
        );
    }
}
