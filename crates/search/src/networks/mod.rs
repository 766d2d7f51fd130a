//! Networks on lagged outputs: many recipes for a few steps, the best of them for more (successive halving).
//!
//! The number of steps that judges a division is chosen on the others. A recipe's penalty is the same in all rounds and for all
//! members: it is set once by the error of the linear model that a division starts from.
//!
//! K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.

mod candidate;
mod descent;

use std::time::Instant;

use intervalid_data::Lags;
use intervalid_model::ModelKind;

pub(crate) use candidate::NetworkCandidate;
use candidate::{judge, member_seed, round_work};
use descent::extend;
pub(crate) use descent::{most_samples, step_work};

use crate::budget::{Budget, WORK};
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};
use crate::folds::Folds;
use crate::parallel::map_parallel;
use crate::recipe::recipes;

/// One round: how many folds, steps in all, and how many candidates stay.
struct Round {
    folds: usize,
    steps: usize,
    keep: usize,
}

const ROUNDS: [Round; 3] = [
    Round {
        folds: 2,
        steps: 12,
        keep: 6,
    },
    Round {
        folds: usize::MAX,
        steps: 40,
        keep: 2,
    },
    Round {
        folds: usize::MAX,
        steps: 120,
        keep: 1,
    },
];

/// Most work of a round, as a share of a search's: larger networks are left out first, then worse ones.
const ROUND_SHARE: f64 = 0.03;

/// The networks of a search, round by round.
#[derive(Default)]
pub(crate) struct LaggedSearch {
    /// Those that go on, after a round the best first.
    running: Vec<NetworkCandidate>,
    /// Those that left, the latest first.
    left: Vec<NetworkCandidate>,
    round: usize,
}

impl LaggedSearch {
    /// Recipes around the lags that linear models like.
    pub(crate) fn new(folds: &Folds<'_>, config: &SearchConfig, lags: Lags) -> Result<Self> {
        let candidate = |recipe| NetworkCandidate::new(recipe, folds);
        let mut running: Vec<NetworkCandidate> = recipes(folds, config, lags).into_iter().map(candidate).collect();
        if let (Some(model @ (ModelKind::Inode | ModelKind::Ilstm)), true) = (config.model, running.is_empty()) {
            let samples = folds.all.samples();
            return Err(SearchError::TooShortForNetworks { model, samples });
        }
        // Stable: of equals the first recipes stay.
        running.sort_by_key(|candidate| (candidate.recipe.model == ModelKind::Ilstm, candidate.parameters));
        Ok(Self {
            running,
            left: Vec::new(),
            round: 0,
        })
    }

    /// Whether there is nothing more to do.
    pub(crate) fn is_done(&self) -> bool {
        self.round == ROUNDS.len() || self.running.is_empty()
    }

    /// Takes the candidates through the next round; false, and nothing changes, if time runs out.
    pub(crate) fn next_round(&mut self, folds: &Folds<'_>, config: &SearchConfig, budget: &Budget<'_>) -> Result<bool> {
        let round = &ROUNDS[self.round];
        let before = if self.round == 0 {
            0
        } else {
            ROUNDS[self.round - 1].steps
        };
        let used = round.folds.min(folds.folds.len());
        let mut work = 0.0;
        let affordable = self
            .running
            .iter()
            .take_while(|candidate| {
                work += used as f64 * round_work(folds, candidate, before, round.steps);
                work <= ROUND_SHARE * WORK
            })
            .count();
        let going_on = &self.running[..affordable.max(1)];
        let Some(mut advanced) = advance(folds, config, going_on, round, budget)? else {
            return Ok(false);
        };
        advanced.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        let mut rest = advanced.split_off(round.keep.min(advanced.len()));
        rest.extend(self.running.drain(affordable.max(1)..));
        self.left.splice(0..0, rest);
        self.running = advanced;
        self.round += 1;
        Ok(true)
    }

    /// All that were tried, the best first; those that left early have no score.
    pub(crate) fn into_candidates(self) -> Vec<NetworkCandidate> {
        let all = self.running.into_iter().chain(self.left);
        all.filter(|candidate| candidate.rounds > 0).collect()
    }

    /// The best score so far.
    pub(crate) fn best(&self) -> Option<&NetworkCandidate> {
        self.running.first().filter(|candidate| candidate.score.is_some())
    }
}

/// Takes candidates through a round; none if time runs out.
fn advance(
    folds: &Folds<'_>,
    config: &SearchConfig,
    candidates: &[NetworkCandidate],
    round: &Round,
    budget: &Budget<'_>,
) -> Result<Option<Vec<NetworkCandidate>>> {
    // The last is the forward cut; the middle one has data on both sides.
    let count = folds.folds.len();
    let order: Vec<usize> = match round.folds {
        2 if count > 1 => vec![count - 1, (count - 1) / 2],
        _ => (0..count).collect(),
    };
    let jobs: Vec<(usize, usize)> = (0..candidates.len())
        .flat_map(|candidate| order.iter().map(move |&fold| (candidate, fold)))
        .collect();
    let trails = map_parallel(&jobs, budget.threads, |&(candidate, fold)| {
        let started = Instant::now();
        let candidate = &candidates[candidate];
        let before = candidate.trails[fold].as_ref();
        let seed = member_seed(config.seed, fold);
        let data = (folds, Some(fold));
        let trail = extend(data, config, &candidate.recipe, seed, before, round.steps, budget);
        trail.map(|trail| (trail, started.elapsed().as_secs_f64()))
    });
    budget.check()?;
    let mut advanced = candidates.to_vec();
    for (&(candidate, fold), trail) in jobs.iter().zip(trails) {
        let (Some(trail), seconds) = trail? else {
            return Ok(None);
        };
        advanced[candidate].trails[fold] = Some(trail);
        advanced[candidate].seconds += seconds;
    }
    let scored = map_parallel(&advanced, budget.threads, |candidate| {
        let judged = judge(folds, config, candidate);
        if let Ok(judged) = &judged {
            budget.judged(judged.judged());
        }
        judged
    });
    let mut advanced = scored.into_iter().collect::<Result<Vec<_>>>()?;
    advanced.iter_mut().for_each(|candidate| candidate.rounds += 1);
    Ok(Some(advanced))
}
