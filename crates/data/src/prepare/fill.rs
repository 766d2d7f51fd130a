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
/// Longer ones stay as they are.
pub(crate) fn fill_gaps(columns: &mut [Vec<f64>], runs: &[Range<usize>], most: usize) -> Vec<Filled> {
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
                    fill(column, before, row);
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

fn fill(column: &mut [f64], before: usize, after: usize) {
    let (from, to) = (column[before], column[after]);
    let steps = (after - before) as f64;
    for (step, value) in column[before + 1..after].iter_mut().enumerate() {
        let share = (step + 1) as f64 / steps;
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
        let filled = fill_gaps(&mut columns, std::slice::from_ref(&whole), 2);
        let expected = [(0, 2..4), (1, 3..4)].map(|(column, rows)| Filled { column, rows });
        assert_eq!(filled, expected);
        assert!((columns[0][2] - 2.0).abs() < 1e-15 && (columns[0][3] - 3.0).abs() < 1e-15);
        assert!((columns[1][3] - 3.0).abs() < 1e-15);
        // The ends have one side only, and three are more than two.
        let left: Vec<usize> = (0..10).filter(|row| columns[0][*row].is_nan()).collect();
        assert_eq!(left, [0, 5, 6, 7, 9]);
        // Nothing is drawn from one experiment into the next.
        let mut columns = vec![vec![1.0, nan, 3.0]];
        assert_eq!(fill_gaps(&mut columns, &[0..2, 2..3], 5), []);
    }
}
