//! Which state-space models are tried: linear orders, first networks, then mutations of the best.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::candidate::HiddenCandidate;
use crate::budget::WORK;
use crate::state_space::{Effort, Recipe, Run, Start};

/// Recipes that are fitted side by side; what they start from does not depend on each other.
pub(crate) const WAVE: usize = 4;
/// Only so many of the best networks are mutated.
const PARENTS: usize = 10;
/// Stronger penalties on the best linear orders.
const STRONGER: [f64; 2] = [1e-4, 1e-3];
/// Linear orders that get them.
const AGAIN: usize = 3;
/// Above so many samples times outputs each recipe gets less, and above as many again less still.
const MANY: usize = 3000;
const VERY_MANY: usize = 8000;
/// Most work of a recipe's Gauss–Newton steps, as a share of a search's.
const DESCENT_SHARE: f64 = 0.06;

/// Effort per recipe: less where there are many samples.
pub(crate) fn effort(runs: &[Run]) -> Effort {
    let mut effort = Effort {
        descent_work: DESCENT_SHARE * WORK,
        ..Effort::default()
    };
    let samples: usize = runs.iter().map(|run| run.len() * run.outputs()).sum();
    if samples > MANY {
        effort.starts = 4;
        effort.kept = 2;
        effort.descent = 20;
        effort.explore.rounds = vec![(150, 0.5), (600, 1.0)];
    }
    if samples > VERY_MANY {
        effort.kept = 1;
        effort.linear = 10;
        effort.explore.rounds = vec![(120, 0.5), (450, 1.0)];
    }
    effort
}

fn linear(states: usize, seed: u64) -> Recipe {
    Recipe {
        states,
        state_hidden: 0,
        output_hidden: 0,
        weight_penalty: 1e-5,
        start: Start::Linear,
        explores: false,
        seed,
    }
}

/// Linear models of every order.
pub(crate) fn orders(outputs: usize, seed: u64) -> Vec<Recipe> {
    let most = if outputs == 1 { 10 } else { 8 };
    (1..=most).map(|states| linear(states, seed)).collect()
}

/// The best linear orders once more, held back more strongly; many samples do without.
pub(crate) fn stronger(linear: &[HiddenCandidate], effort: &Effort) -> Vec<Recipe> {
    if effort.kept == 1 {
        return Vec::new();
    }
    let mut best: Vec<&HiddenCandidate> = linear.iter().collect();
    best.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
    let again = |candidate: &&HiddenCandidate| {
        STRONGER.map(|weight_penalty| Recipe {
            weight_penalty,
            ..candidate.recipe
        })
    };
    best.iter().take(AGAIN).flat_map(again).collect()
}

/// Networks of eight units in both maps, at several orders and from every kind of start; the most promising first.
pub(crate) fn first_networks(best_order: usize, seed: u64) -> Vec<Recipe> {
    let best_order = best_order.clamp(2, 6);
    let mut orders = vec![best_order];
    orders.extend([3, 4, 2].into_iter().filter(|order| *order != best_order));
    let of_order = |states| {
        let refined = Recipe {
            state_hidden: 8,
            output_hidden: 8,
            weight_penalty: 1e-4,
            ..linear(states, seed)
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
pub(crate) fn mutations(candidates: &[HiddenCandidate], tried: &mut Vec<Recipe>, rng: &mut ChaCha8Rng) -> Vec<Recipe> {
    let mut parents: Vec<&HiddenCandidate> = candidates.iter().filter(|c| !c.recipe.is_linear()).collect();
    parents.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
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
