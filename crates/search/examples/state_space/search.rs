//! Which recipes are tried: linear orders, first networks, then mutations of the best until time is over.

use std::time::{Duration, Instant};

use intervalid_search::state_space::{
    Candidate, Divisions, Effort, Recipe, Run, first_networks, fit_recipes, held_back, linear_orders, mutations,
};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Seed of the first recipes; mutations count on from it.
const SEED: u64 = 1;

pub(crate) struct Search<'a> {
    pub(crate) runs: &'a [Run],
    pub(crate) divisions: &'a Divisions,
    pub(crate) effort: Effort,
    pub(crate) started: Instant,
    pub(crate) budget: Duration,
    pub(crate) threads: usize,
}

impl Search<'_> {
    fn is_open(&self) -> bool {
        self.started.elapsed() < self.budget
    }

    /// All candidates that were finished within the budget.
    pub(crate) fn run(&self, seed: u64) -> Vec<Candidate> {
        let mut candidates = self.linear_models();
        let best_order = best(&candidates).map_or(3, |best| best.recipe.states);
        self.wave(&first_networks(best_order, SEED), &mut candidates);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut tried: Vec<Recipe> = candidates.iter().map(|candidate| candidate.recipe).collect();
        while self.is_open() {
            let near = mutations(&best_first(&candidates, false), &mut tried, &mut rng, |recipe| recipe);
            if near.is_empty() {
                break;
            }
            self.wave(&near, &mut candidates);
        }
        candidates
    }

    /// All orders, then the best three with stronger penalties.
    fn linear_models(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        self.wave(&linear_orders(self.runs[0].outputs(), SEED), &mut candidates);
        self.wave(&held_back(&best_first(&candidates, true)), &mut candidates);
        candidates
    }

    /// Fits some recipes side by side.
    fn wave(&self, recipes: &[Recipe], candidates: &mut Vec<Candidate>) {
        let score = best(candidates).map_or(f64::INFINITY, |best| best.score);
        let data = (self.runs, self.divisions);
        let found = fit_recipes(recipes, data, &self.effort, score, self.threads, &|_| self.is_open());
        candidates.extend(found);
    }
}

fn best(candidates: &[Candidate]) -> Option<&Candidate> {
    candidates.iter().min_by(|a, b| a.score.total_cmp(&b.score))
}

/// Recipes of the linear candidates, or of the networks, the best first.
fn best_first(candidates: &[Candidate], is_linear: bool) -> Vec<Recipe> {
    let mut wanted: Vec<&Candidate> = candidates
        .iter()
        .filter(|c| c.recipe.is_linear() == is_linear)
        .collect();
    wanted.sort_by(|a, b| a.score.total_cmp(&b.score));
    wanted.into_iter().map(|candidate| candidate.recipe).collect()
}
