//! Fitting, and what a fit leaves behind.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use intervalid_data::{Dataset, Experiment, Part, Segment, Split, SplitFractions, replace_file};
use intervalid_model::{Control, EpochProgress, EpochRecord, ModelError, Progress, Stage, StopReason};
use intervalid_report::{FitReport, fit_page};
use intervalid_workflow::{
    FitRequest, Settings, TrainOptions, Trained, Training, WhenInterrupted, WorkflowError, refuse_learnt,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::plain;
use crate::error;
use crate::model::Model;
use crate::record::Record;
use crate::watch::{Field, Watcher, watched};

/// A fitted model, how it was fitted, and the record it was fitted on.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Fit {
    dataset: Arc<Dataset>,
    split: Split,
    trained: Trained,
    /// Raised while it was running, by Ctrl-C.
    interrupted: bool,
}

/// Fits what the settings say to a record. `search`: as the preset `auto`, else one model.
///
/// Ctrl-C ends training with the best epoch so far, a search with the best linear model: then `interrupted` is set. Where there
/// is neither yet, `KeyboardInterrupt` is raised.
#[pyfunction]
#[pyo3(signature = (record, split, settings, *, search=false, calibrate=false, threads=1, budget=None, observer=None))]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub(crate) fn fit(
    py: Python<'_>,
    record: &Record,
    split: (f64, f64, f64),
    settings: &Bound<'_, PyDict>,
    search: bool,
    calibrate: bool,
    threads: usize,
    budget: Option<f64>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Fit> {
    let dataset = Arc::clone(&record.dataset);
    let settings = crate::convert::settings(settings)?;
    let budget = budget.map(duration).transpose()?;
    let request = request(record.known.unwrap_or_default(), settings, search, calibrate).map_err(error::workflow)?;
    let fractions = SplitFractions::new(split.0, split.1, split.2).map_err(error::data)?;
    let split = Split::new(&dataset, fractions).map_err(error::data)?;
    request.check(&dataset, &split).map_err(error::workflow)?;
    let work = |watcher: &Watcher<'_>| {
        let observer = |progress: &Progress| match progress {
            // Callbacks know epochs and shares.
            Progress::Candidate(_) => ControlFlow::Continue(()),
            _ => watcher.tell(|| event(progress)),
        };
        let options = TrainOptions {
            control: Control {
                observer: Some(&observer),
                cancel: Some(watcher.stop()),
                deadline: budget.and_then(|budget| Instant::now().checked_add(budget)),
            },
            threads,
            checkpoint: None,
            when_interrupted: WhenInterrupted::KeepBest,
        };
        request.train(&dataset, &split, options)
    };
    let (trained, raised) = watched(py, observer, work);
    let trained = match (trained, &raised) {
        (Ok(trained), _) => trained,
        (Err(WorkflowError::Interrupted { .. } | WorkflowError::Cancelled { .. }), Some(raised)) => {
            return Err(raised.clone_ref(py));
        }
        (Err(error), _) => return Err(error::workflow(error)),
    };
    let interrupted = match raised {
        Some(raised) if raised.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => true,
        // The observer is broken: what it did not see is not worth keeping.
        Some(raised) => return Err(raised),
        None => false,
    };
    Ok(Fit {
        dataset,
        split,
        trained,
        interrupted,
    })
}

fn duration(seconds: f64) -> PyResult<Duration> {
    let positive = Some(seconds).filter(|seconds| *seconds > 0.0);
    positive
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            let message = format!("budget = {seconds} is not allowed: expected a positive number of seconds");
            error::exception("OptionError", message, "Option")
        })
}

fn request(dataset: &str, settings: Settings, search: bool, calibrate: bool) -> Result<FitRequest, WorkflowError> {
    let settings = Settings {
        calibrate: Some(calibrate),
        ..settings
    };
    match search {
        true => FitRequest::search(&settings),
        false => FitRequest::one(&settings, dataset),
    }
}

/// The settings of one fit that nobody has to give, for a model by name.
#[pyfunction]
#[pyo3(signature = (settings, dataset=""))]
pub(crate) fn defaults<'py>(
    py: Python<'py>,
    settings: &Bound<'py, PyDict>,
    dataset: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = crate::convert::settings(settings)?;
    let config = settings.fit_config(dataset);
    config.check().map_err(error::model)?;
    plain(py, &config)
}

/// What an observer is told, by name.
fn event(progress: &Progress) -> Vec<(&'static str, Field)> {
    match progress {
        Progress::Epoch(epoch) => epoch_event(epoch),
        Progress::Share { step, share } => vec![
            ("stage", Field::Text("search")),
            ("step", Field::Text(step)),
            ("share", Field::Number(*share)),
        ],
        _ => Vec::new(),
    }
}

/// A loss that a stage does not use is NaN in Python.
fn loss(loss: Option<f64>) -> f64 {
    loss.unwrap_or(f64::NAN)
}

fn epoch_event(progress: &EpochProgress) -> Vec<(&'static str, Field)> {
    let record = &progress.record;
    vec![
        ("stage", Field::Text(record.stage.name())),
        ("epoch", Field::Count(record.epoch)),
        ("train_mse", Field::Number(loss(record.train[0]))),
        ("train_band", Field::Number(loss(record.train[1]))),
        ("validation_mse", Field::Number(loss(record.validation[0]))),
        ("validation_band", Field::Number(loss(record.validation[1]))),
        ("learning_rate", Field::Number(record.learning_rate)),
        ("improved", Field::Flag(progress.improved)),
        ("epochs_done", Field::Count(progress.epochs_done)),
        ("epochs_total", Field::Count(progress.epochs_total)),
        ("seconds_left", Field::Number(progress.seconds_left)),
    ]
}

