use std::fs;
use std::path::Path;

use intervalid_data::{ReadOptions, read_mat_arrays};
use intervalid_files::Manifest;
use intervalid_model::{FitOptions, Model};
use intervalid_report::Page;
use intervalid_study::Spec;
use intervalid_workflow::{FitRequest, Settings};

use crate::uses::{
    checkpoint_problem, use_bench, use_database, use_model, use_monitor, use_online, use_recording, use_state,
    use_studio,
};
use crate::workbook::workbook;
use crate::{journal, steps};

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
    /// The XML of a sheet, inside of a workbook that is sound.
    Sheet,
    /// Databases of studies.
    Database,
    /// What a monitor remembers.
    Monitor,
    /// What an online band remembers.
    Online,
    /// What a simulation remembers.
    State,
    /// A simulation step by step.
    Steps,
    /// The same beside exported C code, which must answer alike.
    Exported,
    /// Results of benchmarks, which are tabulated.
    Bench,
    /// What a search has finished, which another goes on from.
    Journal,
    /// What the studio remembers.
    Studio,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 24] = [
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
        Self::Sheet,
        Self::Database,
        Self::Monitor,
        Self::Online,
        Self::State,
        Self::Steps,
        Self::Exported,
        Self::Bench,
        Self::Journal,
        Self::Studio,
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
            Self::Sheet => "sheet",
            Self::Database => "database",
            Self::Monitor => "monitor",
            Self::Online => "online",
            Self::State => "state",
            Self::Steps => "steps",
            Self::Exported => "exported",
            Self::Bench => "bench",
            Self::Journal => "journal",
            Self::Studio => "studio",
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
            Self::Sheet => {
                let path = folder.join("sheet.xlsx");
                fs::write(&path, workbook(input)?)?;
                use_recording(&path, &ReadOptions::default())?;
            }
            Self::Database => use_database(input, folder)?,
            Self::Monitor => use_monitor(&text())?,
            Self::Online => use_online(&text())?,
            Self::State => use_state(&text())?,
            Self::Steps => steps::run(input, false)?,
            Self::Exported => steps::run(input, true)?,
            Self::Bench => use_bench(input, folder)?,
            Self::Journal => journal::run(input, folder)?,
            Self::Studio => use_studio(input, folder)?,
        }
        Ok(())
    }
}
