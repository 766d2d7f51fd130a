//! `Cargo.lock`: which packages of which versions, from where.

use anyhow::Context as _;
use serde::Deserialize;

use crate::root;

#[derive(Deserialize)]
struct LockFile {
    package: Vec<Locked>,
}

/// A package as it is locked; ours have neither source nor checksum.
#[derive(Deserialize)]
pub(crate) struct Locked {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) source: Option<String>,
    pub(crate) checksum: Option<String>,
}

/// Every package of this repository's lock file.
pub(crate) fn locked_packages() -> anyhow::Result<Vec<Locked>> {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).context("could not read Cargo.lock")?;
    parse(&text)
}

/// Every package of the text of a lock file.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<Locked>> {
    let file: LockFile = toml::from_str(text).context("could not understand Cargo.lock")?;
    Ok(file.package)
}
