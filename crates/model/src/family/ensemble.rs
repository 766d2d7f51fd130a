//! Several interval networks as one model: their free runs and bands averaged.

use intervalid_data::{Dataset, Part, normal_quantile};
use intervalid_interval::Real;

use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::{ModelError, Result};
use crate::family::interval::IntervalModel;
use crate::interface::ModelInterface;
use crate::network::Architecture;

/// Interval networks of one architecture. Each runs freely on its own; the point prediction is their mean, and the band
/// their mean band, widened where they disagree: h' = √(h² + (z_α·s)²) on both sides, with s the standard deviation of the
/// members' predictions. Networks agree where there were data and part ways where there were none.
///
/// A member whose run leaves every sensible range is left out of that run; only where all do, the run has diverged.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalEnsemble<T> {
    /// At least one; all with the same architecture, interface and configuration.
    members: Vec<IntervalModel<T>>,
}

impl<T: Real> IntervalEnsemble<T> {
    /// An ensemble of members that share architecture, interface and configuration; none of no members.
    pub(crate) fn new(members: Vec<IntervalModel<T>>) -> Option<Self> {
        (!members.is_empty()).then_some(Self { members })
    }

    /// An ensemble of fitted models.
    ///
    /// # Errors
    /// If there are none, or they differ in architecture, channels, scaling, start or coverage.
    pub fn from_members(members: Vec<IntervalModel<T>>) -> Result<Self> {
        let alike = |member: &IntervalModel<T>| {
            let first = &members[0];
            member.architecture == first.architecture
                && member.interface == first.interface
                && member.config.initial == first.config.initial
                && member.config.coverage.to_bits() == first.config.coverage.to_bits()
        };
        let found = members.iter().skip(1).position(|member| !alike(member));
        if let Some(index) = found {
            return Err(ModelError::option(
                "member",
                index + 1,
                "the architecture, channels, scaling, start and coverage of the first",
            ));
        }
        Self::new(members).ok_or_else(|| ModelError::option("members", 0, "at least one"))
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[IntervalModel<T>] {
        &self.members
    }

    pub(crate) fn members_mut(&mut self) -> &mut [IntervalModel<T>] {
        &mut self.members
    }

    /// Shape of every member.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        self.members[0].architecture()
    }

    /// Channels it was fitted on, and their scaling.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        self.members[0].interface()
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        self.members[0].config()
    }

    /// Free-run simulation with prediction intervals over every segment of a part, started as the members were trained.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let runs: Vec<Vec<Band>> = self
            .members
            .iter()
            .map(|member| member.simulate_uncalibrated(dataset, part))
            .collect::<Result<_>>()?;
        let count = runs.first().map_or(0, Vec::len);
        let bands = (0..count).map(|index| {
            let members: Vec<&Band> = runs.iter().map(|bands| &bands[index]).collect();
            mean_band(&members, spread_factor(self.config().coverage))
        });
        Ok(self.interface().calibrate(bands.collect()))
    }
}

/// z_α: how many standard deviations of the members' predictions the band reaches.
pub(crate) fn spread_factor(coverage: f64) -> f64 {
    normal_quantile(0.5 + 0.5 * coverage)
}

/// The mean of several bands over the same samples, widened by `factor` standard deviations of their point predictions.
pub(crate) fn mean_band(bands: &[&Band], factor: f64) -> Band {
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
            let [lower, centre, upper] = mean_bounds(sound.len(), factor, at);
            mean.lower[output][step] = lower;
            mean.centre[output][step] = centre;
            mean.upper[output][step] = upper;
        }
    }
    mean
}

/// The mean of `count` members' `[lower, centre, upper]` of one sample, widened by `factor` standard deviations of their
/// point predictions.
pub(crate) fn mean_bounds(count: usize, factor: f64, at: impl Fn(usize) -> [f64; 3]) -> [f64; 3] {
    let share = 1.0 / count as f64;
    let over = |value: &dyn Fn([f64; 3]) -> f64| (0..count).map(|member| value(at(member))).sum::<f64>() * share;
    let centre = over(&|[_, centre, _]| centre);
    let variance = over(&|[_, member, _]| (member - centre).powi(2));
    let widen = |half: f64| (half * half + factor * factor * variance).sqrt();
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
        let members = [band(1.0, 1.0, None), band(2.0, 3.0, None), band(9.0, 9.0, Some(1))];
        let mean = mean_band(&members.iter().collect::<Vec<_>>(), 0.0);
        assert_eq!(mean.centre, [[1.5; 3]]);
        assert_eq!(mean.lower, [[-0.5; 3]]);
        assert_eq!(mean.upper, [[3.5; 3]]);
        assert_eq!(mean.diverged_at, None);
        // Predictions 1 and 2 have standard deviation 1/2; mean half-width 2.
        let wide = mean_band(&members.iter().collect::<Vec<_>>(), 3.0);
        assert!((wide.upper[0][0] - (1.5 + (4.0_f64 + 2.25).sqrt())).abs() < 1e-12);
        let gone = [band(9.0, 9.0, Some(1)), band(9.0, 9.0, Some(2))];
        assert_eq!(mean_band(&gone.iter().collect::<Vec<_>>(), 1.0).diverged_at, Some(2));
    }
}
