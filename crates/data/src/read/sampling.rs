//! Even sampling by a column of times: checked, and cut at gaps.

use std::ops::Range;

use jiff::SignedDuration;

use crate::error::{DataError, FileProblem};
use crate::read::header::promises_dates;
use crate::read::options::{MissingPolicy, Position};
use crate::read::table::push;
use crate::time::{Moment, SECONDS_OF_A_DAY, TimeAxis};
use crate::warning::Warning;

/// Intervals that differ from the usual one by no more than this share of it count as even.
const JITTER: f64 = 0.05;
/// An interval longer than this many usual ones is a gap.
pub(super) const GAP: f64 = 1.5;
/// Resampling bridges intervals up to this many steps.
pub(super) const BRIDGE: f64 = 3.0;

/// Days of the years 1982 to 2064, counted from 1900 as spreadsheets do, and from the year 0 as MATLAB does.
const SERIAL_DAYS: [Range<f64>; 2] = [30_000.0..60_000.0, 723_900.0..754_000.0];

const NANOSECONDS_OF_A_DAY: i64 = 86_400_000_000_000;

/// Times of the rows of a file.
#[derive(Clone, Debug)]
pub(crate) struct TimeColumn {
    pub(super) name: String,
    pub(super) start: Option<Moment>,
    /// Seconds since `start`; NaN where a row has no time.
    pub(super) seconds: Vec<f64>,
    /// Whether these were numbers, and nothing said of what.
    pub(super) is_bare: bool,
    /// The last time there was; of times of day, with the days that have passed.
    last: Option<Moment>,
}

