//! Networks on lagged outputs: many recipes for a few steps, the best of them for more (successive halving).
//!
//! The number of steps that judges a division is chosen on the others. A recipe's penalty is the same in all rounds and for all
//! members: it is set once by the error of the linear model that a division starts from.
//!
//! K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter optimization, AISTATS 2016.

use std::time::Instant;

use intervalid_data::{InitialState, Lags, Window};
use intervalid_model::ModelKind;

use super::recurrent;
use crate::budget::{Budget, WORK};
use crate::config::SearchConfig;
use crate::doubt::disagreement;
use crate::error::{Result, SearchError};
use crate::folds::Folds;
use crate::journal::Stored;
use crate::linear::{LinearFit, fit_linear, held_out_errors, held_out_mse, mean_square};
use crate::output_error::{DescentConfig, Narx, descend, free_run_error};
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
    /// The same for each fold, without looking at that fold.
    steps_without: Vec<usize>,
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

/// Members of the final model that have seen everything.
const MEMBERS_OF_EVERYTHING: usize = 3;

/// Samples whose normal equations are affordable with so many parameters.
pub(crate) fn most_samples(parameters: usize) -> usize {
    (4e8 / (parameters * parameters) as f64).clamp(600.0, 20_000.0) as usize
}

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

impl NetworkCandidate {
    fn new(recipe: Recipe, folds: &Folds<'_>) -> Self {
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
    fn rank(&self) -> f64 {
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

/// Multiplications in the normal equations of one step.
pub(crate) fn step_work(folds: &Folds<'_>, parameters: usize) -> f64 {
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
        let done = before.map_or(0, |before| before.iterates.len() - 1);
        budget.took(
            round_work(folds, candidate, done.min(round.steps), round.steps),
            started.elapsed(),
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

/// Goes on with a descent without a fold, or without none of them, or starts one at the linear fit; none if time runs out.
fn extend(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    before: Option<&DescentHistory>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    // Where it goes on from is decided by the recipe, the fold and the steps done.
    let key = || {
        let done = before.map(|before| (before.iterates.len(), before.iterates.last()));
        format!("{recipe:?} without {fold:?}, seed {seed}, {steps} steps after {done:?}")
    };
    let mut failed = None;
    let trail = budget.once("networks", key, || {
        let trail = descent((folds, fold), config, recipe, seed, before, steps, budget);
        trail.unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    });
    failed.map_or(Ok(trail), Err)
}

impl Stored for DescentHistory {
    fn put(&self, to: &mut Vec<u8>) {
        self.iterates.put(to);
        self.errors.put(to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let (iterates, errors): (Vec<Vec<f64>>, Vec<f64>) = Stored::get(from)?;
        let size = iterates.first()?.len();
        let is_whole = iterates.iter().all(|theta| theta.len() == size) && errors.len() == iterates.len();
        is_whole.then_some(Self { iterates, errors })
    }
}

/// The same, carried out.
fn descent(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    before: Option<&DescentHistory>,
    steps: usize,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    if recipe.model == ModelKind::Ilstm {
        return match before {
            Some(trail) => Ok(Some(trail.clone())),
            None => recurrent_trail((folds, fold), config, recipe, seed, budget),
        };
    }
    let rest = fold.map_or(&folds.all, |fold| &folds.folds[fold].rest);
    let linear = fit_linear(folds, rest, config, (recipe.lags, LinearFit::OneStep, None))?;
    // Each fold starts elsewhere, so that their mean is one over starts as well.
    let mut model = linear.with_network(&recipe.hidden, seed);
    let judge = |model: &Narx| match fold {
        Some(fold) => held_out_mse(model, folds, fold, config),
        None => Ok(0.0),
    };
    let mut trail = match before {
        Some(trail) => trail.clone(),
        None => DescentHistory {
            errors: vec![judge(&model)?],
            iterates: vec![model.theta.clone()],
        },
    };
    if let Some(last) = trail.iterates.last() {
        model.theta.clone_from(last);
    }
    let parameters = model.theta.len();
    let start = (recipe.lags, recipe.initial);
    let windows = folds.windows(rest, start, recipe.window, most_samples(parameters), fold.unwrap_or(0));
    let settings = DescentConfig {
        iterations: steps.saturating_sub(trail.iterates.len() - 1),
        ridge: recipe.ridge * linear_error(&linear, folds, &windows, recipe.initial),
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
        // A long record's last step is the one that counts, and its runs are dear.
        if !folds.is_long() {
            trail.errors.push(judge(&now)?);
        }
        trail.iterates.push(now.theta);
    }
    if folds.is_long() {
        if let Some(theta) = trail.iterates.last() {
            model.theta.clone_from(theta);
        }
        trail.errors = vec![judge(&model)?; trail.iterates.len()];
    }
    Ok(Some(trail))
}

/// What penalties are measured by: the mean squared error of a linear model's free runs, at most the outputs' variance. It depends
/// on the data alone, so that a descent that goes on has the penalty it had before.
fn linear_error(linear: &Narx, folds: &Folds<'_>, windows: &[Window], initial: InitialState) -> f64 {
    let error = free_run_error(linear, &folds.scaled, windows, initial);
    error.map_or(1.0, |error| error.min(1.0))
}

/// Trains an LSTM.
fn recurrent_trail(
    (folds, fold): (&Folds<'_>, Option<usize>),
    config: &SearchConfig,
    recipe: &Recipe,
    seed: u64,
    budget: &Budget<'_>,
) -> Result<Option<DescentHistory>> {
    let Some(theta) = recurrent::train(folds, config, recipe, fold, seed, budget)? else {
        return Ok(None);
    };
    let errors = match fold {
        Some(fold) => recurrent::held_out_errors(folds, recipe, &theta, fold)?,
        None => Some(Vec::new()),
    };
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
    fn model(&self, folds: &Folds<'_>, theta: Vec<f64>) -> Narx {
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

#[cfg(test)]
mod tests {
    use intervalid_data::{Split, SplitFractions, WienerSystem};

    use super::*;
    use crate::config::SearchOptions;

    /// With a penalty that followed the error, a descent in two parts would end at larger weights than one in one go.
    #[test]
    fn a_descent_that_goes_on_keeps_its_penalty() {
        let dataset = WienerSystem::default()
            .generate(300, 1)
            .expect("generates")
            .into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let config = SearchConfig::default();
        let budget = Budget::new(&SearchOptions::default());
        let recipe = Recipe {
            model: ModelKind::Inode,
            lags: Lags { nx: 1, nd: 0, ny: 1 },
            hidden: vec![3],
            ridge: 1.0,
            window: 60,
            initial: InitialState::Measured,
        };
        let descend = |steps, before: Option<&DescentHistory>| {
            let trail = extend((&folds, Some(0)), &config, &recipe, 7, before, steps, &budget);
            trail.expect("fits").expect("nobody stops it")
        };
        let in_one_go = descend(150, None);
        let first = descend(15, None);
        assert_eq!(first.iterates[..10], in_one_go.iterates[..10]);
        let in_two = descend(150, Some(&first));
        let size = |trail: &DescentHistory| {
            trail
                .iterates
                .last()
                .map(|theta| theta.iter().map(|t| t * t).sum::<f64>())
        };
        let (one, two) = (size(&in_one_go).expect("steps"), size(&in_two).expect("steps"));
        assert!((one / two - 1.0).abs() < 0.02, "{one} {two}");
    }
}
