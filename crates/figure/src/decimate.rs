//! Thinning long records to what a screen can show, without losing an extreme.
//!
//! Everything works on pixel positions. A record of at most [`KEPT_WHOLE`] samples is left alone. Beyond that each
//! pixel column keeps its first, lowest, highest and last sample, which draws the same line as all samples would (Jugel
//! et al., "M4: a visualization-oriented time series data aggregation", VLDB 2014, doi:10.14778/2732951.2732953).

use std::collections::HashSet;

/// Samples up to which nothing is thinned.
pub(crate) const KEPT_WHOLE: usize = 2000;

/// A stretch of band: x, upper and lower y in pixels.
pub(crate) type BandRun = Vec<(f64, f64, f64)>;

/// Pieces of a line between gaps. A gap is a point whose y is NaN; when thinned, gaps within one pixel column close.
pub(crate) fn line(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let thin = points.len() > KEPT_WHOLE;
    split(points, thin, |point| point.1.is_nan(), |point| point.0)
        .into_iter()
        .map(|run| if thin { thin_line(&run) } else { run })
        .collect()
}

/// Pieces of a band between gaps. When thinned, each column spans from its lowest lower to its highest upper bound.
pub(crate) fn band(points: &[(f64, f64, f64)]) -> Vec<BandRun> {
    let thin = points.len() > KEPT_WHOLE;
    split(
        points,
        thin,
        |point| point.1.is_nan() || point.2.is_nan(),
        |point| point.0,
    )
    .into_iter()
    .map(|run| if thin { thin_band(&run) } else { run })
    .collect()
}

/// Dots of which no two lie in the same pixel, the first of each: the others would be drawn on top of it.
pub(crate) fn dots(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= KEPT_WHOLE {
        return points.to_vec();
    }
    let mut taken = HashSet::new();
    let mut is_first = |point: &&(f64, f64)| taken.insert((point.0.floor() as i64, point.1.floor() as i64));
    points.iter().filter(|point| is_first(point)).copied().collect()
}

/// Of points off a band, with their distance in pixels (positive above), the farthest per column and side.
pub(crate) fn farthest(points: &[((f64, f64), f64)]) -> Vec<(f64, f64)> {
    if points.len() <= KEPT_WHOLE {
        return points.iter().map(|point| point.0).collect();
    }
    let mut kept = Vec::new();
    for column in columns(points, |point| point.0.0) {
        for above in [true, false] {
            let side = column.iter().filter(|point| (point.1 > 0.0) == above);
            kept.extend(side.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|point| point.0));
        }
    }
    kept
}

fn split<P: Copy>(
    points: &[P],
    close_gaps: bool,
    is_gap: impl Fn(&P) -> bool,
    position: impl Fn(&P) -> f64,
) -> Vec<Vec<P>> {
    let mut runs: Vec<Vec<P>> = Vec::new();
    let mut after_gap = true;
    for point in points {
        if is_gap(point) {
            after_gap = true;
            continue;
        }
        match runs.last_mut() {
            Some(run) if !after_gap => run.push(*point),
            // A gap narrower than a pixel cannot be seen; keeping it could cost one path per sample.
            Some(run)
                if close_gaps
                    && run
                        .last()
                        .is_some_and(|last| position(last).floor() >= position(point).floor()) =>
            {
                run.push(*point);
            }
            _ => runs.push(vec![*point]),
        }
        after_gap = false;
    }
    runs
}

/// Consecutive points in the same pixel column.
fn columns<P>(points: &[P], position: impl Fn(&P) -> f64) -> impl Iterator<Item = &[P]> {
    points.chunk_by(move |a, b| (position(a).floor() - position(b).floor()).abs() < 0.5)
}

fn thin_line(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for column in columns(run, |point| point.0) {
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut indices = [0, lowest, highest, column.len() - 1];
        indices.sort_unstable();
        let mut previous = usize::MAX;
        for index in indices {
            if index != previous {
                kept.push(column[index]);
            }
            previous = index;
        }
    }
    kept
}

fn thin_band(run: &[(f64, f64, f64)]) -> BandRun {
    let column_count = columns(run, |point| point.0).count();
    columns(run, |point| point.0)
        .enumerate()
        .map(|(index, column)| {
            let upper = column.iter().fold(f64::INFINITY, |upper, point| upper.min(point.1));
            let lower = column.iter().fold(f64::NEG_INFINITY, |lower, point| lower.max(point.2));
            // The ends of the band stay where they are; in between a column stands for all of its width.
            let x = match index {
                0 => column[0].0,
                _ if index + 1 == column_count => column[column.len() - 1].0,
                _ => column[0].0.floor() + 0.5,
            };
            (x, upper, lower)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(count: usize) -> Vec<(f64, f64)> {
        let y = |index: usize| (index as f64 * 0.37).sin() * 50.0 + if index == count / 3 { 400.0 } else { 0.0 };
        (0..count)
            .map(|index| (index as f64 / count as f64 * 800.0, y(index)))
            .collect()
    }

    #[test]
    fn short_records_stay_whole() {
        let points = record(KEPT_WHOLE);
        assert_eq!(line(&points), [points]);
    }

    #[test]
    fn thinning_keeps_extremes() {
        let points = record(100_000);
        let [kept] = line(&points).try_into().unwrap();
        assert!(kept.len() <= 4 * 800, "{}", kept.len());
        let extremes = |points: &[(f64, f64)]| {
            let heights = points.iter().map(|point| point.1);
            (
                heights.clone().fold(f64::INFINITY, f64::min),
                heights.fold(f64::NEG_INFINITY, f64::max),
            )
        };
        assert_eq!(extremes(&kept), extremes(&points));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[points.len() - 1]));
        assert!(kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn bands_cover_every_sample() {
        let points: Vec<(f64, f64, f64)> = record(50_000).into_iter().map(|(x, y)| (x, y - 5.0, y + 5.0)).collect();
        let [kept] = band(&points).try_into().unwrap();
        assert!(kept.len() <= 800);
        for (x, upper, lower) in points {
            let column = kept
                .iter()
                .find(|point| point.0.floor() as i64 == x.floor() as i64)
                .unwrap();
            assert!(column.1 <= upper && column.2 >= lower);
        }
    }

    #[test]
    fn gaps_split_but_do_not_multiply() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 2.0), (3.0, 3.0)];
        assert_eq!(line(&points), [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 3.0)]]);
        let mut long = record(100_000);
        long.iter_mut().step_by(2).for_each(|point| point.1 = f64::NAN);
        assert!(line(&long).len() <= 801);
        assert!(line(&[(0.0, f64::NAN)]).is_empty());
    }

    #[test]
    fn of_many_dots_every_pixel_keeps_one() {
        let few = record(KEPT_WHOLE);
        assert_eq!(dots(&few), few);
        let many = record(100_000);
        let kept = dots(&many);
        let cells = |points: &[(f64, f64)]| -> HashSet<(i64, i64)> {
            points
                .iter()
                .map(|point| (point.0.floor() as i64, point.1.floor() as i64))
                .collect()
        };
        assert!(kept.len() < many.len());
        assert_eq!((cells(&kept).len(), cells(&kept)), (kept.len(), cells(&many)));
    }

    #[test]
    fn farthest_points_remain() {
        let points: Vec<_> = record(30_000).into_iter().map(|point| (point, -point.1)).collect();
        let kept = farthest(&points);
        assert!(kept.len() <= 1600);
        assert!(kept.iter().any(|point| point.1 > 350.0));
    }
}
