//! Several interval networks, or linear models, as one model: their free runs and bands averaged.
//!
//! Each network runs freely on its own; the point prediction is their mean, and the band their mean band, widened where they
//! disagree: h' = √(max(h, h₀)² + (c·s)²) on both sides, with s the standard deviation of the members' predictions and c the calibration's
//! [`Scaling::spread`](crate::Scaling::spread), h₀ its floor; z_α and 0 without one. Members agree where there were data and part ways where there
//! were none.
//!
//! A member whose run leaves every sensible range is left out of that run; only where all do, the run has diverged.

use intervalid_data::{Dataset, Part, normal_quantile};
use intervalid_interval::Real;

use super::body::{Fitted, Networks};
use super::interval::IntervalNetwork;
use crate::band::prediction::Band;
use crate::error::Result;

/// Free runs of all members as one band; a single member's own.
pub(crate) fn simulate<T: Real>(
    fitted: Fitted<'_, Networks<T>>,
    members: &[IntervalNetwork<T>],
    dataset: &Dataset,
    part: &Part,
) -> Result<Vec<Band>> {
    let start = (members[0].architecture.lags, fitted.config.initial);
    let (scaled, windows) = fitted.interface.runs(dataset, part, start)?;
    let runs = members
        .iter()
        .map(|member| fitted.with(member).simulate(&scaled, &windows));
    Ok(averaged(runs.collect(), fitted))
}

/// The mean of the members' runs `[member][window]`; a single member's own.
pub(crate) fn averaged<B>(mut runs: Vec<Vec<Band>>, fitted: Fitted<'_, B>) -> Vec<Band> {
    if runs.len() == 1 {
        return runs.swap_remove(0);
    }
    let spreads = fitted.interface.spreads(fitted.config.coverage);
    let count = runs.first().map_or(0, Vec::len);
    let bands = (0..count).map(|index| {
        let members: Vec<&Band> = runs.iter().map(|bands| &bands[index]).collect();
        mean_band(&members, &spreads)
    });
    bands.collect()
}

/// z_α: how many standard deviations of the members' predictions a band without calibration reaches.
#[must_use]
pub(crate) fn spread_factor(coverage: f64) -> f64 {
    normal_quantile(0.5 + 0.5 * coverage)
}

/// How a mean band is widened where members disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviations of the members' predictions that a side reaches.
    pub factor: f64,
    /// Least half-width before that, in the output's unit.
    pub floor: f64,
}

impl Spread {
    /// Members may disagree as they like.
    pub const NONE: Self = Self {
        factor: 0.0,
        floor: 0.0,
    };

    /// That of a band without calibration.
    #[must_use]
    pub fn of_coverage(coverage: f64) -> Self {
        Self {
            factor: spread_factor(coverage),
            floor: 0.0,
        }
    }
}

/// The mean of several bands over the same samples, widened as `spreads[output]` says.
#[must_use]
pub fn mean_band(bands: &[&Band], spreads: &[Spread]) -> Band {
    let sound: Vec<&&Band> = bands.iter().filter(|band| band.diverged_at.is_none()).collect();
    let Some(first) = sound.first() else {
        // All ran away: the one that lasted longest says when.
        let longest = bands.iter().max_by_key(|band| band.len());
        return longest.map_or_else(|| bands[0].clone(), |band| (*band).clone());
    };
    let mut mean: Band = (***first).clone();
    for output in 0..mean.centre.len() {
        for step in 0..mean.len() {
            let at = |member: usize| {
                let Band {
                    lower, centre, upper, ..
                } = &**sound[member];
                [lower, centre, upper].map(|bound| bound[output][step])
            };
            let [lower, centre, upper] = mean_bounds(sound.len(), spreads[output], at);
            mean.lower[output][step] = lower;
            mean.centre[output][step] = centre;
            mean.upper[output][step] = upper;
        }
    }
    mean
}

/// The mean of `count` members' `[lower, centre, upper]` of one sample, widened where their point predictions disagree.
pub(crate) fn mean_bounds(count: usize, spread: Spread, at: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let Spread { factor, floor } = spread;
    let share = 1.0 / count as f64;
    let over = |value: &dyn Fn([f64; 3]) -> f64| (0..count).map(|member| value(at(member))).sum::<f64>() * share;
    let centre = over(&|[_, centre, _]| centre);
    let variance = over(&|[_, member, _]| (member - centre).powi(2));
    let widen = |half: f64| {
        let half = half.max(floor);
        (half * half + factor * factor * variance).sqrt()
    };
    let below = over(&|[lower, centre, _]| centre - lower);
    let above = over(&|[_, centre, upper]| upper - centre);
    [centre - widen(below), centre, centre + widen(above)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(centre: f64, half: f64, diverged_at: Option<usize>) -> Band {
        let column = |value: f64| vec![vec![value; diverged_at.unwrap_or(3)]];
        Band {
            experiment: 0,
            first: 1,
            warmup: 0,
            lower: column(centre - half),
            centre: column(centre),
            upper: column(centre + half),
            diverged_at,
        }
    }

    #[test]
    fn bands_are_averaged_and_runaways_left_out() {
        let spread = |factor: f64| Spread { factor, floor: 0.0 };
        let members = [band(1.0, 1.0, None), band(2.0, 3.0, None), band(9.0, 9.0, Some(1))];
        let mean = mean_band(&members.iter().collect::<Vec<_>>(), &[spread(0.0)]);
        assert_eq!(mean.centre, [[1.5; 3]]);
        assert_eq!(mean.lower, [[-0.5; 3]]);
        assert_eq!(mean.upper, [[3.5; 3]]);
        assert_eq!(mean.diverged_at, None);
        // Predictions 1 and 2 have standard deviation 1/2; mean half-width 2.
        let wide = mean_band(&members.iter().collect::<Vec<_>>(), &[spread(3.0)]);
        assert!((wide.upper[0][0] - (1.5 + (4.0_f64 + 2.25).sqrt())).abs() < 1e-12);
        // A floor comes before the disagreement.
        let floored = mean_band(
            &members.iter().collect::<Vec<_>>(),
            &[Spread {
                factor: 3.0,
                floor: 4.0,
            }],
        );
        assert!((floored.upper[0][0] - (1.5 + (16.0_f64 + 2.25).sqrt())).abs() < 1e-12);
        let gone = [band(9.0, 9.0, Some(1)), band(9.0, 9.0, Some(2))];
        assert_eq!(
            mean_band(&gone.iter().collect::<Vec<_>>(), &[spread(1.0)]).diverged_at,
            Some(2)
        );
    }
}
