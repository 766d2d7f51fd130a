//! One place in a study's grid.

use std::fmt;

use intervalid_model::{MarginActivation, Strategy};
use serde::{Deserialize, Serialize};

use crate::study_model::StudyModel;

/// What distinguishes a run from the others of its study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Data set, as in the study.
    pub dataset: String,
    /// Model, or the search.
    pub model: StudyModel,
    /// Strategy, of interval networks.
    pub strategy: Option<Strategy>,
    /// Margin function, of interval networks.
    pub margin: Option<MarginActivation>,
    /// Coverage asked.
    pub coverage: f64,
    /// Seed.
    pub seed: u64,
}

/// Such as `hair-dryer ilstm joint abs 0.9 seed 3`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dataset, self.model)?;
        if let Some(strategy) = self.strategy {
            write!(f, " {}", strategy.name())?;
        }
        if let Some(margin) = self.margin {
            write!(f, " {}", margin.name())?;
        }
        write!(f, " {} seed {}", self.coverage, self.seed)
    }
}

/// Whether two coverages are meant to be the same.
pub(crate) fn same_coverage(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

pub(crate) fn strategy_named(name: &str) -> Option<Strategy> {
    [Strategy::Cascade, Strategy::Joint]
        .into_iter()
        .find(|&it| it.name() == name)
}

pub(crate) fn margin_named(name: &str) -> Option<MarginActivation> {
    [MarginActivation::Abs, MarginActivation::Relu]
        .into_iter()
        .find(|&it| it.name() == name)
}
