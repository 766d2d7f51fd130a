//! Fitting, and what a fit leaves behind.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use intervalid_data::{Dataset, Experiment, Part, Segment, Split, SplitFractions};
use intervalid_model::{
    AutoConfig, AutoInfo, AutoOptions, AutoProgress, FitConfig, FitOptions, FitResult, FitRuns, Model as AnyModel,
    ModelError, Plan, Progress, StopReason, TrainInfo, calibrate_on_blocks, fit_auto,
};
use intervalid_report::{Baseline, FitReport, PartBands, fit_page};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{json, plain};
use crate::error;
use crate::model::Model;
use crate::record::Record;
use crate::watch::{Field, Watcher, watched};

/// A fitted model, how it was fitted, and the record it was fitted on.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct Fit {
    dataset: Arc<Dataset>,
    split: Split,
    plan: Plan,
    model: Arc<AnyModel>,
    info: TrainInfo,
    search: Option<AutoInfo>,
    /// Raised while it was running, by Ctrl-C.
    interrupted: bool,
}

/// What training left, whole or not.
struct Trained {
    model: AnyModel,
    info: TrainInfo,
    search: Option<AutoInfo>,
}

/// Fits what the settings say to a record. `search`: as the preset `auto`, else one model.
///
/// Ctrl-C ends training with the best epoch so far: then `interrupted` is set. A search, and training that has no finite
/// epoch yet, raise `KeyboardInterrupt`.
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
    let plan = plan(record.known.unwrap_or_default(), &settings, search, calibrate).map_err(error::model)?;
    let fractions = SplitFractions::new(split.0, split.1, split.2).map_err(error::data)?;
    let split = Split::new(&dataset, fractions).map_err(error::data)?;
    plan.check(&dataset, &split).map_err(error::model)?;
    let work = |watcher: &Watcher<'_>| train(&dataset, &split, &plan, threads, budget, watcher);
    let (trained, raised) = watched(py, observer, work);
    let trained = match (trained, &raised) {
        (Ok(trained), _) => trained,
        (Err(ModelError::Interrupted { .. }), Some(raised)) => return Err(raised.clone_ref(py)),
        (Err(error), _) => return Err(error::model(error)),
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
        plan,
        model: Arc::new(trained.model),
        info: trained.info,
        search: trained.search,
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

fn plan(dataset: &str, settings: &toml::Table, search: bool, calibrate: bool) -> Result<Plan, ModelError> {
    if search {
        let config = AutoConfig::from_settings(settings)?;
        config.check()?;
        return Ok(Plan::Search(config));
    }
    let config = FitConfig::from_settings(dataset, settings)?;
    config.check()?;
    Ok(Plan::One {
        config: Box::new(config),
        calibrate,
    })
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
    let config = FitConfig::from_settings(dataset, &settings).map_err(error::model)?;
    config.check().map_err(error::model)?;
    plain(py, &config)
}

fn train(
    dataset: &Dataset,
    split: &Split,
    plan: &Plan,
    threads: usize,
    budget: Option<Duration>,
    watcher: &Watcher<'_>,
) -> Result<Trained, ModelError> {
    match plan {
        Plan::Search(config) => {
            let observer = |progress: &AutoProgress| watcher.tell(|| search_event(progress));
            let options = AutoOptions {
                threads,
                budget,
                observer: Some(&observer),
            };
            let found = fit_auto(dataset, split, config, &options)?;
            Ok(Trained {
                model: found.model,
                info: found.training,
                search: Some(found.info),
            })
        }
        Plan::One { config, calibrate } => {
            let mut observer = |progress: &Progress| -> ControlFlow<()> { watcher.tell(|| epoch_event(progress)) };
            let options = FitOptions {
                observer: Some(&mut observer),
                ..FitOptions::default()
            };
            let (mut model, info) = AnyModel::fit(dataset, split, config, options)?;
            let is_whole = !info
                .stages
                .iter()
                .any(|stage| matches!(stage.stopped, StopReason::Interrupted { .. }));
            if *calibrate && is_whole {
                match calibrate_on_blocks(dataset, split, model.clone(), threads, watcher.stop()) {
                    Ok(calibrated) => model = calibrated,
                    // The model as it was trained is worth keeping.
                    Err(ModelError::Interrupted { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(Trained {
                model,
                info,
                search: None,
            })
        }
    }
}

fn epoch_event(progress: &Progress) -> Vec<(&'static str, Field)> {
    let record = &progress.record;
    vec![
        ("stage", Field::Text(record.stage.name())),
        ("epoch", Field::Count(record.epoch)),
        ("train_mse", Field::Number(record.train[0])),
        ("train_band", Field::Number(record.train[1])),
        ("validation_mse", Field::Number(record.validation[0])),
        ("validation_band", Field::Number(record.validation[1])),
        ("learning_rate", Field::Number(record.learning_rate)),
        ("improved", Field::Flag(progress.improved)),
        ("epochs_done", Field::Count(progress.epochs_done)),
        ("epochs_total", Field::Count(progress.epochs_total)),
        ("seconds_left", Field::Number(progress.seconds_left)),
    ]
}

fn search_event(progress: &AutoProgress) -> Vec<(&'static str, Field)> {
    vec![
        ("stage", Field::Text("search")),
        ("step", Field::Text(progress.step)),
        ("share", Field::Number(progress.share)),
    ]
}

#[pymethods]
impl Fit {
    /// The fitted model.
    #[getter]
    fn model(&self) -> Model {
        Model {
            model: Arc::clone(&self.model),
        }
    }

    /// Whether Ctrl-C ended training early.
    #[getter]
    fn interrupted(&self) -> bool {
        self.interrupted
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
            Ok(dict)
        };
        self.info.stages.iter().map(stage).collect()
    }

    /// One dict per epoch.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let epoch = |record: &intervalid_model::EpochRecord| {
            let dict = PyDict::new(py);
            dict.set_item("stage", record.stage.name())?;
            dict.set_item("epoch", record.epoch)?;
            dict.set_item("train_mse", record.train[0])?;
            dict.set_item("train_band", record.train[1])?;
            dict.set_item("validation_mse", record.validation[0])?;
            dict.set_item("validation_band", record.validation[1])?;
            dict.set_item("learning_rate", record.learning_rate)?;
            Ok(dict)
        };
        self.info.history.iter().map(epoch).collect()
    }

    /// How a search went; `None` for one model.
    #[getter]
    fn search<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.search)
    }

    /// What `fit --json` prints, without `out`.
    #[pyo3(signature = (threads=1))]
    fn result<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let result = py
            .detach(|| {
                let runs = FitRuns::simulate(&self.model, &self.dataset, &self.split, threads)?;
                self.numbers(&self.dataset, &runs)
            })
            .map_err(error::model)?;
        let mut value = serde_json::to_value(&result).map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("out");
        }
        json(py, &value)
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
        write(&path, html.as_bytes()).map_err(|reason| {
            // Without the name of the temporary file, which means nothing to a user.
            let reason = reason.to_string();
            let reason = reason.split(" at path ").next().unwrap_or_default();
            let message = format!("{}: the report cannot be written: {reason}", path.display());
            error::exception("ReportFileError", message, "File")
        })
    }
}

