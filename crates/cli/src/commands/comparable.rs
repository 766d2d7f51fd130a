//! Whether the numbers of several fits compare.

use std::path::{Path, PathBuf};

use intervalid_data::Dataset;
use intervalid_report::folder::CONFIG;
use serde_json::Value;

use super::compare::FitRecord;
use super::fit::ConfigFile;

/// What the fits were judged on that is not the same as for the first of them. Contents count, not the names of files.
pub(super) fn differences(folders: &[PathBuf], fits: &[(Value, FitRecord)]) -> Vec<String> {
    let mut found = Vec::new();
    let first = &fits[0].1;
    for (folder, (_, fit)) in folders.iter().zip(fits).skip(1) {
        let reasons = match (&first.record, &fit.record) {
            (Some(own), Some(other)) => own.differences(other),
            _ if fit.dataset != first.dataset => {
                vec![format!("the data set is {}, not {}", fit.dataset, first.dataset)]
            }
            _ => Vec::new(),
        };
        let reasons = reasons.into_iter();
        found.extend(reasons.map(|reason| against(folder, &folders[0], &reason)));
    }
    found
}

/// What is different about a fit.
pub(super) fn against(folder: &Path, first: &Path, reason: &str) -> String {
    format!("{} against {}: {reason}", folder.display(), first.display())
}

/// Whether fits take the same samples from one record, as far as their folders tell.
pub(super) fn prepare_alike(folders: &[PathBuf]) -> bool {
    let files: Vec<ConfigFile> = folders
        .iter()
        .map(|folder| folder.join(CONFIG))
        .map(|path| ConfigFile::load(path.is_file().then_some(path.as_path())).unwrap_or_default())
        .collect();
    files
        .windows(2)
        .all(|pair| pair[0].changes_of_samples() == pair[1].changes_of_samples())
}

/// What keeps models from being compared on this record, though all of them were run on it: the measured outputs that they are judged by.
pub(super) fn differences_on_data(own: &Dataset, other: &Dataset) -> Vec<String> {
    let names = |dataset: &Dataset| -> Vec<String> {
        let outputs = dataset.outputs().iter();
        outputs.map(|channel| channel.name.clone()).collect()
    };
    if own.outputs().len() != other.outputs().len() {
        return vec![format!(
            "the outputs are {}, not {}",
            names(other).join(", "),
            names(own).join(", ")
        )];
    }
    let measured = |dataset: &Dataset| -> Vec<Vec<f64>> {
        let outputs = 0..dataset.outputs().len();
        let all = dataset.experiments().iter();
        all.flat_map(|experiment| outputs.clone().map(|output| experiment.output(output).to_vec()))
            .collect()
    };
    if measured(own) == measured(other) {
        return Vec::new();
    }
    let prepared = |dataset: &Dataset| {
        let channels = dataset.inputs().iter().chain(dataset.outputs());
        let channels: Vec<&str> = channels.map(|channel| channel.name.as_str()).collect();
        match dataset.preparation().in_words(&channels) {
            words if words.is_empty() => "Nothing is done to them.".to_owned(),
            words => words.join(" "),
        }
    };
    vec![match own.preparation() == other.preparation() {
        true => "the measured outputs are others".to_owned(),
        false => format!(
            "the samples to judge by are prepared in another way ({} samples: {} Not {}: {})",
            other.samples(),
            prepared(other),
            own.samples(),
            prepared(own)
        ),
    }]
}
