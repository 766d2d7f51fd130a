//! All candidates in one table, whatever their family.

use intervalid_model::{JudgedCandidate, ModelKind};

use crate::choice::Pick;
use crate::hidden_states::{HiddenCandidate, Pool};
use crate::info::CandidateInfo;
use crate::linear::{LinearCandidate, LinearFit};
use crate::networks::NetworkCandidate;
use crate::rounds::Searched;
use crate::score::Score;

/// Everything that was tried, the chosen one first, then by score; without one by error.
pub(crate) fn table(searched: &Searched, pool: Option<&Pool>, chosen: Pick) -> Vec<CandidateInfo> {
    let rows = searched
        .linear
        .iter()
        .enumerate()
        .map(|(index, c)| (Pick::Arx(index), of_arx(c)));
    let lagged = searched.lagged.iter().enumerate();
    let rows = rows.chain(lagged.map(|(index, c)| (Pick::Lagged(index), of_lagged(c))));
    let hidden = searched.hidden_candidates().iter().enumerate();
    let score = |c: &HiddenCandidate| c.started.as_ref().map(|started| started.score.clone());
    let rows = rows.chain(hidden.map(|(index, c)| (Pick::Hidden(index), of_hidden(c, score(c).as_ref()))));
    let rows = rows.chain(pool.map(|pool| (Pick::Pool, of_pool(searched, pool))));
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
        doubt: Some(score.doubt),
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
        doubt: score.map(|score| score.doubt),
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

impl LinearCandidate {
    /// What those who follow a search are told of it.
    pub(crate) fn judged(&self) -> JudgedCandidate {
        JudgedCandidate {
            name: arx_name(self),
            model: ModelKind::Arx,
            parameters: self.parameters,
            error: self.score.total(),
            is_whole: true,
        }
    }
}

impl NetworkCandidate {
    /// What those who follow a search are told of it.
    pub(crate) fn judged(&self) -> JudgedCandidate {
        let row = of_lagged(self);
        JudgedCandidate {
            name: row.name,
            model: row.model,
            parameters: row.parameters,
            error: row.score.unwrap_or(row.rmse),
            is_whole: row.score.is_some(),
        }
    }
}

impl HiddenCandidate {
    /// What those who follow a search are told of it; started as users do, it is told again.
    pub(crate) fn judged(&self) -> JudgedCandidate {
        let score = self.started.as_ref().map_or(&self.score, |started| &started.score);
        JudgedCandidate {
            name: self.name(),
            model: ModelKind::Iss,
            parameters: self.parameters(),
            error: score.total(),
            is_whole: true,
        }
    }
}

/// Its name in words.
pub(crate) fn pool_name(searched: &Searched, of: &[usize]) -> String {
    let candidates = searched.hidden_candidates();
    let names: Vec<String> = of.iter().map(|&place| candidates[place].name()).collect();
    format!("mean of {}", names.join(" and "))
}

/// A candidate, with its `score` as users start it; one that was not tried so has none.
fn of_hidden(candidate: &HiddenCandidate, score: Option<&Score>) -> CandidateInfo {
    let recipe = &candidate.recipe;
    let total = score.map(Score::total);
    let score = score.unwrap_or(&candidate.score);
    CandidateInfo {
        name: candidate.name(),
        model: ModelKind::Iss,
        lags: candidate.lags(),
        hidden: candidate.hidden(),
        states: recipe.states,
        parameters: candidate.parameters(),
        rounds: 1,
        score: total,
        doubt: total.map(|_| score.doubt),
        rmse: score.rmse,
        forward: Some(score.forward),
        coverage: Some(score.coverage),
        width: Some(score.width),
        seconds: candidate.seconds,
        chosen: false,
    }
}

fn of_pool(searched: &Searched, pool: &Pool) -> CandidateInfo {
    let candidates = searched.hidden_candidates();
    let of = || pool.of.iter().map(|&place| &candidates[place]);
    let largest = |size: fn(&HiddenCandidate) -> usize| of().map(size).max().unwrap_or(0);
    CandidateInfo {
        name: pool_name(searched, &pool.of),
        hidden: vec![largest(|c| c.recipe.state_hidden), largest(|c| c.recipe.output_hidden)],
        states: largest(|c| c.recipe.states),
        parameters: of().map(HiddenCandidate::parameters).sum(),
        seconds: of().map(|candidate| candidate.seconds).sum(),
        ..of_hidden(&candidates[pool.of[0]], Some(&pool.score))
    }
}
