//! Step sizes over the epochs.

use serde::{Deserialize, Serialize};

/// Factor on the learning rate over the course of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Always 1.
    Constant,
    /// 1, then 0.3 from 50 % and 0.1 from 80 % of the epochs on (docs/method.md, section 6).
    #[default]
    Step,
    /// From 1 down to 0 along half a cosine.
    Cosine,
}

impl Schedule {
    /// Factor in epoch `epoch` (from 0) of `epochs`.
    #[must_use]
    pub fn factor(self, epoch: usize, epochs: usize) -> f64 {
        let progress = epoch as f64 / epochs.max(1) as f64;
        match self {
            Schedule::Constant => 1.0,
            Schedule::Step if progress >= 0.8 => 0.1,
            Schedule::Step if progress >= 0.5 => 0.3,
            Schedule::Step => 1.0,
            Schedule::Cosine => 0.5 * (1.0 + (core::f64::consts::PI * progress).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_change_where_they_should() {
        let step = |epoch| Schedule::Step.factor(epoch, 100);
        let found = [step(0), step(49), step(50), step(79), step(80), step(99)];
        assert_eq!(found.map(|f| (f * 10.0).round() as i32), [10, 10, 3, 3, 1, 1]);
        let cosine = |epoch| Schedule::Cosine.factor(epoch, 100);
        assert!((cosine(0) - 1.0).abs() < 1e-12 && (cosine(50) - 0.5).abs() < 1e-12 && cosine(99) < 0.001);
    }
}
