//! One job: fit what its runs share, evaluate each run.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use intervalid_model::{
    Control, FitConfig, FitOptions, Method, Model, ModelError, Progress, Stage, TrainInfo, evaluate, fit_cascades,
    search_lags,
};

use crate::plan::{Job, JobKind, PlanData, Run};
use crate::predictions::StoredBand;
use crate::record::RunResult;

/// Version of the program that trains and evaluates, part of every record.
pub(crate) const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// As fitted: with the lags that were found where they were searched.
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
        let config = &self.runs[0].config;
        match (self.kind, config.model.method()) {
            (JobKind::Cascades, _) => {
                let margins = self.runs.iter().map(|run| run.config.stage_epochs(Stage::Margins));
                config.training.epochs + margins.sum::<usize>()
            }
            (_, Method::Ensemble) => config.gaussian.members * config.training.epochs,
            (_, Method::Linear) => 0,
            _ => config.training.epochs,
        }
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

    fn fit(&self, data: &PlanData, tick: &Ticker<'_>) -> Result<Vec<(Model, TrainInfo)>, String> {
        let first = &self.runs[0].config;
        guarded(|| match self.kind {
            JobKind::Cascades => self.fit_cascades(data, tick),
            JobKind::Coverages | JobKind::Single => {
                let observer = |_: &Progress| tick();
                let options = FitOptions {
                    control: Control {
                        observer: Some(&observer),
                        ..Control::default()
                    },
                    ..FitOptions::default()
                };
                let (model, info) = Model::fit(&data.dataset, &data.split, first, options)?;
                let mut fits = Vec::with_capacity(self.runs.len());
                for run in &self.runs[1..] {
                    let free = TrainInfo {
                        duration: std::time::Duration::ZERO,
                        ..info.clone()
                    };
                    fits.push((model.at_coverage(run.config.coverage)?, free));
                }
                fits.insert(0, (model, info));
                Ok(fits)
            }
        })
    }

    fn fit_cascades(&self, data: &PlanData, tick: &Ticker<'_>) -> Result<Vec<(Model, TrainInfo)>, ModelError> {
        let mut configs: Vec<FitConfig> = self.runs.iter().map(|run| run.config.clone()).collect();
        if configs[0].lag_search {
            let lags = search_lags(&data.dataset, &data.split, &configs[0])?;
            configs.iter_mut().for_each(|config| config.lags = lags);
        }
        let observer = |_: &Progress| tick();
        let control = Control {
            observer: Some(&observer),
            ..Control::default()
        };
        fit_cascades(&data.dataset, &data.split, &configs, control)
    }

    fn finish_run(&self, run: &Run, (model, info): (Model, TrainInfo), data: &PlanData, finish: &mut Finish<'_>) {
        if info.is_interrupted() {
            return;
        }
        finish(run, guarded(|| outcome(run, &model, &info, data)));
    }
}

fn outcome(run: &Run, model: &Model, info: &TrainInfo, data: &PlanData) -> Result<Outcome, ModelError> {
    let PlanData { dataset, split, .. } = data;
    let coverage = run.config.coverage;
    let bands = model.simulate(dataset, &split.test)?;
    let validation = model.simulate(dataset, &split.validation)?;
    Ok(Outcome {
        config: model.config().clone(),
        result: RunResult {
            epochs_run: info.epochs_run(),
            stopped_because: info.stopped_because(),
            train_seconds: info.duration.as_secs_f64(),
            parameters: model.parameters(),
            test: evaluate(dataset, &bands, coverage)?.into(),
            validation: evaluate(dataset, &validation, coverage)?.into(),
        },
        predictions: StoredBand::of(dataset, &bands),
        model: run.keep_model.then(|| model.to_bytes()).transpose()?,
    })
}

/// An error or a panic as text: the study goes on after either.
fn guarded<T>(work: impl FnOnce() -> Result<T, ModelError>) -> Result<T, String> {
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
        let broken = guarded(|| -> Result<(), ModelError> { panic!("index {} of 2", 5) });
        assert_eq!(broken.unwrap_err(), "panicked: index 5 of 2");
        let config = FitConfig::default().with(|config| config.training.epochs = 0);
        assert!(guarded(|| config.check()).unwrap_err().starts_with("epochs = 0"));
    }
}
