//! `cargo xtask dist`: what a release ships, made and tried: an archive with the program, a wheel, a bill of materials, the licences of
//! everything inside, and checksums.

mod licences;
mod packages;
mod sbom;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::step::{Outcome, capture, cargo, execute};
use crate::{UsageError, root, venv};

const CHECKSUMS: &str = "SHA256SUMS";
const LICENCES: &str = "THIRD-PARTY-LICENCES.txt";

/// What stands beside the program in its archive.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Makes everything in a folder and tries it; `--only NAME` makes one of `archive` and `wheel`.
pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let (out, parts) = arguments(options)?;
    fs::create_dir_all(&out).with_context(|| format!("could not make {}", out.display()))?;
    let outcome = make(&out, &parts)?;
    match &outcome {
        Outcome::Passed => {
            for (name, bytes) in sizes(&out)? {
                println!("{:>10.2} MB  {name}", bytes as f64 / 1e6);
            }
            println!("In {}", out.display());
        }
        Outcome::Failed(reason) | Outcome::Skipped(reason) | Outcome::Unavailable(reason) => {
            println!("FAILED {reason}")
        }
    }
    Ok(matches!(outcome, Outcome::Passed))
}

fn arguments(options: &[String]) -> anyhow::Result<(PathBuf, Vec<&'static str>)> {
    let all = ["archive", "wheel"];
    let (mut out, mut parts) = (venv::target().join("dist"), Vec::new());
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().map(String::as_str);
        match (option.as_str(), value) {
            ("--out", Some(folder)) => out = PathBuf::from(folder),
            ("--only", Some(name)) => match all.iter().find(|part| **part == name) {
                Some(part) => parts.push(*part),
                None => return Err(UsageError(format!("no part is named `{name}`: expected archive or wheel")).into()),
            },
            ("--out" | "--only", None) => return Err(UsageError(format!("{option} needs a value")).into()),
            (other, _) => return Err(UsageError(format!("unknown option `{other}`")).into()),
        }
    }
    Ok((out, if parts.is_empty() { all.to_vec() } else { parts }))
}

fn make(out: &Path, parts: &[&str]) -> anyhow::Result<Outcome> {
    let packages = packages::shipped()?;
    let (text, without) = licences::text(&packages)?;
    for package in &without {
        println!("{package} brings no text of its licence: its expression stands for it");
    }
    let licences = out.join(LICENCES);
    write(&licences, text.as_bytes())?;
    let version = env!("CARGO_PKG_VERSION");
    let bill = sbom::cyclone_dx(&packages, version)?;
    write(&out.join(format!("intervalid-{version}.cdx.json")), bill.as_bytes())?;
    let mut made = Vec::new();
    if parts.contains(&"archive") {
        let built = execute(&mut cargo(&["build", "--locked", "--release", "-p", "intervalid-cli"]))?;
        if !matches!(built, Outcome::Passed) {
            return Ok(built);
        }
        made.push(archive(out, &licences)?);
    }
    if parts.contains(&"wheel") {
        match wheel(out)? {
            Ok(path) => made.push(path),
            Err(outcome) => return Ok(outcome),
        }
    }
    write(&out.join(CHECKSUMS), checksums(out)?.as_bytes())?;
    for file in made {
        let tried = trial::of(&file)?;
        if !matches!(tried, Outcome::Passed) {
            return Ok(tried);
        }
    }
    Ok(Outcome::Passed)
}

