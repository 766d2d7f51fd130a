//! What a user should know about a record before fitting.

use std::fmt;

use serde::Serialize;

use crate::dataset::{Channel, Dataset, Experiment};
use crate::display_name::display_name;

/// Something worth telling about a record that does not make it invalid.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Warning {
    /// The file had missing samples and was split there.
    SplitAtGaps {
        /// File name.
        file: String,
        /// Rows left out.
        missing_rows: usize,
        /// Experiments that resulted.
        experiments: usize,
    },
    /// The file had gaps in its times, or times that did not rise, and was split there.
    SplitAtTimeGaps {
        /// File name.
        file: String,
        /// Column of times.
        column: String,
        /// How many gaps.
        gaps: usize,
        /// Seconds of the longest gap; 0 where there is none.
        longest: f64,
        /// Seconds between samples.
        step: f64,
        /// Times that are not after the one before.
        backwards: usize,
    },
    /// Samples were resampled by their times.
    Resampled {
        /// File name.
        file: String,
        /// Column of times.
        column: String,
        /// Seconds between samples before; their median.
        from: f64,
        /// Seconds between samples now.
        to: f64,
        /// Complete rows before.
        rows: usize,
        /// Samples now.
        samples: usize,
        /// Intervals that were bridged, all longer than one and a half usual ones.
        bridged: usize,
        /// Rows with a time that was there already, left out.
        repeated: usize,
        /// Places where a new experiment starts.
        splits: usize,
        /// Whether samples are means over a step; otherwise they are interpolated linearly.
        averaged: bool,
    },
    /// Short gaps were filled by straight lines.
    GapsFilled {
        /// File name.
        file: String,
        /// Gaps, counted per column.
        gaps: usize,
        /// Samples in them.
        samples: usize,
        /// Samples of the longest.
        longest: usize,
        /// Where the first one starts.
        first: String,
    },
    /// Samples far from their neighbours became the median of those.
    SpikesClipped {
        /// Channel name.
        channel: String,
        /// Standard deviations from which on a sample is a spike.
        limit: f64,
        /// How many there were.
        count: usize,
        /// Where the first ones were.
        shown: Vec<String>,
    },
    /// Samples were thinned out after a filter.
    Decimated {
        /// Samples that became one.
        factor: usize,
        /// Samples before.
        before: usize,
        /// Samples now.
        after: usize,
        /// Seconds between samples now, where known.
        sample_time: Option<f64>,
    },
    /// A column looks like times by its name, but does not hold any.
    TimeNotUsed {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// Where it does not.
        position: String,
        /// The cell.
        found: String,
    },
    /// A channel has one value in the whole data set.
    Constant {
        /// Channel name.
        channel: String,
        /// The value.
        value: f64,
    },
    /// A channel stands still for long.
    ConstantStretch {
        /// Channel name.
        channel: String,
        /// Experiment name.
        experiment: String,
        /// First sample of the stretch, from 0.
        start: usize,
        /// Samples in it.
        samples: usize,
    },
    /// A channel takes few values: coarse quantisation, or a switched input.
    FewLevels {
        /// Channel name.
        channel: String,
        /// Distinct values.
        levels: usize,
    },
    /// A channel often sits exactly at its smallest or largest value.
    Saturation {
        /// Channel name.
        channel: String,
        /// The value it sits at.
        value: f64,
        /// Share of the samples there.
        share: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = display_name;
        match self {
            Self::SplitAtGaps {
                file,
                missing_rows,
                experiments,
            } => {
                write!(
                    f,
                    "{}: {missing_rows} row(s) with missing samples left out, {experiments} experiment(s) remain",
                    name(file)
                )
            }
            Self::SplitAtTimeGaps {
                file,
                column,
                gaps,
                longest,
                step,
                backwards,
            } => {
                write!(f, "{}: ", name(file))?;
                if *gaps > 0 {
                    let column = name(column);
                    write!(
                        f,
                        "{gaps} gap(s) in column '{column}', the longest of {longest} s where {step} s are usual: a new \
                         experiment starts after each"
                    )?;
                }
                if *backwards > 0 {
                    let (separator, column) = (if *gaps > 0 { "; " } else { "" }, name(column));
                    write!(
                        f,
                        "{separator}{backwards} time(s) in column '{column}' not after the one before: a new experiment \
                         starts at each"
                    )?;
                }
                Ok(())
            }
            Self::Resampled {
                file,
                column,
                from,
                to,
                rows,
                samples,
                bridged,
                repeated,
                splits,
                averaged,
            } => {
                let how = if *averaged {
                    "means over each step"
                } else {
                    "linear interpolation"
                };
                write!(
                    f,
                    "{}: {rows} rows, one every {from} s by column '{}', resampled to {samples} samples every {to} s by \
                     {how}; {bridged} interval(s) bridged, {repeated} row(s) with a repeated time left out, {splits} new \
                     experiment(s) at longer gaps",
                    name(file),
                    name(column)
                )
            }
            Self::GapsFilled {
                file,
                gaps,
                samples,
                longest,
                first,
            } => write!(
                f,
                "{}: {samples} missing sample(s) in {gaps} gap(s) filled by straight lines, the longest gap of {longest}, the \
                 first at {first}",
                name(file)
            ),
            Self::SpikesClipped {
                channel,
                limit,
                count,
                shown,
            } => {
                let channel = name(channel);
                if *count == 0 {
                    return write!(f, "channel '{channel}' has no spikes of {limit} standard deviations");
                }
                let more = if shown.len() < *count { ", …" } else { "" };
                write!(
                    f,
                    "channel '{channel}': {count} spike(s) of more than {limit} standard deviations clipped ({}{more})",
                    shown.join(", ")
                )
            }
            Self::Decimated {
                factor,
                before,
                after,
                sample_time,
            } => {
                write!(
                    f,
                    "{before} samples filtered and thinned out to {after}, one in {factor}"
                )?;
                match sample_time {
                    Some(seconds) => write!(f, ", one every {seconds} s"),
                    None => Ok(()),
                }
            }
            Self::TimeNotUsed {
                file,
                column,
                position,
                found,
            } => write!(
                f,
                "{}: column '{}' is not used as the time: {position}, '{}' is not one",
                name(file),
                name(column),
                name(found)
            ),
            Self::Constant { channel, value } => {
                write!(
                    f,
                    "channel '{}' is constant ({value}): a model cannot be fitted with it",
                    name(channel)
                )
            }
            Self::ConstantStretch {
                channel,
                experiment,
                start,
                samples,
            } => write!(
                f,
                "channel '{}' of experiment '{}' does not change over {samples} samples from sample {start} on",
                name(channel),
                name(experiment)
            ),
            Self::FewLevels { channel, levels } => {
                write!(f, "channel '{}' takes only {levels} distinct values", name(channel))
            }
            Self::Saturation { channel, value, share } => {
                write!(
                    f,
                    "channel '{}' is exactly {value} in {:.0} % of the samples: saturation?",
                    name(channel),
                    100.0 * share
                )
            }
        }
    }
}

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
    let mut long_stretch = None;
    for experiment in dataset.experiments() {
        let (start, samples) = longest_stretch(column(experiment));
        longest_constant = longest_constant.max(samples);
        // A switched input stands still by nature; only a long stand-still among many levels is odd.
        if samples >= LONG_STRETCH
            && samples * 50 >= experiment.len()
            && long_stretch.as_ref().is_none_or(|(_, _, longest)| samples > *longest)
        {
            long_stretch = Some((experiment.name(), start, samples));
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
    if let Some((experiment, start, samples)) = long_stretch.filter(|_| !constant && !few_levels) {
        warnings.push(Warning::ConstantStretch {
            channel: name(),
            experiment: experiment.to_owned(),
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
