//! `study.sqlite`: everything a study has found out, in one file.
//!
//! Each run is one transaction with a rollback journal, so a killed study leaves whole runs only and no file besides the
//! database that the next reader does not clean up itself. Several processes may run parts of one study: transactions
//! follow each other, and what a process computes it has claimed before ([`Claim`](crate::claim::Claim)). All of them hold a
//! shared lock on `study.lock`; a merge holds it alone. Any number of others read meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use intervalid_files::{fault, make_folder};
use intervalid_model::Model;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use crate::error::{Result, StudyError};
use crate::job::PROGRAM_VERSION;
use crate::lock::{LOCK, Writers, lock};
use crate::output::check_version;
use crate::plan::StudyPlan;
use crate::predictions::{StoredBand, decode};
use crate::record::RunRecord;
use crate::rows::read_run;
use crate::spec::Spec;

/// Name of the database in a study's folder.
pub const DATABASE: &str = "study.sqlite";

/// SQLite's application id: "ivst".
const APPLICATION: i32 = 0x6976_7374;
/// Grows with every change of the tables.
const FORMAT: i32 = 1;
/// Readers and other writers hold the database for a moment only.
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
/// Databases of before have none, and are as good without.
const INDEX: &str = "CREATE INDEX IF NOT EXISTS runs_by_place ON runs (dataset, model, seed)";

/// Why a transaction was given up.
#[derive(Debug)]
pub(crate) enum Refusal {
    Database(rusqlite::Error),
    Study(StudyError),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<StudyError> for Refusal {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

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
        let path = folder.join(DATABASE);
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

    /// Opens or makes the database of `spec`, to write into it beside others.
    ///
    /// # Errors
    /// If the folder holds another study, another process has it for itself, or the database is damaged.
    pub(crate) fn open_for_writing(folder: &Path, spec: &Spec) -> Result<Self> {
        let mut store = Self::connect(folder, spec, Writers::Several)?;
        store.check_continues(folder, spec)?;
        store.transaction(|transaction| {
            initialise(transaction, spec, None)?;
            Ok(())
        })?;
        Ok(store)
    }

    /// Opens the file of a database to write into it; there may be no tables in it yet.
    pub(crate) fn connect(folder: &Path, spec: &Spec, writers: Writers) -> Result<Self> {
        make_folder(folder).map_err(|source| StudyError::File {
            action: "create",
            path: folder.to_owned(),
            source,
        })?;
        let lock = lock(folder, writers)?;
        let path = folder.join(DATABASE);
        let connection = Connection::open(&path).map_err(|source| database_error(&path, source))?;
        let store = Self {
            connection,
            path,
            spec_hash: spec.hash(),
            _lock: Some(lock),
        };
        store.with(|connection| {
            connection.busy_timeout(PATIENCE)?;
            // Otherwise a power cut after the last transaction may take it back.
            connection.pragma_update(None, "synchronous", "EXTRA")?;
            connection.pragma_update(None, "foreign_keys", true)
        })?;
        if store.check_format()? {
            store.check_whole()?;
        }
        Ok(store)
    }

    /// Refuses runs of other versions of the program, where they would be mixed with those of this one.
    pub(crate) fn check_versions(&self) -> Result<()> {
        if !self.check_format()? {
            return Ok(());
        }
        for (version, runs) in self.other_versions()? {
            let what = format!("{} ({runs} of its runs)", self.path.display());
            check_version(&what, &version)?;
        }
        Ok(())
    }

    /// Refuses to go on with another study than the one in the database; where there is none yet, all is well.
    pub(crate) fn check_continues(&self, folder: &Path, spec: &Spec) -> Result<()> {
        if !self.check_format()? {
            return Ok(());
        }
        let found = self.spec()?;
        if found.continues_as(spec) {
            return Ok(());
        }
        Err(StudyError::OtherStudy {
            folder: folder.to_owned(),
            found: found.name,
            expected: spec.name.clone(),
        })
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
    pub fn predictions(&self, key: &str) -> Result<Option<Vec<StoredBand>>> {
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

    /// Keys of all recorded runs, whether they are done, and when they were recorded.
    pub(crate) fn states(&self) -> Result<HashMap<String, RecordedState>> {
        self.with(|connection| {
            let mut statement = connection.prepare("SELECT key, status = 'done', finished_at FROM runs")?;
            let state = |row: &rusqlite::Row<'_>| {
                let (done, finished_at) = (row.get(1)?, row.get(2)?);
                Ok((row.get(0)?, RecordedState { done, finished_at }))
            };
            statement.query_map([], state)?.collect()
        })
    }

    /// The same of one run, if it is recorded.
    pub(crate) fn state(&self, key: &str) -> Result<Option<RecordedState>> {
        self.with(|connection| {
            let query = "SELECT status = 'done', finished_at FROM runs WHERE key = ?1";
            let state = |row: &rusqlite::Row<'_>| {
                let (done, finished_at) = (row.get(0)?, row.get(1)?);
                Ok(RecordedState { done, finished_at })
            };
            connection.query_row(query, [key], state).optional()
        })
    }

    /// Removes runs whose place in the plan now has another key: their data, their settings or the program changed. What the plan
    /// does not hold, such as the runs of another shard, stays.
    pub(crate) fn remove_outdated(&mut self, plan: &StudyPlan) -> Result<usize> {
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

    /// How many runs of other versions of the program are done, by version.
    pub(crate) fn other_versions(&self) -> Result<BTreeMap<String, usize>> {
        self.with(|connection| {
            let query = "SELECT version, count(*) FROM runs WHERE status = 'done' AND version <> ?1 GROUP BY version";
            let mut statement = connection.prepare(query)?;
            let count = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, u32>(1)? as usize));
            statement.query_map([PROGRAM_VERSION], count)?.collect()
        })
    }

