//! Checks of the repository itself: licences of dependencies, where versions are written, files that must not be committed.

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::Context;
use serde::Deserialize;

use crate::{
    root,
    step::{Outcome, capture, cargo, execute},
};

/// Data sets without a redistribution grant, in either spelling.
pub(crate) const NOT_REDISTRIBUTABLE: &[&str] = &["mr-damper", "heat-exchanger"];
const DATA_EXTENSIONS: &[&str] = &["csv", "tsv", "mat", "npz", "npy", "parquet", "gz", "zip"];

/// Verdict from a list of problems, which are printed.
fn verdict(problems: &[String], what: &str) -> Outcome {
    for problem in problems {
        println!("{problem}");
    }
    if problems.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("{} {what}", problems.len()))
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    rust_version: Option<String>,
}

#[derive(Deserialize)]
struct DenyFile {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<LicenceException>,
}

#[derive(Deserialize)]
struct LicenceException {
    allow: Vec<String>,
    #[serde(rename = "crate")]
    name: String,
}

/// Every package in the graph has a licence that `deny.toml` allows. The same list serves cargo-deny where it is installed.
pub(crate) fn licences() -> anyhow::Result<Outcome> {
    let deny = fs::read_to_string(root().join("deny.toml")).context("could not read deny.toml")?;
    let deny: DenyFile = toml::from_str(&deny).context("could not understand deny.toml")?;
    let metadata = capture(&mut cargo(&["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Metadata = serde_json::from_str(&metadata).context("could not understand cargo metadata")?;
    let mut exceptions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for exception in &deny.licenses.exceptions {
        exceptions
            .entry(&exception.name)
            .or_default()
            .extend(exception.allow.iter().map(String::as_str));
    }
    let problems: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| {
            let expression = package.license.as_deref().unwrap_or("");
            let excepted = exceptions.get(package.name.as_str()).map_or(&[][..], Vec::as_slice);
            let allowed = |id: &str| deny.licenses.allow.iter().any(|a| a == id) || excepted.contains(&id);
            (!satisfied(expression, &allowed)).then(|| {
                format!(
                    "{} {}: licence `{expression}` is not allowed",
                    package.name, package.version
                )
            })
        })
        .collect();
    println!(
        "{} packages, allowed: {}",
        metadata.packages.len(),
        deny.licenses.allow.join(", ")
    );
    Ok(verdict(
        &problems,
        "packages with a licence that deny.toml does not allow",
    ))
}

/// The oldest compiler that the workspace claims to build with: no package asks for a newer one, and where that compiler is installed the
/// program is checked with it.
pub(crate) fn rust_version() -> anyhow::Result<Outcome> {
    let metadata = capture(&mut cargo(&["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Metadata = serde_json::from_str(&metadata).context("could not understand cargo metadata")?;
    let own = metadata
        .packages
        .iter()
        .find(|package| package.name == "intervalid-cli");
    let claimed = own.and_then(|package| package.rust_version.clone());
    let claimed = claimed.context("the workspace does not say which rust-version it needs")?;
    let asks_for_more = |package: &&Package| {
        let needed = package.rust_version.as_deref().map(numbers);
        needed.is_some_and(|needed| needed > numbers(&claimed))
    };
    let problems: Vec<String> = metadata
        .packages
        .iter()
        .filter(asks_for_more)
        .map(|package| {
            let needed = package.rust_version.as_deref().unwrap_or_default();
            format!(
                "{} {} needs Rust {needed}, the workspace claims {claimed}",
                package.name, package.version
            )
        })
        .collect();
    if !problems.is_empty() {
        return Ok(verdict(&problems, "packages that need a newer Rust"));
    }
    println!(
        "{} packages, none needs more than Rust {claimed}",
        metadata.packages.len()
    );
    let compiler = Command::new("rustup")
        .args(["which", "--toolchain", &claimed, "cargo"])
        .output();
    let Some(compiler) = compiler.ok().filter(|output| output.status.success()) else {
        return Ok(Outcome::Unavailable(format!(
            "`rustup toolchain install {claimed}` to build with it"
        )));
    };
    let compiler = String::from_utf8_lossy(&compiler.stdout).trim().to_owned();
    let mut check = Command::new(compiler);
    check
        .args(["check", "--locked", "-p", "intervalid-cli", "--target-dir"])
        .arg(crate::venv::target().join("rust-version"))
        .env("RUSTUP_TOOLCHAIN", &claimed)
        .env_remove("RUSTC")
        .current_dir(root());
    execute(&mut check)
}

/// A version as numbers that compare.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// Whether an SPDX expression can be met with the allowed licences. `/` is the old spelling of OR; AND binds tighter.
fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let value = either(&tokens, &mut at, allowed);
    value && at == tokens.len()
}

fn either(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut value = both(tokens, at, allowed);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        value |= both(tokens, at, allowed);
    }
    value
}

fn both(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut value = single(tokens, at, allowed);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        value &= single(tokens, at, allowed);
    }
    value
}

fn single(tokens: &[&str], at: &mut usize, allowed: &dyn Fn(&str) -> bool) -> bool {
    let Some(&token) = tokens.get(*at) else { return false };
    *at += 1;
    if token == "(" {
        let value = either(tokens, at, allowed);
        *at += 1;
        return value;
    }
    if tokens.get(*at) == Some(&"WITH") {
        let exception = tokens.get(*at + 1).copied().unwrap_or("");
        *at += 2;
        return allowed(&format!("{token} WITH {exception}"));
    }
    allowed(token)
}

/// Dependency versions stand in the workspace manifest only.
pub(crate) fn versions() -> anyhow::Result<Outcome> {
    let mut problems = Vec::new();
    for path in tracked_files()?.iter().filter(|path| path.ends_with("/Cargo.toml")) {
        let text = fs::read_to_string(root().join(path)).with_context(|| format!("could not read {path}"))?;
        let manifest: toml::Table = toml::from_str(&text).with_context(|| format!("could not understand {path}"))?;
        problems.extend(own_versions(&manifest).into_iter().map(|name| {
            format!("{path}: `{name}` must be `{name}.workspace = true`, with its version in the workspace manifest")
        }));
    }
    Ok(verdict(
        &problems,
        "dependencies with a version outside the workspace manifest",
    ))
}

/// Dependencies that do not inherit from the workspace, in all dependency tables, per target too.
fn own_versions(manifest: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                let inherits = |value: &toml::Value| {
                    value
                        .as_table()
                        .and_then(|t| t.get("workspace"))
                        .and_then(toml::Value::as_bool)
                        == Some(true)
                };
                found.extend(
                    table
                        .iter()
                        .filter(|(_, value)| !inherits(value))
                        .map(|(name, _)| name.clone()),
                );
            }
            "target" => found.extend(table.values().filter_map(toml::Value::as_table).flat_map(own_versions)),
            _ => {}
        }
    }
    found
}

