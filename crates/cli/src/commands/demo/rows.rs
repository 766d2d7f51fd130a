//! The data and what every model of the demo leaves behind.

use anyhow::anyhow;
use intervalid_data::{Dataset, KnownDataset, Lags, Split, known_dataset};
use intervalid_model::{Band, Evaluation, IntervalModel, Metrics, ModelKind, Strategy, TrainInfo, evaluate};
use serde::Serialize;

use crate::error::Failure;
use crate::request::DataRequest;

/// The data set the demo tells about.
const DATASET: &str = "hair-dryer";
/// Share of the samples that a band should hold.
pub(super) const COVERAGE: f64 = 0.9;

/// The data, ready for models.
pub(super) struct Prepared {
    pub(super) known: &'static KnownDataset,
    pub(super) dataset: Dataset,
    pub(super) split: Split,
}

impl Prepared {
    /// Loads and splits the hair dryer.
    pub(super) fn new() -> Result<Self, Failure> {
        let known = known_dataset(DATASET).ok_or_else(|| Failure::run(anyhow!("no built-in data set {DATASET}")))?;
        let request = DataRequest::built_in(known);
        let dataset = request.load()?;
        let split = request.split(&dataset)?;
        Ok(Self { known, dataset, split })
    }

    /// Metrics of bands over any part.
    pub(super) fn evaluate(&self, bands: &[Band]) -> Result<Evaluation, Failure> {
        Ok(evaluate(&self.dataset, bands, COVERAGE)?)
    }
}

/// One fitted model: a row of the table. Fields are named as those of `fit --json`.
#[derive(Debug, Serialize)]
pub(super) struct ModelRow {
    /// As in the table.
    pub(super) name: &'static str,
    pub(super) model: ModelKind,
    pub(super) lags: Lags,
    /// Crisp parameters; every one of a network has two margins besides.
    pub(super) parameters: usize,
    #[serde(flatten)]
    pub(super) training: Option<Training>,
    pub(super) test: Evaluation,
    pub(super) validation: Evaluation,
    #[serde(skip)]
    pub(super) bands: Vec<Band>,
}

impl ModelRow {
    /// Metrics on the test part; the hair dryer has one output.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.test.all
    }
}

/// How a network was trained.
#[derive(Debug, Serialize)]
pub(super) struct Training {
    pub(super) strategy: Strategy,
    pub(super) seed: u64,
    pub(super) epochs_run: usize,
    pub(super) stopped_because: String,
    pub(super) train_seconds: f64,
}

/// A row whose model is a network.
pub(super) struct Fitted {
    pub(super) row: ModelRow,
    pub(super) model: IntervalModel<f32>,
    pub(super) info: TrainInfo,
}
