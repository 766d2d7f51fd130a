//! Finished fits: the table, names, the bin.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use intervalid_files::{FOLDER_LOCK, Sharing, lock_file, settle};
use intervalid_model::{Metrics, Model};
use intervalid_report::folder::{METRICS, MODEL, READ, REPORT};
use intervalid_workflow::FitMetrics;
use serde::Serialize;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::cache::stamp;
use crate::remarks::{Place, Remark};
use crate::workspace::check_name;

/// A row of the table, with what was remarked on it.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    #[serde(flatten)]
    row: FitRow,
    #[serde(flatten)]
    remark: Remark,
}

/// What a fit says of itself.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FitRow {
    name: String,
    model: String,
    dataset: String,
    preset: String,
    /// Coverage that was asked.
    coverage: Option<f64>,
    /// Of the test part; means where there are several outputs.
    fit_percent: Option<f64>,
    picp: Option<f64>,
    pinaw: Option<f64>,
    /// Errors in different units have no mean: of one output only.
    interval_score: Option<f64>,
    rmse: Option<f64>,
    parameters: Option<usize>,
    seconds: Option<f64>,
    /// Hash of the samples that it was judged on: rows with the same one compare.
    judged_on: Option<String>,
    has_report: bool,
    /// Why its numbers cannot be read.
    problem: Option<String>,
}

/// A model's channels, with what is usual for them.
#[derive(Debug, Serialize)]
pub(crate) struct Interface {
    name: String,
    model: &'static str,
    coverage: f64,
    memory: String,
    sample_time: Option<f64>,
    inputs: Vec<Channel>,
    outputs: Vec<Channel>,
}

#[derive(Debug, Serialize)]
struct Channel {
    name: String,
    unit: Option<String>,
    /// Over the training data.
    mean: f64,
    std: f64,
}

impl App {
    /// All finished fits, whoever made them; those that are pinned first.
    pub(crate) fn fits(&self) -> ApiResult<Vec<Listed>> {
        let names = self.workspace.fits()?;
        // One that was taken away meanwhile is none any more.
        let rows = names.iter().filter_map(|name| self.row(name).ok());
        let mut listed: Vec<Listed> = rows
            .map(|row| Listed {
                remark: self.remark_on(&row.name),
                row: FitRow::clone(&row),
            })
            .collect();
        listed.sort_by_key(|listed| !listed.remark.pinned);
        Ok(listed)
    }

    fn row(&self, name: &str) -> ApiResult<Arc<FitRow>> {
        let file = self.workspace.fit_file(name, METRICS)?;
        self.caches.rows.get(&stamp(&file), || {
            Ok(self.read_row(name).unwrap_or_else(|error| FitRow {
                name: name.to_owned(),
                problem: Some(error.message),
                ..FitRow::default()
            }))
        })
    }

    fn read_row(&self, name: &str) -> ApiResult<FitRow> {
        let folder = self.workspace.fit(name)?;
        settle(&folder, &READ)?;
        let text = fs::read_to_string(self.workspace.fit_file(name, METRICS)?)
            .map_err(|error| ApiError::io(&format!("{METRICS} cannot be read"), &error))?;
        let found: FitMetrics = serde_json::from_str(&text)
            .map_err(|error| ApiError::bad(format!("{METRICS} is not that of one fit: {error}")))?;
        let all = found.test.as_ref().map_or_else(Metrics::default, |test| test.all);
        let has_unit = found.test.as_ref().is_some_and(|test| test.outputs.len() == 1);
        Ok(FitRow {
            name: name.to_owned(),
            model: found.model.name().to_owned(),
            dataset: found.dataset,
            preset: found.preset.name().to_owned(),
            coverage: Some(found.coverage),
            fit_percent: all.fit_percent,
            picp: all.picp,
            pinaw: all.pinaw,
            interval_score: all.interval_score.filter(|_| has_unit),
            rmse: all.rmse.filter(|_| has_unit),
            parameters: Some(found.parameters),
            seconds: Some(found.train_seconds),
            judged_on: found.record.and_then(|record| serde_json::to_string(&record).ok()),
            has_report: self.workspace.fit_file(name, REPORT).is_ok(),
            problem: None,
        })
    }

    /// The model of a fit, read now or a moment ago.
    pub(crate) fn model(&self, name: &str) -> ApiResult<Arc<Model>> {
        let folder = self.workspace.fit(name)?;
        let file = self.workspace.fit_file(name, MODEL)?;
        self.caches.models.get(&stamp(&file), || {
            settle(&folder, &READ)?;
            Ok(Model::load(&file)?)
        })
    }

    /// The channels of a model.
    pub(crate) fn interface(&self, name: &str) -> ApiResult<Interface> {
        let model = self.model(name)?;
        let interface = model.interface();
        let scales = &interface.normaliser;
        let channel = |(channel, scale): (&intervalid_data::Channel, &intervalid_data::Scale)| Channel {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            mean: scale.mean,
            std: scale.std,
        };
        Ok(Interface {
            name: name.to_owned(),
            model: model.kind().name(),
            coverage: model.config().coverage,
            memory: model.memory_in_words(),
            sample_time: interface.sample_time,
            inputs: interface.inputs.iter().zip(&scales.inputs).map(channel).collect(),
            outputs: interface.outputs.iter().zip(&scales.outputs).map(channel).collect(),
        })
    }

