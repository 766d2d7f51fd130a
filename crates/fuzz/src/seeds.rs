use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use intervalid_files::{Manifest, OwnedFolder};
use intervalid_model::{Control, FitOptions, Model, Progress};

use crate::target::{Target, checkpoint_problem};

/// Inputs that once found something, and others worth keeping, by target.
pub fn corpus(target: Target) -> anyhow::Result<Vec<Vec<u8>>> {
    files(&root().join("crates/fuzz/corpus").join(target.name()), |_| true)
}

/// Sound files of a target's format: fixtures of the other crates, and what is made here. The corpus comes after them.
///
/// # Errors
/// If the repository's files cannot be read.
pub fn seeds(target: Target) -> anyhow::Result<Vec<Vec<u8>>> {
    let root = root();
    let recordings = root.join("crates/data/tests/fixtures");
    let fits = root.join("crates/cli/tests/fixtures/v0.1");
    let mut found = match target {
        Target::Csv | Target::Tsv | Target::Mat | Target::Npz | Target::Npy | Target::Parquet => {
            files(&recordings, |path| {
                path.extension().is_some_and(|found| found == target.name())
            })?
        }
        Target::Model => unchecked(files(&fits, |path| is_named(path, "model.safetensors"))?),
        Target::Page => files(&fits, |path| is_named(path, "report.json"))?,
        Target::Config => files(&fits, |path| is_named(path, "config.toml"))?,
        Target::Study => intervalid_study::Spec::builtin_names()
            .filter_map(intervalid_study::Spec::builtin_text)
            .map(|text| text.as_bytes().to_vec())
            .collect(),
        Target::Manifest => vec![manifest()?],
        Target::Checkpoint => vec![checkpoint()?],
    };
    if matches!(target, Target::Csv | Target::Tsv | Target::Npy) {
        found.extend(small(target));
    }
    found.retain(|seed| seed.len() <= 1 << 16);
    found.extend(corpus(target)?);
    anyhow::ensure!(!found.is_empty(), "no seeds for {}", target.name());
    Ok(found)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found == name)
}

/// Content of the chosen files below a folder, in the order of their names.
fn files(folder: &Path, chosen: impl Fn(&Path) -> bool + Copy) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = folder
        .read_dir()
        .into_iter()
        .flatten()
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, chosen)?);
        } else if chosen(&path) {
            found.push(fs::read(&path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(found)
}

/// Without their checksums, which would refuse every change before anything else looks at it.
fn unchecked(mut models: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let name = b"\"checksum\"";
    for model in &mut models {
        if let Some(at) = model.windows(name.len()).position(|window| window == name) {
            model[at + 1..at + 9].copy_from_slice(b"unlooked");
        }
    }
    models
}

/// Small recordings of each text format, and an array.
fn small(target: Target) -> Vec<Vec<u8>> {
    match target {
        Target::Npy => {
            let mut bytes = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
            bytes.extend(
                format!(
                    "{:<69}\n",
                    "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }"
                )
                .bytes(),
            );
            bytes.extend((0..8).flat_map(|value| f64::from(value).to_le_bytes()));
            vec![bytes]
        }
        _ => {
            let separator = if target == Target::Tsv { "\t" } else { "," };
            let rows = (0..30).map(|k| format!("{}{separator}{}.5\n", k % 7, k % 5));
            vec![format!("u{separator}y\n{}", rows.collect::<String>()).into_bytes()]
        }
    }
}

fn manifest() -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let owned = OwnedFolder::take(folder.path())?;
    let mut staged = owned.stage()?;
    staged.write("a", b"a")?;
    staged.write("b", b"b")?;
    staged.switch(&[])?;
    let written = Manifest::read(folder.path())?;
    anyhow::ensure!(written.is_some(), "a manifest was written");
    Ok(fs::read(folder.path().join(intervalid_files::MANIFEST))?)
}

fn checkpoint() -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("checkpoint");
    let (dataset, split, config) = checkpoint_problem()?;
    let stop = |_: &Progress| ControlFlow::Break(());
    let options = FitOptions {
        control: Control {
            observer: Some(&stop),
            ..Control::default()
        },
        checkpoint: Some(&path),
        ..FitOptions::default()
    };
    Model::fit(&dataset, &split, &config, options)?;
    Ok(fs::read(path)?)
}
