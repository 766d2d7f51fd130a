//! What is asked of a fit's bands besides the coverage it is trained for.

use intervalid_model::{FitConfig, LEVEL_REACH, Method};

use crate::error::{Result, WorkflowError};
use crate::settings::Settings;

/// More bands than anybody can tell apart.
const MOST_LEVELS: usize = 20;

/// What is asked of bands besides the coverage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandRequest {
    /// Further coverages at which the model is run and judged, ascending.
    pub levels: Vec<f64>,
}

impl BandRequest {
    /// What settings ask for beside this coverage.
    pub(crate) fn new(settings: &Settings, coverage: f64) -> Self {
        let given = settings.levels.iter().flatten().copied();
        let all: Vec<f64> = std::iter::once(coverage).chain(given).collect();
        Self {
            levels: main_coverage(&all, coverage).map_or_else(Vec::new, |(_, others)| others),
        }
    }

    /// Refuses coverages that a calibrated model does not have beside this one, and too many.
    pub(crate) fn check(&self, coverage: f64) -> Result<()> {
        let (least, most) = (LEVEL_REACH.0.min(coverage), LEVEL_REACH.1.max(coverage));
        let refused = |found: String, reason: String| WorkflowError::Setting {
            key: "coverage".to_owned(),
            found,
            reason,
        };
        if let Some(level) = self.levels.iter().find(|level| !(least..=most).contains(*level)) {
            let reason = format!("expected shares from {least} to {most} beside the coverage {coverage}");
            return Err(refused(level.to_string(), reason));
        }
        if self.levels.len() >= MOST_LEVELS {
            let found = format!("{} shares", self.levels.len() + 1);
            return Err(refused(found, format!("expected at most {MOST_LEVELS}")));
        }
        Ok(())
    }

    /// Refuses further coverages of one model whose band will be for one.
    pub(crate) fn check_one(&self, config: &FitConfig, calibrate: bool) -> Result<()> {
        self.check(config.coverage)?;
        let has_one_band = matches!(config.model.method(), Method::Interval | Method::Linear);
        match has_one_band && !calibrate && !self.levels.is_empty() {
            true => Err(WorkflowError::LevelsWithoutCalibration { model: config.model }),
            false => Ok(()),
        }
    }
}

/// Of several coverages the one that a model is trained for and judged by, and the others, ascending: `preferred` if it is among
/// them, else the first. None of none.
///
/// ```
/// use intervalid_workflow::main_coverage;
///
/// assert_eq!(main_coverage(&[0.5, 0.9, 0.99], 0.9), Some((0.9, vec![0.5, 0.99])));
/// assert_eq!(main_coverage(&[0.99, 0.5, 0.99], 0.9), Some((0.99, vec![0.5])));
/// ```
#[must_use]
pub fn main_coverage(levels: &[f64], preferred: f64) -> Option<(f64, Vec<f64>)> {
    let is_preferred = |level: &&f64| level.to_bits() == preferred.to_bits();
    let main = *levels.iter().find(is_preferred).or(levels.first())?;
    let is_other = |level: &f64| level.to_bits() != main.to_bits();
    let mut others: Vec<f64> = levels.iter().copied().filter(is_other).collect();
    others.sort_by(f64::total_cmp);
    others.dedup_by(|a, b| a.to_bits() == b.to_bits());
    Some((main, others))
}
