//! Which recipes are worth a try: linear orders, first networks, then mutations of the best.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::recipe::{Recipe, Start};

/// Recipes that are fitted side by side; what they start from does not depend on each other.
pub const WAVE: usize = 4;
/// Only so many of the best networks are mutated.
const PARENTS: usize = 10;
/// Stronger penalties on the best linear orders.
const STRONGER: [f64; 2] = [1e-4, 1e-3];
/// Linear orders that get them.
const AGAIN: usize = 3;

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
pub fn linear_orders(outputs: usize, seed: u64) -> Vec<Recipe> {
    let most = if outputs == 1 { 10 } else { 8 };
    (1..=most).map(|states| linear(states, seed)).collect()
}

/// The first few of these linear recipes once more, held back more strongly.
pub fn held_back(best_first: &[Recipe]) -> Vec<Recipe> {
    let again = |recipe: &Recipe| {
        STRONGER.map(|weight_penalty| Recipe {
            weight_penalty,
            ..*recipe
        })
    };
    best_first.iter().take(AGAIN).flat_map(again).collect()
}

/// Networks of eight units in both maps, at several orders and from every kind of start; the most promising first.
pub fn first_networks(best_order: usize, seed: u64) -> Vec<Recipe> {
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

/// A few recipes not tried before, near the first of these networks, each as `shaped` makes it.
pub fn mutations(
    best_first: &[Recipe],
    tried: &mut Vec<Recipe>,
    rng: &mut ChaCha8Rng,
    shaped: impl Fn(Recipe) -> Recipe,
) -> Vec<Recipe> {
    let parents = &best_first[..best_first.len().min(PARENTS)];
    let mut found = Vec::new();
    // A small neighbourhood may have been tried out: then fewer are found.
    for _ in 0..50 {
        if found.len() == WAVE || parents.is_empty() {
            break;
        }
        // The square prefers the best ones.
        let place = (rng.random_range(0.0_f64..1.0).powi(2) * parents.len() as f64) as usize;
        let recipe = shaped(mutate(parents[place], rng));
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
