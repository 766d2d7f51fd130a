//! A folder of results, one file each, so that what is done is not done again.

use std::fs;
use std::path::{Path, PathBuf};

use intervalid_files::{make_folder, replace_file, sweep};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{BenchError, Result};
use crate::result::{BenchResult, FORMAT};

/// What files of results start with.
const PREFIX: &str = "bench-";

/// What tells one run from another: all that decides a result but the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Version of its protocol.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// The model asked for, or `auto`.
    pub asked: String,
    /// Settings by name, but for the seed.
    pub settings: serde_json::Value,
    /// Most time of the search.
    pub budget_seconds: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
    /// Hash of all samples.
    pub data: String,
}

impl Key {
    /// As in tables.
    #[must_use]
    pub fn label(&self) -> String {
        match self.budget_seconds {
            Some(seconds) => format!("{}, at most {seconds} s", self.asked),
            None => self.asked.clone(),
        }
    }

    /// The same run with whatever seed.
    #[must_use]
    pub fn without_seed(&self) -> Self {
        Self {
            seed: 0,
            ..self.clone()
        }
    }

    fn file_name(&self) -> Result<String> {
        let digest = Sha256::digest(serde_json::to_vec(self)?);
        let hash: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let asked = self.asked.replace(", ", "-").replace(' ', "-");
        Ok(format!(
            "{PREFIX}{}-{asked}-seed{}-{hash}.json",
            self.benchmark, self.seed
        ))
    }
}

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
}

impl Results {
    /// Those of a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Where a run is kept.
    ///
    /// # Errors
    /// If its settings have no form as JSON.
    pub fn path(&self, key: &Key) -> Result<PathBuf> {
        Ok(self.folder.join(key.file_name()?))
    }

    /// The result of this run, if it was made before.
    ///
    /// # Errors
    /// If there is a file of its name that is none.
    pub fn find(&self, key: &Key) -> Result<Option<BenchResult>> {
        let path = self.path(key)?;
        match path.exists() {
            true => load(&path).map(Some),
            false => Ok(None),
        }
    }

    /// Keeps a result, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, result: &BenchResult) -> Result<PathBuf> {
        let path = self.path(&result.key)?;
        let failed = |source| BenchError::File {
            action: "write",
            path: path.clone(),
            source,
        };
        make_folder(&self.folder).map_err(failed)?;
        sweep(&self.folder);
        let mut text = serde_json::to_string_pretty(result)?;
        text.push('\n');
        replace_file(&path, text.as_bytes()).map_err(failed)?;
        Ok(path)
    }

    /// All results, in order of their files' names.
    ///
    /// # Errors
    /// [`BenchError::NoResults`] if there is none, and [`BenchError::Result`] for a file that is damaged.
    pub fn all(&self) -> Result<Vec<BenchResult>> {
        let none = || BenchError::NoResults {
            folder: self.folder.clone(),
        };
        let entries = match self.folder.is_dir() {
            true => fs::read_dir(&self.folder),
            false => return Err(none()),
        };
        let entries = entries.map_err(|source| BenchError::File {
            action: "read",
            path: self.folder.clone(),
            source,
        })?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(".json"))
            })
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(none());
        }
        paths.iter().map(|path| load(path)).collect()
    }
}

fn load(path: &Path) -> Result<BenchResult> {
    /// What every format has.
    #[derive(Deserialize)]
    struct Any {
        format: u32,
    }
    let refused = |reason: String| BenchError::Result {
        path: path.to_owned(),
        reason,
    };
    let text = fs::read_to_string(path).map_err(|source| BenchError::File {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    let any: Any = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    if any.format > FORMAT {
        return Err(refused(format!(
            "it has format {}, the newest known is {FORMAT}",
            any.format
        )));
    }
    serde_json::from_str(&text).map_err(|error| refused(error.to_string()))
}
