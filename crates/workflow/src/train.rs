//! A request carried out: training or a search, and calibration.

use std::path::Path;
use std::time::Duration;

use intervalid_data::{Dataset, Normaliser, Split};
use intervalid_model::{Control, CoverageTarget, FitConfig, FitOptions, Model, ModelError, ModelInterface, TrainInfo};
use intervalid_search::{
    SearchConfig, SearchEnd, SearchError, SearchInfo, SearchOptions, SearchOutcome, calibrate_on_blocks, check_blocks,
    search,
};

use crate::band::BandRequest;
use crate::error::{Result, WorkflowError};
use crate::request::FitRequest;

/// At most this much work is lost by a crash; a checkpoint of every epoch would cost more than the epochs.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Who follows a fit, and what it may use.
#[derive(Clone, Copy, Default)]
pub struct TrainOptions<'a> {
    /// Told of progress; its deadline is for searches.
    pub control: Control<'a>,
    /// Most threads; 0 is one.
    pub threads: usize,
    /// Where work is kept while it runs, and taken up again: the state of a network's training, or the finished jobs of a search.
    pub checkpoint: Option<&'a Path>,
    /// What becomes of work that is ended early.
    pub when_interrupted: WhenInterrupted,
}

/// What becomes of work that is ended early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenInterrupted {
    /// It fails with [`WorkflowError::Interrupted`] or [`WorkflowError::Cancelled`]; a checkpoint keeps what was done.
    #[default]
    Fail,
    /// The best so far is the result, where there is any.
    KeepBest,
}

/// A fitted model and how it was come by.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What was asked for.
    pub request: FitRequest,
    /// The model.
    pub model: Model,
    /// How it was come by.
    pub training: Training,
}

/// How a model was come by.
#[derive(Clone, Debug)]
pub enum Training {
    /// It was trained, or solved for.
    One(TrainInfo),
    /// A search found it.
    Search(Box<SearchRecord>),
}

/// What a search leaves besides the model.
#[derive(Clone, Debug)]
pub struct SearchRecord {
    /// The search in words and numbers.
    pub info: SearchInfo,
    /// Mean squared error over held-out data before the first step of the chosen network on lagged outputs and after each; empty for
    /// any other model.
    pub descent: Vec<f64>,
    /// Steps that were kept.
    pub steps: usize,
    /// Wall-clock time.
    pub duration: Duration,
}

impl Training {
    /// Epochs of all stages, or steps of a search's descent.
    #[must_use]
    pub fn epochs_run(&self) -> usize {
        match self {
            Self::One(info) => info.epochs_run(),
            Self::Search(record) => record.descent.len().saturating_sub(1),
        }
    }

    /// Why it ended, in words.
    #[must_use]
    pub fn stopped_because(&self) -> String {
        match self {
            Self::One(info) if info.stages.is_empty() => "least squares: solved".to_owned(),
            Self::One(info) => info.stopped_because(),
            Self::Search(record) => match record.info.end {
                SearchEnd::Finished => "search: done",
                SearchEnd::OutOfTime => "search: the time given ran out",
                SearchEnd::Cancelled => "search: interrupted, the best linear model so far was kept",
            }
            .to_owned(),
        }
    }

    /// Wall-clock time.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match self {
            Self::One(info) => info.duration,
            Self::Search(record) => record.duration,
        }
    }

    /// The same, of a model that took no time of its own: another has it.
    #[must_use]
    pub fn without_time(mut self) -> Self {
        match &mut self {
            Self::One(info) => info.duration = Duration::ZERO,
            Self::Search(record) => record.duration = Duration::ZERO,
        }
        self
    }

    /// The search, if it was one.
    #[must_use]
    pub fn search(&self) -> Option<&SearchInfo> {
        match self {
            Self::One(_) => None,
            Self::Search(record) => Some(&record.info),
        }
    }

    /// Whether somebody ended it early.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::One(info) => info.is_interrupted(),
            Self::Search(record) => record.info.end == SearchEnd::Cancelled,
        }
    }
}

impl Trained {
    /// A model that was fitted before, of which nothing more is known: to be judged as a fit is.
    #[must_use]
    pub fn before(model: Model) -> Self {
        Self {
            request: FitRequest::One {
                config: Box::new(model.config().clone()),
                calibrate: false,
                band: BandRequest::default(),
            },
            model,
            training: Training::One(TrainInfo {
                stages: Vec::new(),
                history: Vec::new(),
                duration: Duration::ZERO,
            }),
        }
    }
}

