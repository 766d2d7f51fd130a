//! The file of a journal.

use std::collections::HashMap;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use intervalid_data::{Dataset, Split};
use intervalid_files::{Links, fault, open_own, read_file};
use intervalid_interval::SimdLevel;
use sha2::{Digest as _, Sha256};

use super::stored::Stored;
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};

/// First line of every journal, and that of this version.
const KIND: &[u8] = b"intervalid search journal ";
const FIRST_LINE: &[u8] = b"intervalid search journal 1\n";
/// A longer file is not written further, and not read: no search of ours needs it.
const MOST_BYTES: u64 = 1 << 30;
const CHECKSUM: usize = 8;
/// Key and work, in front of a result.
const FRONT: usize = 32 + 8;

type Hash = [u8; 32];

/// Finished jobs of a search, those of earlier runs included.
pub(crate) struct Journal {
    path: PathBuf,
    identity: Hash,
    /// Work and result by the hash of the arguments, as they were found.
    found: HashMap<Hash, (f64, Vec<u8>)>,
    end: Mutex<End>,
}

/// Where the next record goes.
#[derive(Default)]
struct End {
    /// Open once something was written.
    file: Option<File>,
    /// Sound bytes; 0 where there is no file yet.
    length: u64,
    /// Why nothing more can be written.
    failed: Option<io::Error>,
}

/// Everything that the jobs of a search take for granted.
pub(crate) fn identity(dataset: &Dataset, split: &Split, config: &SearchConfig) -> Hash {
    let mut hash = Sha256::new();
    let mut text = |text: &dyn Debug| hash.update(format!("{text:?}\n"));
    text(&env!("CARGO_PKG_VERSION"));
    text(&SimdLevel::current());
    text(config);
    text(&(dataset.inputs(), dataset.outputs(), dataset.sample_time()));
    text(&[&split.train, &split.validation].map(|part| part.segments().to_vec()));
    for experiment in dataset.experiments() {
        hash.update((experiment.len() as u64).to_le_bytes());
        let inputs = (0..dataset.inputs().len()).map(|channel| experiment.input(channel));
        let outputs = (0..dataset.outputs().len()).map(|channel| experiment.output(channel));
        for value in inputs.chain(outputs).flatten() {
            hash.update(value.to_le_bytes());
        }
    }
    hash.finalize().into()
}

impl Journal {
    /// The journal at `path` of the search with this identity; nothing is written before the first job is finished.
    ///
    /// # Errors
    /// [`SearchError::Journal`] if there is something else, or the journal of another search or a newer version.
    pub(crate) fn open(path: &Path, identity: Hash) -> Result<Self> {
        let refused = |reason: &str| SearchError::Journal {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        let mut journal = Self {
            path: path.to_owned(),
            identity,
            found: HashMap::new(),
            end: Mutex::new(End::default()),
        };
        // A link is refused: what is written here would be written wherever it leads.
        let bytes = match read_file(path, Links::Refused, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => return Ok(journal),
                io::ErrorKind::InvalidData => {
                    return Err(refused("it is longer than any journal, expected at most 1 GiB"));
                }
                io::ErrorKind::InvalidInput => return Err(refused(&error.to_string())),
                _ => return Err(journal.io("read", error)),
            },
        };
        // A process that ended while it wrote the first bytes leaves some of them.
        let header = [FIRST_LINE, identity.as_slice()].concat();
        if bytes.len() < header.len() && header.starts_with(&bytes) {
            return Ok(journal);
        }
        if !bytes.starts_with(FIRST_LINE) {
            return Err(refused(match bytes.starts_with(KIND) {
                true => "it is of a newer version of intervalid",
                false => "it is no journal of a search",
            }));
        }
        let Some(mut records) = bytes.strip_prefix(header.as_slice()) else {
            return Err(refused(
                "it is of other data, settings or another version of intervalid",
            ));
        };
        let mut length = header.len();
        while let Some((record, rest)) = next_record(records) {
            let (key, payload) = record.split_at(32);
            let (work, result) = payload.split_at(8);
            if let (Ok(key), Ok(work)) = (key.try_into(), work.try_into()) {
                journal.found.insert(key, (f64::from_le_bytes(work), result.to_vec()));
            }
            length += records.len() - rest.len();
            records = rest;
        }
        journal.lock().length = length as u64;
        Ok(journal)
    }

    /// The work and result of a job that was finished before.
    pub(crate) fn find<R: Stored>(&self, key: &str) -> Option<(f64, R)> {
        let (work, bytes) = self.found.get(&hash_of(key))?;
        let mut rest = bytes.as_slice();
        let result = R::get(&mut rest).filter(|_| rest.is_empty() && work.is_finite())?;
        Some((*work, result))
    }

    /// Writes down what a job did. A failure is kept for [`check`](Self::check): the job itself is done.
    pub(crate) fn note(&self, key: &str, work: f64, result: &impl Stored) {
        let mut record = hash_of(key).to_vec();
        record.extend(work.to_le_bytes());
        result.put(&mut record);
        let mut end = self.lock();
        if end.failed.is_none()
            && let Err(error) = self.append(&mut end, &record)
        {
            end.failed = Some(error);
        }
    }

    /// Fails if a job could not be written down.
    pub(crate) fn check(&self) -> Result<()> {
        match self.lock().failed.take() {
            Some(source) => Err(self.io("write", source)),
            None => Ok(()),
        }
    }

