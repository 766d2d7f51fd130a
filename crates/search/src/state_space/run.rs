//! Contiguous stretches of a record as a state-space model meets them, and which of their samples count.
//!
//! A run holds u(k - n_d) and y(k) for k = 0…N-1, n_d being the dead time. A set of runs has an error Σ (y(k) - ŷ(k))² over the
//! samples that count; a free run goes through the others as well.

use std::ops::Range;

use intervalid_data::{Part, Scaled};

/// Consecutive samples of one experiment in normalised units, row by row, the inputs shifted by the dead time.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    nu: usize,
    ny: usize,
    /// `[sample][input]`, entry k holds u(k - n_d)
    u: Vec<f64>,
    /// `[sample][output]`
    y: Vec<f64>,
}

impl Run {
    /// From rows `[sample][channel]`.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    pub fn new(nu: usize, ny: usize, u: Vec<f64>, y: Vec<f64>) -> Self {
        assert!(ny > 0 && y.len().is_multiple_of(ny), "whole rows of outputs");
        assert_eq!(u.len(), y.len() / ny * nu, "as many inputs as outputs");
        Self { nu, ny, u, y }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.y.len() / self.ny
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.nu
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.ny
    }

    /// u(k)
    #[inline]
    pub fn u(&self, k: usize) -> &[f64] {
        &self.u[k * self.nu..(k + 1) * self.nu]
    }

    /// y(k), measured.
    #[inline]
    pub fn y(&self, k: usize) -> &[f64] {
        &self.y[k * self.ny..(k + 1) * self.ny]
    }

    /// The samples of `range` as a run of their own.
    ///
    /// # Panics
    /// If the range reaches beyond the run.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            u: self.u[range.start * self.nu..range.end * self.nu].to_vec(),
            y: self.y[range.start * self.ny..range.end * self.ny].to_vec(),
            ..*self
        }
    }
}

/// One run per segment of `part`, the inputs delayed by `dead_time` samples.
///
/// Inputs before a segment come from its experiment; before the beginning of an experiment they are zero, the mean.
pub fn runs_of(scaled: &Scaled<f64>, part: &Part, dead_time: usize) -> Vec<Run> {
    let segments = part.segments().iter();
    segments
        .map(|segment| {
            let experiment = &scaled.experiments()[segment.experiment];
            let (nu, ny) = (experiment.inputs(), experiment.outputs());
            let mut u = Vec::with_capacity(segment.len() * nu);
            let mut y = Vec::with_capacity(segment.len() * ny);
            for k in segment.start..segment.end {
                let delayed = |channel| k.checked_sub(dead_time).map_or(0.0, |k| experiment.input(channel)[k]);
                u.extend((0..nu).map(delayed));
                y.extend((0..ny).map(|channel| experiment.output(channel)[k]));
            }
            Run::new(nu, ny, u, y)
        })
        .collect()
}

/// Which samples of a set of runs count in an error: ranges per run, in order of time and disjoint.
///
/// A free run goes on through samples that do not count, since it needs inputs alone there: a held-out block is one that
/// does not count while a model is fitted and is the only one that counts when it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    ranges: Vec<Vec<Range<usize>>>,
}

impl Scored {
    /// All samples.
    pub fn all(runs: &[Run]) -> Self {
        Self::matching(runs, |_, _| true)
    }

    /// The samples for which `counts(run, sample)` holds.
    pub fn matching(runs: &[Run], counts: impl Fn(usize, usize) -> bool) -> Self {
        let ranges_of = |(index, run): (usize, &Run)| {
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for k in (0..run.len()).filter(|&k| counts(index, k)) {
                match ranges.last_mut() {
                    Some(last) if last.end == k => last.end = k + 1,
                    _ => ranges.push(k..k + 1),
                }
            }
            ranges
        };
        Self {
            ranges: runs.iter().enumerate().map(ranges_of).collect(),
        }
    }

    /// Samples whose place in all runs together, one after the other, lies in `range`.
    pub fn between(runs: &[Run], range: Range<usize>) -> Self {
        let before = starts(runs);
        Self::matching(runs, |run, k| range.contains(&(before[run] + k)))
    }

    /// Samples whose place in all runs together lies outside `range`.
    pub fn outside(runs: &[Run], range: Range<usize>) -> Self {
        let before = starts(runs);
        Self::matching(runs, |run, k| !range.contains(&(before[run] + k)))
    }

    /// The ranges of one run.
    pub(crate) fn ranges(&self, run: usize) -> &[Range<usize>] {
        &self.ranges[run]
    }

    /// One past the last sample of a run that counts; 0 if none does.
    pub(crate) fn end(&self, run: usize) -> usize {
        self.ranges[run].last().map_or(0, |range| range.end)
    }

    /// Samples that count.
    pub fn samples(&self) -> usize {
        self.ranges.iter().flatten().map(ExactSizeIterator::len).sum()
    }

    /// A flag per sample of one run of `len` samples.
    pub(crate) fn flags(&self, run: usize, len: usize) -> Vec<bool> {
        let mut flags = vec![false; len];
        self.ranges[run]
            .iter()
            .for_each(|range| flags[range.clone()].fill(true));
        flags
    }
}

/// The place of each run's first sample in all runs together.
fn starts(runs: &[Run]) -> Vec<usize> {
    let mut at = 0;
    runs.iter()
        .map(|run| {
            at += run.len();
            at - run.len()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use intervalid_data::{ScaledExperiment, Segment};

    use super::*;

    #[test]
    fn a_run_holds_delayed_inputs_and_a_block_is_kept_apart() {
        let column: Vec<f64> = (0..10).map(f64::from).collect();
        let scaled = Scaled::new(vec![ScaledExperiment::new(vec![column.clone()], vec![column])]);
        let segment = |start, end| Segment {
            experiment: 0,
            start,
            end,
        };
        let part = Part::from_segments(vec![segment(0, 4), segment(6, 10)]);
        let runs = runs_of(&scaled, &part, 2);
        let first = |run: &Run| -> Vec<i64> { (0..4).map(|k| run.u(k)[0] as i64).collect() };
        assert_eq!((first(&runs[0]), first(&runs[1])), (vec![0, 0, 0, 1], vec![4, 5, 6, 7]));
        let block = Scored::between(&runs, 3..6);
        let rest = Scored::outside(&runs, 3..6);
        assert_eq!(
            (block.ranges(0).first(), block.ranges(1).first()),
            (Some(&(3..4)), Some(&(0..2)))
        );
        assert_eq!((rest.samples(), rest.end(0), rest.end(1)), (5, 3, 4));
        assert_eq!(rest.flags(1, 4), [false, false, true, true]);
    }
}