    /// Removes the files of a database in which nothing was ever written. What cannot be removed holds no study.
    pub(crate) fn remove_if_empty(self) {
        if !matches!(self.check_format(), Ok(false)) {
            return;
        }
        let Self {
            connection,
            path,
            _lock: lock,
            ..
        } = self;
        drop(connection);
        // The lock goes last: whoever opened its file meanwhile finds that it is gone, and makes another.
        for file in [&path, &path.with_file_name(LOCK)] {
            let _ = fs::remove_file(file);
        }
        drop(lock);
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

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        work(&self.connection).map_err(|source| database_error(&self.path, source))
    }

    /// All of `work` or nothing. The database is locked at once: two that read first and write then would wait for each
    /// other.
    pub(crate) fn transaction<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Refusal>) -> Result<T> {
        let begun = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let done = begun.map_err(Refusal::from).and_then(|transaction| {
            let value = work(&transaction)?;
            fault::point().map_err(|source| {
                let path = self.path.clone();
                let action = "write";
                Refusal::Study(StudyError::File { action, path, source })
            })?;
            transaction.commit()?;
            Ok(value)
        });
        done.map_err(|refusal| match refusal {
            Refusal::Database(source) => database_error(&self.path, source),
            Refusal::Study(error) => error,
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Hash of the study it was opened with.
    pub(crate) fn spec_hash(&self) -> &str {
        &self.spec_hash
    }

    fn damaged(&self, reason: impl ToString) -> StudyError {
        StudyError::Damaged {
            path: self.path.clone(),
            reason: reason.to_string(),
        }
    }
}

/// What the database has of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedState {
    pub(crate) done: bool,
    pub(crate) finished_at: String,
}

/// Makes the tables where there are none, and writes the study into them. `created` is now, if it is not given.
pub(crate) fn initialise(transaction: &Transaction<'_>, spec: &Spec, created: Option<&str>) -> rusqlite::Result<()> {
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        let query = "INSERT INTO meta VALUES ('created', coalesce(?1, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')))";
        transaction.execute(query, [created])?;
    }
    transaction.execute_batch(INDEX)?;
    let text = toml::to_string(spec).expect("a study was read from TOML");
    let lines = [
        ("spec", text.as_str()),
        ("spec_hash", &spec.hash()),
        ("version", PROGRAM_VERSION),
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
