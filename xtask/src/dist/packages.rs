//! Which packages are inside of what is shipped, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;

use crate::lock_file::locked_packages;
use crate::root;
use crate::step::{capture, cargo};

/// The crates that programs and wheels are made of.
const SHIPPED: [&str; 2] = ["intervalid-cli", "intervalid-py"];

/// One package, and what it depends on.
#[derive(Clone, Debug)]
pub(super) struct Package {
    /// As cargo identifies it.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    /// SPDX expression.
    pub(super) licence: Option<String>,
    pub(super) description: Option<String>,
    pub(super) repository: Option<String>,
    /// SHA-256 of the crate's file in its registry; none of our own.
    pub(super) checksum: Option<String>,
    /// Where its sources are.
    pub(super) folder: PathBuf,
    /// Identifiers of what it is built with and what ends up inside.
    pub(super) dependencies: Vec<String>,
}

impl Package {
    /// Whether it is one of this workspace.
    pub(super) fn is_ours(&self) -> bool {
        self.checksum.is_none() && self.folder.starts_with(root())
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Listed>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    description: Option<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `None` of ordinary ones, which end up inside; others build or test.
    kind: Option<String>,
}

/// Every package that ends up inside, ours included, by name and version. Those for other systems than this one are left out.
pub(super) fn shipped() -> anyhow::Result<Vec<Package>> {
    let host = super::host()?;
    let arguments = [
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        &host,
    ];
    let metadata: Metadata =
        serde_json::from_str(&capture(&mut cargo(&arguments))?).context("could not understand cargo metadata")?;
    let locked = locked_packages()?;
    let checksums: BTreeMap<(&str, &str), Option<&String>> = locked
        .iter()
        .map(|package| {
            (
                (package.name.as_str(), package.version.as_str()),
                package.checksum.as_ref(),
            )
        })
        .collect();
    let inside: BTreeMap<&str, Vec<&str>> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| {
            let ordinary = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
            let dependencies = node
                .deps
                .iter()
                .filter(ordinary)
                .map(|dependency| dependency.pkg.as_str());
            (node.id.as_str(), dependencies.collect())
        })
        .collect();
    let roots = metadata
        .packages
        .iter()
        .filter(|package| SHIPPED.contains(&package.name.as_str()));
    let reached = reach(&inside, roots.map(|package| package.id.as_str()));
    let mut packages: Vec<Package> = metadata
        .packages
        .iter()
        .filter(|package| reached.contains(package.id.as_str()))
        .map(|package| Package {
            id: package.id.clone(),
            name: package.name.clone(),
            version: package.version.clone(),
            licence: package.license.clone(),
            description: package.description.clone(),
            repository: package.repository.clone(),
            checksum: checksums
                .get(&(package.name.as_str(), package.version.as_str()))
                .copied()
                .flatten()
                .cloned(),
            folder: package.manifest_path.parent().map_or_else(PathBuf::new, PathBuf::from),
            dependencies: inside[package.id.as_str()].iter().map(|id| (*id).to_owned()).collect(),
        })
        .collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(packages)
}

/// Everything that the roots depend on, themselves included.
fn reach<'a>(graph: &BTreeMap<&'a str, Vec<&'a str>>, roots: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut open: Vec<&str> = roots.collect();
    let mut reached = BTreeSet::new();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_roots_depend_on_is_reached_once() {
        let graph = BTreeMap::from([
            ("a", vec!["b", "c"]),
            ("b", vec!["c"]),
            ("c", vec!["a"]),
            ("d", vec!["a"]),
        ]);
        assert_eq!(reach(&graph, ["a"].into_iter()), BTreeSet::from(["a", "b", "c"]));
    }

    #[test]
    fn the_program_is_made_of_our_crates_and_others_with_checksums() {
        let packages = shipped().unwrap();
        let find = |name: &str| packages.iter().find(|package| package.name == name);
        let model = find("intervalid-model").expect("ours are inside");
        assert!(model.is_ours() && !model.dependencies.is_empty());
        let clap = find("clap").expect("the command line's parser is inside");
        assert!(!clap.is_ours() && clap.checksum.as_ref().is_some_and(|sum| sum.len() == 64));
        assert!(find("proptest").is_none(), "what only tests need is not inside");
        assert!(find("xtask").is_none());
        // deny.toml allows it, unmaintained as it is, for benchmarks and tests alone.
        assert!(find("paste").is_none());
    }
}
