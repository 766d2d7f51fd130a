//! Executes tasks, here or on another machine.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::job::Ticker;
use crate::output::RunOutput;
use crate::plan::PlanData;
use crate::task::{DataSource, Task};

/// Data sets that are kept between tasks; a study with more reads them again.
const KEPT: usize = 8;

/// Executes tasks one by one, each in the thread that calls. It needs no database.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use intervalid_study::{Driver, DriverOptions, Next, Spec, Task, Worker};
///
/// let spec = Spec::parse("s", "name = 's'\ndatasets = ['hair-dryer']\nmodels = ['arx']")?;
/// let folder = tempfile::tempdir().unwrap();
/// let mut driver = Driver::open(&spec, &folder, &DriverOptions::default())?;
/// let Next::Task(task) = driver.next()? else { panic!("there is one run") };
///
/// // On another machine:
/// let task = Task::from_json(&task.to_json())?;
/// let outputs = Worker::default().execute_all(&task, &|| ControlFlow::Continue(()))?;
///
/// for output in outputs {
///     driver.put(&output)?;
/// }
/// assert_eq!(driver.close()?.done, 1);
/// # Ok::<(), intervalid_study::StudyError>(())
/// ```
#[derive(Debug, Default)]
pub struct Worker {
    data: Mutex<Vec<Arc<PlanData>>>,
}

impl Worker {
    /// A worker that has these data already.
    #[must_use]
    pub fn with_data(data: &[Arc<PlanData>]) -> Self {
        Self {
            data: Mutex::new(data.to_vec()),
        }
    }

    /// Executes a task: `tick` is told of every epoch and may break off, `finish` takes each result. Runs that were broken
    /// off have none; a run that fails has one that says why.
    ///
    /// # Errors
    /// If the worker does not have the task's data.
    pub fn execute(&self, task: &Task, tick: &Ticker<'_>, finish: &mut dyn FnMut(RunOutput)) -> Result<()> {
        let data = self.data(&task.data)?;
        task.check_keys(&data)?;
        task.job.execute(&data, tick, &mut |run, outcome| {
            finish(RunOutput::new(run, &task.spec_hash, outcome));
        });
        Ok(())
    }

    /// As [`Worker::execute`], with all results at the end.
    ///
    /// # Errors
    /// As [`Worker::execute`].
    pub fn execute_all(&self, task: &Task, tick: &Ticker<'_>) -> Result<Vec<RunOutput>> {
        let mut outputs = Vec::with_capacity(task.job.runs.len());
        self.execute(task, tick, &mut |output| outputs.push(output))?;
        Ok(outputs)
    }

    fn data(&self, source: &DataSource) -> Result<Arc<PlanData>> {
        let lock = || self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |data: &&Arc<PlanData>| data.name == source.name && data.hash == source.hash;
        if let Some(data) = lock().iter().find(is_it) {
            return Ok(Arc::clone(data));
        }
        let data = Arc::new(source.load()?);
        let mut kept = lock();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(Arc::clone(&data));
        Ok(data)
    }
}
