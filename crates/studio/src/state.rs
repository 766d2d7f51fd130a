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
/// | 3 | drifts that are taken out of recordings |
const FORMAT: u64 = 3;

/// Numbers of jobs beyond this are no numbers of ours.
const MOST_JOBS: u64 = 1 << 50;

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
                let found = serde_json::from_str::<Remembered>(&text).map_err(unread)?;
                // Numbers go on from there, and a browser must be able to tell them apart.
                if let Some(job) = found.jobs.iter().find(|job| job.id > MOST_JOBS) {
                    return Err(damaged(format!("has a job {}, expected at most {MOST_JOBS}", job.id)));
                }
                found
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
        self.try_change(|kept| {
            change(kept);
            Ok(())
        })
    }

    /// The same of a change that may be refused once it is its turn.
    pub(crate) fn try_change(&self, change: impl FnOnce(&mut Remembered) -> ApiResult<()>) -> ApiResult<()> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = content.clone();
        change(&mut next)?;
        let text = serde_json::to_string_pretty(&next)
            .map_err(|error| ApiError::internal(format!("the studio's own file cannot be written: {error}")))?;
        replace_file(&self.file, text.as_bytes())
            .map_err(|error| ApiError::io("the studio's own file cannot be written", &error))?;
        *content = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Queue;

    const SOUND: &str = r#"{ "format": 3,
        "choices": { "a.csv": { "options": { "inputs": ["u"], "outputs": ["y"], "prepare": { "decimate": 2 } }, "split": "0.6,0.1,0.3", "more": ["b.csv"],
            "detrend": ["y"] } },
        "jobs": [{ "id": 7, "name": "a-arx", "order": { "data": "a.csv", "choice": { "options": {}, "split": null },
            "settings": { "model": "arx" }, "budget": 3.5 }, "status": "running", "message": null, "seconds": 1.25 }],
        "remarks": { "a-arx": { "pinned": true, "note": "good" } }, "bin_remarks": {} }"#;

    fn opened(folder: &std::path::Path, text: &[u8]) -> Result<Store> {
        let file = folder.join("state.json");
        std::fs::write(&file, text).expect("written");
        Store::open(file)
    }

    #[test]
    fn numbers_that_cannot_go_on_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = SOUND.replace("\"id\": 7", "\"id\": 18446744073709551615");
        let refused = opened(folder.path(), text.as_bytes()).expect_err("no next number");
        assert!(
            refused.to_string().contains("has a job 18446744073709551615"),
            "{refused}"
        );
    }

    /// The file may come with a folder of somebody else. Whatever is in it, it is read or refused.
    #[test]
    fn damaged_files_are_read_or_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(opened(folder.path(), SOUND.as_bytes()).is_ok());
        let pieces: [&[u8]; 8] = [
            b"-1",
            b"1e999",
            b"18446744073709551615",
            b"null",
            b"[]",
            b"{}",
            b"\"\xff\"",
            b"\\u0000",
        ];
        let (mut state, mut read, mut refused) = (1_u32, 0, 0);
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for _ in 0..3000 {
            let mut bytes = SOUND.as_bytes().to_vec();
            for _ in 0..=random(3) {
                let (start, length) = (random(bytes.len()), random(12));
                let end = (start + length).min(bytes.len());
                match random(4) {
                    0 => drop(bytes.drain(start..end)),
                    1 => drop(bytes.splice(start..end, pieces[random(pieces.len())].iter().copied())),
                    2 => bytes[start] ^= 1 << random(8),
                    // Another digit keeps most of the file sound.
                    _ => {
                        let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
                        if !digits.is_empty() {
                            bytes[digits[random(digits.len())]] = b'0' + u8::try_from(random(10)).expect("a digit");
                        }
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            match opened(folder.path(), &bytes) {
                Ok(store) => {
                    drop(Queue::new(&store, 5));
                    read += 1;
                }
                Err(StudioError::State { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }
}
