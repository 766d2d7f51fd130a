//! The data and what every model of the demo leaves behind.

use anyhow::anyhow;
use intervalid_data::{Dataset, KnownDataset, Lags, ReadOptions, Split, known_dataset};
use intervalid_model::{Evaluation, Method, Metrics, ModelKind, Strategy};
use intervalid_workflow::{FitOutcome, FitRequest, RecordRequest, Settings, TrainOptions};
use serde::Serialize;

use crate::error::Failure;

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
        let request = RecordRequest::new(vec![DATASET.to_owned()], None, ReadOptions::default(), None);
        let (dataset, split) = request.read()?;
        Ok(Self { known, dataset, split })
    }

    /// Fits one model with the paper's settings for this record and judges it.
    pub(super) fn fit(&self, settings: &Settings, options: TrainOptions<'_>) -> Result<FitOutcome, Failure> {
        let request = FitRequest::one(settings, self.known.name)?;
        let trained = request.train(&self.dataset, &self.split, options)?;
        Ok(trained.evaluate(&self.dataset, &self.split, 1)?)
    }
}

/// A fitted model under its name in the table.
pub(super) struct Fitted {
    pub(super) name: &'static str,
    pub(super) outcome: FitOutcome,
}

impl Fitted {
    /// Whether it is a network.
    pub(super) fn is_network(&self) -> bool {
        self.outcome.model.kind().method() != Method::Linear
    }

    /// Metrics on the test part; the hair dryer has one output.
    pub(super) fn metrics(&self) -> Metrics {
        self.outcome
            .metrics
            .test
            .as_ref()
            .map(|test| test.all)
            .unwrap_or_default()
    }

    /// Its row in the JSON object.
    pub(super) fn row(&self) -> ModelRow<'_> {
        let FitOutcome { metrics, model, .. } = &self.outcome;
        ModelRow {
            name: self.name,
            model: metrics.model,
            lags: model.config().lags,
            parameters: metrics.parameters,
            training: self.is_network().then(|| Training {
                strategy: model.config().interval.strategy,
                seed: metrics.seed,
                epochs_run: metrics.epochs_run,
                stopped_because: &metrics.stopped_because,
                train_seconds: metrics.train_seconds,
            }),
            test: metrics.test.as_ref(),
            validation: metrics.validation.as_ref(),
        }
    }
}

/// One fitted model in the JSON object. Fields are named as those of `fit --json`.
#[derive(Debug, Serialize)]
pub(super) struct ModelRow<'a> {
    name: &'a str,
    model: ModelKind,
    lags: Lags,
    /// Crisp parameters; every one of a network has two margins besides.
    parameters: usize,
    #[serde(flatten)]
    training: Option<Training<'a>>,
    test: Option<&'a Evaluation>,
    validation: Option<&'a Evaluation>,
}

/// How a network was trained.
#[derive(Debug, Serialize)]
struct Training<'a> {
    strategy: Strategy,
    seed: u64,
    epochs_run: usize,
    stopped_because: &'a str,
    train_seconds: f64,
}
