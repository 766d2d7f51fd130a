//! Which recipes are tried: linear orders, first networks, then mutations of the best until time is over.

use std::time::{Duration, Instant};

use intervalid_search::state_space::{Candidate, Divisions, Effort, Recipe, Run, Start, fit_recipes};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Linear orders that are tried.
const ORDERS: std::ops::RangeInclusive<usize> = 1..=8;
/// Recipes that are mutated at a time.
const WAVE: usize = 4;
/// Only so many of the best networks are mutated.
const PARENTS: usize = 10;

const LINEAR: Recipe = Recipe {
    states: 1,
    state_hidden: 0,
    output_hidden: 0,
    weight_penalty: 1e-5,
    start: Start::Linear,
    explores: false,
    seed: 1,
};

/// Effort per recipe: less where there are many samples.
pub(crate) fn effort(runs: &[Run]) -> Effort {
    let mut effort = Effort::default();
    if runs.iter().map(|run| run.len() * run.outputs()).sum::<usize>() > 3000 {
        effort.starts = 4;
        effort.kept = 2;
        effort.descent = 20;
        effort.explore.rounds = vec![(150, 0.5), (600, 1.0)];
    }
    effort
}

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
        self.wave(&first_networks(best_order.clamp(2, 6)), &mut candidates);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut tried: Vec<Recipe> = candidates.iter().map(|candidate| candidate.recipe).collect();
        while self.is_open() {
            let mutations = mutations(&candidates, &mut tried, &mut rng);
            if mutations.is_empty() {
                break;
            }
            self.wave(&mutations, &mut candidates);
        }
        candidates
    }

    /// All orders, then the best three with stronger penalties.
    fn linear_models(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let orders: Vec<Recipe> = ORDERS.map(|states| Recipe { states, ..LINEAR }).collect();
        self.wave(&orders, &mut candidates);
        candidates.sort_by(|a, b| a.score.total_cmp(&b.score));
        let stronger = |candidate: &Candidate| {
            [1e-4, 1e-3].map(|weight_penalty| Recipe {
                weight_penalty,
                ..candidate.recipe
            })
        };
        let again: Vec<Recipe> = candidates.iter().take(3).flat_map(stronger).collect();
        self.wave(&again, &mut candidates);
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

/// Networks of eight units in both maps, at several orders and from every kind of start.
fn first_networks(best_order: usize) -> Vec<Recipe> {
    let mut orders = vec![best_order];
    orders.extend([3, 4, 2].into_iter().filter(|order| *order != best_order));
    let of_order = |states| {
        let refined = Recipe {
            states,
            state_hidden: 8,
            output_hidden: 8,
            weight_penalty: 1e-4,
            ..LINEAR
        };
        let random = Recipe {
            start: Start::Random,
            explores: true,
            ..refined
        };
        let explored = Recipe {
            weight_penalty: 1e-3,
            explores: true,
            ..refined
        };
        [random, refined, explored]
    };
    orders.into_iter().flat_map(of_order).collect()
}

/// A few recipes not tried before, near the best networks.
fn mutations(candidates: &[Candidate], tried: &mut Vec<Recipe>, rng: &mut ChaCha8Rng) -> Vec<Recipe> {
    let mut parents: Vec<&Candidate> = candidates.iter().filter(|c| !c.recipe.is_linear()).collect();
    parents.sort_by(|a, b| a.score.total_cmp(&b.score));
    parents.truncate(PARENTS);
    let mut found = Vec::new();
    // A small neighbourhood may have been tried out: then fewer are found.
    for _ in 0..50 {
        if found.len() == WAVE || parents.is_empty() {
            break;
        }
        // The square prefers the best ones.
        let place = (rng.random_range(0.0_f64..1.0).powi(2) * parents.len() as f64) as usize;
        let recipe = mutate(parents[place].recipe, rng);
        if !tried.contains(&recipe) {
            tried.push(recipe);
            found.push(recipe);
        }
    }
    found
}

/// A recipe that differs in one or two respects.
fn mutate(recipe: Recipe, rng: &mut ChaCha8Rng) -> Recipe {
    const FACTORS: [f64; 4] = [0.1, 0.32, 3.2, 10.0];
    const UNITS: [(usize, usize); 7] = [(8, 8), (4, 4), (12, 0), (0, 12), (16, 8), (8, 4), (16, 16)];
    const STARTS: [(Start, bool); 3] = [(Start::Random, true), (Start::Linear, true), (Start::Linear, false)];
    let mut new = recipe;
    for _ in 0..rng.random_range(1..=2) {
        match rng.random_range(0..6) {
            0 => new.states = (new.states + rng.random_range(1..=2)).min(8),
            1 => new.states = (new.states - 1).max(1),
            2 => {
                let factor = FACTORS[rng.random_range(0..FACTORS.len())];
                new.weight_penalty = (new.weight_penalty * factor).clamp(1e-7, 3e-2);
            }
            3 => (new.state_hidden, new.output_hidden) = UNITS[rng.random_range(0..UNITS.len())],
            4 => (new.start, new.explores) = STARTS[rng.random_range(0..STARTS.len())],
            _ => new.seed += 100,
        }
    }
    new
}
