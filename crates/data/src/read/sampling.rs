//! Even sampling by a column of times: checked, cut at gaps, or made by resampling.

use crate::describe::Warning;
use crate::error::{DataError, FileProblem};
use crate::read::options::{MissingPolicy, Position, ReadOptions};
use crate::read::table::push;
use crate::time::{Moment, TimeAxis};

/// Intervals that differ from the usual one by no more than this share of it count as even.
const JITTER: f64 = 0.05;
/// An interval longer than this many usual ones is a gap.
const GAP: f64 = 1.5;
/// Resampling bridges intervals up to this many steps.
const BRIDGE: f64 = 3.0;
/// A new step from this many usual ones on takes means: interpolation would alias what is faster.
const AVERAGE_FROM: f64 = 1.5;

/// Times of the rows of a file.
#[derive(Clone, Debug)]
pub(crate) struct TimeColumn {
    pub(super) name: String,
    pub(super) start: Option<Moment>,
    /// Seconds since `start`; NaN where a row has no time.
    pub(super) seconds: Vec<f64>,
}

impl TimeColumn {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            start: None,
            seconds: Vec::new(),
        }
    }

    /// Appends the time of the next row; false if it is on another clock than those before.
    pub(crate) fn push(&mut self, moment: Option<Moment>) -> bool {
        let seconds = match moment {
            None => Some(f64::NAN),
            Some(moment) => moment.seconds_since(*self.start.get_or_insert(moment)),
        };
        match seconds {
            Some(seconds) => {
                push(&mut self.seconds, seconds);
                true
            }
            None => false,
        }
    }

    fn axis(&self, row: usize, step: f64) -> Option<TimeAxis> {
        let start = self.start?.after(self.seconds[row]);
        Some(TimeAxis { start, step })
    }

    /// Whether it merely counts the rows.
    pub(super) fn is_counter(&self) -> bool {
        self.seconds
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9)
    }

    /// The median of the positive intervals within stretches; none where there are none.
    fn usual_step(&self, stretches: &[(usize, usize)]) -> Option<f64> {
        let mut intervals: Vec<f64> = Vec::new();
        for &(start, end) in stretches {
            let steps = self.seconds[start..end].windows(2).map(|pair| pair[1] - pair[0]);
            intervals.extend(steps.filter(|step| *step > 0.0));
        }
        let middle = intervals.len() / 2;
        (!intervals.is_empty()).then(|| *intervals.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

/// A stretch of rows that are evenly spaced.
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) time: Option<TimeAxis>,
}

/// Even stretches, the step they share, and what was done about gaps.
pub(super) struct Even {
    pub(super) stretches: Vec<Stretch>,
    pub(super) step: Option<f64>,
    pub(super) warning: Option<Warning>,
}

impl Even {
    /// Stretches of rows whose times nobody knows.
    pub(super) fn without_time(complete: &[(usize, usize)]) -> Self {
        let stretch = |&(start, end): &(usize, usize)| Stretch { start, end, time: None };
        Self {
            stretches: complete.iter().map(stretch).collect(),
            step: None,
            warning: None,
        }
    }
}

