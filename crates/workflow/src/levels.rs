//! Runs and metrics at further coverages: bands that lie inside one another, around the same predictions.

use intervalid_data::{Dataset, Part, Split};
use intervalid_model::{Band, Evaluation, Model, evaluate};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Free runs at one further coverage; none where a part is empty.
#[derive(Clone, Debug)]
pub struct LevelRuns {
    /// Share of samples that these bands should hold.
    pub coverage: f64,
    /// The test part.
    pub test: Vec<Band>,
    /// The validation part.
    pub validation: Vec<Band>,
}

/// Metrics at one further coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelMetrics {
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Of the test part.
    pub test: Option<Evaluation>,
    /// Of the validation part.
    pub validation: Option<Evaluation>,
}

impl LevelRuns {
    pub(crate) fn simulate(model: &Model, dataset: &Dataset, split: &Split, levels: &[f64]) -> Result<Vec<Self>> {
        let at = |&coverage: &f64| {
            let model = model.at_coverage(coverage)?;
            let simulate = |part: &Part| match part.is_empty() {
                true => Ok(Vec::new()),
                false => model.simulate(dataset, part),
            };
            Ok(Self {
                coverage,
                test: simulate(&split.test)?,
                validation: simulate(&split.validation)?,
            })
        };
        match model.coverages() {
            // A calibration that was broken off leaves the one band.
            None => Ok(Vec::new()),
            Some(_) => levels.iter().map(at).collect(),
        }
    }

    pub(crate) fn metrics(&self, dataset: &Dataset) -> Result<LevelMetrics> {
        let evaluation = |bands: &[Band]| match bands {
            [] => Ok(None),
            bands => evaluate(dataset, bands, self.coverage).map(Some),
        };
        Ok(LevelMetrics {
            coverage: self.coverage,
            test: evaluation(&self.test)?,
            validation: evaluation(&self.validation)?,
        })
    }
}
