//! What the studio remembers beside the folders: how recordings are read, and which fits were asked for. One file, replaced whole.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use intervalid_files::replace_file;
use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::choice::Choice;
use crate::error::{Result, StudioError};
use crate::queue::Job;
use crate::remarks::Remark;

/// The form of the file; newer ones are refused.
///
/// | format | what it added |
/// |---|---|
/// | 1 | choices and jobs |
/// | 2 | remarks; files that are read together |
const FORMAT: u64 = 2;

/// The content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remembered {
    format: u64,
    /// How recordings are read, by their names.
    #[serde(default)]
    pub(crate) choices: BTreeMap<String, Choice>,
    /// Fits that were asked for, oldest first.
    #[serde(default)]
    pub(crate) jobs: Vec<Job>,
    /// What users remarked on fits, by the names of their folders.
    #[serde(default)]
    pub(crate) remarks: BTreeMap<String, Remark>,
    /// The same of fits in the bin.
    #[serde(default)]
    pub(crate) bin_remarks: BTreeMap<String, Remark>,
}

/// What any version of the file begins with.
#[derive(Deserialize)]
struct Envelope {
    format: u64,
}

/// The file.
#[derive(Debug)]
pub(crate) struct Store {
    file: PathBuf,
    content: Mutex<Remembered>,
}

impl Store {
    /// Reads the file, or starts with nothing.
    pub(crate) fn open(file: PathBuf) -> Result<Self> {
        let damaged = |reason: String| StudioError::State {
            file: file.clone(),
            reason,
        };
        let content = match std::fs::read_to_string(&file) {
            Ok(text) => {
                let unread = |error| damaged(format!("is damaged ({error}): move it away to start without it"));
                let Envelope { format } = serde_json::from_str(&text).map_err(unread)?;
                if format > FORMAT {
                    return Err(damaged(format!(
                        "has format {format}; this version reads formats up to {FORMAT}"
                    )));
                }
                serde_json::from_str::<Remembered>(&text).map_err(unread)?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Remembered::default(),
            Err(error) => return Err(damaged(format!("cannot be read: {error}"))),
        };
        Ok(Self {
            file,
            content: Mutex::new(Remembered {
                format: FORMAT,
                ..content
            }),
        })
    }

    /// Something of the content.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Remembered) -> T) -> T {
        look(&self.content.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the content, in memory only once it is on disk.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Remembered)) -> ApiResult<()> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = content.clone();
        change(&mut next);
        let text = serde_json::to_string_pretty(&next)
            .map_err(|error| ApiError::internal(format!("the studio's own file cannot be written: {error}")))?;
        replace_file(&self.file, text.as_bytes())
            .map_err(|error| ApiError::io("the studio's own file cannot be written", &error))?;
        *content = next;
        Ok(())
    }
}
