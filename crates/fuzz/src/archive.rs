//! Changes inside of a zip archive: a flipped bit in compressed bytes only breaks a checksum.

use std::io::{Cursor, Read as _, Write as _};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::mutate::{LONGEST, mutate};

/// The archive with one of its members changed; none if it is no sound archive.
pub(crate) fn mutate_member(input: &[u8], rng: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(input)).ok()?;
    let chosen = rng.random_range(0..archive.len().max(1));
    let mut written = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let member = archive.by_index(index).ok()?;
        let name = member.name().ok()?.into_owned();
        let mut content = Vec::new();
        member.take(LONGEST as u64).read_to_end(&mut content).ok()?;
        if index == chosen {
            content = mutate(&content, &[], rng);
        }
        written.start_file(name, SimpleFileOptions::default()).ok()?;
        written.write_all(&content).ok()?;
    }
    Some(written.finish().ok()?.into_inner())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::workbook::{sheet, workbook};

    #[test]
    fn an_archive_stays_one() {
        let book = workbook(&sheet()).expect("a workbook");
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20 {
            let changed = mutate_member(&book, &mut rng).expect("an archive");
            assert!(changed != book);
            assert_eq!(ZipArchive::new(Cursor::new(changed)).expect("an archive").len(), 5);
        }
        assert_eq!(mutate_member(b"PK but no archive", &mut rng), None);
    }
}
