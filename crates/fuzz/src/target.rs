use std::fs;
use std::path::Path;

use intervalid_data::{Dataset, Part, ReadOptions, Split, SplitFractions, describe, load, read, read_mat_arrays};
use intervalid_deploy::{COptions, StepProgram, c_code};
use intervalid_files::Manifest;
use intervalid_model::{FitConfig, FitOptions, Model};
use intervalid_report::Page;
use intervalid_study::Spec;
use intervalid_workflow::{FitRequest, Settings};

/// Something that reads files of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Recordings as text with commas.
    Csv,
    /// Recordings as text with tabs.
    Tsv,
    /// Recordings as text whose delimiter is guessed; `.dat` is read likewise.
    Txt,
    /// Spreadsheets.
    Xlsx,
    /// MATLAB files.
    Mat,
    /// Archives of arrays.
    Npz,
    /// Arrays.
    Npy,
    /// Parquet.
    Parquet,
    /// Model files; a model that loads is simulated and exported as C.
    Model,
    /// Checkpoints of training, which goes on from one that is accepted.
    Checkpoint,
    /// Configuration files.
    Config,
    /// Study files.
    Study,
    /// `report.json`; a page that loads is rendered.
    Page,
    /// `manifest.json`.
    Manifest,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Csv,
        Self::Tsv,
        Self::Txt,
        Self::Xlsx,
        Self::Mat,
        Self::Npz,
        Self::Npy,
        Self::Parquet,
        Self::Model,
        Self::Checkpoint,
        Self::Config,
        Self::Study,
        Self::Page,
        Self::Manifest,
    ];

    /// Its name, for recordings also the extension of the files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Txt => "txt",
            Self::Xlsx => "xlsx",
            Self::Mat => "mat",
            Self::Npz => "npz",
            Self::Npy => "npy",
            Self::Parquet => "parquet",
            Self::Model => "model",
            Self::Checkpoint => "checkpoint",
            Self::Config => "config",
            Self::Study => "study",
            Self::Page => "page",
            Self::Manifest => "manifest",
        }
    }

    /// Gives an input to it and tells what it answered. `folder` is for files that have to lie somewhere.
    ///
    /// # Errors
    /// What the target says about the input.
    pub fn run(self, input: &[u8], folder: &Path) -> anyhow::Result<()> {
        let text = || String::from_utf8_lossy(input);
        match self {
            Self::Csv | Self::Tsv | Self::Txt | Self::Xlsx | Self::Mat | Self::Npz | Self::Npy | Self::Parquet => {
                let path = folder.join(format!("input.{}", self.name()));
                fs::write(&path, input)?;
                let mut options = ReadOptions::default();
                if self == Self::Npy {
                    // Its columns have no names of their own.
                    (options.inputs, options.outputs) = (Some(vec!["c1".to_owned()]), Some(vec!["c2".to_owned()]));
                }
                if self == Self::Mat {
                    // What a recording refuses, such as row vectors, benchmarks may read.
                    let _ = read_mat_arrays(&path, &["u", "y"]);
                }
                use_recording(&path, &options)?;
            }
            Self::Model => use_model(&Model::from_bytes(input.to_vec())?)?,
            Self::Checkpoint => {
                let path = folder.join("checkpoint");
                fs::write(&path, input)?;
                let (dataset, split, config) = checkpoint_problem()?;
                let options = FitOptions {
                    checkpoint: Some(&path),
                    ..FitOptions::default()
                };
                Model::fit(&dataset, &split, &config, options)?;
            }
            Self::Config => {
                let settings = Settings::from_table(&text().parse()?)?;
                FitRequest::new(&settings, "hair-dryer")?.to_table()?;
            }
            Self::Study => {
                Spec::parse("input", &text())?;
            }
            Self::Page => {
                Page::from_json(&text())?.to_html()?;
            }
            Self::Manifest => {
                fs::write(folder.join(intervalid_files::MANIFEST), input)?;
                if let Some(manifest) = Manifest::read(folder)? {
                    manifest.first_changed(folder, &["a", "b"])?;
                }
            }
        }
        Ok(())
    }
}

/// What a user does with a recording.
fn use_recording(path: &Path, options: &ReadOptions) -> anyhow::Result<()> {
    let dataset = read(&[path], options)?;
    describe(&dataset);
    // Seeds have few samples.
    Split::new(&dataset, SplitFractions::new(0.5, 0.25, 0.25)?)?;
    Ok(())
}

/// What a user does with a model.
fn use_model(model: &Model) -> anyhow::Result<()> {
    let dataset = hair_dryer()?;
    let part = Part::whole(&dataset);
    let simulated = model.simulate(&dataset, &part);
    for band in simulated.iter().flatten() {
        for (lower, upper) in band.lower.iter().zip(&band.upper) {
            let sound = lower
                .iter()
                .zip(upper)
                .all(|(lower, upper)| lower <= upper && lower.is_finite() && upper.is_finite());
            assert!(sound, "a band must have finite bounds in their order");
        }
    }
    let program = StepProgram::new(model)?;
    c_code(
        &program,
        &COptions {
            name: "model".to_owned(),
            precision: None,
            jacobian: true,
        },
    )?;
    simulated?;
    Ok(())
}

fn hair_dryer() -> anyhow::Result<Dataset> {
    Ok(load(&["hair-dryer"], None, &ReadOptions::default())?)
}

/// A fit that takes milliseconds.
pub(crate) fn checkpoint_problem() -> anyhow::Result<(Dataset, Split, FitConfig)> {
    let dataset = hair_dryer()?;
    let split = Split::new(&dataset, SplitFractions::new(0.1, 0.05, 0.85)?)?;
    let config = FitConfig::default().with(|config| {
        config.network.hidden = vec![2];
        config.training.epochs = 2;
        config.training.window.length = 10;
        config.training.window.step = 20;
    });
    Ok((dataset, split, config))
}
