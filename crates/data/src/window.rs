//! Sequence windows and free runs as index views: they name samples, they never copy them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::lags::{InitialState, Lags};
use crate::split::{Part, Segment};

/// `len` samples of one experiment from `start` on. The output at `start` is known; the samples
/// `start+1 .. start+len` are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index of the experiment in [`Dataset::experiments`].
    pub experiment: usize,
    /// The sample whose output is known.
    pub start: usize,
    /// Number of samples, the known one included.
    pub len: usize,
}

impl Window {
    /// The predicted samples.
    pub fn predicted(self) -> Range<usize> {
        self.start + 1..self.start + self.len
    }

    /// The predicted samples that losses and metrics use: all of them, less the warm-up.
    pub fn scored(self, initial: InitialState) -> Range<usize> {
        let end = self.start + self.len;
        (self.start + 1).saturating_add(initial.unscored()).min(end)..end
    }
}

/// Length and spacing of training windows.
///
/// | field | symbol | range |
/// |---|---|---|
/// | `length` | N | ≥ 2, and more than n+1 with a warm-up of n |
/// | `step` | n_step | ≥ 1 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowConfig {
    /// Samples per window, the known first one included.
    pub length: usize,
    /// Samples between the starts of neighbouring windows.
    pub step: usize,
}

impl WindowConfig {
    fn check(self, initial: InitialState) -> Result<(), DataError> {
        let shortest = initial.unscored().saturating_add(2);
        if self.length < shortest {
            return Err(DataError::WindowLength {
                length: self.length,
                shortest,
            });
        }
        if self.step == 0 {
            return Err(DataError::WindowStep);
        }
        Ok(())
    }
}

/// All windows of a part, computed when asked for: memory is a few words per segment, not per window.
///
/// In a segment of K samples, counted from 1, windows of N samples start at k = 1, 1+n_step, … ≤ K-N. A window lies
/// inside its segment; only its input lags, and with [`InitialState::Measured`] its output history, look back into the
/// record before it, and never into another experiment. With `Measured` the first start in an experiment is sample
/// max(n_y, n_d + n_x). Segments that are too short for a window have none.
///
/// ```
/// use intervalid_data::{InitialState, Lags, ReadOptions, Split, SplitFractions, WindowConfig, Windows, load};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::new(0.6, 0.1, 0.3)?)?;
/// let config = WindowConfig { length: 100, step: 50 };
/// let windows = Windows::new(&dataset, &split.train, Lags::new(2, 1, 3)?, InitialState::ZeroPadded, config)?;
/// let last = windows.get(windows.len() - 1);
/// assert_eq!((windows.len(), last.start, last.predicted()), (10, 450, 451..550));
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    config: WindowConfig,
    /// First start in a segment, with the number of windows in all segments before it.
    rows: Vec<Row>,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    experiment: usize,
    first: usize,
    before: usize,
}

impl Windows {
    /// The windows of `part`.
    ///
    /// # Errors
    /// If the lags or the configuration are out of range, or no segment is long enough for one window.
    pub fn new(
        dataset: &Dataset,
        part: &Part,
        lags: Lags,
        initial: InitialState,
        config: WindowConfig,
    ) -> Result<Self, DataError> {
        lags.check()?;
        config.check(initial)?;
        part.check(dataset)?;
        let mut rows = Vec::new();
        let mut count = 0;
        for segment in part.segments() {
            let first = segment.start.max(initial.first_start(lags));
            // K-N of the formula, counted from `first`.
            let Some(spare) = segment
                .end
                .checked_sub(first)
                .and_then(|samples| samples.checked_sub(config.length))
            else {
                continue;
            };
            if spare > 0 {
                rows.push(Row {
                    experiment: segment.experiment,
                    first,
                    before: count,
                });
                count += (spare - 1) / config.step + 1;
            }
        }
        if count == 0 {
            let needed = config.length.saturating_add(1);
            return Err(too_short("a window", part, lags, initial, needed));
        }
        Ok(Self { config, rows, count })
    }

    /// Number of windows, at least 1.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never true: no windows is an error of [`Windows::new`].
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Length and spacing.
    pub fn config(&self) -> WindowConfig {
        self.config
    }

    /// Window `index`, in order of experiment and time.
    ///
    /// # Panics
    /// If `index` is not below [`Windows::len`].
    pub fn get(&self, index: usize) -> Window {
        assert!(index < self.count, "window {index} of {}", self.count);
        let row = self.rows[self.rows.partition_point(|row| row.before <= index) - 1];
        Window {
            experiment: row.experiment,
            start: row.first + (index - row.before) * self.config.step,
            len: self.config.length,
        }
    }

    /// All windows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Window> + '_ {
        (0..self.count).map(|index| self.get(index))
    }
}

/// One window per segment that spans all of it: the free runs over a part.
///
/// With [`InitialState::Measured`] a run starts late enough to have n_y measured outputs and all inputs in its experiment, with
/// [`InitialState::History`] so early that its warm-up ends where the segment begins, if the record has so many samples before.
/// Segments with nothing left to score are left out.
///
/// # Errors
/// If the lags are out of range or no segment is long enough.
pub fn free_run_windows(
    dataset: &Dataset,
    part: &Part,
    lags: Lags,
    initial: InitialState,
) -> Result<Vec<Window>, DataError> {
    lags.check()?;
    part.check(dataset)?;
    let shortest = initial.unscored().saturating_add(2);
    let run = |segment: &Segment| {
        let start = segment.start.saturating_sub(initial.looks_back());
        let start = start.max(initial.first_start(lags));
        let len = segment.end.checked_sub(start)?;
        (len >= shortest).then_some(Window {
            experiment: segment.experiment,
            start,
            len,
        })
    };
    let runs: Vec<Window> = part.segments().iter().filter_map(run).collect();
    if runs.is_empty() {
        return Err(too_short("a free run", part, lags, initial, shortest));
    }
    Ok(runs)
}

