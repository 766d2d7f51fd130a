//! A network on lagged outputs as a candidate: its descents without each division, its score, and the networks that come of it.

use intervalid_model::ModelKind;

use super::descent::{DescentHistory, extend, step_work};
use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::doubt::disagreement;
use crate::error::Result;
use crate::folds::Folds;
use crate::linear::held_out_errors;
use crate::output_error::Narx;
use crate::parallel::map_parallel;
use crate::recipe::Recipe;
use crate::recurrent;
use crate::score::{HeldOut, Score, score};

/// Members of the final model that have seen everything.
const MEMBERS_OF_EVERYTHING: usize = 3;

/// A recipe, its descents, and what it is worth.
#[derive(Clone, Debug)]
pub(crate) struct NetworkCandidate {
    pub(crate) recipe: Recipe,
    pub(crate) parameters: usize,
    /// Rounds it took part in.
    pub(crate) rounds: usize,
    /// Per fold; none where a round did not get to it.
    pub(super) trails: Vec<Option<DescentHistory>>,
    /// The number of steps with the least mean held-out error.
    pub(crate) steps: usize,
    /// The same for each fold, without looking at that fold.
    steps_without: Vec<usize>,
    /// Of rounds over all folds.
    pub(crate) score: Option<Score>,
    pub(crate) errors: HeldOut,
    /// Mean held-out error after each step.
    pub(crate) curve: Vec<f64>,
    pub(crate) seconds: f64,
}

impl NetworkCandidate {
    pub(super) fn new(recipe: Recipe, folds: &Folds<'_>) -> Self {
        Self {
            parameters: recipe.parameters(folds),
            recipe,
            rounds: 0,
            trails: vec![None; folds.folds.len()],
            steps: 0,
            steps_without: Vec::new(),
            score: None,
            errors: HeldOut::new(),
            curve: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Less is better.
    pub(super) fn rank(&self) -> f64 {
        match &self.score {
            Some(score) => score.total(),
            None => self.curve.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    /// θ of a fold after the number of steps that the other folds like.
    pub(crate) fn theta(&self, fold: usize) -> Option<&[f64]> {
        let iterates = &self.trails[fold].as_ref()?.iterates;
        let steps = *self.steps_without.get(fold)?;
        iterates.get(steps.min(iterates.len() - 1)).map(Vec::as_slice)
    }

    /// Work of [`NetworkCandidate::members_of_everything`].
    pub(crate) fn everything_work(&self, folds: &Folds<'_>) -> f64 {
        MEMBERS_OF_EVERYTHING as f64 * self.member_work(folds)
    }

    /// Work of one network.
    pub(crate) fn member_work(&self, folds: &Folds<'_>) -> f64 {
        round_work(folds, self, 0, self.steps)
    }
}

/// Multiplications that take one fold of a candidate from `before` steps to `steps`. An LSTM is trained in one go.
pub(super) fn round_work(folds: &Folds<'_>, candidate: &NetworkCandidate, before: usize, steps: usize) -> f64 {
    match candidate.recipe.model {
        ModelKind::Ilstm if before > 0 => 0.0,
        ModelKind::Ilstm => recurrent::work(folds, &candidate.recipe),
        _ => (steps - before) as f64 * step_work(folds, candidate.parameters),
    }
}

/// Seed of a fold's network.
pub(super) fn member_seed(seed: u64, member: usize) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(member as u64)
}

/// Chooses the number of steps and scores the candidate there.
pub(super) fn judge(
    folds: &Folds<'_>,
    config: &SearchConfig,
    candidate: &NetworkCandidate,
) -> Result<NetworkCandidate> {
    let mut judged = candidate.clone();
    let trails: Vec<&DescentHistory> = candidate.trails.iter().flatten().collect();
    let longest = trails.iter().map(|trail| trail.errors.len()).max().unwrap_or(0);
    let at = |step: usize, without: Option<usize>| {
        let errors = trails.iter().enumerate().filter(|(fold, _)| Some(*fold) != without);
        let errors = errors.map(|(_, trail)| trail.errors[step.min(trail.errors.len() - 1)]);
        errors.sum::<f64>() / trails.len().max(1) as f64
    };
    // Of a single division nothing else can choose: there all steps are taken.
    let best = |without: Option<usize>| match trails.len() {
        1 => longest.saturating_sub(1),
        _ => {
            let best = (0..longest).min_by(|&a, &b| at(a, without).total_cmp(&at(b, without)));
            best.unwrap_or(0)
        }
    };
    judged.curve = (0..longest).map(|step| at(step, None)).collect();
    judged.steps = best(None);
    judged.steps_without = (0..trails.len()).map(|fold| best(Some(fold))).collect();
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
    let elsewhere = (0..trails.len())
        .map(|fold| judged.theta(fold))
        .map(|theta| match judged.recipe.model {
            ModelKind::Ilstm => recurrent::whole_runs(folds, &judged.recipe, theta?),
            _ => judged
                .model(folds, theta?.to_vec())
                .whole_runs(&folds.backwards, config.initial()),
        });
    let doubt = disagreement(&elsewhere.collect::<Vec<_>>());
    judged.score = Some(score(&judged.errors, folds.blocks, config.coverage).doubted(doubt));
    Ok(judged)
}

impl NetworkCandidate {
    /// The network with these parameters.
    pub(crate) fn model(&self, folds: &Folds<'_>, theta: Vec<f64>) -> Narx {
        Narx {
            lags: self.recipe.lags,
            inputs: folds.dataset.inputs().len(),
            outputs: folds.dataset.outputs().len(),
            hidden: self.recipe.hidden.clone(),
            theta,
        }
    }

    /// A network of each division from this one on, made as the candidate was: θ each, none where that is not possible.
    pub(crate) fn members_from(
        &self,
        first: usize,
        folds: &Folds<'_>,
        config: &SearchConfig,
        budget: &Budget<'_>,
    ) -> Result<Vec<(usize, Vec<f64>)>> {
        let divisions: Vec<usize> = (first..folds.folds.len()).collect();
        let trails = map_parallel(&divisions, budget.threads, |&fold| {
            let seed = member_seed(config.seed, fold);
            extend(
                (folds, Some(fold)),
                config,
                &self.recipe,
                seed,
                None,
                self.steps,
                budget,
            )
        });
        budget.check()?;
        let mut members = Vec::new();
        for (fold, trail) in divisions.into_iter().zip(trails) {
            let theta = trail?.and_then(|mut trail| trail.iterates.pop());
            members.extend(theta.map(|theta| (fold, theta)));
        }
        Ok(members)
    }

    /// Networks fitted to everything, from starts of their own: θ each. Fewer if the user stops.
    pub(crate) fn members_of_everything(
        &self,
        folds: &Folds<'_>,
        config: &SearchConfig,
        budget: &Budget<'_>,
    ) -> Result<Vec<Vec<f64>>> {
        let starts: Vec<usize> = (0..MEMBERS_OF_EVERYTHING).collect();
        let trails = map_parallel(&starts, budget.threads, |&start| {
            let seed = member_seed(config.seed.wrapping_add(0x5eed), start);
            extend((folds, None), config, &self.recipe, seed, None, self.steps, budget)
        });
        budget.check()?;
        let mut members = Vec::new();
        for trail in trails {
            members.extend(trail?.and_then(|mut trail| trail.iterates.pop()));
        }
        Ok(members)
    }
}
