//! What a fit gave, in numbers: `fit --json`, which is also `metrics.json`.

use std::path::PathBuf;

use intervalid_data::{Dataset, Part, Split};
use serde::Serialize;

use crate::auto::AutoInfo;
use crate::band::metrics::{Evaluation, evaluate};
use crate::band::prediction::Band;
use crate::config::{MarginActivation, Strategy};
use crate::error::Result;
use crate::kind::{Method, ModelKind};
use crate::model::Model;
use crate::parallel::map_parallel;
use crate::plan::Preset;
use crate::train::TrainInfo;

/// Free runs of a fitted model over the parts of its record; none where a part is empty.
#[derive(Clone, Debug)]
pub struct FitRuns {
    /// The test part.
    pub test: Vec<Band>,
    /// The validation part.
    pub validation: Vec<Band>,
    /// The training part.
    pub train: Vec<Band>,
    /// The test part with the band that follows the measured outputs.
    pub online: Vec<Band>,
    /// Which samples of the test part lie outside the region of the training data, where the model knows it.
    pub extrapolated: Option<Vec<Vec<bool>>>,
}

impl FitRuns {
    /// Simulates all parts.
    ///
    /// # Errors
    /// If the data have other channels or a part is too short.
    pub fn simulate(model: &Model, dataset: &Dataset, split: &Split, threads: usize) -> Result<Self> {
        let parts = [&split.test, &split.validation, &split.train];
        let simulate = |part: &&Part| match part.is_empty() {
            true => Ok(Vec::new()),
            false => model.simulate(dataset, part),
        };
        let mut bands = map_parallel(&parts, threads, simulate).into_iter();
        let mut next = || bands.next().unwrap_or_else(|| Ok(Vec::new()));
        let (test, validation, train) = (next()?, next()?, next()?);
        Ok(Self {
            online: model.online(dataset, &test)?,
            extrapolated: model.extrapolated(dataset, &test)?,
            test,
            validation,
            train,
        })
    }
}

/// The JSON object of a fit; its fields are public interface.
#[derive(Debug, Serialize)]
pub struct FitResult {
    /// Name of the record.
    pub dataset: String,
    /// Which model.
    pub model: ModelKind,
    /// Of interval networks; the others have none.
    pub strategy: Option<Strategy>,
    /// As `strategy`.
    pub margin: Option<MarginActivation>,
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// `auto` or `paper`.
    pub preset: &'static str,
    /// Epochs of all stages.
    pub epochs_run: usize,
    /// Why training ended, in words.
    pub stopped_because: String,
    /// Wall-clock time of training.
    pub train_seconds: f64,
    /// Crisp parameters; every one of an interval network has two margins besides.
    pub parameters: usize,
    /// Of the test part.
    pub test: Option<Evaluation>,
    /// Of the band whose scale follows the measured outputs.
    pub test_online: Option<Evaluation>,
    /// Of the validation part.
    pub validation: Option<Evaluation>,
    /// Where the results are.
    pub out: PathBuf,
    /// Of the test part, where the model knows the region of its training data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extrapolation: Option<Extrapolation>,
    /// Of `auto`: the search, the calibration and what they promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<AutoInfo>,
}

/// Samples outside the region of the training data, and how the band reacts there.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Extrapolation {
    /// Share of the predicted samples.
    pub share: f64,
    /// Mean width of the band there over that inside the region; none where there are no such samples.
    pub width_ratio: Option<f64>,
}

impl Extrapolation {
    /// Counts flagged samples; widths are compared in units of each output's own mean width.
    #[must_use]
    pub fn of(bands: &[Band], flags: &[Vec<bool>]) -> Self {
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
    ///
    /// # Errors
    /// If the runs do not belong to the record.
    pub fn new(
        dataset: &Dataset,
        preset: Preset,
        (model, info): (&Model, &TrainInfo),
        search: Option<AutoInfo>,
        runs: &FitRuns,
        out: PathBuf,
    ) -> Result<Self> {
        let config = model.config();
        let is_interval = model.kind().method() == Method::Interval;
        let evaluation = |bands: &[Band]| match bands {
            [] => Ok(None),
            bands => evaluate(dataset, bands, config.coverage).map(Some),
        };
        Ok(Self {
            dataset: dataset.name().to_owned(),
            model: model.kind(),
            strategy: is_interval.then_some(config.strategy),
            margin: is_interval.then_some(config.margin),
            coverage: config.coverage,
            seed: config.seed,
            preset: preset.name(),
            epochs_run: info.epochs_run(),
            stopped_because: match info.stages.as_slice() {
                [] => "least squares: solved".to_owned(),
                _ => info.stopped_because(),
            },
            train_seconds: info.duration.as_secs_f64(),
            parameters: model.parameters(),
            test: evaluation(&runs.test)?,
            test_online: evaluation(&runs.online)?,
            validation: evaluation(&runs.validation)?,
            out,
            extrapolation: runs
                .extrapolated
                .as_ref()
                .map(|flags| Extrapolation::of(&runs.test, flags)),
            search,
        })
    }
}
