//! The rounds of a search for models with hidden states.
//!
//! Linear orders come first, then networks in waves of four, each wave chosen by the results of the ones before. Of a wave that time
//! cuts, the recipes finished in order are kept, so that as many rounds give the same result again.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use intervalid_data::{InitialState, Lags};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::candidate::{HiddenCandidate, lags_of};
use super::long::LongSearch;
use super::recipes::{Decided, effort, near_the_best, stronger};
use super::stress::stress_runs;
use crate::budget::Budget;
use crate::choice::{MOST_POOLED, MOST_POOLED_NETWORKS};
use crate::config::SearchConfig;
use crate::doubt::Beliefs;
use crate::error::Result;
use crate::folds::Folds;
use crate::parallel::map_parallel;
use crate::state_space::{
    Division, Divisions, Effort, Fitted, Recipe, Run, Scored, WAVE, first_networks, linear_orders, runs_of,
};

/// Waves in a row that gain less than [`GAIN`] end a search.
const IDLE_WAVES: usize = 6;
const GAIN: f64 = 0.01;
/// Networks whose best is worse than the best linear model by this factor after the first wave will not catch up.
const HOPELESS: f64 = 1.5;
/// Linear models that are started as users do, and candidates of these whatever their number of states.
const LINEAR_STARTED: usize = 8;
const BEST_STARTED: usize = 3;
/// A smaller linear order may be worse by this share.
const PARSIMONY: f64 = 0.02;

/// `[division][start]` of a candidate.
type Members = Vec<Vec<Fitted>>;

/// State-space models of one record.
pub(crate) struct HiddenSearch {
    pub(crate) runs: Vec<Run>,
    /// Inputs that a model must bear.
    pub(crate) stress: Vec<Run>,
    pub(crate) dead_time: usize,
    pub(crate) divisions: Vec<Division>,
    /// What is fitted of each cut that sizes the band of a finished model.
    pub(super) cuts: Vec<Scored>,
    pub(crate) candidates: Vec<HiddenCandidate>,
    /// How simulations start, where the user has said so.
    pub(super) initial: Option<InitialState>,
    way: Way,
    decided: Decided,
    coverage: f64,
    seed: u64,
    /// Networks that do not depend on the results of others.
    queue: VecDeque<Recipe>,
    tried: Vec<Recipe>,
    rng: ChaCha8Rng,
    idle: usize,
}

/// How recipes are carried out.
enum Way {
    /// On blocks, forward cut and everything at once.
    Blocks(Box<Divisions>, Effort),
    /// On the forward cut, more and more samples and steps.
    Long(LongSearch),
}

/// What came of a wave.
pub(crate) struct Wave {
    /// Recipes that were finished, each of which is a round.
    pub(crate) done: usize,
    /// Whether time or the user ended it.
    pub(crate) is_cut: bool,
    /// Whether there is nothing left to gain.
    pub(crate) is_last: bool,
}

impl HiddenSearch {
    /// None where the record is too short for blocks.
    pub(crate) fn new(folds: &Folds<'_>, dead_time: usize, config: &SearchConfig) -> Option<Self> {
        let (coverage, seed) = (config.coverage, config.seed);
        let runs = runs_of(&folds.scaled, &folds.all, dead_time);
        let (divisions, way) = if folds.is_long() {
            let long = LongSearch::new(&runs);
            (long.divisions(), Way::Long(long))
        } else {
            let divisions = Divisions::new(&runs).ok()?;
            let effort = effort(&runs);
            (divisions.divisions().to_vec(), Way::Blocks(Box::new(divisions), effort))
        };
        let segments = folds.all.segments();
        let cuts = folds.cuts().into_iter();
        let cuts = cuts.map(|cut| Scored::matching(&runs, |run, k| cut.fits(&segments[run], k)));
        Some(Self {
            stress: stress_runs(&runs),
            cuts: cuts.collect(),
            runs,
            dead_time,
            divisions,
            candidates: Vec::new(),
            initial: config.initial,
            way,
            decided: Decided::of(config),
            coverage,
            // Seeds of starts count up from here.
            seed: seed.wrapping_mul(100_000).wrapping_add(1),
            queue: VecDeque::new(),
            tried: Vec::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            idle: 0,
        })
    }

