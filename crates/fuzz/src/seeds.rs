use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use intervalid_files::{Manifest, OwnedFolder};
use intervalid_model::{Control, FitOptions, Model, Progress};
use intervalid_study::{RunOptions, Spec, run_study};
use intervalid_workflow::{FitRequest, Settings};

use crate::exported::Exported;
use crate::journal;
use crate::models::{state_space, stepwise};
use crate::mutate::LONGEST;
use crate::target::Target;
use crate::uses::{checkpoint_problem, stored_states};
use crate::workbook::{sheet, workbook};

/// A studio's own file with a recording, a fit and a remark.
const STUDIO: &str = r#"{ "format": 3,
    "choices": { "a.csv": { "options": { "inputs": ["u"], "outputs": ["y"], "prepare": { "decimate": 2 } }, "split": "0.6,0.1,0.3",
        "more": ["b.csv"], "detrend": ["y"] } },
    "jobs": [{ "id": 7, "name": "a-arx", "order": { "data": "a.csv", "choice": { "options": {}, "split": null },
        "settings": { "model": "arx" }, "budget": 3.5 }, "status": "running", "message": null, "seconds": 1.25 }],
    "remarks": { "a-arx": { "pinned": true, "note": "good" } }, "bin_remarks": {} }"#;

/// Inputs that once found something, by target; none where there is no folder of them.
///
/// # Errors
/// If they cannot be read.
pub fn corpus(target: Target) -> anyhow::Result<Vec<Vec<u8>>> {
    let folder = root().join("crates/fuzz/corpus").join(target.name());
    match folder.try_exists()? {
        true => files(&folder, |_| true),
        false => Ok(Vec::new()),
    }
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
        Target::Csv
        | Target::Tsv
        | Target::Txt
        | Target::Xlsx
        | Target::Mat
        | Target::Npz
        | Target::Npy
        | Target::Parquet => files(&recordings, |path| has_extension(path, target.name()))?,
        Target::Model => {
            let mut models = files(&fits, |path| is_named(path, "model.safetensors"))?;
            models.push(state_space()?.to_bytes()?);
            unchecked(models)
        }
        Target::Page => files(&fits, |path| is_named(path, "report.json"))?,
        Target::Config => {
            let mut configs = files(&fits, |path| is_named(path, "config.toml"))?;
            configs.push(state_space_config()?);
            configs
        }
        Target::Study => Spec::builtin_names()
            .filter_map(Spec::builtin_text)
            .map(|text| text.as_bytes().to_vec())
            .collect(),
        Target::Manifest => vec![manifest()?],
        Target::Checkpoint => vec![checkpoint()?],
        Target::Sheet => vec![sheet()],
        Target::Database => vec![database()?],
        Target::Monitor => stored_states()?.into_iter().map(|[monitor, ..]| monitor).collect(),
        Target::Online => stored_states()?.into_iter().map(|[_, online, _]| online).collect(),
        Target::State => stored_states()?.into_iter().map(|[.., state]| state).collect(),
        Target::Steps => stories()?,
        Target::Exported => {
            // Compilers take their time, which is not that of an input.
            (0..stepwise()?.len()).try_for_each(|model| Exported::of(model).map(drop))?;
            stories()?
        }
        Target::Bench => vec![serde_json::to_vec_pretty(&bench_result())?],
        Target::Journal => vec![journal::seed()?],
        Target::Studio => vec![STUDIO.as_bytes().to_vec()],
    };
    found.extend(small(target)?);
    found.retain(|seed| seed.len() <= LONGEST);
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

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Content of the chosen files below a folder, in the order of their names.
fn files(folder: &Path, chosen: impl Fn(&Path) -> bool + Copy) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = folder
        .read_dir()
        .with_context(|| folder.display().to_string())?
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

/// Small recordings of formats that have no fixtures, or none that every option reads.
fn small(target: Target) -> anyhow::Result<Vec<Vec<u8>>> {
    let text = |separator: &str| {
        let rows = (0..30).map(|k| format!("{}{separator}{}.5\n", k % 7, k % 5));
        format!("u{separator}y\n{}", rows.collect::<String>()).into_bytes()
    };
    Ok(match target {
        Target::Csv => vec![text(",")],
        Target::Tsv => vec![text("\t")],
        Target::Txt => [" ", ";", "\t"].map(text).to_vec(),
        Target::Xlsx => vec![workbook(&sheet())?],
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
        _ => Vec::new(),
    })
}

fn state_space_config() -> anyhow::Result<Vec<u8>> {
    let settings = "preset = 'paper'\nmodel = 'iss'\nstates = 2\nhidden = [2, 0]\ninitial = 'history:5'\n";
    let request = FitRequest::new(&Settings::from_table(&settings.parse()?)?, "hair-dryer")?;
    Ok(request.to_table()?.to_string().into_bytes())
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

/// A result of a benchmark, with nothing left out.
fn bench_result() -> serde_json::Value {
    serde_json::json!({
        "format": 1, "benchmark": "silverbox", "protocol": 1, "version": "0.1.0", "asked": "auto", "settings": { "preset": "auto" },
        "budget_seconds": 60.0, "seed": 1, "data": "0123abcd", "commit": "0123abcd", "unit": "mV", "coverage": 0.9, "model": "inode", "members": 3,
        "memory": "lags 2,2,1", "parameters": 87, "start_outputs": 50, "train_samples": 8000, "fit_seconds": 12.5,
        "stopped_because": "nothing more was gained", "capped_after_rounds": 3, "step": { "microseconds": 1.5, "one_by_one": true },
        "scores": [{ "test": "arrow", "output": "y", "n": 4000, "rmse": 0.3, "fit_percent": 99.0, "picp": 0.91, "picp_online": 0.9,
            "width": 1.0, "interval_score": 1.5, "crps": null, "nll": null, "diverged_at": 7 }],
    })
}

/// A study of two small models.
fn database() -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let text = "name = 'a'\ndatasets = ['hair-dryer']\nmodels = ['arx']\nkeep_models = 'all'\nseeds = [1, 2]\n";
    let options = RunOptions {
        jobs: 1,
        data_dir: None,
        shard: None,
        stop: &AtomicBool::new(false),
        observer: &|_| {},
    };
    run_study(&Spec::parse("seed", text)?, folder.path(), &options)?;
    Ok(fs::read(folder.path().join("study.sqlite"))?)
}

/// For every model a start, steps with measurements, and a state that is stored.
fn stories() -> anyhow::Result<Vec<Vec<u8>>> {
    let models = stepwise()?.len();
    let story = |model: usize| {
        let mut story = vec![u8::try_from(model)?, 255, 12, 12];
        story.extend((0..24).map(|value| 90 + value));
        for k in 0..30 {
            // A step, a measurement, every tenth time a correction or a state.
            story.extend([0, 60 + 3 * k, 130, 70 + 2 * k]);
            match k % 10 {
                4 => story.extend([180, 100]),
                9 => story.push(210),
                _ => {}
            }
        }
        anyhow::Ok(story)
    };
    (0..models).map(story).collect()
}
