//! What is worth telling about a record, in words.

use std::fmt;

use serde::Serialize;

use crate::display_name::display_name;
use crate::read::DateOrder;

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
    /// The last line of a text file has no end and was left out.
    OpenLine {
        /// File name.
        file: String,
        /// Which line, from 1.
        line: u64,
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
    /// Dates that could be read in several ways, and were read in that in which the record is shortest.
    DatesInGuessedOrder {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// The first of them.
        found: String,
        /// What stands first in them.
        order: DateOrder,
    },
    /// Dates of one day, of which nothing tells which it is.
    DayUnknown {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// The first of them.
        found: String,
    },
    /// A column of times that has one value in the whole file.
    TimeStandsStill {
        /// File name.
        file: String,
        /// Column name.
        column: String,
    },
    /// Times without a unit that would be thousands of years in seconds.
    TimeInSeconds {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// The first time.
        start: f64,
        /// Seconds between samples, as it was read.
        step: f64,
    },
    /// Numbers without a unit where the name of the column promises dates, or that look like the days of a spreadsheet.
    DateInSeconds {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// The first of them.
        start: f64,
        /// Seconds between samples, as it was read.
        step: f64,
    },
    /// A column that merely counts rows, where the sample time was given.
    CounterNotUsed {
        /// File name.
        file: String,
        /// Column name.
        column: String,
        /// Seconds between samples, as given.
        sample_time: f64,
    },
    /// Experiments hold the same samples as others.
    SameSamples {
        /// Name of the first that does.
        experiment: String,
        /// The one that was read before.
        earlier: String,
        /// How many there are.
        count: usize,
    },
    /// A channel has one value in the whole data set.
    Constant {
        /// Channel name.
        channel: String,
        /// The value.
        value: f64,
    },
    /// A channel has samples far from all others.
    FarSamples {
        /// Channel name.
        channel: String,
        /// The furthest of them.
        value: f64,
        /// Its distance from the mean of the others, in their standard deviations.
        deviations: f64,
        /// Samples about as far away.
        count: usize,
    },
    /// A channel stands still for long.
    ConstantStretch {
        /// Channel name.
        channel: String,
        /// Experiment name.
        experiment: String,
        /// Its place among the experiments: names may be equal.
        #[serde(skip)]
        index: usize,
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
    /// A model's trend goes by the clock, and the record has none.
    TrendWithoutClock {
        /// Name of the record.
        record: String,
    },
    /// A model's trend goes by times of day, and nobody knows of which day these data are.
    TrendByTimeOfDay {
        /// Name of the record.
        record: String,
    },
    /// A model's trend goes on far beyond what it was fitted to.
    TrendFarOn {
        /// Name of the record.
        record: String,
        /// How far, in lengths of the training part.
        lengths: f64,
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
                    "{}: {} with missing samples left out, {} left",
                    name(file),
                    counted(*missing_rows, "row"),
                    counted(*experiments, "experiment")
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
                        "{} in column '{column}', the longest of {longest} s where {step} s are usual: a new experiment \
                         starts after each",
                        counted(*gaps, "gap")
                    )?;
                }
                if *backwards > 0 {
                    let (separator, column) = (if *gaps > 0 { "; " } else { "" }, name(column));
                    write!(
                        f,
                        "{separator}{} in column '{column}' not after the one before: a new experiment starts at each",
                        counted(*backwards, "time")
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
                    "{}: {rows} rows, one every {from} s by column '{}', resampled to {samples} samples every {to} s by {how}",
                    name(file),
                    name(column)
                )?;
                let told = [
                    (*bridged, "gap", " bridged"),
                    (*repeated, "row", " with a repeated time left out"),
                    (*splits, "new experiment", " at longer gaps"),
                ];
                let mut separator = "; ";
                for (number, noun, what) in told.into_iter().filter(|(number, ..)| *number > 0) {
                    write!(f, "{separator}{}{what}", counted(number, noun))?;
                    separator = ", ";
                }
                Ok(())
            }
            Self::GapsFilled {
                file,
                gaps,
                samples,
                longest,
                first,
            } => write!(
                f,
                "{}: {} in {} filled by straight lines, the longest gap of {longest}, the first at {first}",
                name(file),
                counted(*samples, "missing sample"),
                counted(*gaps, "gap")
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
                    "channel '{channel}': {} of more than {limit} standard deviations clipped ({}{more})",
                    counted(*count, "spike"),
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
            Self::OpenLine { file, line } => write!(
                f,
                "{}: line {line} has no end and is left out: it may still be written",
                name(file)
            ),
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
            Self::DatesInGuessedOrder {
                file,
                column,
                found,
                order,
            } => write!(
                f,
                "{}: dates in column '{}' such as '{}' are read with the {order} first: otherwise the record would last longer",
                name(file),
                name(column),
                name(found)
            ),
            Self::DayUnknown { file, column, found } => write!(
                f,
                "{}: nothing tells the day from the month in dates such as '{}' of column '{}': only their times of day are used",
                name(file),
                name(found),
                name(column)
            ),
            Self::TimeStandsStill { file, column } => write!(
                f,
                "{}: column '{}' is not used as the time: it is the same in all rows",
                name(file),
                name(column)
            ),
            Self::TimeInSeconds {
                file,
                column,
                start,
                step,
            } => write!(
                f,
                "{0}: column '{1}' starts at {start} and was read as seconds, one sample every {step} s: if these are milliseconds, name \
                 the column '{1} [ms]'",
                name(file),
                name(column)
            ),
            Self::DateInSeconds {
                file,
                column,
                start,
                step,
            } => write!(
                f,
                "{0}: column '{1}' holds numbers, from {start} on, and was read as seconds, one sample every {step} s: if they are \
                 something else, write them as dates such as 2024-03-01, or name their unit, as in '{1} [d]'",
                name(file),
                name(column)
            ),
            Self::CounterNotUsed {
                file,
                column,
                sample_time,
            } => write!(
                f,
                "{}: column '{}' counts rows and is not used as the time: the sample time is {sample_time} s, as given",
                name(file),
                name(column)
            ),
            Self::SameSamples {
                experiment,
                earlier,
                count,
            } => {
                write!(
                    f,
                    "experiment '{}' holds the same samples as '{}'",
                    name(experiment),
                    name(earlier)
                )?;
                if *count > 1 {
                    write!(f, ", and {} repeat others", counted(count - 1, "more experiment"))?;
                }
                write!(
                    f,
                    ": they count twice, and what is judged by one was learnt from the other"
                )
            }
            Self::Constant { channel, value } => {
                write!(
                    f,
                    "channel '{}' is constant ({value}): a model cannot be fitted with it",
                    name(channel)
                )
            }
            Self::FarSamples {
                channel,
                value,
                deviations,
                count,
            } => write!(
                f,
                "channel '{}' is {value}, {deviations} standard deviations of the others from their mean, or nearly so in {}: spikes, or a mark \
                 for missing ones?",
                name(channel),
                counted(*count, "sample")
            ),
            Self::ConstantStretch {
                channel,
                experiment,
                start,
                samples,
                ..
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
            Self::TrendWithoutClock { record } => write!(
                f,
                "{}: the model's trend goes by the clock, and these data have none: it starts as that of the training data did",
                name(record)
            ),
            Self::TrendByTimeOfDay { record } => write!(
                f,
                "{}: the trend goes by times of day, which do not say of which day: these data are taken for those of the day on which the training data begin; dates tell",
                name(record)
            ),
            Self::TrendFarOn { record, lengths } => write!(
                f,
                "{}: the model's trend goes on for {lengths:.1} times the length of its training data: what it adds there is a guess",
                name(record)
            ),
        }
    }
}

/// Such as "1 gap", "3 gaps".
fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
