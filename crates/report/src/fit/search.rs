//! How a model was found, and what its bands promise.

use intervalid_model::{AutoInfo, CandidateInfo};
use serde::{Deserialize, Serialize};

use crate::text::{count, percent, significant};

/// Candidates on the page; the rest is in `candidates.csv`.
const SHOWN: usize = 20;

/// A search in words and as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchView {
    /// Kind and sentence.
    pub(crate) findings: Vec<(String, String)>,
    pub(crate) candidates: Vec<CandidateRow>,
    /// Candidates that the table leaves out.
    pub(crate) more: usize,
    pub(crate) words: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) guarantees: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CandidateRow {
    pub(crate) name: String,
    pub(crate) chosen: bool,
    /// Score, RMSE, width, inside, parameters, time.
    pub(crate) cells: Vec<String>,
}

pub(super) fn view(info: &AutoInfo) -> SearchView {
    let mut words = vec![format!("Why this one: {}.", info.why)];
    if info.members > 1 {
        words.push(format!(
            "The model is the mean of {}, bands and simulations alike, each fitted to training and validation part without one block.",
            count(info.members, "network")
        ));
    } else {
        words.push("The model was fitted again to training and validation part together.".to_owned());
    }
    let calibration = &info.calibration;
    words.push(format!(
        "Its band was scaled to the {} quantile of errors on {} in {}, which tell as much as {:.0} independent ones.",
        percent(calibration.level),
        count(calibration.samples, "held-out sample"),
        count(calibration.blocks, "block"),
        calibration.effective_samples,
    ));
    if info.capped {
        words.push(format!(
            "The time given ran out after {} of the search.",
            count(info.rounds, "round")
        ));
    }
    SearchView {
        findings: info
            .findings
            .iter()
            .map(|finding| (finding.kind.to_owned(), finding.text.clone()))
            .collect(),
        candidates: info.candidates.iter().take(SHOWN).map(row).collect(),
        more: info.candidates.len().saturating_sub(SHOWN),
        words,
        cautions: info.warning.iter().cloned().collect(),
        guarantees: info.guarantees.map(str::to_owned).to_vec(),
    }
}

fn row(candidate: &CandidateInfo) -> CandidateRow {
    let cell = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| significant(value, 3));
    CandidateRow {
        name: candidate.name.clone(),
        chosen: candidate.chosen,
        cells: vec![
            cell(candidate.score),
            significant(candidate.rmse, 3),
            cell(candidate.width),
            candidate.coverage.map_or_else(|| "–".to_owned(), percent),
            candidate.parameters.to_string(),
            format!("{:.1} s", candidate.seconds),
        ],
    }
}

/// How much of the test part the model had to extrapolate to.
pub(super) fn extrapolation(flags: &[Vec<bool>]) -> String {
    let total = flags.iter().map(Vec::len).sum::<usize>().max(1);
    let outside = flags.iter().flatten().filter(|is_outside| **is_outside).count();
    if outside == 0 {
        return "All samples of the test part lie in the region of the training data.".to_owned();
    }
    format!(
        "{} ({outside}) of the test samples lie outside the region of the training data: shaded in the chart, a column \
         `extrapolated` in predictions.csv.",
        percent(outside as f64 / total as f64)
    )
}
