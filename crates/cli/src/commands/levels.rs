//! A model at other coverages than its own, and what commands print of their bands.

use intervalid_data::{Dataset, Part};
use intervalid_model::{Band, Evaluation, Model, ModelError, evaluate};
use serde::Serialize;

use super::load::run;
use crate::args::Coverages;
use crate::error::Failure;

/// A model at the coverage that decides, and at others beside it.
pub(super) struct Levels {
    pub(super) model: Model,
    others: Vec<(f64, Model)>,
}

impl Levels {
    /// The model at the coverages that were asked for; its own where none were.
    pub(super) fn new(model: Model, asked: Option<&Coverages>) -> Result<Self, Failure> {
        let own = model.config().coverage;
        let Some((main, others)) = asked.map(|coverages| coverages.main(own)) else {
            return Ok(Self {
                model,
                others: Vec::new(),
            });
        };
        let at = |coverage: f64| -> Result<(f64, Model), ModelError> { Ok((coverage, model.at_coverage(coverage)?)) };
        Ok(Self {
            others: others.into_iter().map(at).collect::<Result<_, _>>()?,
            model: model.at_coverage(main)?,
        })
    }

    /// Bands at the other coverages.
    pub(super) fn bands(
        &self,
        dataset: &Dataset,
        part: &Part,
        horizon: Option<usize>,
    ) -> Result<LevelBands, ModelError> {
        let bands = |(coverage, model): &(f64, Model)| Ok((*coverage, run(model, dataset, part, horizon)?));
        Ok(LevelBands(
            self.others.iter().map(bands).collect::<Result<_, ModelError>>()?,
        ))
    }

    /// These bands as they follow the measured outputs, each for its own coverage.
    pub(super) fn online(&self, dataset: &Dataset, offline: &LevelBands) -> Result<LevelBands, ModelError> {
        let pairs = self.others.iter().zip(&offline.0);
        let online = |((coverage, model), (_, bands)): (&(f64, Model), &(f64, Vec<Band>))| {
            Ok((*coverage, model.online(dataset, bands)?))
        };
        Ok(LevelBands(pairs.map(online).collect::<Result<_, ModelError>>()?))
    }
}

/// Bands at further coverages.
pub(super) struct LevelBands(Vec<(f64, Vec<Band>)>);

impl LevelBands {
    /// For the columns of a file.
    pub(super) fn columns(&self) -> Vec<(f64, &[Band])> {
        self.0
            .iter()
            .map(|(coverage, bands)| (*coverage, bands.as_slice()))
            .collect()
    }

    /// Metrics at every coverage.
    pub(super) fn reports(&self, dataset: &Dataset) -> Result<Vec<LevelReport>, ModelError> {
        let report = |(coverage, bands): &(f64, Vec<Band>)| {
            Ok(LevelReport {
                coverage: *coverage,
                metrics: evaluate(dataset, bands, *coverage)?,
            })
        };
        self.0.iter().map(report).collect()
    }

    /// Bounds of an output of a run, without as many samples at its start.
    pub(super) fn bounds(&self, run: usize, output: usize, skipped: usize) -> Vec<LevelBounds<'_>> {
        let levels = self.0.iter();
        levels
            .map(|(coverage, bands)| LevelBounds {
                coverage: *coverage,
                y_lower: &bands[run].lower[output][skipped..],
                y_upper: &bands[run].upper[output][skipped..],
            })
            .collect()
    }
}

/// Metrics at one further coverage.
#[derive(Serialize)]
pub(super) struct LevelReport {
    pub(super) coverage: f64,
    #[serde(flatten)]
    pub(super) metrics: Evaluation,
}

/// Bounds of one output at one further coverage.
#[derive(Serialize)]
pub(super) struct LevelBounds<'a> {
    coverage: f64,
    y_lower: &'a [f64],
    y_upper: &'a [f64],
}