/// Cuts complete stretches of rows where their times have gaps, or refuses them.
pub(super) fn even_stretches(
    file: &str,
    time: &TimeColumn,
    complete: &[(usize, usize)],
    position: impl Fn(usize) -> Position,
    policy: MissingPolicy,
) -> Result<Even, DataError> {
    let plain = |time: Option<TimeAxis>, (start, end)| Stretch { start, end, time };
    let Some(usual) = time.usual_step(complete) else {
        return Ok(Even::without_time(complete));
    };
    let shown = significant(usual);
    let mut pieces = Vec::new();
    let (mut gaps, mut longest) = (0, 0.0_f64);
    let (mut sum, mut regular, mut intervals) = (0.0, 0_usize, 0_usize);
    let mut irregular: Option<(usize, f64, usize)> = None;
    for &(start, end) in complete {
        let mut begun = start;
        for row in start + 1..end {
            let interval = time.seconds[row] - time.seconds[row - 1];
            intervals += 1;
            let problem = if (interval - usual).abs() <= JITTER * usual {
                (sum, regular) = (sum + interval, regular + 1);
                continue;
            } else if interval > GAP * usual {
                FileProblem::TimeGap {
                    position: position(row),
                    column: time.name.clone(),
                    found: significant(interval),
                    step: shown,
                    bridge: interval <= BRIDGE * usual,
                }
            } else if interval <= 0.0 {
                FileProblem::TimeBackwards {
                    position: position(row),
                    column: time.name.clone(),
                    found: significant(interval),
                }
            } else {
                irregular.get_or_insert((row, interval, 0)).2 += 1;
                continue;
            };
            if policy == MissingPolicy::Error && irregular.is_none() {
                return Err(problem.of(file));
            }
            (gaps, longest) = (gaps + 1, longest.max(interval));
            pieces.push((begun, row));
            begun = row;
        }
        pieces.push((begun, end));
    }
    if let Some((row, found, count)) = irregular {
        return Err(FileProblem::IrregularTime {
            position: position(row),
            column: time.name.clone(),
            found: significant(found),
            step: shown,
            irregular: count,
            intervals,
        }
        .of(file));
    }
    let step = neat(sum / regular.max(1) as f64);
    Ok(Even {
        stretches: pieces
            .into_iter()
            .map(|piece| plain(time.axis(piece.0, step), piece))
            .collect(),
        step: Some(step),
        warning: (gaps > 0).then(|| Warning::SplitAtTimeGaps {
            file: file.to_owned(),
            column: time.name.clone(),
            gaps,
            longest: significant(longest),
            step: shown,
        }),
    })
}

/// What resampling did, to be told.
#[derive(Default)]
pub(super) struct Tally {
    usual: Option<f64>,
    rows: usize,
    samples: usize,
    bridged: usize,
    repeated: usize,
    splits: usize,
    averaged: bool,
}

impl Tally {
    pub(super) fn warning(self, file: &str, column: &str, step: f64) -> Warning {
        Warning::Resampled {
            file: file.to_owned(),
            column: column.to_owned(),
            from: self.usual.map_or(step, significant),
            to: step,
            rows: self.rows,
            samples: self.samples,
            bridged: self.bridged,
            repeated: self.repeated,
            splits: self.splits,
            averaged: self.averaged,
        }
    }
}

/// A stretch on its new grid: its times, and its columns in the order of the table's.
pub(super) type Resampled = (Option<TimeAxis>, Vec<Vec<f64>>);

