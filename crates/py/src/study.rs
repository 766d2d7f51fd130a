//! Studies: a driver that hands out tasks as text, and the function that executes one wherever it is called.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use intervalid_study::{
    Driver, DriverOptions, Next, Put, RunOutput, RunState, Shard, Spec, Store, StudyError, Task, Worker, merge_studies,
    status, study_tables,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{plain, table};
use crate::error;
use crate::watch::watched;

/// Data sets stay in memory between the tasks of a process.
static WORKER: LazyLock<Worker> = LazyLock::new(Worker::default);

/// Set by one thread, seen by tasks in others.
#[pyclass(frozen, module = "intervalid._intervalid")]
#[derive(Default)]
pub(crate) struct StudyStop(Arc<AtomicBool>);

#[pymethods]
impl StudyStop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks tasks that have this flag to end after their epoch.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A task as it is sent to a worker.
#[pyclass(frozen, get_all, module = "intervalid._intervalid")]
pub(crate) struct StudyTask {
    /// All that a worker needs.
    text: String,
    /// Its first run in words.
    label: String,
    /// Number of its runs.
    runs: usize,
}

/// Plans a study, hands out its tasks, records results.
#[pyclass(frozen, module = "intervalid._intervalid")]
pub(crate) struct StudyDriver(Mutex<Option<Driver>>);

/// The text of a study: of a dict, a file, a built-in name, or the text itself.
#[pyfunction]
pub(crate) fn study_spec(spec: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = if let Ok(dict) = spec.cast::<PyDict>() {
        toml::to_string(&table(dict)?).map_err(|error| PyRuntimeError::new_err(error.to_string()))?
    } else {
        let name: PathBuf = spec.extract()?;
        let name = name.to_string_lossy();
        if name.contains(['\n', '=']) {
            name.into_owned()
        } else {
            Spec::text(&name).map_err(error::study)?
        }
    };
    Spec::parse("study", &text).map_err(error::study)?;
    Ok(text)
}

#[pymethods]
impl StudyDriver {
    /// Opens a study of which `spec` is the text.
    #[new]
    #[pyo3(signature = (spec, out, *, data_dir=None, shard=None, share_training=true))]
    fn new(
        py: Python<'_>,
        spec: &str,
        out: PathBuf,
        data_dir: Option<PathBuf>,
        shard: Option<&str>,
        share_training: bool,
    ) -> PyResult<Self> {
        let open = || {
            let options = DriverOptions {
                data_dir: data_dir.as_deref(),
                shard: shard.map(str::parse::<Shard>).transpose()?,
                share_training,
            };
            Driver::open(&Spec::parse("study", spec)?, &out, &options)
        };
        let driver = py.detach(open).map_err(error::study)?;
        Ok(Self(Mutex::new(Some(driver))))
    }

    /// The next task; `None` where there is none, now (`busy` says so) or any more.
    fn next_task(&self, py: Python<'_>) -> PyResult<(Option<StudyTask>, bool)> {
        let next = py.detach(|| self.with(Driver::next))?;
        Ok(match next {
            Next::Task(task) => {
                let found = StudyTask {
                    text: task.to_json(),
                    label: task.job.runs[0].cell.to_string(),
                    runs: task.job.runs.len(),
                };
                (Some(found), false)
            }
            Next::Busy => (None, true),
            Next::Finished => (None, false),
        })
    }

