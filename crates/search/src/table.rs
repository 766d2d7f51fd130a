//! All candidates in one table, whatever their family.

use intervalid_model::ModelKind;

use crate::choice::Pick;
use crate::hidden_states::HiddenCandidate;
use crate::info::CandidateInfo;
use crate::linear::{LinearCandidate, LinearFit};
use crate::networks::NetworkCandidate;
use crate::rounds::Searched;

/// Everything that was tried, the chosen one first, then by score; without one by error.
pub(crate) fn table(searched: &Searched, chosen: Pick) -> Vec<CandidateInfo> {
    let rows = searched
        .linear
        .iter()
        .enumerate()
        .map(|(index, c)| (Pick::Arx(index), of_arx(c)));
    let lagged = searched.lagged.iter().enumerate();
    let rows = rows.chain(lagged.map(|(index, c)| (Pick::Lagged(index), of_lagged(c))));
    let hidden = searched.hidden_candidates().iter().enumerate();
    let rows = rows.chain(hidden.map(|(index, c)| (Pick::Hidden(index), of_hidden(c))));
    let mut all: Vec<CandidateInfo> = rows
        .map(|(pick, row)| CandidateInfo {
            chosen: pick == chosen,
            ..row
        })
        .collect();
    all.sort_by(|a, b| {
        let score = |c: &CandidateInfo| (c.score.is_none(), c.score.unwrap_or(c.rmse));
        let ((a_late, a_score), (b_late, b_score)) = (score(a), score(b));
        (!a.chosen, a_late)
            .cmp(&(!b.chosen, b_late))
            .then(a_score.total_cmp(&b_score))
    });
    all
}

/// Its name in words.
pub(crate) fn arx_name(candidate: &LinearCandidate) -> String {
    match candidate.fit {
        LinearFit::OneStep => format!("ARX {}", candidate.lags),
        LinearFit::Simulation => format!("ARX {}, simulation error", candidate.lags),
        LinearFit::WholeRuns => format!("ARX {}, simulation error of whole runs", candidate.lags),
    }
}

fn of_arx(candidate: &LinearCandidate) -> CandidateInfo {
    let score = &candidate.score;
    CandidateInfo {
        name: arx_name(candidate),
        model: ModelKind::Arx,
        lags: candidate.lags,
        hidden: Vec::new(),
        states: 0,
        parameters: candidate.parameters,
        rounds: 0,
        score: Some(score.total()),
        rmse: score.rmse,
        forward: Some(score.forward),
        coverage: Some(score.coverage),
        width: Some(score.width),
        seconds: candidate.seconds,
        chosen: false,
    }
}

fn of_lagged(candidate: &NetworkCandidate) -> CandidateInfo {
    let score = candidate.score.as_ref();
    CandidateInfo {
        name: candidate.recipe.name(),
        model: candidate.recipe.model,
        lags: candidate.recipe.lags,
        hidden: candidate.recipe.hidden.clone(),
        states: 0,
        parameters: candidate.parameters,
        rounds: candidate.rounds,
        score: score.map(|score| score.total()),
        rmse: match score {
            Some(score) => score.rmse,
            None => candidate.curve.iter().copied().fold(f64::INFINITY, f64::min).sqrt(),
        },
        forward: score.map(|score| score.forward),
        coverage: score.map(|score| score.coverage),
        width: score.map(|score| score.width),
        seconds: candidate.seconds,
        chosen: false,
    }
}

fn of_hidden(candidate: &HiddenCandidate) -> CandidateInfo {
    let (recipe, score) = (&candidate.recipe, &candidate.score);
    CandidateInfo {
        name: candidate.name(),
        model: ModelKind::Iss,
        lags: candidate.lags(),
        hidden: candidate.hidden(),
        states: recipe.states,
        parameters: candidate.parameters(),
        rounds: 1,
        score: Some(score.total()),
        rmse: score.rmse,
        forward: Some(score.forward),
        coverage: Some(score.coverage),
        width: Some(score.width),
        seconds: candidate.seconds,
        chosen: false,
    }
}
