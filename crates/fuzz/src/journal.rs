//! The journal of a search. Its records have checksums, which would drop every change before anything else looks at it: they are made
//! right again, so that results that no job of ours ever had reach the search.

use std::fs;
use std::path::Path;

use intervalid_data::Part;
use intervalid_model::ModelKind;
use intervalid_search::{SearchConfig, SearchOptions, SearchOutcome, search};
use sha2::{Digest as _, Sha256};

use crate::mutate::LONGEST;
use crate::uses::{checkpoint_problem, is_sound};

/// The first line, and the hash of what the search takes for granted.
const HEADER: usize = b"intervalid search journal 1\n".len() + 32;
/// What is in front of a record.
const LENGTH: usize = 4;
const CHECKSUM: usize = 8;

/// A search takes finished jobs from the input and does the others; its model is as good as any.
pub(crate) fn run(input: &[u8], folder: &Path) -> anyhow::Result<()> {
    let path = folder.join("journal");
    fs::write(&path, with_checksums(input))?;
    let (dataset, ..) = checkpoint_problem()?;
    let model = searched(&path)?.model;
    let bands = model.simulate(&dataset, &Part::whole(&dataset))?;
    assert!(
        bands.iter().all(is_sound),
        "a band must have finite bounds in their order"
    );
    Ok(())
}

/// The journal of a search, cut off where inputs end: what is left of the last record is none.
pub(crate) fn seed() -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal");
    searched(&path)?;
    let mut bytes = fs::read(path)?;
    bytes.truncate(LONGEST);
    Ok(bytes)
}

/// A search of milliseconds that writes down jobs of several kinds.
fn searched(journal: &Path) -> anyhow::Result<SearchOutcome> {
    let (dataset, split, _) = checkpoint_problem()?;
    let config = SearchConfig {
        model: Some(ModelKind::Iss),
        states: Some(1),
        hidden: Some([1, 0]),
        rounds: 2,
        ..SearchConfig::default()
    };
    let options = SearchOptions {
        threads: 1,
        journal: Some(journal),
        ..SearchOptions::default()
    };
    Ok(search(&dataset, &split, &config, &options)?)
}

/// The same bytes, with the checksum that each whole record should have.
fn with_checksums(input: &[u8]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let mut start = HEADER;
    while let Some(front) = bytes.get(start..start + LENGTH + CHECKSUM) {
        let count = front
            .iter()
            .take(LENGTH)
            .rev()
            .fold(0, |sum, &byte| (sum << 8) | usize::from(byte));
        let (body, sum) = (start + LENGTH + CHECKSUM, start + LENGTH);
        let Some(record) = bytes.get(body..body + count) else {
            break;
        };
        let hash = Sha256::digest(record);
        bytes[sum..body].copy_from_slice(&hash[..CHECKSUM]);
        start = body + count;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the search has another format by now, and every changed record would be dropped before it is read.
    #[test]
    fn checksums_are_those_that_the_search_writes() {
        let journal = seed().expect("a search");
        assert!(journal.len() > HEADER + LENGTH + CHECKSUM, "no record");
        assert_eq!(with_checksums(&journal), journal);
        let mut damaged = journal.clone();
        damaged[HEADER + LENGTH] ^= 1;
        assert_eq!(with_checksums(&damaged), journal);
    }
}
