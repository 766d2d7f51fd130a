//! Whether the numbers of several fits compare.

use std::path::{Path, PathBuf};

use intervalid_data::Dataset;
use intervalid_report::asked;
use intervalid_report::folder::CONFIG;
use serde_json::Value;

use super::compare::{FitRecord, TestRecord};
use super::fit::ConfigFile;

/// What keeps the numbers of fits from being compared.
#[derive(Default)]
pub(super) struct Differences {
    /// In words.
    pub(super) found: Vec<String>,
    /// Whether they were judged by other samples, and not only for other targets.
    pub(super) are_of_samples: bool,
}

/// What the fits were judged on that is not the same as for the first of them. Contents count, not the names of files.
pub(super) fn differences(folders: &[PathBuf], fits: &[(Value, FitRecord)]) -> Differences {
    let mut differences = Differences::default();
    let first = &fits[0].1;
    for (folder, (_, fit)) in folders.iter().zip(fits).skip(1) {
        let reasons = match (&first.record, &fit.record) {
            (Some(own), Some(other)) => own.differences(other),
            _ if fit.dataset != first.dataset => {
                vec![format!("the data set is {}, not {}", fit.dataset, first.dataset)]
            }
            _ => Vec::new(),
        };
        // Where the records differ, so do the numbers of samples.
        let scored = scored_otherwise(first, fit).filter(|_| reasons.is_empty());
        let of_samples = reasons.into_iter().chain(scored);
        let target = asked_otherwise(first, fit);
        for (reason, is_of_samples) in of_samples
            .map(|reason| (reason, true))
            .chain(target.map(|reason| (reason, false)))
        {
            differences.are_of_samples |= is_of_samples;
            differences.found.push(against(folder, &folders[0], &reason));
        }
    }
    differences
}

/// Models of other lags start a few samples sooner or later; more than this share of the samples is another task.
const SCORED_ALIKE: f64 = 0.05;

/// How much of one test part counts, where that differs.
fn scored_otherwise(own: &FitRecord, other: &FitRecord) -> Option<String> {
    let scored = |fit: &FitRecord| fit.test.as_ref().and_then(TestRecord::scored);
    let (own, other) = scored(own).zip(scored(other))?;
    let is_alike = (own - other).abs() <= SCORED_ALIKE * own.max(other);
    (!is_alike).then(|| format!("{other} samples of the test part are scored, not {own}: the runs start otherwise"))
}

/// What was asked of the bands, where that differs.
fn asked_otherwise(own: &FitRecord, other: &FitRecord) -> Option<String> {
    let is_other = own.coverage.total_cmp(&other.coverage).is_ne();
    is_other.then(|| {
        let [other, own] = [other.coverage, own.coverage].map(asked);
        format!("its band is asked to hold {other} of the samples, not {own}")
    })
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
