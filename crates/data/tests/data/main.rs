//! Integration tests of the data crate, one module per concern.

mod analysis;
mod bad_input;
mod bombs;
mod damage;
mod dates;
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

use std::fs;
use std::path::{Path, PathBuf};

use intervalid_data::{Dataset, ReadOptions, read};

/// A file of this name and content, read; messages are without the folder that it lies in.
fn parse(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("writes");
    let prefix = format!("{}/", folder.path().display());
    read(&[path], options).map_err(|error| error.to_string().replace(&prefix, ""))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn names(list: &[&str]) -> Option<Vec<String>> {
    Some(list.iter().map(|name| (*name).to_owned()).collect())
}
