//! Rows on a new grid of times.

use std::ops::Range;

use crate::error::{DataError, FileProblem};
use crate::prepare::{Clipping, spike_marks};
use crate::read::limit::MOST_VALUES;
use crate::read::options::{MissingPolicy, Position, ReadOptions};
use crate::read::sampling::{BRIDGE, GAP, TimeColumn, significant};
use crate::spot::Mark;
use crate::time::TimeAxis;
use crate::warning::Warning;

/// A new step from this many usual ones on takes means: interpolation would alias what is faster.
const AVERAGE_FROM: f64 = 1.5;
/// Rows this near to the border between two means, as a share of a step, lie on it: rounding must not choose their side.
const ON_BORDER: f64 = 1e-3;

/// What resampling did, to be told.
#[derive(Default)]
pub(super) struct Tally {
    usual: f64,
    rows: usize,
    samples: usize,
    bridged: usize,
    repeated: usize,
    splits: usize,
    averaged: bool,
}

impl Tally {
    /// Seconds between rows, for messages.
    pub(super) fn usual(&self) -> f64 {
        significant(self.usual)
    }

    pub(super) fn warning(self, file: &str, column: &str, step: f64) -> Warning {
        Warning::Resampled {
            file: file.to_owned(),
            column: column.to_owned(),
            from: self.usual(),
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

/// A stretch on its new grid.
pub(super) struct Resampled {
    pub(super) time: Option<TimeAxis>,
    /// In the order of the table's.
    pub(super) columns: Vec<Vec<f64>>,
    /// Where spikes were clipped.
    pub(super) marks: Vec<Mark>,
}

/// Puts the complete rows of each run on a grid of `step` seconds that starts at the first of them; stretches by run.
///
/// Between two rows a value is interpolated linearly; where the step is at least one and a half usual ones, it is the mean of the
/// rows within half a step; a row on the border between two belongs to both, half each, so that means lag behind nothing. One
/// usual step for the whole file: all its runs together tell what it is. Rows with a missing value are left out, and so are rows
/// whose time was there already. An interval of more than three steps, old or new, is not bridged: a new stretch starts after it,
/// if the policy allows. Spikes are clipped first: a mean would spread them over its neighbours.
pub(super) fn resample(
    file: &str,
    time: &TimeColumn,
    columns: &[Vec<f64>],
    runs: &[(String, Range<usize>)],
    position: impl Fn(usize) -> Position,
    (step, clipping, options): (f64, &mut Clipping, &ReadOptions),
) -> Result<(Vec<Vec<Resampled>>, Tally), DataError> {
    let is_complete = |row: &usize| !time.seconds[*row].is_nan() && columns.iter().all(|column| !column[*row].is_nan());
    let kept: Vec<Vec<usize>> = runs
        .iter()
        .map(|(_, rows)| rows.clone().filter(is_complete).collect())
        .collect();
    let usual = time
        .usual_step(kept.iter().map(|rows| rows.iter().copied()))
        .unwrap_or(step);
    let mut tally = Tally {
        usual,
        rows: kept.iter().map(Vec::len).sum(),
        averaged: step >= AVERAGE_FROM * usual,
        ..Tally::default()
    };
    let mut cut = Vec::with_capacity(kept.len());
    for rows in kept {
        cut.push(stretches(file, time, rows, &position, (step, options), &mut tally)?);
    }
    // A short step makes any number of samples of a few rows: counted before memory is taken.
    let span = |stretch: &Vec<usize>| time.seconds[stretch[stretch.len() - 1]] - time.seconds[stretch[0]];
    let samples: f64 = cut.iter().flatten().map(|stretch| points(span(stretch), step)).sum();
    let found = (samples * columns.len() as f64) as u64;
    let limit = options.max_samples.unwrap_or(MOST_VALUES);
    if found > limit {
        return Err(FileProblem::TooManyResampled { step, found, limit }.of(file));
    }
    let last_row = cut
        .iter()
        .flatten()
        .next_back()
        .and_then(|stretch| stretch.last())
        .copied();
    let mut on_grid = |stretch: &Vec<usize>| {
        let times: Vec<f64> = stretch.iter().map(|row| time.seconds[*row]).collect();
        let start = times[0];
        let samples = points(times[times.len() - 1] - start, step) as usize;
        tally.samples += samples;
        // A sample is settled once a settled row lies behind all that it is made of.
        let settled = times
            .len()
            .checked_sub(clipping.reach() + 1)
            .map(|row| times[row] - start);
        let behind = if tally.averaged { step * (0.5 + ON_BORDER) } else { 0.0 };
        let is_settled = |sample: &usize| settled.is_some_and(|until| *sample as f64 * step + behind <= until);
        // Rows to come lengthen the last stretch alone.
        if stretch.last() == last_row.as_ref() {
            clipping.unsettle(samples - (0..samples).take_while(is_settled).count());
        }
        let mut marks = Vec::new();
        let mut values = |(channel, column): (usize, &Vec<f64>)| {
            let mut known: Vec<f64> = stretch.iter().map(|row| column[*row]).collect();
            let spikes = clipping.clip(channel, &mut known);
            clipping.note(channel, &spikes, |spike| position(stretch[spike]).to_string());
            let near = |spike: &usize| (((times[*spike] - start) / step).round() as usize).min(samples - 1);
            let mut spikes: Vec<usize> = spikes.iter().map(near).collect();
            spikes.dedup();
            marks.extend(spike_marks(&spikes, channel));
            (0..samples)
                .scan(0, |near, sample| {
                    let at = start + sample as f64 * step;
                    Some(match tally.averaged {
                        true => mean_around(&times, &known, at, step, near),
                        false => between(&times, &known, at, near),
                    })
                })
                .collect()
        };
        let columns = columns.iter().enumerate().map(&mut values).collect();
        Resampled {
            time: time.axis(stretch[0], step),
            columns,
            marks,
        }
    };
    let resampled = cut.iter().map(|run| run.iter().map(&mut on_grid).collect()).collect();
    Ok((resampled, tally))
}

/// Rows of one run, cut where an interval is not bridged and without those whose time was there already.
fn stretches(
    file: &str,
    time: &TimeColumn,
    rows: Vec<usize>,
    position: &impl Fn(usize) -> Position,
    (step, options): (f64, &ReadOptions),
    tally: &mut Tally,
) -> Result<Vec<Vec<usize>>, DataError> {
    let longest = longest_bridge(step, tally.usual, options.prepare.fill_gaps);
    let mut stretches: Vec<Vec<usize>> = Vec::new();
    for row in rows {
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
                        step: significant(tally.usual),
                        bridge: false,
                    },
                }
                .of(file));
            }
            tally.splits += 1;
            stretches.push(vec![row]);
        } else {
            tally.bridged += usize::from(interval > GAP * tally.usual);
            stretch.push(row);
        }
    }
    Ok(stretches)
}

