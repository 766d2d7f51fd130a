//! How a model was found, and what its bands promise.

use intervalid_search::{CandidateInfo, SearchInfo};
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

pub(super) fn view(info: &SearchInfo) -> SearchView {
    let mut words = vec![format!("Why this one: {}.", info.why)];
    if info.members > 1 {
        words.push(format!(
            "The model averages {}, simulations and bands alike; some were fitted to the training and validation parts together, the \
             others with one block left out.",
            count(info.members, "network")
        ));
    } else {
        words.push("The model was then refitted to the training and validation parts together.".to_owned());
    }
    let calibration = &info.calibration;
    words.push(calibration.in_words());
    if info.capped {
        words.push(format!(
            "Time ran out after {} of the search.",
            count(info.rounds, "round")
        ));
    }
    SearchView {
        findings: info
            .findings
            .iter()
            .map(|finding| (finding.kind.name().to_owned(), finding.text.clone()))
            .collect(),
        candidates: info.candidates.iter().take(SHOWN).map(row).collect(),
        more: info.candidates.len().saturating_sub(SHOWN),
        words,
        cautions: info.warning.iter().cloned().collect(),
        guarantees: info.guarantees.clone(),
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

/// How much of the test part the model had to extrapolate to; `None` without a test part.
pub(super) fn extrapolation(flags: &[Vec<bool>]) -> Option<String> {
    let total = flags.iter().map(Vec::len).sum::<usize>();
    if total == 0 {
        return None;
    }
    let outside = flags.iter().flatten().filter(|is_outside| **is_outside).count();
    if outside == 0 {
        return Some("All test samples lie within the region that the training data cover.".to_owned());
    }
    Some(format!(
        "{} of the test samples ({outside}) lie outside the region that the training data cover; they are shaded in the chart and \
         marked in the column `extrapolated` of predictions.csv.",
        percent(outside as f64 / total as f64)
    ))
}