impl TimeColumn {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            start: None,
            seconds: Vec::new(),
            is_bare: false,
            last: None,
        }
    }

    /// Appends the time of the next row; false if it is on another clock than those before.
    pub(crate) fn push(&mut self, moment: Option<Moment>) -> bool {
        let moment = moment.map(|moment| self.on_its_day(moment));
        self.last = moment.or(self.last);
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

    /// A time of day that lies far before the last one is of the next day.
    fn on_its_day(&self, moment: Moment) -> Moment {
        match (self.last, moment) {
            (Some(Moment::TimeOfDay(last)), Moment::TimeOfDay(time)) => {
                let days = ((last - time) / SECONDS_OF_A_DAY).round().max(0.0);
                Moment::TimeOfDay(time + days * SECONDS_OF_A_DAY)
            }
            _ => moment,
        }
    }

    /// How often it goes back, and how many seconds it lasts.
    pub(super) fn oddity(&self) -> (usize, f64) {
        let known = || self.seconds.iter().filter(|seconds| !seconds.is_nan());
        let backwards = known().zip(known().skip(1)).filter(|(before, after)| after < before);
        (backwards.count(), known().next_back().copied().unwrap_or(0.0).abs())
    }

    /// The same with times of day: nobody knows of which day.
    pub(super) fn without_day(mut self) -> Self {
        if let Some(Moment::Date { nanoseconds, .. }) = self.start {
            let midnight = nanoseconds.div_euclid(NANOSECONDS_OF_A_DAY) * NANOSECONDS_OF_A_DAY;
            let seconds = SignedDuration::from_nanos(nanoseconds - midnight).as_secs_f64();
            self.start = Some(Moment::TimeOfDay(seconds));
        }
        self
    }

    pub(super) fn axis(&self, row: usize, step: f64) -> Option<TimeAxis> {
        let start = self.start?.after(self.seconds[row]);
        Some(TimeAxis { start, step })
    }

    /// Whether it merely counts the rows. Dates, times of day and seconds that are called so come from a clock, whatever their step.
    pub(super) fn is_counter(&self) -> bool {
        let mut steps = self.seconds.windows(2);
        self.is_bare && steps.all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-9)
    }

    /// What is doubtful about its numbers, which were read as one sample every `step` seconds.
    pub(super) fn doubt(&self, file: &str, step: f64) -> Option<Warning> {
        let Some(Moment::Seconds(start)) = self.start else {
            return None;
        };
        let (file, column) = (file.to_owned(), self.name.clone());
        if start.abs() >= LATEST {
            Some(Warning::TimeInSeconds {
                file,
                column,
                start,
                step,
            })
        } else if self.is_bare && (promises_dates(&self.name) || self.counts_days(start)) {
            Some(Warning::DateInSeconds {
                file,
                column,
                start,
                step,
            })
        } else {
            None
        }
    }

    /// Whether its numbers look like the days that spreadsheets and MATLAB count, written in full: of our time, and whole seconds apart, by steps that
    /// nobody writes in seconds.
    fn counts_days(&self, start: f64) -> bool {
        let mut known = self.seconds.iter().filter(|seconds| !seconds.is_nan());
        let (Some(first), Some(last)) = (known.next(), known.next_back()) else {
            return false;
        };
        let intervals = self.seconds.iter().filter(|seconds| !seconds.is_nan()).count() - 1;
        let step = (last - first) / intervals as f64;
        let is_whole = |value: f64, error: f64| (value - value.round()).abs() <= error;
        SERIAL_DAYS.iter().any(|days| days.contains(&start))
            && (0.5 / SECONDS_OF_A_DAY..1.0).contains(&step)
            && is_whole(step * SECONDS_OF_A_DAY, 0.1)
            && !is_whole(1e4 * step, 1e-3)
    }

    /// Runs of rows, cut where the times go back or stand further apart than `longest` allows for so many rows and the usual step.
    pub(super) fn cut_at_gaps(
        &self,
        runs: Vec<Range<usize>>,
        longest: impl Fn(usize, f64) -> f64,
    ) -> Vec<Range<usize>> {
        let Some(usual) = self.usual_step(runs.iter().cloned()) else {
            return runs;
        };
        let mut pieces = Vec::with_capacity(runs.len());
        for run in runs {
            let mut begun = run.start;
            let mut known: Option<usize> = None;
            for row in run.clone().filter(|row| !self.seconds[*row].is_nan()) {
                if let Some(before) = known {
                    let interval = self.seconds[row] - self.seconds[before];
                    if interval < 0.0 || interval > longest(row - before, usual) {
                        pieces.push(begun..row);
                        begun = row;
                    }
                }
                known = Some(row);
            }
            pieces.push(begun..run.end);
        }
        pieces
    }

    /// The median of the positive intervals between neighbours within groups of rows; none where there are none.
    pub(super) fn usual_step(&self, groups: impl Iterator<Item = impl Iterator<Item = usize>>) -> Option<f64> {
        let mut intervals: Vec<f64> = Vec::new();
        for group in groups {
            let mut before = f64::NAN;
            for row in group {
                let interval = self.seconds[row] - before;
                before = self.seconds[row];
                if interval > 0.0 {
                    intervals.push(interval);
                }
            }
        }
        let middle = intervals.len() / 2;
        (!intervals.is_empty()).then(|| *intervals.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

/// Seconds since 1970 reach the year 5000 here; what is later was counted in something shorter.
const LATEST: f64 = 1e11;

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
    pub(super) warnings: Vec<Warning>,
}

impl Even {
    /// Stretches of rows whose times nobody knows.
    pub(super) fn without_time(complete: &[(usize, usize)]) -> Self {
        let stretch = |&(start, end): &(usize, usize)| Stretch { start, end, time: None };
        Self {
            stretches: complete.iter().map(stretch).collect(),
            step: None,
            warnings: Vec::new(),
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
    let Some(usual) = time.usual_step(complete.iter().map(|&(start, end)| start..end)) else {
        return never_rising(file, time, complete, position);
    };
    let shown = significant(usual);
    let mut pieces = Vec::new();
    let (mut gaps, mut backwards, mut longest) = (0, 0, 0.0_f64);
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
            if interval > 0.0 {
                (gaps, longest) = (gaps + 1, longest.max(interval));
            } else {
                backwards += 1;
            }
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
    let split = (gaps + backwards > 0).then(|| Warning::SplitAtTimeGaps {
        file: file.to_owned(),
        column: time.name.clone(),
        gaps,
        longest: significant(longest),
        step: shown,
        backwards,
    });
    Ok(Even {
        stretches: pieces
            .into_iter()
            .map(|piece| plain(time.axis(piece.0, step), piece))
            .collect(),
        step: Some(step),
        warnings: split.into_iter().chain(time.doubt(file, step)).collect(),
    })
}

/// Rows whose times never rise: a column that stands still is no clock, one that falls tells of a record that runs backwards.
fn never_rising(
    file: &str,
    time: &TimeColumn,
    complete: &[(usize, usize)],
    position: impl Fn(usize) -> Position,
) -> Result<Even, DataError> {
    let interval = |row: &usize| time.seconds[*row] - time.seconds[row - 1];
    let mut later = complete.iter().flat_map(|&(start, end)| start + 1..end).peekable();
    let stands_still = later.peek().is_some();
    if let Some(row) = later.find(|row| interval(row) < 0.0) {
        return Err(FileProblem::TimeBackwards {
            position: position(row),
            column: time.name.clone(),
            found: significant(interval(&row)),
        }
        .of(file));
    }
    let warning = stands_still.then(|| Warning::TimeStandsStill {
        file: file.to_owned(),
        column: time.name.clone(),
    });
    Ok(Even {
        warnings: warning.into_iter().collect(),
        ..Even::without_time(complete)
    })
}

/// To six digits, for messages.
pub(crate) fn significant(value: f64) -> f64 {
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
