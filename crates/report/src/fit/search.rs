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
            "The model averages {}, simulations and bands alike; each was fitted to all or to most of the training and validation parts.",
            count(info.members, "model")
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
         marked in predictions.csv (column extrapolated).",
        percent(outside as f64 / total as f64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_members_were_fitted_to_is_true_of_all_of_them() {
        let info = |members: usize| {
            serde_json::from_value::<SearchInfo>(serde_json::json!({
                "findings": [], "candidates": [], "why": "it is best", "members": members, "warning": null, "guarantees": [],
                "rounds": 3, "capped": false, "work": 1.0,
                "calibration": {
                    "outputs": [{"lower": 1.0, "upper": 1.0, "floor": 0.0}], "level": 0.9, "blocks": 5, "samples": 100,
                    "effective_samples": 50.0, "block_coverage": [0.9, 0.9, 0.9, 0.9, 0.9],
                },
            }))
            .unwrap()
        };
        // Members of folds alone, or of everything alone, are averaged at times.
        assert_eq!(
            view(&info(5)).words[1],
            "The model averages 5 models, simulations and bands alike; each was fitted to all or to most of the training and \
             validation parts."
        );
        assert!(view(&info(1)).words[1].starts_with("The model was then refitted"));
    }
}
