//! What version 0.1.0 wrote is still read, and what it computed is still computed, up to rounding, but for searches.
//!
//! `tests/fixtures/v0.1` holds folders of fits that version 0.1.0 (commit 25bc3bb) wrote with its baseline kernels, which give the same
//! bits on every x86-64 processor: `intervalid fit hair-dryer --model MODEL --epochs 3 --hidden 4,3 --seed 5` and the like, as their
//! `config.toml` says.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Folder;

/// Folder, and the data and options besides its `config.toml`.
const FITS: [&str; 10] = [
    "arx",
    "auto",
    "auto-arx",
    "bnode",
    "calibrated",
    "dropoutlstm",
    "ensemblenode",
    "ilstm-joint",
    "inode-cascade",
    "inode-joint-f64",
];

/// Those that a search found. Its defaults have changed since, so they are read, not repeated.
#[cfg(target_arch = "x86_64")]
const SEARCHED: [&str; 3] = ["arx", "auto", "auto-arx"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/v0.1")
        .join(name)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).expect("JSON")
}

/// All numbers of a CSV text; empty cells are none.
fn cells(text: &str) -> Vec<Option<f64>> {
    let rows = text.lines().skip(1);
    rows.flat_map(|row| row.split(',').map(|cell| cell.parse().ok()))
        .collect()
}

/// The program with the baseline kernels; other processors than x86-64 have other baselines.
fn baseline(folder: &Folder, arguments: &[&str]) -> Vec<u8> {
    let mut command = folder.command(arguments);
    let output = command.env("INTERVALID_SIMD", "baseline").output().expect("runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output.stdout
}

/// Every SIMD level reads the old files and simulates what was written beside them, up to rounding.
#[test]
fn old_models_are_read_and_simulate_as_they_did() {
    let folder = Folder::new();
    for name in FITS {
        let old = fixture(name);
        let model = old.join("model.safetensors");
        let arguments = [
            "predict",
            model.to_str().expect("a path"),
            "hair-dryer",
            "--split",
            "0.4,0.1,0.5",
        ];
        let options = ["--part", "test", "--out", "again.csv"];
        folder.json(&[&arguments[..], &options, &["--json"]].concat());
        let again = cells(&text(&folder.path().join("again.csv")));
        let before = cells(&text(&old.join("predictions.csv")));
        assert_eq!(again.len(), before.len(), "{name}");
        for (again, before) in again.iter().zip(&before) {
            match (again, before) {
                // Single precision through 499 steps of feedback.
                (Some(again), Some(before)) => assert!((again - before).abs() < 1e-3, "{name}: {again} {before}"),
                _ => assert_eq!(again, before, "{name}"),
            }
        }
        let evaluation = folder.json(&[&["evaluate"], &arguments[1..], &["--part", "test", "--json"]].concat());
        let metrics = json(&old.join("metrics.json"));
        let of = |value: &Value| value["rmse"].as_f64().expect("a number");
        let (again, before) = (of(&evaluation), of(&metrics["test"]));
        assert!((again - before).abs() < 1e-3 * before, "{name}: {again} {before}");
    }
}

/// Averages of its margins under `abs` are those of their sizes since then, and choose its epoch: it is read, not repeated.
#[cfg(target_arch = "x86_64")]
const REAVERAGED: &str = "ilstm-joint";

/// Its band is sized by cuts as well since then.
const RECALIBRATED: &str = "calibrated";

/// Two texts of numbers agree so far: sums over a mini-batch have had another order since.
fn assert_same_numbers(again: &str, before: &str, name: &str) {
    let (again, before) = (cells(again), cells(before));
    assert_eq!(again.len(), before.len(), "{name}");
    for (again, before) in again.iter().zip(&before) {
        match (again, before) {
            (Some(again), Some(before)) => {
                assert!(
                    (again - before).abs() <= 2e-6 * (1.0 + before.abs()),
                    "{name}: {again} {before}"
                );
            }
            _ => assert_eq!(again, before, "{name}"),
        }
    }
}

/// The same configuration on the same kernels gives the same predictions and history, unless it asks for a search.
#[cfg(target_arch = "x86_64")]
#[test]
fn old_fits_are_repeated_up_to_rounding() {
    let folder = Folder::new();
    let repeated = |name: &&str| !SEARCHED.contains(name) && *name != REAVERAGED;
    for name in FITS.into_iter().filter(repeated) {
        let old = fixture(name);
        // Keys that came since, with what they had been before there was a choice; the preset paper has other values now.
        let since =
            "gradnorm_optimiser = 'gradient'\nfeedback = 'mean'\nhidden_decay = 0.0\ntrain_on_validation = false\n";
        folder.write("config.toml", since.to_owned() + &text(&old.join("config.toml")));
        baseline(
            &folder,
            &["fit", "hair-dryer", "--config", "config.toml", "--out", name, "--json"],
        );
        let new = folder.path().join(name);
        let file = |folder: &Path, file: &str| text(&folder.join(file));
        assert_same_numbers(&file(&new, "history.csv"), &file(&old, "history.csv"), name);
        if name == RECALIBRATED {
            continue;
        }
        assert_same_numbers(&file(&new, "predictions.csv"), &file(&old, "predictions.csv"), name);
        let (again, before) = (json(&new.join("metrics.json")), json(&old.join("metrics.json")));
        for part in ["parameters", "epochs_run", "extrapolation"] {
            assert_eq!(again[part], before[part], "{name}: {part}");
        }
        // The online band moves faster since.
        for part in ["test", "validation"] {
            for metric in ["rmse", "picp", "pinaw"] {
                let of = |metrics: &Value| metrics[part][metric].as_f64();
                let (again, before) = (of(&again), of(&before));
                let (Some(again), Some(before)) = (again, before) else {
                    panic!("{name}: {part} {metric}: {again:?} {before:?}");
                };
                assert!(
                    (again - before).abs() <= 1e-5,
                    "{name}: {part} {metric}: {again} {before}"
                );
            }
        }
    }
}

/// Old pages and numbers are read by the commands that take folders of fits.
#[test]
fn old_folders_are_compared_and_reported() {
    let folder = Folder::new();
    let old = fixture("auto");
    for name in ["report.json", "metrics.json", "model.safetensors"] {
        folder.write(&format!("auto/{name}"), std::fs::read(old.join(name)).expect("reads"));
    }
    folder.json(&["report", "auto", "--json"]);
    assert!(folder.path().join("auto/report.html").is_file());
    let table = folder.json(&["compare", "auto", "--json"]);
    assert!(
        table.to_string().contains("inode") || table.to_string().contains("arx"),
        "{table}"
    );
}
