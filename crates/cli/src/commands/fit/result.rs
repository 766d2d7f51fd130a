//! `fit --json`, which is also `metrics.json`.

use std::path::PathBuf;

use intervalid_model::{Evaluation, Margin, Method, Model, ModelKind, Strategy, TrainInfo};
use serde::Serialize;

/// The JSON object of a fit; its fields are public interface.
#[derive(Debug, Serialize)]
pub(crate) struct FitResult {
    pub(crate) dataset: String,
    pub(crate) model: ModelKind,
    /// Of interval networks; the others have none.
    pub(crate) strategy: Option<Strategy>,
    /// As `strategy`.
    pub(crate) margin: Option<Margin>,
    pub(crate) coverage: f64,
    pub(crate) seed: u64,
    pub(crate) preset: &'static str,
    pub(crate) epochs_run: usize,
    pub(crate) stopped_because: String,
    pub(crate) train_seconds: f64,
    /// Crisp parameters; every one of an interval network has two margins besides.
    pub(crate) parameters: usize,
    pub(crate) test: Option<Evaluation>,
    pub(crate) validation: Option<Evaluation>,
    pub(crate) out: PathBuf,
}

impl FitResult {
    /// What a fit gave; the evaluations of parts that are empty are missing.
    pub(crate) fn new(
        dataset: &str,
        preset: &'static str,
        (model, info): (&Model, &TrainInfo),
        [test, validation]: [Option<Evaluation>; 2],
        out: PathBuf,
    ) -> Self {
        let config = model.config();
        let is_interval = model.kind().method() == Method::Interval;
        Self {
            dataset: dataset.to_owned(),
            model: model.kind(),
            strategy: is_interval.then_some(config.strategy),
            margin: is_interval.then_some(config.margin),
            coverage: config.coverage,
            seed: config.seed,
            preset,
            epochs_run: info.epochs_run(),
            stopped_because: match info.stages.as_slice() {
                [] => "least squares: solved".to_owned(),
                _ => info.stopped_because(),
            },
            train_seconds: info.duration.as_secs_f64(),
            parameters: model.parameters(),
            test,
            validation,
            out,
        }
    }
}
