//! What was read lately: records, models and their simulations.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use intervalid_data::Dataset;
use intervalid_model::Model;

use crate::analysis::Analysis;
use crate::fits::FitRow;
use crate::overlay::Simulation;

/// The few things used last, by a key that changes with their source.
pub(crate) struct Recent<T> {
    kept: Mutex<VecDeque<(String, Arc<T>)>>,
    most: usize,
}

impl<T> Recent<T> {
    fn new(most: usize) -> Self {
        Self {
            kept: Mutex::new(VecDeque::new()),
            most,
        }
    }

    /// What is kept under the key, or what `make` gives, which is kept then.
    pub(crate) fn get<E>(&self, key: &str, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(other, _)| other == key)
            && let Some((key, value)) = kept.remove(at)
        {
            kept.push_front((key, Arc::clone(&value)));
            return Ok(value);
        }
        // Not while others wait: two may make the same thing, which is only slower.
        drop(kept);
        let value = Arc::new(make()?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((key.to_owned(), Arc::clone(&value)));
        kept.truncate(self.most);
        Ok(value)
    }
}

/// All of it. Sizes are small: a record of a million samples takes 8 MB per channel.
pub(crate) struct Caches {
    pub(crate) records: Recent<Dataset>,
    pub(crate) models: Recent<Model>,
    pub(crate) simulations: Recent<Simulation>,
    pub(crate) analyses: Recent<Analysis>,
    pub(crate) rows: Recent<FitRow>,
}

impl Default for Caches {
    fn default() -> Self {
        Self {
            records: Recent::new(4),
            models: Recent::new(8),
            simulations: Recent::new(6),
            analyses: Recent::new(6),
            rows: Recent::new(500),
        }
    }
}

/// A key for what is in a file now.
pub(crate) fn stamp(path: &Path) -> String {
    let metadata = std::fs::metadata(path).ok();
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let bytes = metadata.map_or(0, |metadata| metadata.len());
    format!(
        "{}|{bytes}|{}",
        path.display(),
        since.map_or(0, |since| since.as_nanos())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recent_goes_first() {
        let recent: Recent<u32> = Recent::new(2);
        let get = |key: &str, value: u32| *recent.get(key, || Ok::<_, ()>(value)).expect("made");
        assert_eq!((get("a", 1), get("b", 2), get("a", 9), get("c", 3)), (1, 2, 1, 3));
        assert_eq!(get("b", 4), 4, "b went");
        assert_eq!(get("c", 9), 3, "c stayed");
        assert!(
            recent.get("x", || Err::<u32, _>("no")).is_err(),
            "failures are not kept"
        );
    }
}