    /// Records a result; says what it was.
    fn put<'py>(&self, py: Python<'py>, output: &str) -> PyResult<Bound<'py, PyDict>> {
        let (output, put) = py.detach(|| {
            let output = RunOutput::from_json(output).map_err(error::study)?;
            let put = self.with(|driver| driver.put(&output))?;
            Ok::<_, PyErr>((output, put))
        })?;
        event(py, &output, put)
    }

    /// Records that all runs of a task failed.
    fn fail<'py>(&self, py: Python<'py>, task: &str, reason: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut events = Vec::new();
        for output in Task::from_json(task).map_err(error::study)?.failed(reason) {
            let put = py.detach(|| self.with(|driver| driver.put(&output)))?;
            events.push(event(py, &output, put)?);
        }
        Ok(events)
    }

    /// Gives a task back.
    fn release(&self, task: &str) -> PyResult<()> {
        let task = Task::from_json(task).map_err(error::study)?;
        self.with(|driver| {
            driver.release(&task);
            Ok(())
        })
    }

    /// Runs of this driver's share, and how many of them are done or failed.
    fn progress(&self) -> PyResult<(usize, usize)> {
        self.with(|driver| Ok((driver.runs_ended(), driver.runs())))
    }

    /// What became of the runs so far.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let summary = self.with(|driver| Ok(driver.summary()))?;
        plain(py, &summary)
    }

    /// Names of data sets that are missing, why, and how many runs are left out.
    fn missing(&self) -> PyResult<Vec<(String, String, usize)>> {
        self.with(|driver| {
            let missing = driver.plan().missing.iter();
            Ok(missing
                .map(|it| (it.name.clone(), it.reason.clone(), it.runs))
                .collect())
        })
    }

    /// Closes the database and gives back what was handed out.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let driver = self.lock().take();
        py.detach(|| driver.map_or(Ok(()), |driver| driver.close().map(|_| ())))
            .map_err(error::study)
    }
}

impl StudyDriver {
    fn lock(&self) -> MutexGuard<'_, Option<Driver>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Driver) -> Result<T, StudyError>) -> PyResult<T> {
        match self.lock().as_mut() {
            Some(driver) => work(driver).map_err(error::study),
            None => Err(PyRuntimeError::new_err("this driver is closed")),
        }
    }
}

fn event<'py>(py: Python<'py>, output: &RunOutput, put: Put) -> PyResult<Bound<'py, PyDict>> {
    let event = PyDict::new(py);
    event.set_item("run", output.cell.to_string())?;
    event.set_item("stored", put == Put::Stored)?;
    let (status, reason, result) = match &output.state {
        RunState::Done(result) => ("done", None, Some(result)),
        RunState::Failed { reason } => ("failed", Some(reason), None),
    };
    event.set_item("status", status)?;
    event.set_item("reason", reason)?;
    let judged = result.map(|result| result.test.judged());
    event.set_item("rmse", judged.and_then(|metrics| metrics.rmse))?;
    event.set_item("picp", judged.and_then(|metrics| metrics.picp))?;
    event.set_item("train_seconds", result.map(|result| result.train_seconds))?;
    Ok(event)
}

/// Executes a task in one thread, without any database: its results, one per run, as text. A task that `stop` ended has fewer.
#[pyfunction]
#[pyo3(signature = (task, stop=None))]
pub(crate) fn study_execute(py: Python<'_>, task: &str, stop: Option<&StudyStop>) -> PyResult<Vec<String>> {
    let task = Task::from_json(task).map_err(error::study)?;
    let stop = stop.map(|stop| Arc::clone(&stop.0));
    let (outputs, raised) = watched(py, None, |watcher| {
        let tick = || match stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(()),
            false => watcher.tell(Vec::new),
        };
        WORKER.execute_all(&task, &tick)
    });
    match raised {
        Some(raised) => Err(raised),
        None => Ok(outputs.map_err(error::study)?.iter().map(RunOutput::to_json).collect()),
    }
}

/// What `study status --json` prints.
#[pyfunction]
pub(crate) fn study_status(py: Python<'_>, out: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let status = py.detach(|| status(out)).map_err(error::study)?;
    plain(py, &status)
}

/// What `study table --json` prints.
#[pyfunction]
pub(crate) fn study_table(py: Python<'_>, out: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let tables = py.detach(|| study_tables(out)).map_err(error::study)?;
    plain(py, &tables)
}

/// All recorded runs.
#[pyfunction]
pub(crate) fn study_runs(py: Python<'_>, out: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let records = py.detach(|| Store::open(out)?.runs()).map_err(error::study)?;
    plain(py, &records)
}

/// What `study merge --json` prints, without `out`.
#[pyfunction]
pub(crate) fn study_merge(py: Python<'_>, out: PathBuf, shards: Vec<PathBuf>) -> PyResult<Bound<'_, PyAny>> {
    let summary = py.detach(|| merge_studies(out, &shards)).map_err(error::study)?;
    plain(py, &summary)
}
