//! Results into a database: each run once, whoever brings it and however often.

use rusqlite::Transaction;
use serde::Serialize;

use crate::error::{Result, StudyError};
use crate::output::{RunOutput, check_version};
use crate::record::RunState;
use crate::rows::{insert, other_key, read_output};
use crate::store::{Refusal, Store};

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Put {
    /// It is in the database now, in place of an earlier failure if there was one.
    Stored,
    /// The database had the run already.
    AlreadyThere,
}

impl Store {
    /// Records a result of the study that the store was opened with.
    ///
    /// # Errors
    /// If it is of another study, data, settings or version, or differs from what is recorded of the same run.
    pub(crate) fn put(&mut self, output: &RunOutput) -> Result<Put> {
        check_version(&format!("the result of '{}'", output.cell), &output.version)?;
        if output.spec_hash != self.spec_hash() {
            return Err(StudyError::ForeignResult {
                run: output.cell.to_string(),
                path: self.path().to_owned(),
                found: output.spec_hash.clone(),
                expected: self.spec_hash().to_owned(),
            });
        }
        let path = self.path().to_owned();
        self.transaction(|transaction| {
            put_in(transaction, output, |difference| StudyError::Conflict {
                path,
                run: output.cell.to_string(),
                difference,
                origin: "this result".to_owned(),
            })
        })
    }
}

/// Puts a result into the tables, in a transaction that may hold more; `conflict` makes the error.
pub(crate) fn put_in(
    transaction: &Transaction<'_>,
    output: &RunOutput,
    conflict: impl FnOnce(&'static str) -> StudyError,
) -> Result<Put, Refusal> {
    if other_key(transaction, output)?.is_some() {
        return Err(conflict("data, settings or version").into());
    }
    let known = read_output(transaction, &output.key)?;
    match known {
        Some(known) if known.is_done() => match difference(&known, output) {
            _ if !output.is_done() => Ok(Put::AlreadyThere),
            None => Ok(Put::AlreadyThere),
            Some(difference) => Err(conflict(difference).into()),
        },
        // A failure that was recorded elsewhere is no news; one that just happened is.
        Some(_) if !output.is_done() && output.finished_at.is_some() => Ok(Put::AlreadyThere),
        _ => {
            insert(transaction, output)?;
            Ok(Put::Stored)
        }
    }
}

/// What two results of one run do not have in common, times aside.
fn difference(a: &RunOutput, b: &RunOutput) -> Option<&'static str> {
    let numbers = |output: &RunOutput| match &output.state {
        RunState::Done(result) => {
            let mut result = result.clone();
            result.train_seconds = 0.0;
            Some(result)
        }
        RunState::Failed { .. } => None,
    };
    if a.config != b.config {
        Some("configuration")
    } else if numbers(a) != numbers(b) {
        Some("result")
    } else if a.predictions != b.predictions {
        Some("band")
    } else if a.model.is_some() && b.model.is_some() && a.model != b.model {
        Some("model")
    } else {
        None
    }
}