/// No data set without a redistribution grant is committed.
pub(crate) fn data_files() -> anyhow::Result<Outcome> {
    let problems: Vec<String> = tracked_files()?
        .into_iter()
        .filter(|path| is_forbidden_data(path))
        .map(|path| format!("{path}: no redistribution grant is known for this data set"))
        .collect();
    Ok(verdict(&problems, "data files that must not be committed"))
}

fn is_forbidden_data(path: &str) -> bool {
    let name = path.to_lowercase().replace('_', "-");
    let extension = name.rsplit('.').next().unwrap_or("");
    DATA_EXTENSIONS.contains(&extension)
        && NOT_REDISTRIBUTABLE
            .iter()
            .any(|set| name.contains(set) || name.contains(&set.replace('-', "")))
}

fn tracked_files() -> anyhow::Result<Vec<String>> {
    let listing = capture(Command::new("git").args(["ls-files", "-z"]).current_dir(root()))
        .context("this check reads the list of committed files from git")?;
    Ok(listing.split_terminator('\0').map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spdx_expressions() {
        let allowed = |id: &str| ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].contains(&id);
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR (MIT AND Zlib)",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(satisfied(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "Apache-2.0",
            "MIT AND GPL-3.0",
            "(MIT OR GPL-3.0) AND GPL-3.0",
            "MIT Zlib",
        ] {
            assert!(!satisfied(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(numbers("1.90") > numbers("1.9") && numbers("1.89.0") < numbers("1.90"));
    }

    #[test]
    fn versions_are_found_in_every_table() {
        let manifest = "
            [dependencies]
            a.workspace = true
            b = '1'
            [dev-dependencies]
            c = { path = '../c' }
            [target.'cfg(unix)'.dependencies]
            d = { version = '1' }
            e = { workspace = true, optional = true }";
        assert_eq!(own_versions(&toml::from_str(manifest).unwrap()), ["b", "c", "d"]);
    }

    #[test]
    fn forbidden_data_in_any_spelling() {
        for path in [
            "data/mr_damper.csv",
            "x/MR-Damper.mat",
            "heatexchanger.parquet",
            "heat_exchanger.csv.gz",
        ] {
            assert!(is_forbidden_data(path), "{path}");
        }
        for path in [
            "crates/data/src/synthetic/mr_damper.rs",
            "data/hair_dryer.csv",
            "docs/heat-exchanger.md",
        ] {
            assert!(!is_forbidden_data(path), "{path}");
        }
    }
}