    /// Linear models of all orders; false if time or the user cut it, which leaves none.
    pub(crate) fn linear_models(&mut self, budget: &Budget<'_>) -> Result<bool> {
        let first = self.decided.among(linear_orders(self.runs[0].outputs(), self.seed));
        let found = match &self.way {
            Way::Long(long) => long.linear_models(&first, &self.runs, (self.dead_time, self.coverage), budget),
            Way::Blocks(..) => {
                let (mut found, done) = self.carry_out(&first, f64::INFINITY, budget);
                let again = stronger(&found);
                let (more, done_again) = self.carry_out(&again, f64::INFINITY, budget);
                found.extend(more);
                (done + done_again == first.len() + again.len()).then_some(found)
            }
        };
        budget.check()?;
        let Some(found) = found else { return Ok(false) };
        self.candidates.extend(found);
        self.tell(budget);
        self.start_best(true, LINEAR_STARTED, budget)?;
        let order = best_order(&self.candidates);
        let networks = match &self.way {
            Way::Long(_) => LongSearch::networks(order, self.seed),
            Way::Blocks(..) => first_networks(order, self.seed),
        };
        self.queue = self.decided.among(networks).into();
        self.tried.extend(&self.queue);
        Ok(true)
    }

    /// Starts the best candidates, linear ones or networks, as users do: the best three, and then the best of other numbers of states,
    /// since few are found more easily than many; `most` in all.
    pub(crate) fn start_best(&mut self, is_linear: bool, most: usize, budget: &Budget<'_>) -> Result<()> {
        let total = |place: usize| self.candidates[place].score.total();
        let of_kind = |&place: &usize| self.candidates[place].recipe.is_linear() == is_linear;
        let mut order: Vec<usize> = (0..self.candidates.len()).filter(of_kind).collect();
        order.sort_by(|&a, &b| total(a).total_cmp(&total(b)));
        let mut taken: Vec<usize> = Vec::new();
        for place in order {
            let states = |place: usize| self.candidates[place].recipe.states;
            let is_new = !taken.iter().any(|&other| states(other) == states(place));
            if taken.len() < most && (is_new || taken.len() < BEST_STARTED) {
                taken.push(place);
            }
        }
        for place in taken {
            budget.did(0.0, "observers");
            budget.check()?;
            let candidate = &self.candidates[place];
            if candidate.started.is_none() {
                let started = self.start(candidate, budget);
                self.candidates[place].started = started;
                budget.judged(self.candidates[place].judged());
            }
        }
        Ok(())
    }

    /// The next few networks, at most `most`.
    pub(crate) fn wave(&mut self, most: usize, budget: &Budget<'_>) -> Result<Wave> {
        let before = self.best_score();
        let is_first = !self.queue.is_empty();
        let data = (self.runs.as_slice(), (self.dead_time, self.coverage));
        if let Way::Long(long) = &mut self.way {
            let first: Vec<Recipe> = self.queue.drain(..).take(most).collect();
            let wave = match is_first {
                true => long.first_stage(&first, data, &mut self.candidates, budget),
                false => long.next_stage(data, self.decided.may_grow(), &mut self.candidates, budget),
            };
            budget.check()?;
            self.tell(budget);
            return Ok(wave);
        }
        let recipes: Vec<Recipe> = match is_first {
            true => self.queue.drain(..self.queue.len().min(WAVE)).collect(),
            false => near_the_best(&self.candidates, self.decided, &mut self.tried, &mut self.rng),
        };
        // Where only a few rounds are left the rest of the wave is not needed, since nothing comes after it.
        let recipes = &recipes[..recipes.len().min(most)];
        let (found, done) = self.carry_out(recipes, before, budget);
        budget.check()?;
        self.candidates.extend(found);
        let has_gained = self.best_score() < (1.0 - GAIN) * before;
        self.idle = if has_gained || is_first { 0 } else { self.idle + 1 };
        let (linear, network) = (self.best_of(true), self.best_of(false));
        let is_hopeless = network > HOPELESS * linear || (self.idle > 0 && network >= linear);
        Ok(Wave {
            done,
            is_cut: done < recipes.len(),
            is_last: recipes.is_empty() || is_hopeless || self.idle >= IDLE_WAVES,
        })
    }

    /// Tells of all candidates; of those that were told before nothing is news.
    fn tell(&self, budget: &Budget<'_>) {
        for candidate in &self.candidates {
            budget.judged(candidate.judged());
        }
    }

    /// What each recipe is given; none of a long record, whose networks get more step by step.
    pub(crate) fn effort(&self) -> Option<&Effort> {
        match &self.way {
            Way::Blocks(_, effort) => Some(effort),
            Way::Long(_) => None,
        }
    }

    /// How many divisions are blocks; none of a long record.
    pub(crate) fn blocks(&self) -> usize {
        match &self.way {
            Way::Blocks(..) => self.divisions.len() - 2,
            Way::Long(_) => 0,
        }
    }

    /// The delay of inputs as lags.
    pub(crate) fn lags(&self) -> Lags {
        lags_of(self.dead_time)
    }

    /// The coverage that candidates' bands are compared at.
    pub(crate) fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The best score so far.
    pub(crate) fn best_score(&self) -> f64 {
        self.best_of(true).min(self.best_of(false))
    }