fn too_short(what: &'static str, part: &Part, lags: Lags, initial: InitialState, needed: usize) -> DataError {
    let longest = part.segments().iter().max_by_key(|segment| segment.len());
    // What must be known before the first start counts as needed samples too.
    let history = longest.map_or(0, |segment| initial.first_start(lags).saturating_sub(segment.start));
    DataError::TooShort {
        what,
        needed: needed.saturating_add(history),
        found: longest.map_or(0, |s| s.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Channel;
    use crate::experiment::Experiment;
    use crate::split::{Split, SplitFractions};

    fn dataset(lengths: &[usize]) -> Dataset {
        let experiments = lengths
            .iter()
            .map(|&n| Experiment::new("e", vec![vec![0.0; n]], vec![vec![0.0; n]]))
            .collect();
        Dataset::new("d", vec![Channel::new("u")], vec![Channel::new("y")], None, experiments).expect("valid")
    }

    const LAGS: Lags = Lags { nx: 2, nd: 0, ny: 3 };

    #[test]
    fn starts_follow_the_formula() {
        let dataset = dataset(&[20]);
        let config = WindowConfig { length: 5, step: 4 };
        let windows =
            Windows::new(&dataset, &Part::whole(&dataset), LAGS, InitialState::ZeroPadded, config).expect("windows");
        // From 1: k = 1, 5, 9, 13 ≤ 20-5.
        assert_eq!(windows.iter().map(|w| w.start).collect::<Vec<_>>(), [0, 4, 8, 12]);
        let windows =
            Windows::new(&dataset, &Part::whole(&dataset), LAGS, InitialState::Measured, config).expect("windows");
        assert_eq!(windows.iter().map(|w| w.start).collect::<Vec<_>>(), [2, 6, 10, 14]);
    }

    #[test]
    fn measured_history_may_cross_the_split_border_only() {
        let dataset = dataset(&[20, 20]);
        let split = Split::new(
            &dataset,
            SplitFractions {
                train: 0.5,
                validation: 0.0,
                test: 0.5,
            },
        )
        .expect("splits");
        let runs = free_run_windows(&dataset, &split.test, LAGS, InitialState::Measured).expect("runs");
        assert_eq!(
            runs.iter().map(|w| (w.experiment, w.start, w.len)).collect::<Vec<_>>(),
            [(0, 10, 10), (1, 10, 10)]
        );
        let runs = super::free_run_windows(&dataset, &split.train, LAGS, InitialState::Measured).expect("runs");
        assert_eq!(
            runs.iter().map(|w| (w.experiment, w.start, w.len)).collect::<Vec<_>>(),
            [(0, 2, 8), (1, 2, 8)]
        );
    }

    #[test]
    fn history_lies_before_the_part_where_the_record_has_it() {
        let dataset = dataset(&[20]);
        let fractions = SplitFractions {
            train: 0.5,
            validation: 0.0,
            test: 0.5,
        };
        let split = Split::new(&dataset, fractions).expect("splits");
        let initial = InitialState::History(4);
        let run = |part| free_run_windows(&dataset, part, LAGS, initial).expect("runs")[0];
        assert_eq!(run(&split.test).scored(initial), 11..20);
        assert_eq!(run(&split.train).scored(initial), 5..10);
    }

    #[test]
    fn warmup_is_not_scored() {
        let window = Window {
            experiment: 0,
            start: 10,
            len: 6,
        };
        assert_eq!(window.scored(InitialState::ZeroPadded), 11..16);
        assert_eq!(window.scored(InitialState::Warmup(3)), 14..16);
        assert!(window.scored(InitialState::Warmup(30)).is_empty());
    }

    #[test]
    fn messages() {
        let dataset = dataset(&[20, 6]);
        let part = Part::whole(&dataset);
        let message = |initial, length, step| {
            Windows::new(&dataset, &part, LAGS, initial, WindowConfig { length, step }).map_err(|e| e.to_string())
        };
        let cases = [
            (
                message(InitialState::ZeroPadded, 20, 1),
                "too short for a window: 21 consecutive samples are needed, the longest stretch has 20",
            ),
            (
                message(InitialState::Measured, 20, 1),
                "too short for a window: 23 consecutive samples are needed, the longest stretch has 20",
            ),
            (
                message(InitialState::Warmup(4), 5, 1),
                "window length 5 is too short: at least 6 samples are needed",
            ),
            (
                message(InitialState::ZeroPadded, 5, 0),
                "window step 0 is too small: at least 1",
            ),
            (
                message(InitialState::ZeroPadded, usize::MAX, 1),
                "too short for a window: 18446744073709551615 consecutive samples are needed, the longest stretch has 20",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, Err(expected.to_owned()));
        }
        assert_eq!(
            free_run_windows(&dataset, &Part::default(), LAGS, InitialState::ZeroPadded).map_err(|e| e.to_string()),
            Err("too short for a free run: 2 consecutive samples are needed, the longest stretch has 0".to_owned())
        );
        let smaller = super::tests::dataset(&[19, 6]);
        assert_eq!(
            free_run_windows(&smaller, &part, LAGS, InitialState::ZeroPadded).map_err(|e| e.to_string()),
            Err("samples 0..20 of experiment 0 do not exist: it has 19 samples; split the same data set".to_owned())
        );
    }
}
