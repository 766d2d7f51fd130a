//! Short gaps as straight lines.

use std::ops::Range;

/// What was filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    /// Gaps, counted per column.
    pub(crate) gaps: usize,
    /// Samples in them.
    pub(crate) samples: usize,
    /// Samples of the longest one.
    pub(crate) longest: usize,
    /// The first row of the first one.
    pub(crate) first: Option<usize>,
}

/// Fills runs of at most `most` missing samples (NaN) of every column, where a sample is known on both sides within the same run of rows.
/// Longer ones stay as they are.
pub(crate) fn fill_gaps(columns: &mut [Vec<f64>], runs: &[Range<usize>], most: usize) -> Filled {
    let mut filled = Filled::default();
    for column in columns {
        for rows in runs {
            let mut known: Option<usize> = None;
            for row in rows.clone() {
                if column[row].is_nan() {
                    continue;
                }
                if let Some(before) = known {
                    let missing = row - before - 1;
                    if (1..=most).contains(&missing) {
                        fill(column, before, row);
                        filled.gaps += 1;
                        filled.samples += missing;
                        filled.longest = filled.longest.max(missing);
                        filled.first = Some(filled.first.map_or(before + 1, |first| first.min(before + 1)));
                    }
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
        assert_eq!(
            filled,
            Filled {
                gaps: 2,
                samples: 3,
                longest: 2,
                first: Some(2)
            }
        );
        assert!((columns[0][2] - 2.0).abs() < 1e-15 && (columns[0][3] - 3.0).abs() < 1e-15);
        assert!((columns[1][3] - 3.0).abs() < 1e-15);
        // The ends have one side only, and three are more than two.
        let left: Vec<usize> = (0..10).filter(|row| columns[0][*row].is_nan()).collect();
        assert_eq!(left, [0, 5, 6, 7, 9]);
        // Nothing is drawn from one experiment into the next.
        let mut columns = vec![vec![1.0, nan, 3.0]];
        assert_eq!(fill_gaps(&mut columns, &[0..2, 2..3], 5), Filled::default());
    }
}
