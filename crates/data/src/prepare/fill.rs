//! Short gaps as straight lines.

use std::ops::Range;

use crate::spot::{Mark, SpotKind};

/// A gap that was filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// Which column.
    pub(crate) column: usize,
    /// Which rows.
    pub(crate) rows: Range<usize>,
}

impl Filled {
    /// The same of a column that stands so many places further.
    pub(crate) fn of_channel(self, before: usize) -> Self {
        Self {
            column: self.column + before,
            ..self
        }
    }

    /// As an experiment remembers it, whose first sample is the first row.
    pub(crate) fn into_mark(self) -> Mark {
        Mark {
            kind: SpotKind::GapFilled,
            channel: Some(self.column),
            start: self.rows.start,
            end: self.rows.end,
        }
    }
}

/// Fills runs of at most `most` missing samples (NaN) of every column, where a sample is known on both sides within the same run of rows.
/// Longer ones stay as they are. Lines go by the times of the rows where these are known, and by their number otherwise.
pub(crate) fn fill_gaps(
    columns: &mut [Vec<f64>],
    runs: &[Range<usize>],
    times: Option<&[f64]>,
    most: usize,
) -> Vec<Filled> {
    let mut filled = Vec::new();
    for (index, column) in columns.iter_mut().enumerate() {
        for rows in runs {
            let mut known: Option<usize> = None;
            for row in rows.clone() {
                if column[row].is_nan() {
                    continue;
                }
                if let Some(before) = known
                    && (1..=most).contains(&(row - before - 1))
                {
                    fill(column, times, before, row);
                    filled.push(Filled {
                        column: index,
                        rows: before + 1..row,
                    });
                }
                known = Some(row);
            }
        }
    }
    filled
}

fn fill(column: &mut [f64], times: Option<&[f64]>, before: usize, after: usize) {
    let (from, to) = (column[before], column[after]);
    let by_number = |row: usize| (row - before) as f64 / (after - before) as f64;
    let by_time = |row: usize| {
        let times = times?;
        let share = (times[row] - times[before]) / (times[after] - times[before]);
        // No share of nothing, and none where a row has no time.
        (0.0..=1.0).contains(&share).then_some(share)
    };
    for (row, value) in column.iter_mut().enumerate().take(after).skip(before + 1) {
        let share = by_time(row).unwrap_or_else(|| by_number(row));
        // In this form a line between huge values of opposite sign does not overflow.
        *value = from * (1.0 - share) + to * share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_gaps_between_known_samples_are_filled() {
        let nan = f64::NAN;
        let mut columns = vec![
            vec![nan, 1.0, nan, nan, 4.0, nan, nan, nan, 8.0, nan],
            vec![0.0, 1.0, 2.0, nan, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        ];
        let whole = 0..10;
        let filled = fill_gaps(&mut columns, std::slice::from_ref(&whole), None, 2);
        let expected = [(0, 2..4), (1, 3..4)].map(|(column, rows)| Filled { column, rows });
        assert_eq!(filled, expected);
        assert!((columns[0][2] - 2.0).abs() < 1e-15 && (columns[0][3] - 3.0).abs() < 1e-15);
        assert!((columns[1][3] - 3.0).abs() < 1e-15);
        // The ends have one side only, and three are more than two.
        let left: Vec<usize> = (0..10).filter(|row| columns[0][*row].is_nan()).collect();
        assert_eq!(left, [0, 5, 6, 7, 9]);
        // Nothing is drawn from one experiment into the next.
        let mut columns = vec![vec![1.0, nan, 3.0]];
        assert_eq!(fill_gaps(&mut columns, &[0..2, 2..3], None, 5), []);
    }

    #[test]
    fn lines_go_by_time_where_it_is_known() {
        let nan = f64::NAN;
        let gap = [0.0, nan, nan, 10.0];
        let fill = |times: [f64; 4]| {
            let mut columns = vec![gap.to_vec()];
            fill_gaps(&mut columns, std::slice::from_ref(&(0..4)), Some(&times), 2);
            [columns[0][1], columns[0][2]]
        };
        let [first, second] = fill([0.0, 1.0, 2.0, 10.0]);
        assert!((first - 1.0).abs() < 1e-12 && (second - 2.0).abs() < 1e-12);
        // By number: a row without a time, and rows of one time.
        let [by_number, by_time] = fill([0.0, nan, 8.0, 10.0]);
        assert!((by_number - 10.0 / 3.0).abs() < 1e-12 && (by_time - 8.0).abs() < 1e-12);
        assert!(fill([5.0; 4]).iter().all(|value| value.is_finite()));
    }
}
