//! What a screen can show of a long record: the least and the greatest value of every pixel, never fewer.

use std::ops::Range;

use serde::Serialize;

/// More pixels than any screen has.
pub(crate) const MOST_PIXELS: usize = 4000;

/// Values of single precision are more than a screen tells apart.
pub(crate) type Shown = Option<f32>;

/// Positions and values of lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Lines {
    /// Samples, from 0.
    pub(crate) x: Vec<f64>,
    /// One list per line.
    pub(crate) lines: Vec<Vec<Shown>>,
    /// Whether every sample is there; otherwise two points per pixel.
    pub(crate) exact: bool,
}

/// How samples `range` are shown on so many pixels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    range: Range<usize>,
    buckets: usize,
}

impl Grid {
    pub(crate) fn new(range: Range<usize>, pixels: usize) -> Self {
        let pixels = pixels.clamp(1, MOST_PIXELS);
        let buckets = match range.len() <= 2 * pixels {
            true => range.len(),
            false => pixels,
        };
        Self { range, buckets }
    }

    /// Whether every sample has a place of its own.
    pub(crate) fn is_exact(&self) -> bool {
        self.buckets == self.range.len()
    }

    fn bucket(&self, index: usize) -> Range<usize> {
        let border = |index: usize| self.range.start + self.range.len() * index / self.buckets.max(1);
        border(index)..border(index + 1)
    }

    /// Positions of the points.
    pub(crate) fn positions(&self) -> Vec<f64> {
        let buckets = (0..self.buckets).map(|index| self.bucket(index));
        match self.is_exact() {
            true => buckets.map(|bucket| bucket.start as f64).collect(),
            false => buckets
                .flat_map(|bucket| {
                    let middle = f64::midpoint(bucket.start as f64, bucket.end as f64);
                    [bucket.start as f64, middle]
                })
                .collect(),
        }
    }

    /// A line through the least and the greatest value of each pixel, in the order in which they occur.
    pub(crate) fn line(&self, pieces: &Pieces<'_>) -> Vec<Shown> {
        let mut line = Vec::with_capacity(2 * self.buckets);
        for bucket in (0..self.buckets).map(|index| self.bucket(index)) {
            let mut least: Option<(usize, f64)> = None;
            let mut greatest: Option<(usize, f64)> = None;
            pieces.visit(bucket, |at, value| {
                if least.is_none_or(|(_, other)| value < other) {
                    least = Some((at, value));
                }
                if greatest.is_none_or(|(_, other)| value > other) {
                    greatest = Some((at, value));
                }
            });
            let (first, second) = match least.map(|(at, _)| at) <= greatest.map(|(at, _)| at) {
                true => (least, greatest),
                false => (greatest, least),
            };
            line.push(first.map(|(_, value)| value as f32));
            if !self.is_exact() {
                line.push(second.map(|(_, value)| value as f32));
            }
        }
        line
    }

    /// The outer edge of each pixel: the greatest value where `upper`, else the least.
    pub(crate) fn edge(&self, pieces: &Pieces<'_>, upper: bool) -> Vec<Shown> {
        let mut line = Vec::with_capacity(2 * self.buckets);
        for bucket in (0..self.buckets).map(|index| self.bucket(index)) {
            let mut outer: Option<f64> = None;
            pieces.visit(bucket, |_, value| {
                let is_outer = |other| if upper { value > other } else { value < other };
                if outer.is_none_or(is_outer) {
                    outer = Some(value);
                }
            });
            let shown = outer.map(|value| value as f32);
            line.push(shown);
            if !self.is_exact() {
                line.push(shown);
            }
        }
        line
    }
}

/// Values that start at some sample of the record; there may be none between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces<'a> {
    pieces: Vec<(usize, &'a [f64])>,
}

impl<'a> Pieces<'a> {
    /// Adds values; the later ones last.
    pub(crate) fn push(&mut self, start: usize, values: &'a [f64]) {
        self.pieces.push((start, values));
    }

    fn visit(&self, range: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        let ended = |(start, values): &(usize, &[f64])| start + values.len() <= range.start;
        let begun = self.pieces.partition_point(ended);
        let open = |(start, _): &&(usize, &[f64])| *start < range.end;
        for (start, values) in self.pieces[begun..].iter().take_while(open) {
            let first = range.start.max(*start);
            let last = range.end.min(start + values.len());
            for at in first..last {
                visit(at, values[at - start]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(values: &[f64]) -> Pieces<'_> {
        let mut pieces = Pieces::default();
        pieces.push(0, values);
        pieces
    }

    #[test]
    fn short_stretches_are_shown_as_they_are() {
        let values = [1.0, 5.0, 3.0];
        let grid = Grid::new(1..3, 10);
        assert!(grid.is_exact());
        assert_eq!(
            (grid.positions(), grid.line(&pieces(&values))),
            (vec![1.0, 2.0], vec![Some(5.0), Some(3.0)])
        );
    }

    #[test]
    fn no_peak_is_lost() {
        let mut values = vec![0.0; 1_000_000];
        values[123_456] = 7.0;
        values[123_460] = -2.0;
        let grid = Grid::new(0..values.len(), 800);
        let line = grid.line(&pieces(&values));
        assert_eq!((line.len(), grid.positions().len()), (1600, 1600));
        let at = line
            .iter()
            .position(|value| *value == Some(7.0))
            .expect("the peak is there");
        assert_eq!(line[at + 1], Some(-2.0), "and the dip behind it, in this order");
        assert_eq!(grid.edge(&pieces(&values), true)[at], Some(7.0));
        assert_eq!(grid.edge(&pieces(&values), false)[at], Some(-2.0));
        assert!(grid.positions().windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn where_nothing_is_known_nothing_is_shown() {
        let values = [4.0, 5.0];
        let mut later = Pieces::default();
        later.push(6, &values);
        assert_eq!(Grid::new(5..8, 4).line(&later), [None, Some(4.0), Some(5.0)]);
        assert_eq!(Grid::new(3..3, 4).line(&later), []);
    }
}