/// Puts the complete rows of `first..last` on a grid of `step` seconds that starts at the first of them.
///
/// Between two rows a value is interpolated linearly; where the step is at least one and a half usual ones, it is the mean of the
/// rows within half a step. Rows with a missing value are left out, and so are rows whose time was there already. An interval of
/// more than three steps, old or new, is not bridged: a new stretch starts after it, if the policy allows.
pub(super) fn resample(
    file: &str,
    time: &TimeColumn,
    columns: &[Vec<f64>],
    rows: std::ops::Range<usize>,
    position: impl Fn(usize) -> Position,
    (step, options): (f64, &ReadOptions),
    tally: &mut Tally,
) -> Result<Vec<Resampled>, DataError> {
    let is_complete = |row: &usize| !time.seconds[*row].is_nan() && columns.iter().all(|column| !column[*row].is_nan());
    let kept: Vec<usize> = rows.filter(is_complete).collect();
    let mut intervals: Vec<f64> = Vec::new();
    for pair in kept.windows(2) {
        let interval = time.seconds[pair[1]] - time.seconds[pair[0]];
        if interval > 0.0 {
            intervals.push(interval);
        }
    }
    let middle = intervals.len() / 2;
    let usual = match intervals.is_empty() {
        true => step,
        false => *intervals.select_nth_unstable_by(middle, f64::total_cmp).1,
    };
    tally.usual.get_or_insert(usual);
    tally.rows += kept.len();
    let longest = BRIDGE * step.max(usual);
    let mut stretches: Vec<Vec<usize>> = Vec::new();
    for row in kept {
        let Some(stretch) = stretches.last_mut() else {
            stretches.push(vec![row]);
            continue;
        };
        let last = stretch[stretch.len() - 1];
        let interval = time.seconds[row] - time.seconds[last];
        if interval.abs() < 1e-12 {
            tally.repeated += 1;
        } else if interval < 0.0 || interval > longest {
            if options.missing == MissingPolicy::Error {
                let column = time.name.clone();
                let found = significant(interval);
                let position = position(row);
                return Err(match interval < 0.0 {
                    true => FileProblem::TimeBackwards {
                        position,
                        column,
                        found,
                    },
                    false => FileProblem::TimeGap {
                        position,
                        column,
                        found,
                        step: significant(usual),
                        bridge: false,
                    },
                }
                .of(file));
            }
            tally.splits += 1;
            stretches.push(vec![row]);
        } else {
            tally.bridged += usize::from(interval > GAP * usual);
            stretch.push(row);
        }
    }
    tally.averaged = step >= AVERAGE_FROM * usual;
    let averaged = tally.averaged;
    let on_grid = |stretch: &Vec<usize>| {
        let times: Vec<f64> = stretch.iter().map(|row| time.seconds[*row]).collect();
        let start = times[0];
        let samples = ((times[times.len() - 1] - start) / step + 1e-6).floor() as usize + 1;
        let values = |column: &Vec<f64>| {
            let known: Vec<f64> = stretch.iter().map(|row| column[*row]).collect();
            (0..samples)
                .scan(0, |near, sample| {
                    let at = start + sample as f64 * step;
                    Some(match averaged {
                        true => mean_around(&times, &known, at, step, near),
                        false => between(&times, &known, at, near),
                    })
                })
                .collect()
        };
        (time.axis(stretch[0], step), columns.iter().map(values).collect())
    };
    let resampled: Vec<Resampled> = stretches.iter().map(on_grid).collect();
    tally.samples += resampled
        .iter()
        .map(|(_, columns)| columns.first().map_or(0, Vec::len))
        .sum::<usize>();
    Ok(resampled)
}

/// The value at time `at` on the line between its neighbours. `near` is where the last search ended; times only rise.
fn between(times: &[f64], values: &[f64], at: f64, near: &mut usize) -> f64 {
    while *near + 1 < times.len() && times[*near + 1] <= at {
        *near += 1;
    }
    let Some(next) = times.get(*near + 1) else {
        return values[*near];
    };
    let share = ((at - times[*near]) / (next - times[*near])).clamp(0.0, 1.0);
    values[*near] + share * (values[*near + 1] - values[*near])
}

/// The mean of the rows from half a step before `at` to half a step after; on the line where there are none.
fn mean_around(times: &[f64], values: &[f64], at: f64, step: f64, near: &mut usize) -> f64 {
    while *near < times.len() && times[*near] < at - step / 2.0 {
        *near += 1;
    }
    let here = times[*near..]
        .iter()
        .take_while(|time| **time < at + step / 2.0)
        .count();
    match here {
        0 => between(times, values, at, &mut near.saturating_sub(1)),
        count => values[*near..*near + count].iter().sum::<f64>() / count as f64,
    }
}

/// To six digits, for messages.
fn significant(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A step without the digits that rounded stamps leave on a mean.
fn neat(step: f64) -> f64 {
    let short: f64 = format!("{step:.3e}").parse().unwrap_or(step);
    if (short - step).abs() <= 1e-5 * step {
        short
    } else {
        step
    }
}