    /// Gives a fit another name.
    pub(crate) fn rename(&self, name: &str, new: &str) -> ApiResult<()> {
        let _moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.workspace.fit(name)?;
        if self.queue.has_open(name) || self.queue.has_open(new) {
            return Err(ApiError::conflict("a fit of that name waits in the queue"));
        }
        let place = self.workspace.new_place(new)?;
        let (from, to) = (Place::Workspace(name), Place::Workspace(new));
        self.move_fit((from, &folder), (to, &place), "renamed")?;
        self.queue.rename(&self.store, name, new)?;
        self.drop_remark(from)?;
        self.queue.tell_listing();
        Ok(())
    }

    /// Moves a fit into the bin; the name it has there brings it back.
    pub(crate) fn discard(&self, name: &str) -> ApiResult<String> {
        let _moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.workspace.fit(name)?;
        if self.queue.has_open(name) {
            return Err(ApiError::conflict("this fit waits in the queue"));
        }
        let mut binned = name.to_owned();
        for number in 2.. {
            if !self.bin_place(&binned).exists() {
                break;
            }
            binned = format!("{name}-{number}");
        }
        let (from, to) = (Place::Workspace(name), Place::Bin(&binned));
        self.move_fit((from, &folder), (to, &self.bin_place(&binned)), "moved to the bin")?;
        self.drop_remark(from)?;
        self.queue.tell_listing();
        Ok(binned)
    }

    /// Brings a fit back from the bin.
    pub(crate) fn restore(&self, name: &str) -> ApiResult<()> {
        let _moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let binned = self.binned(name)?;
        if self.queue.has_open(name) {
            return Err(ApiError::conflict("a fit of that name waits in the queue"));
        }
        let place = self.workspace.free_place(name)?;
        let (from, to) = (Place::Bin(name), Place::Workspace(name));
        self.move_fit((from, &binned), (to, &place), "brought back")?;
        self.drop_remark(from)?;
        self.queue.tell_listing();
        Ok(())
    }

    /// Takes a fit out of the bin for good.
    pub(crate) fn erase(&self, name: &str) -> ApiResult<()> {
        let _moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let binned = self.binned(name)?;
        let _lock = alone(name, &binned)?;
        fs::remove_dir_all(&binned).map_err(|error| ApiError::io(&format!("'{name}' cannot be erased"), &error))?;
        self.drop_remark(Place::Bin(name))?;
        self.queue.tell_listing();
        Ok(())
    }

    /// Moves the folder of a fit that nobody writes into, with what was remarked on it. The remark under the old name is left to be
    /// dropped: a process that is killed in between leaves one too many, and never none.
    fn move_fit(
        &self,
        (from, folder): (Place<'_>, &Path),
        (to, place): (Place<'_>, &Path),
        moved: &str,
    ) -> ApiResult<()> {
        let name = from.name();
        let lock = alone(name, folder)?;
        let result = self.copy_remark(from, to).and_then(|()| {
            fs::rename(folder, place).map_err(|error| {
                let _ = self.drop_remark(to);
                ApiError::io(&format!("'{name}' cannot be {moved}"), &error)
            })
        });
        // It went along with the folder; the name that it had then may be another's by now.
        let at = if result.is_ok() { place } else { folder };
        let _ = fs::remove_file(at.join(FOLDER_LOCK));
        drop(lock);
        result
    }

    /// Names in the bin.
    pub(crate) fn bin(&self) -> Vec<String> {
        let entries = fs::read_dir(self.workspace.own("bin")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// The folder of an entry of the bin, and of nothing else.
    fn binned(&self, name: &str) -> ApiResult<PathBuf> {
        check_name(name)?;
        let binned = self.bin_place(name);
        match binned.is_dir() && !binned.is_symlink() {
            true => Ok(binned),
            false => Err(ApiError::not_found(format!("there is no '{name}' in the bin"))),
        }
    }

    fn bin_place(&self, name: &str) -> PathBuf {
        self.workspace.own("bin").join(name)
    }
}

/// Keeps others from writing into the folder of a fit, until it is dropped; refused while somebody does. Unlike an `OwnedFolder`, it does not
/// remove the lock by the name that the folder had, where somebody else may have made another meanwhile.
fn alone(name: &str, folder: &Path) -> ApiResult<File> {
    let lock = lock_file(&folder.join(FOLDER_LOCK), Sharing::Alone);
    let lock = lock.map_err(|error| ApiError::io(&format!("'{name}' cannot be locked"), &error))?;
    lock.ok_or_else(|| {
        ApiError::conflict(format!(
            "another run is writing into '{name}': wait for it to end, or end it"
        ))
    })
}
