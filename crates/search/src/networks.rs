//! Networks: many recipes for a few steps, the best of them for more (successive halving).
//!
//! K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.

use std::time::Instant;

use intervalid_data::Lags;
use intervalid_model::ModelKind;

use super::recurrent;
use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};
use crate::folds::Folds;
use crate::linear::{LinearFit, fit_linear, held_out_errors, held_out_mse, mean_square};
use crate::output_error::{DescentConfig, Narx, descend};
use crate::parallel::map_parallel;
use crate::recipe::{Recipe, recipes};
use crate::score::{HeldOut, Score, score};

/// One descent: θ after every step, and the error on the held-out block there.
#[derive(Clone, Debug)]
struct DescentHistory {
    iterates: Vec<Vec<f64>>,
    errors: Vec<f64>,
}

/// A recipe, its descents, and what it is worth.
#[derive(Clone, Debug)]
pub(crate) struct NetworkCandidate {
    pub(crate) recipe: Recipe,
    pub(crate) parameters: usize,
    /// Rounds it took part in.
    pub(crate) rounds: usize,
    /// Per fold; none where a round did not get to it.
    trails: Vec<Option<DescentHistory>>,
    /// The number of steps with the least mean held-out error.
    pub(crate) steps: usize,
    /// Of rounds over all folds.
    pub(crate) score: Option<Score>,
    pub(crate) errors: HeldOut,
    /// Mean held-out error after each step.
    pub(crate) curve: Vec<f64>,
    pub(crate) seconds: f64,
}

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

/// Samples whose normal equations are affordable with so many parameters.
pub(crate) fn most_samples(parameters: usize) -> usize {
    (4e8 / (parameters * parameters) as f64).clamp(600.0, 20_000.0) as usize
}

/// What a search over networks gave.
#[derive(Default)]
pub(crate) struct NetworkSearch {
    /// The best first; those that left early have no score.
    pub(crate) candidates: Vec<NetworkCandidate>,
    /// Rounds that were finished.
    pub(crate) rounds: usize,
    /// Whether time ran out.
    pub(crate) capped: bool,
}

/// Searches networks around the lags that linear models like.
pub(crate) fn network_candidates(
    folds: &Folds<'_>,
    config: &SearchConfig,
    lags: Lags,
    budget: &Budget<'_>,
) -> Result<NetworkSearch> {
    let candidate = |recipe| NetworkCandidate::new(recipe, folds);
    let mut candidates: Vec<NetworkCandidate> = recipes(folds, config, lags).into_iter().map(candidate).collect();
    if let (Some(model), true) = (config.model, candidates.is_empty()) {
        let samples = folds.all.samples();
        return Err(SearchError::TooShortForNetworks { model, samples });
    }
    for (index, round) in ROUNDS.iter().enumerate() {
        // Rounds run over fewer and fewer candidates: the cost of each is known beforehand.
        let running = if index == 0 {
            candidates.len()
        } else {
            ROUNDS[index - 1].keep
        };
        let before = if index == 0 { 0 } else { ROUNDS[index - 1].steps };
        let each = candidates
            .iter()
            .map(|candidate| round_work(folds, candidate, before, round.steps));
        let mean = each.sum::<f64>() / candidates.len().max(1) as f64;
        let used = round.folds.min(folds.folds.len());
        budget.expect((running * used) as f64 * mean);
    }
    let (mut done, mut capped) = (0, false);
    let mut out = Vec::new();
    for (index, round) in ROUNDS.iter().enumerate().take(config.rounds) {
        if candidates.is_empty() {
            break;
        }
        let Some(mut advanced) = advance(folds, config, &candidates, round, budget)? else {
            capped = true;
            break;
        };
        advanced.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
        done = index + 1;
        let rest = advanced.split_off(round.keep.min(advanced.len()));
        out.splice(0..0, rest);
        candidates = advanced;
    }
    candidates.append(&mut out);
    candidates.retain(|candidate| candidate.rounds > 0);
    Ok(NetworkSearch {
        candidates,
        rounds: done,
        capped,
    })
}

