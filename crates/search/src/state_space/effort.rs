//! How much is done for a recipe, and when it is given up.

use super::explore::ExploreConfig;
use super::run::Run;

/// Effort of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// Random or linear starts per division of an exploration.
    pub starts: usize,
    /// Models per division that are kept: one that fails on new data is outvoted by two.
    pub kept: usize,
    /// Explored candidates whose score is beyond this factor of the best known are not refined.
    pub promising: f64,
    /// Of a recipe whose first refined models score beyond this factor of the best known, the other models are not refined.
    pub worth_company: f64,
    /// First-order steps.
    pub explore: ExploreConfig,
    /// Most Gauss–Newton steps of networks.
    pub descent: usize,
    /// Most multiplications of a recipe's Gauss–Newton steps, which are fewer where they are dear, but five at least.
    pub descent_work: f64,
    /// Gauss–Newton steps of linear models.
    pub linear: usize,
    /// Longest time constant of random starts, as a share of the record.
    pub horizon: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            starts: 6,
            kept: 3,
            promising: 1.5,
            worth_company: 1.3,
            explore: ExploreConfig {
                rounds: vec![(100, 0.5), (300, 1.0)],
                ..ExploreConfig::default()
            },
            descent: 40,
            descent_work: f64::INFINITY,
            linear: 20,
            horizon: 0.1,
        }
    }
}

/// Above so many samples times outputs each recipe gets less.
const MANY: usize = 3000;

impl Effort {
    /// The default, or less where there are many samples.
    pub fn for_runs(runs: &[Run]) -> Self {
        let mut effort = Self::default();
        if runs.iter().map(|run| run.len() * run.outputs()).sum::<usize>() > MANY {
            effort.starts = 4;
            effort.kept = 2;
        }
        effort
    }
}