impl FitRequest {
    /// Trains or searches on the training and validation parts. Of the test part nothing is looked at but whether a model may run
    /// on its inputs: a fit should not fail after its training.
    ///
    /// # Errors
    /// If an input is beyond all reason ([`ModelError::OutOfRange`]), the record is too short for what was asked, a checkpoint is damaged or of another fit, training diverges, or it is ended
    /// early without anything to keep.
    pub fn train(&self, dataset: &Dataset, split: &Split, options: TrainOptions<'_>) -> Result<Trained> {
        let ranges = self.band().output_ranges(dataset, split)?;
        let trend = self.band().trend(dataset, split)?;
        // Everything up to the finished model happens without the trend.
        let level = trend.as_ref().map(|trend| trend.remove(dataset));
        let dataset = level.as_ref().unwrap_or(dataset);
        let interface = ModelInterface::new(dataset, Normaliser::fit(dataset, &split.train)?);
        for part in [&split.train, &split.validation, &split.test] {
            interface.check_part(dataset, part)?;
        }
        let (model, training) = match self {
            Self::One {
                config,
                calibrate,
                band,
            } => {
                let target = CoverageTarget {
                    share: config.coverage,
                    together: band.together,
                };
                one(dataset, split, config, calibrate.then_some(target), options)?
            }
            Self::Search(config, _) => searched(dataset, split, config, options)?,
        };
        let model = model.with_horizons(dataset, &split.train.followed_by(&split.validation))?;
        let model = model.with_output_ranges(ranges)?.with_trend(trend)?;
        Ok(Trained {
            request: self.clone(),
            model,
            training,
        })
    }
}

fn one(
    dataset: &Dataset,
    split: &Split,
    config: &FitConfig,
    calibrated_for: Option<CoverageTarget>,
    options: TrainOptions<'_>,
) -> Result<(Model, Training)> {
    if calibrated_for.is_some() {
        check_blocks(dataset, split, config)?;
    }
    let fit_options = FitOptions {
        control: options.control,
        checkpoint: options.checkpoint,
        checkpoint_every: CHECKPOINT_EVERY,
        threads: options.threads,
        ..FitOptions::default()
    };
    let fitted = Model::fit(dataset, split, config, fit_options);
    let (mut model, info) = fitted.map_err(|error| match error {
        ModelError::Interrupted { epoch } => WorkflowError::Interrupted { epochs: epoch },
        error => error.into(),
    })?;
    if info.is_interrupted() && options.when_interrupted == WhenInterrupted::Fail {
        let epochs = info.epochs_run();
        return Err(WorkflowError::Interrupted { epochs });
    }
    if let Some(target) = calibrated_for.filter(|_| !info.is_interrupted()) {
        match calibrate_on_blocks(dataset, split, model.clone(), target, options.threads, options.control) {
            Ok(calibrated) => model = calibrated,
            // The model as it was trained is worth keeping.
            Err(SearchError::Cancelled) if options.when_interrupted == WhenInterrupted::KeepBest => {}
            Err(SearchError::Cancelled) => return Err(WorkflowError::Cancelled { stage: "calibration" }),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((model, Training::One(info)))
}

fn searched(
    dataset: &Dataset,
    split: &Split,
    config: &SearchConfig,
    options: TrainOptions<'_>,
) -> Result<(Model, Training)> {
    let search_options = SearchOptions {
        threads: options.threads,
        control: options.control,
        journal: options.checkpoint,
    };
    let cancelled = || WorkflowError::Cancelled { stage: "search" };
    let found = search(dataset, split, config, &search_options).map_err(|error| match error {
        SearchError::Cancelled => cancelled(),
        error => error.into(),
    })?;
    if found.info.end == SearchEnd::Cancelled && options.when_interrupted == WhenInterrupted::Fail {
        return Err(cancelled());
    }
    let SearchOutcome {
        model,
        info,
        descent,
        steps,
        duration,
    } = found;
    let record = SearchRecord {
        info,
        descent,
        steps,
        duration,
    };
    Ok((model, Training::Search(Box::new(record))))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use intervalid_data::{Channel, DataError, Experiment, Lags, SplitFractions};
    use intervalid_model::{ModelKind, Progress};

    use super::*;

    #[test]
    fn a_record_too_short_to_calibrate_is_refused_before_training() {
        let (u, y): (Vec<f64>, Vec<f64>) = (0..90)
            .map(|k| f64::from(u8::from((k / 5 + k / 7) % 2 == 0)))
            .scan(0.0, |level, u| {
                *level = 0.8 * *level + 0.2 * u;
                Some((u, *level))
            })
            .unzip();
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        let runs = vec![Experiment::new("run", vec![u], vec![y])];
        let data = Dataset::new("plant", inputs, outputs, None, runs).expect("a record");
        let split = Split::new(&data, SplitFractions::default()).expect("parts");
        let epochs = AtomicUsize::new(0);
        let count = |_: &Progress| {
            epochs.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let fitted = |calibrate: bool, lag_search: bool| {
            let config = FitConfig::default().with(|config| {
                config.model = ModelKind::Inode;
                config.lags = Lags { nx: 1, nd: 1, ny: 1 };
                config.lag_search = lag_search;
                config.network.hidden = vec![4];
                config.training.epochs = 1;
            });
            let request = FitRequest::One {
                config: Box::new(config),
                calibrate,
                band: BandRequest::default(),
            };
            let options = TrainOptions {
                control: Control {
                    observer: Some(&count),
                    ..Control::default()
                },
                ..TrainOptions::default()
            };
            request.train(&data, &split, options)
        };
        for lag_search in [false, true] {
            let error = fitted(true, lag_search).expect_err("blocks leave no window");
            let WorkflowError::Data(DataError::TooShort { what, .. }) = error else {
                panic!("{error:?}");
            };
            assert!(what.contains("calibrate"), "{what}");
        }
        assert_eq!(epochs.load(Ordering::Relaxed), 0);
        fitted(false, false).expect("enough for the fit itself");
        assert!(epochs.load(Ordering::Relaxed) > 0);
    }
}
