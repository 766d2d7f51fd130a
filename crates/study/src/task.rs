//! A piece of a study that any machine can do on its own.

use std::path::{Path, PathBuf};

use intervalid_data::DATA_DIR_VARIABLE;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StudyError};
use crate::output::{MESSAGE_FORMAT, RunOutput, decode};
use crate::plan::{Job, PlanData, StudyPlan, is_missing, run_key};
use crate::spec::Columns;

/// Runs that share training, with all that is needed to compute them: configurations, and where the data are.
///
/// The same task gives the same results wherever and however often it is executed. With
/// [`DriverOptions::share_training`](crate::DriverOptions::share_training) off, every task has one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    format: u32,
    /// Version of the program that planned it; only the same one executes it.
    pub version: String,
    /// Hash of its study.
    pub spec_hash: String,
    /// The data.
    pub data: DataSource,
    /// The runs.
    pub job: Job,
}

/// Where a worker finds a data set, and how it knows that it is the right one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSource {
    /// Name or path in the study.
    pub name: String,
    /// The file, if `name` is one, as an absolute path.
    pub file: Option<PathBuf>,
    /// The folder in which names are looked up, as an absolute path.
    pub folder: Option<PathBuf>,
    /// Its columns, where the study names them.
    #[serde(default)]
    pub columns: Columns,
    /// SHA-256 of channels, samples and parts.
    pub hash: String,
}

impl Task {
    /// A job of a plan as a task. `data_dir` is the folder that the plan was made with.
    #[must_use]
    pub fn new(plan: &StudyPlan, job: Job, spec_hash: &str, data_dir: Option<&Path>) -> Self {
        let data = plan.data_of(&job);
        let folder = data_dir
            .map(Path::to_owned)
            .or_else(|| std::env::var_os(DATA_DIR_VARIABLE).map(PathBuf::from))
            .filter(|folder| !folder.as_os_str().is_empty());
        let file = Some(Path::new(&data.name)).filter(|path| path.is_file());
        // Workers stand in other folders. A path that cannot be made absolute is looked up as it is.
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self {
            format: MESSAGE_FORMAT,
            version: crate::job::PROGRAM_VERSION.to_owned(),
            spec_hash: spec_hash.to_owned(),
            data: DataSource {
                name: data.name.clone(),
                file: file.map(absolute),
                folder: folder.as_deref().map(absolute),
                columns: data.columns.clone(),
                hash: data.hash.clone(),
            },
            job,
        }
    }

    /// Key of its first run, which tells it from the other tasks of its study.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.job.runs[0].key
    }

    /// The results of a task that could not be executed: all its runs failed for one reason.
    #[must_use]
    pub fn failed(&self, reason: &str) -> Vec<RunOutput> {
        let output = |run| RunOutput::new(run, &self.spec_hash, Err(reason.to_owned()));
        self.job.runs.iter().map(output).collect()
    }

    /// As JSON, to be sent.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a task is plain data")
    }

    /// The inverse of [`Task::to_json`].
    ///
    /// # Errors
    /// If the text is anything else, or of another version of the program.
    pub fn from_json(json: &str) -> Result<Self> {
        let task: Self = decode("task", json)?;
        if task.job.runs.is_empty() {
            return Err(StudyError::Message {
                what: "task",
                reason: "it has no runs".to_owned(),
            });
        }
        Ok(task)
    }

    /// Refuses keys that do not belong to data and configurations: results would be stored under wrong names.
    pub(crate) fn check_keys(&self, data: &PlanData) -> Result<()> {
        match self.job.runs.iter().find(|run| run_key(data, &run.config) != run.key) {
            None => Ok(()),
            Some(run) => Err(StudyError::Message {
                what: "task",
                reason: format!("the key of '{}' is not that of its data and settings", run.cell),
            }),
        }
    }
}

impl DataSource {
    /// Reads the data where the task says they are, else where this machine has them, and compares them with the plan's.
    pub(crate) fn load(&self) -> Result<PlanData> {
        let mut found = match &self.file {
            Some(file) => PlanData::load_as(&self.name, &file.to_string_lossy(), &self.columns, None),
            None => PlanData::load(&self.name, &self.columns, self.folder.as_deref()),
        };
        if found.as_ref().is_err_and(is_missing) {
            // The same data may be kept in another place on each machine.
            found = PlanData::load(&self.name, &self.columns, None).or(found);
        }
        let data = found.map_err(|error| self.refused(format!("{error} (looked for on the worker)")))?;
        if data.hash == self.hash {
            return Ok(data);
        }
        Err(self.refused(
            "its samples, columns or parts differ from those of the machine that planned the study: copy the same file to all \
             machines"
                .to_owned(),
        ))
    }

    fn refused(&self, reason: String) -> StudyError {
        StudyError::WorkerData {
            dataset: self.name.clone(),
            reason,
        }
    }
}
