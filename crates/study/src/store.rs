//! `study.sqlite`: everything a study has found out, in one file.
//!
//! Each run is one transaction with a rollback journal, so a killed study leaves whole runs only and no file besides the
//! database that the next reader does not clean up itself. One process writes (it holds a lock on `study.lock`), any number
//! read meanwhile.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use intervalid_model::Model;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, params};

use crate::error::{Result, StudyError};
use crate::plan::{Plan, Run};
use crate::predictions::{Prediction, decode, encode};
use crate::record::{Outcome, RunRecord};
use crate::rows::{insert, read_run};
use crate::spec::Spec;

/// Name of the database in a study's folder.
pub(crate) const FILE: &str = "study.sqlite";
const LOCK: &str = "study.lock";

/// SQLite's application id: "ivst".
const APPLICATION: i32 = 0x6976_7374;
/// Grows with every change of the tables.
const FORMAT: i32 = 1;
/// A reader holds the database for a moment only.
const PATIENCE: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    strategy TEXT,
    margin TEXT,
    coverage REAL NOT NULL,
    seed INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    reason TEXT,
    config TEXT NOT NULL,
    spec_hash TEXT NOT NULL,
    version TEXT NOT NULL,
    epochs_run INTEGER,
    stopped_because TEXT,
    train_seconds REAL,
    parameters INTEGER,
    rmse REAL,
    picp REAL,
    pinaw REAL,
    cwc REAL,
    test TEXT,
    validation TEXT,
    finished_at TEXT NOT NULL
) STRICT;
CREATE TABLE predictions (key TEXT PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE, bands BLOB NOT NULL) STRICT;
CREATE TABLE models (key TEXT PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE, safetensors BLOB NOT NULL) STRICT;
";

/// A study's database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    spec_hash: String,
    /// Held while the study is written; the operating system lets go of it when the process ends in any way.
    _lock: Option<File>,
}