impl Fit {
    fn numbers(&self, dataset: &Dataset, runs: &FitRuns) -> Result<FitResult, ModelError> {
        FitResult::new(
            dataset,
            self.plan.preset(),
            (&self.model, &self.info),
            self.search.clone(),
            runs,
            PathBuf::new(),
        )
    }

    fn page(&self, test: Option<&Dataset>, code: String, threads: usize) -> PyResult<String> {
        let joined;
        let (dataset, split): (&Dataset, &Split) = match test {
            None => (&self.dataset, &self.split),
            Some(test) => {
                joined = self.with_test(test).map_err(error::model)?;
                (&joined.0, &joined.1)
            }
        };
        let runs = FitRuns::simulate(&self.model, dataset, split, threads).map_err(error::model)?;
        // As on the command line: a record that no linear model fits has none beside it.
        let baseline = Baseline::fit(dataset, split, self.model.config()).unwrap_or_default();
        let settings = self.plan.repeatable(&self.model, self.search.as_ref()).settings();
        let config = toml::to_string(&settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let parts = [
            ("test", &runs.test),
            ("validation", &runs.validation),
            ("training", &runs.train),
        ];
        let report = FitReport {
            dataset,
            split,
            model: &self.model,
            info: &self.info,
            parts: &parts.map(|(name, bands)| PartBands { name, bands }),
            online: &runs.online,
            extrapolated: runs.extrapolated.as_deref(),
            search: self.search.as_ref(),
            baseline: baseline.as_ref(),
            preset: self.plan.preset().name(),
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
        )?;
        Ok((dataset, split))
    }
}

/// Writes beside the place and renames, so that nobody sees half a page.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".intervalid-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