#[pymethods]
impl Fit {
    /// The fitted model.
    #[getter]
    fn model(&self) -> Model {
        Model {
            model: Arc::new(self.trained.model.clone()),
        }
    }

    /// Whether Ctrl-C ended training early.
    #[getter]
    fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// What was asked for and is missing, since training was ended early, in words.
    #[getter]
    fn unfinished(&self) -> Vec<String> {
        self.trained.unfinished().iter().map(ToString::to_string).collect()
    }

    /// One dict per stage of training that was begun, in order.
    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let stage = |stage: &intervalid_model::StageInfo| {
            let dict = PyDict::new(py);
            dict.set_item("stage", stage.stage.name())?;
            dict.set_item("epochs", stage.epochs)?;
            dict.set_item("best_epoch", stage.best_epoch)?;
            dict.set_item("best_loss", stage.best_loss)?;
            dict.set_item("stopped_because", stage.stopped.to_string())?;
            dict.set_item("interrupted", matches!(stage.stopped, StopReason::Interrupted { .. }))?;
            Ok(dict)
        };
        match &self.trained.training {
            Training::One(info) => info.stages.iter().map(stage).collect(),
            Training::Search(_) => Ok(Vec::new()),
        }
    }

    /// One dict per epoch.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let epoch = |record: &EpochRecord| {
            let dict = PyDict::new(py);
            dict.set_item("stage", record.stage.name())?;
            dict.set_item("epoch", record.epoch)?;
            dict.set_item("train_mse", loss(record.train[0]))?;
            dict.set_item("train_band", loss(record.train[1]))?;
            dict.set_item("validation_mse", loss(record.validation[0]))?;
            dict.set_item("validation_band", loss(record.validation[1]))?;
            dict.set_item("learning_rate", record.learning_rate)?;
            Ok(dict)
        };
        match &self.trained.training {
            Training::One(info) => info.history.iter().map(epoch).collect(),
            // A step of a search's descent has the loss on held-out blocks and no other.
            Training::Search(record) => {
                let steps = record.descent.iter().enumerate().skip(1);
                let step = |(step, &mse): (usize, &f64)| {
                    epoch(&EpochRecord {
                        stage: Stage::Crisp,
                        epoch: step,
                        train: [None, None],
                        validation: [Some(mse), None],
                        learning_rate: f64::NAN,
                        scales: [f64::NAN; 2],
                    })
                };
                steps.map(step).collect()
            }
        }
    }

    /// How a search went; `None` for one model.
    #[getter]
    fn search<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.trained.training.search())
    }

    /// What `fit --json` prints, without `out`.
    #[pyo3(signature = (threads=1))]
    fn result<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let outcome = py
            .detach(|| self.trained.clone().evaluate(&self.dataset, &self.split, threads))
            .map_err(error::workflow)?;
        plain(py, &outcome.metrics)
    }

    /// Writes the page of the fit. `test`: a record that the model had not seen, in place of the test part.
    #[pyo3(signature = (path, *, test=None, code, threads=1))]
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        test: Option<&Record>,
        code: String,
        threads: usize,
    ) -> PyResult<()> {
        let test = test.map(|record| Arc::clone(&record.dataset));
        let html = py.detach(|| self.page(test.as_deref(), code, threads))?;
        replace_file(&path, html.as_bytes()).map_err(|reason| {
            let message = format!("{}: the report cannot be written: {reason}", path.display());
            error::exception("ReportFileError", message, "File")
        })
    }
}

impl Fit {
    fn page(&self, test: Option<&Dataset>, code: String, threads: usize) -> PyResult<String> {
        let joined;
        let (dataset, split): (&Dataset, &Split) = match test {
            None => (&self.dataset, &self.split),
            Some(test) => {
                refuse_learnt(test.experiments(), self.dataset.experiments()).map_err(error::data)?;
                joined = self.with_test(test).map_err(error::model)?;
                (&joined.0, &joined.1)
            }
        };
        let outcome = self
            .trained
            .clone()
            .evaluate(dataset, split, threads)
            .map_err(error::workflow)?;
        let settings = outcome.request.to_table().map_err(error::workflow)?;
        let config = toml::to_string(&settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let report = FitReport {
            dataset,
            split,
            outcome: &outcome,
            config: &config,
            commands: &[code],
        };
        let page = fit_page(&report).map_err(error::report)?;
        page.to_html().map_err(error::report)
    }

    /// The record with further experiments as its test part.
    fn with_test(&self, test: &Dataset) -> Result<(Dataset, Split), ModelError> {
        for (what, expected, found) in [
            ("inputs", self.dataset.inputs().len(), test.inputs().len()),
            ("outputs", self.dataset.outputs().len(), test.outputs().len()),
        ] {
            if expected != found {
                return Err(ModelError::Channels { what, expected, found });
            }
        }
        let before = self.dataset.experiments().len();
        let experiments: Vec<Experiment> = self
            .dataset
            .experiments()
            .iter()
            .chain(test.experiments())
            .cloned()
            .collect();
        let tests = test
            .experiments()
            .iter()
            .enumerate()
            .map(|(index, experiment)| Segment {
                experiment: before + index,
                start: 0,
                end: experiment.len(),
            });
        let split = Split {
            test: Part::from_segments(tests.collect()),
            ..self.split.clone()
        };
        let dataset = Dataset::new(
            self.dataset.name(),
            self.dataset.inputs().to_vec(),
            self.dataset.outputs().to_vec(),
            self.dataset.sample_time(),
            experiments,
        )?
        .with_preparation(test.preparation().clone());
        Ok((dataset, split))
    }
}