impl Store {
    /// Opens a study for reading.
    ///
    /// # Errors
    /// If the folder holds no study, or the database is damaged or of a newer version.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let path = folder.join(FILE);
        if !path.is_file() {
            return Err(StudyError::NoStudy {
                folder: folder.to_owned(),
            });
        }
        // Writing is needed to clean up after a killed study; a folder that cannot be written is read as it is.
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
            .or_else(|_| Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY));
        let connection = connection.map_err(|source| database_error(&path, source))?;
        let mut store = Self {
            connection,
            path,
            spec_hash: String::new(),
            _lock: None,
        };
        store.with(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "query_only", true)
        })?;
        if !store.check_format()? {
            return Err(StudyError::NoStudy {
                folder: folder.to_owned(),
            });
        }
        store.spec_hash = store.meta("spec_hash")?;
        Ok(store)
    }

    /// Opens or makes the database of `spec`, to write into it.
    ///
    /// # Errors
    /// If the folder holds another study, another process writes to it, or the database is damaged.
    pub(crate) fn open_for_writing(folder: &Path, spec: &Spec) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| StudyError::File {
            action: "create",
            path: folder.to_owned(),
            source,
        })?;
        let lock = lock(folder)?;
        let path = folder.join(FILE);
        let connection = Connection::open(&path).map_err(|source| database_error(&path, source))?;
        let mut store = Self {
            connection,
            path,
            spec_hash: spec.hash(),
            _lock: Some(lock),
        };
        store.with(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "foreign_keys", true)
        })?;
        if store.check_format()? {
            store.check_whole()?;
            let found = store.spec()?;
            if !found.continues_as(spec) {
                return Err(StudyError::OtherStudy {
                    folder: folder.to_owned(),
                    found: found.name,
                    expected: spec.name.clone(),
                });
            }
            store.transaction(|transaction| write_spec(transaction, spec))?;
        } else {
            store.transaction(|transaction| {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
                write_spec(transaction, spec)?;
                let created = "INSERT INTO meta VALUES ('created', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
                transaction.execute(created, []).map(|_| ())
            })?;
        }
        Ok(store)
    }

    /// The study.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn spec(&self) -> Result<Spec> {
        let text = self.meta("spec")?;
        Spec::parse(&self.path.display().to_string(), &text).map_err(|error| self.damaged(error))
    }

    /// A line of the table `meta`: `spec`, `spec_hash`, `version` (of the last program that wrote) or `created`.
    ///
    /// # Errors
    /// If there is no such line.
    pub fn meta(&self, name: &str) -> Result<String> {
        let value = self.with(|connection| {
            let query = "SELECT value FROM meta WHERE name = ?1";
            connection.query_row(query, [name], |row| row.get(0)).optional()
        })?;
        value.ok_or_else(|| self.damaged(format!("its table meta has no `{name}`")))
    }

    /// All recorded runs, in the order of their data sets, models and seeds.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn runs(&self) -> Result<Vec<RunRecord>> {
        self.with(|connection| {
            let order = "SELECT * FROM runs ORDER BY dataset, model, strategy, margin, coverage, seed";
            let mut statement = connection.prepare(order)?;
            statement.query_map([], read_run)?.collect()
        })
    }

    /// The bands of a run over the test part, and what was measured; none if the run has not finished.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn predictions(&self, key: &str) -> Result<Option<Vec<Prediction>>> {
        let blob = self.blob("SELECT bands FROM predictions WHERE key = ?1", key)?;
        let decoded = blob.map(|bytes| decode(&bytes).ok_or_else(|| self.damaged(format!("predictions of run {key}"))));
        decoded.transpose()
    }

    /// The model file of a run, if it was kept.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn model_bytes(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.blob("SELECT safetensors FROM models WHERE key = ?1", key)
    }

    /// The fitted model of a run, if it was kept.
    ///
    /// # Errors
    /// If the database or the model in it cannot be read.
    pub fn model(&self, key: &str) -> Result<Option<Model>> {
        let Some(bytes) = self.model_bytes(key)? else {
            return Ok(None);
        };
        let model = model_from_bytes(&bytes).map_err(|reason| self.damaged(format!("model of run {key}: {reason}")))?;
        Ok(Some(model))
    }

    /// Keys of all recorded runs, and whether they are done.
    pub(crate) fn states(&self) -> Result<HashMap<String, bool>> {
        self.with(|connection| {
            let mut statement = connection.prepare("SELECT key, status = 'done' FROM runs")?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Removes runs whose place in the grid now has another key: their data, their settings or the program changed.
    pub(crate) fn remove_outdated(&mut self, plan: &Plan) -> Result<usize> {
        let planned: HashMap<String, &str> = plan
            .runs()
            .map(|run| (run.cell.to_string(), run.key.as_str()))
            .collect();
        let outdated: Vec<String> = self
            .runs()?
            .into_iter()
            .filter(|run| planned.get(&run.cell.to_string()).is_some_and(|&key| key != run.key))
            .map(|run| run.key)
            .collect();
        self.transaction(|transaction| {
            for key in &outdated {
                transaction.execute("DELETE FROM runs WHERE key = ?1", [key])?;
            }
            Ok(())
        })?;
        Ok(outdated.len())
    }

    /// Records a finished run, in place of an earlier failure.
    pub(crate) fn record(&mut self, run: &Run, outcome: &Outcome) -> Result<()> {
        let spec_hash = self.spec_hash.clone();
        self.transaction(|transaction| {
            insert(transaction, run, &outcome.config, &spec_hash, Ok(&outcome.result))?;
            let bands = encode(&outcome.predictions);
            transaction.execute("INSERT INTO predictions VALUES (?1, ?2)", params![run.key, bands])?;
            if let Some(model) = &outcome.model {
                transaction.execute("INSERT INTO models VALUES (?1, ?2)", params![run.key, model])?;
            }
            Ok(())
        })
    }

    /// Records why a run failed.
    pub(crate) fn record_failure(&mut self, run: &Run, reason: &str) -> Result<()> {
        let spec_hash = self.spec_hash.clone();
        self.transaction(|transaction| insert(transaction, run, &run.config, &spec_hash, Err(reason)))
    }

    /// Closes the database; dropping it does the same, silently.
    pub(crate) fn close(self) -> Result<()> {
        let Self { connection, path, .. } = self;
        connection.close().map_err(|(_, source)| database_error(&path, source))
    }

    /// Whether there are tables of a study; an empty file has none yet.
    fn check_format(&self) -> Result<bool> {
        let (application, format, tables): (i32, i32, i64) = self.with(|connection| {
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            Ok((pragma("application_id")?, pragma("user_version")?, tables))
        })?;
        match (application, format) {
            (0, 0) if tables == 0 => Ok(false),
            (APPLICATION, FORMAT) => Ok(true),
            (APPLICATION, newer) => Err(self.damaged(format!(
                "its format is {newer}, this program reads {FORMAT}: use the program that wrote it"
            ))),
            _ => Err(self.damaged("a database of another program")),
        }
    }

    fn check_whole(&self) -> Result<()> {
        let verdict: String =
            self.with(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        if verdict == "ok" {
            Ok(())
        } else {
            Err(self.damaged(verdict))
        }
    }

    fn blob(&self, query: &str, key: &str) -> Result<Option<Vec<u8>>> {
        self.with(|connection| connection.query_row(query, [key], |row| row.get(0)).optional())
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|source| database_error(&self.path, source))
    }

    fn transaction(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<()> {
        let done = self.connection.transaction().and_then(|transaction| {
            work(&transaction)?;
            transaction.commit()
        });
        done.map_err(|source| database_error(&self.path, source))
    }

    fn damaged(&self, reason: impl ToString) -> StudyError {
        StudyError::Damaged {
            path: self.path.clone(),
            reason: reason.to_string(),
        }
    }
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let failed = |source| StudyError::File {
        action: "lock",
        path: path.clone(),
        source,
    };
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StudyError::InUse {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn write_spec(transaction: &Transaction<'_>, spec: &Spec) -> rusqlite::Result<()> {
    let text = toml::to_string(spec).expect("a study was read from TOML");
    let lines = [
        ("spec", text.as_str()),
        ("spec_hash", &spec.hash()),
        ("version", env!("CARGO_PKG_VERSION")),
    ];
    for (name, value) in lines {
        transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", [name, value])?;
    }
    Ok(())
}

/// A model file, through a file: models are read from files only.
fn model_from_bytes(bytes: &[u8]) -> Result<Model, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("model.safetensors");
    fs::write(&path, bytes).map_err(|error| error.to_string())?;
    Model::load(&path).map_err(|error| error.to_string())
}

fn database_error(path: &Path, source: rusqlite::Error) -> StudyError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnName, InvalidColumnType};
    let path = path.to_owned();
    let code = source.sqlite_error_code();
    let damaged = matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
        || matches!(
            source,
            FromSqlConversionFailure(..) | InvalidColumnName(_) | InvalidColumnType(..) | IntegralValueOutOfRange(..)
        );
    if damaged {
        let reason = source.to_string();
        StudyError::Damaged { path, reason }
    } else {
        StudyError::Database { path, source }
    }
}
