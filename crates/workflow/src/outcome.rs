//! What a fit gave: runs over every part, their metrics, and the linear model beside it.

use intervalid_data::{Dataset, Part, Split};
use intervalid_model::{Band, Evaluation, MarginActivation, Method, Model, ModelKind, Strategy, evaluate};
use intervalid_search::SearchInfo;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::error::{Result, WorkflowError};
use crate::levels::{LevelMetrics, LevelRuns};
use crate::request::{FitRequest, Preset};
use crate::stamp::RecordStamp;
use crate::train::{Trained, Training};
use crate::unfinished::Unfinished;

/// A finished fit.
#[derive(Debug)]
pub struct FitOutcome {
    /// The request that gives this result again, with everything resolved.
    pub request: FitRequest,
    /// The model.
    pub model: Model,
    /// How it was come by.
    pub training: Training,
    /// What was asked for and is missing, since training was ended early.
    pub unfinished: Vec<Unfinished>,
    /// Free runs over the parts.
    pub runs: PartRuns,
    /// Metrics of the training part, which say nothing about new data.
    pub train: Option<Evaluation>,
    /// All that is printed and kept of it.
    pub metrics: FitMetrics,
    /// A linear model on the same record; none where the model is one or there is no test part.
    pub baseline: Option<Baseline>,
    /// Why there is no linear model beside it, where one could not be fitted.
    pub baseline_error: Option<WorkflowError>,
}

impl FitOutcome {
    /// Whether the model has seen the validation part, so that figures of it are better than those to expect: a search fits to both
    /// parts in the end.
    #[must_use]
    pub fn learnt_from_validation(&self) -> bool {
        self.metrics.search.is_some() || self.model.config().training.train_on_validation
    }
}

/// Free runs of a fitted model over the parts of its record; none where a part is empty.
#[derive(Clone, Debug)]
pub struct PartRuns {
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
    /// At further coverages, where some were asked for.
    pub levels: Vec<LevelRuns>,
}

impl PartRuns {
    fn simulate(model: &Model, dataset: &Dataset, split: &Split, levels: &[f64], threads: usize) -> Result<Self> {
        let simulate = |part: &Part| match part.is_empty() {
            true => Ok(Vec::new()),
            false => model.simulate(dataset, part),
        };
        let parts = [&split.test, &split.validation, &split.train];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.clamp(1, parts.len()));
        let bands: Vec<_> = match pool.build() {
            Ok(pool) if threads > 1 => pool.install(|| parts.par_iter().map(|part| simulate(part)).collect()),
            _ => parts.iter().map(|part| simulate(part)).collect(),
        };
        let mut bands = bands.into_iter();
        let mut next = || bands.next().unwrap_or_else(|| Ok(Vec::new()));
        let (test, validation, train) = (next()?, next()?, next()?);
        Ok(Self {
            online: model.online(dataset, &test)?,
            extrapolated: model.extrapolated(dataset, &test)?,
            levels: LevelRuns::simulate(model, dataset, split, levels)?,
            test,
            validation,
            train,
        })
    }
}

/// `fit --json` without the folder, which is also `metrics.json`; its fields are public interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitMetrics {
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
    /// How settings that nobody gave were chosen.
    pub preset: Preset,
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
    /// Of the test part, where the model knows the region of its training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolation: Option<Extrapolation>,
    /// At further coverages, where some were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelMetrics>,
    /// What is done to recordings and undone in predictions, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preparation: Vec<String>,
    /// Which samples it was judged on; folders of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordStamp>,
    /// Of `auto`: the search, the calibration and what they promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchInfo>,
}

/// Samples outside the region of the training data, and how the band reacts there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extrapolation {
    /// Share of the predicted samples.
    pub share: f64,
    /// Mean width of the band there over that inside the region; none where there are no such samples.
    pub width_ratio: Option<f64>,
}

impl Extrapolation {
    /// Counts flagged samples; widths are compared in units of each output's own mean width.
    fn of(bands: &[Band], flags: &[Vec<bool>]) -> Self {
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

impl Trained {
    /// Runs the model over every part, judges the runs, and fits the linear model that it is compared with.
    ///
    /// `dataset` and `split` are those it was trained on, or the same with another test part.
    ///
    /// # Errors
    /// If the data have other channels or a part is too short.
    pub fn evaluate(self, dataset: &Dataset, split: &Split, threads: usize) -> Result<FitOutcome> {
        let unfinished = self.unfinished();
        let Self {
            request,
            model,
            training,
        } = self;
        let runs = PartRuns::simulate(&model, dataset, split, &request.band().levels, threads)?;
        let (baseline, baseline_error) = match Baseline::fit(dataset, split, &model) {
            Ok(baseline) => (baseline, None),
            Err(error) => (None, Some(error)),
        };
        let config = model.config();
        let is_interval = model.kind().method() == Method::Interval;
        let evaluation = |bands: &[Band]| match bands {
            [] => Ok(None),
            bands => evaluate(dataset, bands, config.coverage).map(Some),
        };
        let metrics = FitMetrics {
            dataset: dataset.name().to_owned(),
            model: model.kind(),
            strategy: is_interval.then_some(config.interval.strategy),
            margin: is_interval.then_some(config.interval.margin),
            coverage: config.coverage,
            seed: config.seed,
            preset: request.preset(),
            epochs_run: training.epochs_run(),
            stopped_because: training.stopped_because(),
            train_seconds: training.duration().as_secs_f64(),
            parameters: model.parameters(),
            test: evaluation(&runs.test)?,
            test_online: evaluation(&runs.online)?,
            validation: evaluation(&runs.validation)?,
            extrapolation: runs
                .extrapolated
                .as_ref()
                .map(|flags| Extrapolation::of(&runs.test, flags)),
            levels: runs
                .levels
                .iter()
                .map(|level| level.metrics(dataset))
                .collect::<Result<_>>()?,
            preparation: model.interface().preparation_in_words(),
            record: Some(RecordStamp::new(dataset, split)),
            search: training.search().cloned(),
        };
        Ok(FitOutcome {
            request: request.repeatable(&model, training.search()),
            train: evaluation(&runs.train)?,
            metrics,
            unfinished,
            runs,
            model,
            training,
            baseline,
            baseline_error,
        })
    }
}