impl NetworkCandidate {
    fn new(recipe: Recipe, folds: &Folds<'_>) -> Self {
        Self {
            parameters: recipe.parameters(folds),
            recipe,
            rounds: 0,
            trails: vec![None; folds.folds.len()],
            steps: 0,
            score: None,
            errors: HeldOut::new(),
            curve: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Less is better.
    fn rank(&self) -> f64 {
        match &self.score {
            Some(score) => score.mean(),
            None => self.curve.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    /// θ of a fold after the chosen number of steps.
    pub(crate) fn theta(&self, fold: usize) -> Option<&[f64]> {
        let iterates = &self.trails[fold].as_ref()?.iterates;
        iterates.get(self.steps.min(iterates.len() - 1)).map(Vec::as_slice)
    }
}

/// Multiplications in the normal equations of one step.
fn step_work(folds: &Folds<'_>, parameters: usize) -> f64 {
    let outputs = folds.dataset.outputs().len();
    let samples = folds.all.samples().min(most_samples(parameters)) * outputs;
    (samples * parameters * parameters) as f64
}

/// Multiplications that take one fold of a candidate from `before` steps to `steps`. An LSTM is trained in one go.
fn round_work(folds: &Folds<'_>, candidate: &NetworkCandidate, before: usize, steps: usize) -> f64 {
    match candidate.recipe.model {
        ModelKind::Ilstm if before > 0 => 0.0,
        ModelKind::Ilstm => recurrent::work(folds, &candidate.recipe),
        _ => (steps - before) as f64 * step_work(folds, candidate.parameters),
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
    // The last block is nearest to the future, the middle one has data on both sides.
    let count = folds.folds.len();
    let order: Vec<usize> = match round.folds {
        2 => vec![count - 1, (count - 1) / 2],
        _ => (0..count).collect(),
    };
    let jobs: Vec<(usize, usize)> = (0..candidates.len())
        .flat_map(|candidate| order.iter().map(move |&fold| (candidate, fold)))
        .collect();
    let trails = map_parallel(&jobs, budget.threads, |&(candidate, fold)| {
        let started = Instant::now();
        let candidate = &candidates[candidate];
        let trail = extend(
            folds,
            config,
            &candidate.recipe,
            fold,
            candidate.trails[fold].as_ref(),
            round.steps,
            budget,
        );
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
    let scored = map_parallel(&advanced, budget.threads, |candidate| judge(folds, config, candidate));
    let mut advanced = scored.into_iter().collect::<Result<Vec<_>>>()?;
    advanced.iter_mut().for_each(|candidate| candidate.rounds += 1);
    Ok(Some(advanced))
}

/// Goes on with a descent, or starts one at the linear fit; none if time runs out.
fn extend(
    folds: &Folds<'_>,
    config: &SearchConfig,
    recipe: &Recipe,
    fold: usize,
    before: Option<&DescentHistory>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    if recipe.model == ModelKind::Ilstm {
        return recurrent_trail(folds, config, recipe, fold, before, budget);
    }
    let rest = &folds.folds[fold].rest;
    let linear = fit_linear(folds, rest, config, recipe.lags, LinearFit::OneStep)?;
    // Each fold starts elsewhere, so that their mean is one over starts as well.
    let mut model = linear.with_network(&recipe.hidden, member_seed(config.seed, fold));
    let mut trail = match before {
        Some(trail) => trail.clone(),
        None => DescentHistory {
            errors: vec![held_out_mse(&model, folds, fold, config)?],
            iterates: vec![model.theta.clone()],
        },
    };
    if let Some(last) = trail.iterates.last() {
        model.theta.clone_from(last);
    }
    let parameters = model.theta.len();
    let windows = folds.windows(
        rest,
        (recipe.lags, recipe.initial),
        recipe.window,
        most_samples(parameters),
        fold,
    );
    let left = steps.saturating_sub(trail.iterates.len() - 1);
    let settings = DescentConfig {
        iterations: left,
        ridge: recipe.ridge,
        initial: recipe.initial,
    };
    let work = step_work(folds, parameters);
    let mut is_cut = false;
    let descent = descend(model.clone(), &folds.scaled, &windows, settings, |_| {
        is_cut = !budget.did(work, "networks") || budget.is_over();
        !is_cut
    });
    if is_cut {
        return Ok(None);
    }
    for theta in descent.iterates.into_iter().skip(1) {
        let now = Narx { theta, ..model.clone() };
        trail.errors.push(held_out_mse(&now, folds, fold, config)?);
        trail.iterates.push(now.theta);
    }
    Ok(Some(trail))
}

/// Trains an LSTM, unless that has been done.
fn recurrent_trail(
    folds: &Folds<'_>,
    config: &SearchConfig,
    recipe: &Recipe,
    fold: usize,
    before: Option<&DescentHistory>,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    if let Some(trail) = before {
        return Ok(Some(trail.clone()));
    }
    let seed = member_seed(config.seed, fold);
    let Some(theta) = recurrent::train(folds, config, recipe, fold, seed, budget)? else {
        return Ok(None);
    };
    let errors = recurrent::held_out_errors(folds, recipe, &theta, fold)?;
    Ok(Some(DescentHistory {
        errors: vec![mean_square(errors.as_deref())],
        iterates: vec![theta],
    }))
}

/// Seed of a fold's network.
fn member_seed(seed: u64, member: usize) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(member as u64)
}

/// Chooses the number of steps and scores the candidate there.
fn judge(folds: &Folds<'_>, config: &SearchConfig, candidate: &NetworkCandidate) -> Result<NetworkCandidate> {
    let mut judged = candidate.clone();
    let trails: Vec<&DescentHistory> = candidate.trails.iter().flatten().collect();
    let longest = trails.iter().map(|trail| trail.errors.len()).max().unwrap_or(0);
    let at = |step: usize| {
        let errors = trails
            .iter()
            .map(|trail| trail.errors[step.min(trail.errors.len() - 1)]);
        errors.sum::<f64>() / trails.len().max(1) as f64
    };
    judged.curve = (0..longest).map(at).collect();
    let best = (0..longest).min_by(|&a, &b| judged.curve[a].total_cmp(&judged.curve[b]));
    judged.steps = best.unwrap_or(0);
    if trails.len() < candidate.trails.len() {
        return Ok(judged);
    }
    judged.errors = HeldOut::new();
    judged.score = None;
    for fold in 0..trails.len() {
        let Some(theta) = judged.theta(fold) else {
            return Ok(judged);
        };
        let errors = match judged.recipe.model {
            ModelKind::Ilstm => recurrent::held_out_errors(folds, &judged.recipe, theta, fold)?,
            _ => held_out_errors(&judged.model(folds, theta.to_vec()), folds, fold, config)?,
        };
        let Some(errors) = errors else {
            return Ok(judged);
        };
        judged.errors.push(errors);
    }
    judged.score = Some(score(&judged.errors, config.coverage));
    Ok(judged)
}

impl NetworkCandidate {
    /// The network with these parameters.
    fn model(&self, folds: &Folds<'_>, theta: Vec<f64>) -> Narx {
        Narx {
            lags: self.recipe.lags,
            inputs: folds.dataset.inputs().len(),
            outputs: folds.dataset.outputs().len(),
            hidden: self.recipe.hidden.clone(),
            theta,
        }
    }

    /// One more network per fold, from other starts and as many steps: θ by fold. None if the user stops or time runs out.
    pub(crate) fn second_members(
        &self,
        folds: &Folds<'_>,
        config: &SearchConfig,
        budget: &Budget<'_>,
    ) -> Result<Option<Vec<Vec<f64>>>> {
        let other = SearchConfig {
            seed: config.seed.wrapping_add(0x5eed),
            ..config.clone()
        };
        let indices: Vec<usize> = (0..folds.folds.len()).collect();
        let trails = map_parallel(&indices, budget.threads, |&fold| {
            extend(folds, &other, &self.recipe, fold, None, self.steps, budget)
        });
        budget.check()?;
        let mut members = Vec::new();
        for trail in trails {
            let Some(theta) = trail?.and_then(|mut trail| trail.iterates.pop()) else {
                return Ok(None);
            };
            members.push(theta);
        }
        Ok(Some(members))
    }
}