/// The stripped program with its licences, shell completions and manual pages, as `.tar.gz`.
fn archive(out: &Path, licences: &Path) -> anyhow::Result<PathBuf> {
    let target = host()?;
    let name = format!("intervalid-{}-{target}", env!("CARGO_PKG_VERSION"));
    let folder = venv::target().join("dist-archive").join(&name);
    if folder.is_dir() {
        fs::remove_dir_all(&folder).context("could not remove an older archive's folder")?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    let program = format!("intervalid{}", std::env::consts::EXE_SUFFIX);
    let copy = |from: PathBuf, to: &str| {
        fs::copy(&from, folder.join(to)).with_context(|| format!("could not copy {}", from.display()))
    };
    copy(venv::target().join("release").join(&program), &program)?;
    for file in BESIDE {
        copy(root().join(file), file)?;
    }
    copy(licences.to_owned(), LICENCES)?;
    let program = folder.join(&program);
    for shell in ["bash", "zsh", "fish"] {
        let script = capture(Command::new(&program).args(["completions", shell]))?;
        write(
            &folder.join("completions").join(format!("intervalid.{shell}")),
            script.as_bytes(),
        )?;
    }
    capture(
        Command::new(&program)
            .args(["man", "--quiet", "--out"])
            .arg(folder.join("man")),
    )?;
    let file = out.join(format!("{name}.tar.gz"));
    // One owner and one order, so that the same content gives the same bytes.
    let mut tar = Command::new("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "-czf",
    ])
    .arg(&file)
    .arg("-C")
    .arg(folder.parent().unwrap_or(&folder))
    .arg(&name);
    match execute(&mut tar)? {
        Outcome::Passed => Ok(file),
        other => anyhow::bail!("the archive could not be made: {other:?}"),
    }
}

/// The triple that this compiler builds for.
pub(crate) fn host() -> anyhow::Result<String> {
    let text = capture(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what it builds for")
}

/// The wheel, for every Python from 3.10 on.
fn wheel(out: &Path) -> anyhow::Result<Result<PathBuf, Outcome>> {
    let tools = venv::target().join("python/tools");
    let requirements = root().join("crates/py/tests/build-requirements.txt");
    if !venv::program(&tools, "maturin").is_file() {
        let made = venv::up_to_date(&tools, &[&requirements])?;
        if !matches!(made, Outcome::Passed) {
            return Ok(Err(made));
        }
    }
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    for old in files(out)?.into_iter().filter(is_wheel) {
        fs::remove_file(&old).with_context(|| format!("could not remove {}", old.display()))?;
    }
    let mut maturin = Command::new(venv::program(&tools, "maturin"));
    maturin
        .args(["build", "--locked", "--release", "--strip", "--out"])
        .arg(out)
        .arg("--interpreter")
        .arg(venv::program(&tools, "python"))
        .current_dir(root());
    let built = execute(&mut maturin)?;
    if !matches!(built, Outcome::Passed) {
        return Ok(Err(built));
    }
    match files(out)?.into_iter().find(is_wheel) {
        Some(wheel) => Ok(Ok(wheel)),
        None => anyhow::bail!("no wheel was built"),
    }
}

/// Files of a folder by name.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    Ok(files)
}

/// As `sha256sum` writes them, so that `sha256sum --check` reads them.
fn checksums(folder: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    for file in files(folder)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name == CHECKSUMS {
            continue;
        }
        let bytes = fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
        let digest: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        text += &format!("{digest}  {name}\n");
    }
    Ok(text)
}

fn sizes(folder: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let size = |path: PathBuf| -> anyhow::Result<(String, u64)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, fs::metadata(&path)?.len()))
    };
    files(folder)?.into_iter().map(size).collect()
}

fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
    }
    fs::write(path, content).with_context(|| format!("could not write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_understood() {
        let given = |line: &str| arguments(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(given("").unwrap().1, ["archive", "wheel"]);
        assert_eq!(
            given("--only wheel --out x").unwrap(),
            (PathBuf::from("x"), vec!["wheel"])
        );
        for bad in ["--only sources", "--out", "--fast 1"] {
            assert!(given(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b.txt"), "abc").unwrap();
        fs::write(folder.path().join("a.txt"), "").unwrap();
        fs::write(folder.path().join(CHECKSUMS), "old").unwrap();
        assert_eq!(
            checksums(folder.path()).unwrap(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.txt\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b.txt\n"
        );
    }
}