    /// The best score of linear models, or of networks.
    fn best_of(&self, is_linear: bool) -> f64 {
        self.best(is_linear).map_or(f64::INFINITY, |best| best.score.total())
    }

    /// The best linear model, or network.
    fn best(&self, is_linear: bool) -> Option<&HiddenCandidate> {
        self.best_first(is_linear).into_iter().next()
    }

    /// Linear models, or networks, the best first.
    fn best_first(&self, is_linear: bool) -> Vec<&HiddenCandidate> {
        let of_kind = self.candidates.iter().filter(|c| c.recipe.is_linear() == is_linear);
        let mut all: Vec<&HiddenCandidate> = of_kind.collect();
        all.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
        all
    }

    /// Recipes that may have to be carried out once more in the end, with their Gauss–Newton steps: those of the dearest pool.
    pub(crate) fn needed_in_the_end(&self) -> Vec<(Recipe, usize)> {
        let of = |candidate: &HiddenCandidate| (candidate.recipe, candidate.refined);
        let linear = self
            .best_first(true)
            .into_iter()
            .take(MOST_POOLED - MOST_POOLED_NETWORKS);
        let mut needed: Vec<(Recipe, usize)> = linear.map(of).collect();
        let networks = self.best_first(false);
        needed.extend(networks.iter().take(MOST_POOLED_NETWORKS).map(|network| of(network)));
        if networks.is_empty() {
            // Few steps, since an estimate that is too high would leave no time for a network at all.
            needed.extend(self.queue.front().map(|recipe| (*recipe, 0)));
        }
        needed
    }

    /// Candidates of the recipes that were finished in order, and how many recipes those are.
    fn carry_out(&self, recipes: &[Recipe], best: f64, budget: &Budget<'_>) -> (Vec<HiddenCandidate>, usize) {
        let Way::Blocks(divisions, effort) = &self.way else {
            return (Vec::new(), 0);
        };
        let blocks = self.blocks();
        let fitted = map_parallel(recipes, budget.threads, |recipe| {
            let key = || format!("hidden {recipe:?}, dead time {}, best {best:?}", self.dead_time);
            let mut fresh = None;
            let fitted: Option<(f64, Vec<(usize, Members)>)> = budget.once("networks", key, || {
                let (started, is_cut) = (Instant::now(), AtomicBool::new(false));
                let worked = std::sync::Mutex::new(0.0);
                let keep_on = |work: f64| {
                    if let Ok(mut worked) = worked.lock() {
                        *worked += work;
                    }
                    let goes_on = budget.did(work, "networks") && !budget.is_over();
                    is_cut.fetch_or(!goes_on, Ordering::SeqCst);
                    goes_on
                };
                let found = recipe.fit(&self.runs, divisions, effort, best, &keep_on);
                budget.took(worked.into_inner().unwrap_or(0.0), started.elapsed());
                let members = found
                    .iter()
                    .map(|found| (found.refined, found.members.clone()))
                    .collect();
                fresh = Some(found);
                (!is_cut.into_inner()).then(|| (started.elapsed().as_secs_f64(), members))
            });
            // What a candidate is worth follows from its members: it is not written down.
            let judge = |(refined, members)| recipe.judge(members, refined, &self.runs, divisions);
            fitted.map(|(seconds, found)| {
                let found = fresh.unwrap_or_else(|| found.into_iter().filter_map(judge).collect());
                let found = found.into_iter().map(|candidate| HiddenCandidate {
                    seconds,
                    ..HiddenCandidate::of_blocks(candidate, blocks, self.dead_time, self.coverage)
                });
                let found: Vec<HiddenCandidate> = found.collect();
                found.iter().for_each(|candidate| budget.judged(candidate.judged()));
                found
            })
        });
        let mut candidates = Vec::new();
        let mut done = 0;
        for found in fitted.into_iter().map_while(|found| found) {
            done += 1;
            candidates.extend(found);
        }
        (candidates, done)
    }
}

/// The smallest linear order nearly as good as the best, as users start them.
fn best_order(linear: &[HiddenCandidate]) -> usize {
    let of_all = || {
        linear
            .iter()
            .filter_map(|candidate| Some((&candidate.started.as_ref()?.judged, candidate)))
    };
    let beliefs = Beliefs::of(of_all().map(|(started, _)| &started.score));
    let started = || of_all().filter(|(started, _)| beliefs.hold(&started.score));
    let best = started()
        .map(|(started, _)| started.score.total())
        .fold(f64::INFINITY, f64::min);
    let good = started().filter(|(started, _)| started.score.total() <= best * (1.0 + PARSIMONY));
    good.map(|(_, candidate)| candidate.recipe.states).min().unwrap_or(3)
}