/// The longest interval that is bridged, where rows come in intervals of `usual` seconds.
pub(super) fn longest_bridge(step: f64, usual: f64, fill_gaps: Option<usize>) -> f64 {
    // Who fills gaps of so many samples bridges what is as long.
    let steps = fill_gaps.map_or(BRIDGE, |samples| BRIDGE.max(samples as f64 + 1.0));
    steps * step.max(usual) * (1.0 + f64::EPSILON)
}

/// Points of a grid over `span` seconds; a last one that rounding has put behind the end counts.
fn points(span: f64, step: f64) -> f64 {
    (span / step + 1e-6).floor() + 1.0
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

/// The mean of the rows from half a step before `at` to half a step after, those on a border with half their weight; on the line
/// where there are none.
fn mean_around(times: &[f64], values: &[f64], at: f64, step: f64, near: &mut usize) -> f64 {
    let (border, tolerance) = (step / 2.0, ON_BORDER * step);
    while *near < times.len() && times[*near] < at - border - tolerance {
        *near += 1;
    }
    let rows = times[*near..].iter().zip(&values[*near..]);
    let (mut sum, mut weights) = (0.0, 0.0);
    for (time, value) in rows.take_while(|(time, _)| **time <= at + border + tolerance) {
        let inside = border - (time - at).abs();
        let weight = if inside > tolerance { 1.0 } else { 0.5 };
        (sum, weights) = (sum + weight * value, weights + weight);
    }
    match weights > 0.0 {
        true => sum / weights,
        false => between(times, values, at, &mut near.saturating_sub(1)),
    }
}
