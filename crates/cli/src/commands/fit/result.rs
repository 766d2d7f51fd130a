//! `fit --json`, which is also `metrics.json`.

use std::path::PathBuf;

use intervalid_model::{AutoInfo, Band, Evaluation, Margin, Method, Model, ModelKind, Strategy, TrainInfo};
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
    /// Of the band whose scale follows the measured outputs.
    pub(crate) test_online: Option<Evaluation>,
    pub(crate) validation: Option<Evaluation>,
    pub(crate) out: PathBuf,
    /// Of the test part, where the model knows the region of its training data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extrapolation: Option<Extrapolation>,
    /// Of `auto`: the search, the calibration and what they promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<AutoInfo>,
}

/// Samples outside the region of the training data, and how the band reacts there.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Extrapolation {
    /// Share of the predicted samples.
    pub(crate) share: f64,
    /// Mean width of the band there over that inside the region; none where there are no such samples.
    pub(crate) width_ratio: Option<f64>,
}

impl Extrapolation {
    /// Counts flagged samples; widths are compared in units of each output's own mean width.
    pub(crate) fn of(bands: &[Band], flags: &[Vec<bool>]) -> Self {
        let count: usize = flags.iter().map(Vec::len).sum();
        let outside: usize = flags.iter().flatten().filter(|is| **is).count();
        let outputs = bands.first().map_or(0, |band| band.centre.len());
        let mut ratios = Vec::new();
        for output in 0..outputs {
            let mut sums = [(0.0, 0_usize); 2];
            for (band, flags) in bands.iter().zip(flags) {
                let widths = band.upper[output].iter().zip(&band.lower[output]).map(|(u, l)| u - l);
                for (width, &is_outside) in widths.zip(flags) {
                    let sum = &mut sums[usize::from(is_outside)];
                    *sum = (sum.0 + width, sum.1 + 1);
                }
            }
            if let [(inside, n @ 1..), (outside, m @ 1..)] = sums {
                ratios.push(outside / m as f64 / (inside / n as f64));
            }
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
        Self {
            share: outside as f64 / count.max(1) as f64,
            width_ratio: Some(mean).filter(|ratio| !ratios.is_empty() && ratio.is_finite()),
        }
    }
}

impl FitResult {
    /// What a fit gave; the evaluations of parts that are empty are missing.
    pub(crate) fn new(
        dataset: &str,
        preset: &'static str,
        (model, info): (&Model, &TrainInfo),
        [test, test_online, validation]: [Option<Evaluation>; 3],
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
            test_online,
            validation,
            out,
            extrapolation: None,
            search: None,
        }
    }
}
