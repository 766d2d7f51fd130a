//! Integration tests of the data crate, one module per concern.

mod analysis;
mod bad_input;
mod bombs;
mod damage;
mod doubtful_times;
mod known;
mod messy;
#[cfg(feature = "parquet")]
mod parquet_types;
mod properties;
mod readers;
mod sheets;
mod synthetic;
mod time;
mod time_columns;

use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn names(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|name| (*name).to_owned()).collect())
}
