//! One job: fit what its runs share, evaluate each run.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use intervalid_model::{
    Control, FitConfig, FitOptions, Method, Model, ModelError, Progress, Stage, TrainInfo, evaluate, fit_cascades,
    search_lags,
};
use intervalid_workflow::{BandRequest, FitRequest, TrainOptions, Training, WorkflowError};

use crate::plan::{Job, JobKind, PlanData, Run};
use crate::predictions::StoredBand;
use crate::record::RunResult;
use crate::run_config::{RunConfig, SearchRun};

/// Version of the program that trains and evaluates, part of every record.
pub(crate) const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// As fitted: with the lags, or the whole model, that were found where they were searched.
    pub(crate) config: FitConfig,
    pub(crate) result: RunResult,
    pub(crate) predictions: Vec<StoredBand>,
    pub(crate) model: Option<Vec<u8>>,
}

/// Told of every epoch of a job; `Break` ends it.
pub type Ticker<'a> = dyn Fn() -> ControlFlow<()> + Sync + 'a;

/// Takes a run's outcome or the reason of its failure. A run that was broken off has neither.
pub(crate) type Finish<'a> = dyn FnMut(&Run, Result<Outcome, String>) + 'a;

impl Job {
    /// Epochs of all fits, if none stops early.
    pub(crate) fn epochs(&self) -> usize {
        let Some(config) = self.runs[0].config.one() else {
            return 0;
        };
        match (self.kind, config.model.method()) {
            (JobKind::Cascades, _) => {
                let margins = self.configs().map(|config| config.stage_epochs(Stage::Margins));
                config.training.epochs + margins.sum::<usize>()
            }
            (_, Method::Ensemble) => config.gaussian.members * config.training.epochs,
            (_, Method::Linear) => 0,
            _ => config.training.epochs,
        }
    }

    /// Settings of its runs, but for searches.
    fn configs(&self) -> impl Iterator<Item = &FitConfig> {
        self.runs.iter().filter_map(|run| run.config.one())
    }

    /// Fits and evaluates all runs. Neither an error nor a panic of one of them is felt by the others.
    pub(crate) fn execute(&self, data: &PlanData, tick: &Ticker<'_>, finish: &mut Finish<'_>) {
        match self.fit(data, tick) {
            Ok(fits) => {
                for (run, fit) in self.runs.iter().zip(fits) {
                    self.finish_run(run, fit, data, finish);
                }
            }
            Err(_) if tick().is_break() => {}
            Err(reason) if self.runs.len() == 1 => finish(&self.runs[0], Err(reason)),
            // One of several failed: alone, the others may do.
            Err(_) => {
                for run in &self.runs {
                    let alone = Self {
                        kind: self.kind,
                        runs: vec![run.clone()],
                    };
                    alone.execute(data, tick, finish);
                }
            }
        }
    }

    fn fit(&self, data: &PlanData, tick: &Ticker<'_>) -> Result<Vec<(Model, Training)>, String> {
        let observer = |_: &Progress| tick();
        let control = Control {
            observer: Some(&observer),
            ..Control::default()
        };
        guarded(|| match (&self.runs[0].config, self.kind) {
            (RunConfig::One(_), JobKind::Cascades) => self.fit_cascades(data, control),
            (RunConfig::One(first), _) => {
                let options = FitOptions {
                    control,
                    ..FitOptions::default()
                };
                let (model, info) = Model::fit(&data.dataset, &data.split, first, options)?;
                self.at_coverages(&model, &Training::One(info))
            }
            (RunConfig::Search(run), _) => {
                let (model, training) = searched(run, data, control)?;
                self.at_coverages(&model, &training)
            }
        })
    }

    /// The model with the band of each run; the first run has the time of the training that they share.
    fn at_coverages(&self, model: &Model, training: &Training) -> Result<Vec<(Model, Training)>, WorkflowError> {
        let at = |(index, run): (usize, &Run)| {
            let training = match index {
                0 => training.clone(),
                _ => training.clone().without_time(),
            };
            Ok((model.at_coverage(run.config.coverage())?, training))
        };
        self.runs.iter().enumerate().map(at).collect()
    }

    fn fit_cascades(&self, data: &PlanData, control: Control<'_>) -> Result<Vec<(Model, Training)>, WorkflowError> {
        let mut configs: Vec<FitConfig> = self.configs().cloned().collect();
        if configs[0].lag_search {
            let lags = search_lags(&data.dataset, &data.split, &configs[0])?;
            configs.iter_mut().for_each(|config| config.lags = lags);
        }
        let fits = fit_cascades(&data.dataset, &data.split, &configs, control)?;
        let one = |(model, info): (Model, TrainInfo)| (model, Training::One(info));
        Ok(fits.into_iter().map(one).collect())
    }

    fn finish_run(&self, run: &Run, (model, training): (Model, Training), data: &PlanData, finish: &mut Finish<'_>) {
        if training.is_interrupted() {
            return;
        }
        finish(run, guarded(|| Ok(outcome(run, &model, &training, data)?)));
    }
}

/// A search on one thread: a study has a job on every core.
fn searched(run: &SearchRun, data: &PlanData, control: Control<'_>) -> Result<(Model, Training), WorkflowError> {
    let request = FitRequest::Search(run.search.clone(), BandRequest::default());
    let options = TrainOptions {
        control: Control {
            deadline: run.budget().and_then(|budget| Instant::now().checked_add(budget)),
            ..control
        },
        threads: 1,
        ..TrainOptions::default()
    };
    let trained = request.train(&data.dataset, &data.split, options)?;
    Ok((trained.model, trained.training))
}

fn outcome(run: &Run, model: &Model, training: &Training, data: &PlanData) -> Result<Outcome, ModelError> {
    let PlanData { dataset, split, .. } = data;
    let coverage = run.config.coverage();
    let bands = model.simulate(dataset, &split.test)?;
    let validation = model.simulate(dataset, &split.validation)?;
    Ok(Outcome {
        config: model.config().clone(),
        result: RunResult {
            epochs_run: training.epochs_run(),
            stopped_because: training.stopped_because(),
            train_seconds: training.duration().as_secs_f64(),
            parameters: model.parameters(),
            test: evaluate(dataset, &bands, coverage)?.into(),
            validation: evaluate(dataset, &validation, coverage)?.into(),
        },
        predictions: StoredBand::of(dataset, &bands),
        model: run.keep_model.then(|| model.to_bytes()).transpose()?,
    })
}

/// An error or a panic as text: the study goes on after either.
fn guarded<T>(work: impl FnOnce() -> Result<T, WorkflowError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panicked: {}", panic_message(panic.as_ref()))),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_become_reasons() {
        assert_eq!(guarded(|| Ok(3)), Ok(3));
        let broken = guarded(|| -> Result<(), WorkflowError> { panic!("index {} of 2", 5) });
        assert_eq!(broken.unwrap_err(), "panicked: index 5 of 2");
        let config = FitConfig::default().with(|config| config.training.epochs = 0);
        assert!(guarded(|| Ok(config.check()?)).unwrap_err().starts_with("epochs = 0"));
    }
}
