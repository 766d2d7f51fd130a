//! All candidates in one table, whatever their family.

use intervalid_data::Lags;
use intervalid_model::{JudgedCandidate, ModelKind};

use crate::choice::{Pick, Pool};
use crate::hidden_states::{HiddenCandidate, HiddenSearch, MeasuredStart};
use crate::info::CandidateInfo;
use crate::linear::{LinearCandidate, LinearFit};
use crate::networks::NetworkCandidate;
use crate::rounds::Searched;
use crate::score::Score;

/// Everything that was tried, the chosen one first, then by score; without one by error. Models on lagged outputs show the score that
/// compares them with others, where they have one.
pub(crate) fn table(
    searched: &Searched,
    judged_alike: &[(Pick, MeasuredStart)],
    pool: Option<&Pool>,
    chosen: Pick,
) -> Vec<CandidateInfo> {
    let arx = (0..searched.linear.len()).map(Pick::Arx);
    let lagged = (0..searched.lagged.len()).map(Pick::Lagged);
    let hidden = (0..searched.hidden_candidates().len()).map(Pick::Hidden);
    let picks = arx.chain(lagged).chain(hidden).chain([Pick::Pool]);
    let rows = picks.filter_map(|pick| {
        let row = row(searched, pool, pick)?;
        let judged = judged_alike.iter().find(|(of, _)| *of == pick);
        Some(match judged {
            Some((_, judged)) => (pick, row.with_score(&judged.score)),
            None => (pick, row),
        })
    });
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
    CandidateInfo {
        name: arx_name(candidate),
        parameters: candidate.parameters,
        seconds: candidate.seconds,
        ..unjudged(ModelKind::Arx, candidate.lags, candidate.score.rmse)
    }
    .with_score(&candidate.score)
}

fn of_lagged(candidate: &NetworkCandidate) -> CandidateInfo {
    let (recipe, score) = (&candidate.recipe, candidate.score.as_ref());
    let rmse = candidate.curve.iter().copied().fold(f64::INFINITY, f64::min).sqrt();
    let row = CandidateInfo {
        name: recipe.name(),
        hidden: recipe.hidden.clone(),
        parameters: candidate.parameters,
        rounds: candidate.rounds,
        seconds: candidate.seconds,
        ..unjudged(recipe.model, recipe.lags, rmse)
    };
    match score {
        Some(score) => row.with_score(score),
        None => row,
    }
}

/// A row of a candidate with this error, before all else is known.
fn unjudged(model: ModelKind, lags: Lags, rmse: f64) -> CandidateInfo {
    CandidateInfo {
        name: String::new(),
        model,
        lags,
        hidden: Vec::new(),
        states: 0,
        parameters: 0,
        rounds: 0,
        score: None,
        doubt: None,
        rmse,
        forward: None,
        coverage: None,
        width: None,
        seconds: 0.0,
        chosen: false,
    }
}

impl CandidateInfo {
    fn with_score(self, score: &Score) -> Self {
        Self {
            score: Some(score.total()),
            doubt: Some(score.doubt),
            rmse: score.rmse,
            forward: Some(score.forward),
            coverage: Some(score.coverage),
            width: Some(score.width),
            ..self
        }
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
        let score = self
            .started
            .as_ref()
            .map_or(&self.score, |started| &started.judged.score);
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
pub(crate) fn pool_name(searched: &Searched, pool: &Pool) -> String {
    let rows = pool.of.iter().filter_map(|&pick| row(searched, None, pick));
    let names: Vec<String> = rows.map(|row| row.name).collect();
    format!("mean of {}", names.join(" and "))
}

/// The row of one candidate; none of a pool that is not there.
fn row(searched: &Searched, pool: Option<&Pool>, pick: Pick) -> Option<CandidateInfo> {
    match pick {
        Pick::Arx(index) => Some(of_arx(&searched.linear[index])),
        Pick::Lagged(index) => Some(of_lagged(&searched.lagged[index])),
        Pick::Hidden(index) => {
            let candidate = &searched.hidden_candidates()[index];
            let started = candidate.started.as_ref();
            Some(of_hidden(candidate, started.map(|started| &started.judged.score)))
        }
        Pick::Pool => pool.map(|pool| of_pool(searched, pool)),
    }
}

/// A candidate, with its `score` as users start it; one that was not tried so has none.
fn of_hidden(candidate: &HiddenCandidate, score: Option<&Score>) -> CandidateInfo {
    let row = CandidateInfo {
        name: candidate.name(),
        hidden: candidate.hidden(),
        states: candidate.recipe.states,
        parameters: candidate.parameters(),
        rounds: 1,
        seconds: candidate.seconds,
        ..unjudged(ModelKind::Iss, candidate.lags(), candidate.score.rmse)
    };
    match score {
        Some(score) => row.with_score(score),
        None => CandidateInfo {
            score: None,
            doubt: None,
            ..row.with_score(&candidate.score)
        },
    }
}

fn of_pool(searched: &Searched, pool: &Pool) -> CandidateInfo {
    let rows: Vec<CandidateInfo> = pool.of.iter().filter_map(|&pick| row(searched, None, pick)).collect();
    let lags = searched.hidden.as_ref().map_or(rows[0].lags, HiddenSearch::lags);
    CandidateInfo {
        name: pool_name(searched, pool),
        hidden: vec![pool.shape.state_hidden, pool.shape.output_hidden],
        states: pool.shape.states,
        parameters: rows.iter().map(|row| row.parameters).sum(),
        rounds: 1,
        seconds: rows.iter().map(|row| row.seconds).sum(),
        ..unjudged(ModelKind::Iss, lags, pool.score.rmse)
    }
    .with_score(&pool.score)
}
