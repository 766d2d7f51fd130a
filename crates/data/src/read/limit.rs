//! How much a file may expand to: compressed formats can hold far more than they weigh.

use crate::error::{DataError, FileProblem};
use crate::read::options::ReadOptions;

/// Most values that are read from a file unless [`ReadOptions::max_samples`] says otherwise: 1.6 GB of them.
pub(super) const MOST_VALUES: u64 = 200_000_000;
/// Up to here no ratio is looked at: 80 MB.
const ALWAYS_FINE: u64 = 10_000_000;
/// Bytes in memory per byte of the file. Recordings with noise on them stay below 20, a bomb reaches 1000.
const MOST_EXPANSION: u64 = 100;

/// The limit for one file.
pub(super) struct Limit<'a> {
    file: &'a str,
    file_bytes: u64,
    /// Given by the caller, who then knows what the file expands to.
    given: Option<u64>,
}

impl<'a> Limit<'a> {
    pub(super) fn new(file: &'a str, file_bytes: u64, options: &ReadOptions) -> Self {
        Self {
            file,
            file_bytes,
            given: options.max_samples,
        }
    }

    /// Refuses a file that holds more than this many values in the chosen columns.
    pub(super) fn check(&self, values: u64) -> Result<(), DataError> {
        let limit = self.given.unwrap_or(MOST_VALUES);
        if values > limit {
            return Err(FileProblem::TooManyValues { found: values, limit }.of(self.file));
        }
        let most = self.file_bytes.saturating_mul(MOST_EXPANSION) / 8;
        if self.given.is_none() && values > most.max(ALWAYS_FINE) {
            return Err(FileProblem::Expansion {
                values,
                file_bytes: self.file_bytes,
            }
            .of(self.file));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_counts_for_large_files_and_yields_to_a_given_limit() {
        let check = |file_bytes, max_samples, values| {
            let options = ReadOptions {
                max_samples,
                ..ReadOptions::default()
            };
            Limit::new("f", file_bytes, &options).check(values).is_ok()
        };
        assert!(check(1, None, ALWAYS_FINE) && !check(1, None, ALWAYS_FINE + 1));
        assert!(check(100_000_000, None, MOST_VALUES) && !check(u64::MAX, None, MOST_VALUES + 1));
        assert!(check(1, Some(MOST_VALUES * 2), MOST_VALUES * 2) && !check(1000, Some(5), 6));
    }
}