    fn append(&self, end: &mut End, record: &[u8]) -> io::Result<()> {
        let Ok(count) = u32::try_from(record.len()) else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        if end.length == 0 {
            bytes.extend_from_slice(FIRST_LINE);
            bytes.extend_from_slice(&self.identity);
        }
        bytes.extend(count.to_le_bytes());
        bytes.extend(checksum(record));
        bytes.extend(record);
        if end.length + bytes.len() as u64 > MOST_BYTES {
            return Ok(());
        }
        fault::point()?;
        let file = match &mut end.file {
            Some(file) => file,
            None => {
                let file = open_own(&self.path)?;
                // What a process that was killed has written in part.
                file.set_len(end.length)?;
                end.file.insert(file)
            }
        };
        file.seek(SeekFrom::Start(end.length))?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        end.length += bytes.len() as u64;
        Ok(())
    }

    fn io(&self, action: &'static str, source: io::Error) -> SearchError {
        SearchError::JournalFile {
            action,
            path: self.path.clone(),
            source,
        }
    }

    fn lock(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash_of(key: &str) -> Hash {
    Sha256::digest(key.as_bytes()).into()
}

fn checksum(record: &[u8]) -> [u8; CHECKSUM] {
    let hash: Hash = Sha256::digest(record).into();
    std::array::from_fn(|index| hash[index])
}

/// The record in front, if it is whole and sound, and what follows it.
fn next_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_at_checked(4)?;
    let (expected, rest) = rest.split_at_checked(CHECKSUM)?;
    let count = u32::from_le_bytes(count.try_into().ok()?) as usize;
    let (record, rest) = rest.split_at_checked(count)?;
    (count >= FRONT && checksum(record) == expected).then_some((record, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Hash = [7; 32];

    fn with(path: &Path, jobs: &[(&str, f64)]) {
        let journal = Journal::open(path, OWN).expect("opens");
        for (key, value) in jobs {
            journal.note(key, 10.0, &vec![*value]);
        }
        journal.check().expect("writes");
    }

    fn value(path: &Path, key: &str) -> Option<f64> {
        let found = Journal::open(path, OWN).expect("opens").find::<Vec<f64>>(key);
        found.map(|(work, values)| {
            assert!((work - 10.0).abs() < 1e-12);
            values[0]
        })
    }

    #[test]
    fn finished_jobs_are_found_again_and_others_added() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        assert_eq!(value(&path, "a"), None);
        assert!(!path.exists(), "nothing is written before there is something to write");
        with(&path, &[("a", 1.5), ("b", 2.5)]);
        with(&path, &[("c", 3.5)]);
        assert_eq!(
            ["a", "b", "c", "d"].map(|key| value(&path, key)),
            [Some(1.5), Some(2.5), Some(3.5), None]
        );
        // A result of another type is none.
        assert!(Journal::open(&path, OWN).expect("opens").find::<f64>("a").is_none());
    }

    #[test]
    fn a_file_that_is_cut_anywhere_keeps_what_is_whole_and_grows_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        with(&path, &[("a", 1.0), ("b", 2.0)]);
        let whole = std::fs::read(&path).expect("reads");
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).expect("writes");
            let (a, b) = (value(&path, "a"), value(&path, "b"));
            assert!(b.is_none() && (a.is_none() || a == Some(1.0)), "{end}");
            with(&path, &[("c", 3.0)]);
            assert_eq!((value(&path, "a"), value(&path, "c")), (a, Some(3.0)), "{end}");
        }
        // A bit that fell over in the first record drops it and the second.
        let mut damaged = whole;
        let place = FIRST_LINE.len() + 32 + 30;
        damaged[place] ^= 1;
        std::fs::write(&path, &damaged).expect("writes");
        assert_eq!((value(&path, "a"), value(&path, "b")), (None, None));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_journal_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().join("outside");
        std::fs::create_dir(&outside).expect("made");
        let path = folder.path().join("journal");
        let refused = || match Journal::open(&path, OWN) {
            Err(SearchError::Journal { reason, .. }) => assert!(reason.contains("it is a link"), "{reason}"),
            _ => panic!("expected a refusal"),
        };
        let link = |to: &Path| std::os::unix::fs::symlink(to, &path).expect("a link");
        // Before the journal is opened, to a file that is not there and to one that is a journal.
        link(&outside.join("new"));
        refused();
        std::fs::remove_file(&path).expect("there");
        let real = folder.path().join("real");
        with(&real, &[("a", 1.0)]);
        link(&real);
        refused();
        std::fs::remove_file(&path).expect("there");
        // And before its first job is written down.
        let journal = Journal::open(&path, OWN).expect("opens");
        link(&outside.join("new"));
        journal.note("a", 10.0, &vec![1.0]);
        assert!(matches!(
            journal.check(),
            Err(SearchError::JournalFile { action: "write", .. })
        ));
        assert_eq!(std::fs::read_dir(&outside).expect("there").count(), 0);
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let reason = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("writes");
            match Journal::open(&path, OWN) {
                Err(SearchError::Journal { reason, .. }) => reason,
                _ => panic!("expected a refusal"),
            }
        };
        assert_eq!(
            reason(b"my notes, which nobody may lose"),
            "it is no journal of a search"
        );
        assert_eq!(
            reason(b"intervalid search journal 2\n0123"),
            "it is of a newer version of intervalid"
        );
        let other = [FIRST_LINE, [8; 32].as_slice()].concat();
        assert_eq!(
            reason(&other),
            "it is of other data, settings or another version of intervalid"
        );
        assert_eq!(std::fs::read(&path).expect("there"), other, "and left as it is");
    }
}
