//! The licences of everything inside, as one text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;

use super::packages::Package;

/// How files that hold a licence begin.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Every licence text once, with the packages it is of; and the packages that bring none.
pub(super) fn text(packages: &[Package]) -> anyhow::Result<(String, Vec<String>)> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    let mut list = String::new();
    for package in packages.iter().filter(|package| !package.is_ours()) {
        let name = format!("{} {}", package.name, package.version);
        let licence = package.licence.as_deref().unwrap_or("see below");
        list += &format!("{name}: {licence}\n");
        let texts = texts(&package.folder)?;
        if texts.is_empty() {
            without.push(name.clone());
        }
        for text in texts {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    let mut whole = format!(
        "intervalid contains these packages under the licences named beside them; their texts follow.\n\n{list}"
    );
    let mut texts: Vec<(Vec<String>, String)> = by_text.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        whole += &format!("\n{}\n{}:\n\n{text}\n", "-".repeat(80), names.join(", "));
    }
    Ok((whole, without))
}

/// Licence texts in the folder of a package, without space at their ends.
fn texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_code = name.ends_with(".rs") || name.ends_with(".toml") || name.ends_with(".spdx");
        !is_code && NAMES.iter().any(|begin| name.starts_with(begin))
    };
    let read = |path: &std::path::PathBuf| -> anyhow::Result<String> {
        let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned())
    };
    files.iter().filter(|path| is_licence(path)).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, folder: &Path) -> Package {
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some("MIT".to_owned()),
            description: None,
            repository: None,
            checksum: Some("0".repeat(64)),
            folder: folder.to_owned(),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn texts_stand_once_and_packages_without_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, text: Option<&str>| {
            let place = folder.path().join(name);
            fs::create_dir(&place).unwrap();
            fs::write(place.join("license.rs"), "code").unwrap();
            if let Some(text) = text {
                fs::write(place.join("LICENSE-MIT"), text).unwrap();
            }
            package(name, &place)
        };
        let packages = [
            place("a", Some("Do as you like.\n")),
            place("b", Some("Do as you like.")),
            place("c", None),
        ];
        let (text, without) = text(&packages).unwrap();
        assert_eq!(text.matches("Do as you like.").count(), 1);
        assert!(
            text.contains("a 1.0.0, b 1.0.0:") && text.contains("c 1.0.0: MIT") && !text.contains("code"),
            "{text}"
        );
        assert_eq!(without, ["c 1.0.0"]);
    }
}
