//! How much effort a recipe gets, and which of the judged ones the next are made from.

use rand_chacha::ChaCha8Rng;

use super::candidate::HiddenCandidate;
use crate::budget::WORK;
use crate::state_space::{Effort, Recipe, Run, held_back, mutations};

/// Above so many samples times outputs each recipe gets less still than [`Effort::for_runs`] gives.
const VERY_MANY: usize = 8000;
/// Most work of a recipe's Gauss–Newton steps, as a share of a search's.
const DESCENT_SHARE: f64 = 0.03;

/// Effort per recipe: less where there are many samples.
pub(crate) fn effort(runs: &[Run]) -> Effort {
    let mut effort = Effort {
        descent_work: DESCENT_SHARE * WORK,
        ..Effort::for_runs(runs)
    };
    if runs.iter().map(|run| run.len() * run.outputs()).sum::<usize>() > VERY_MANY {
        effort.kept = 1;
        effort.linear = 10;
        effort.explore.rounds = vec![(120, 0.5), (450, 1.0)];
    }
    effort
}

/// Recipes of the judged candidates that `is_wanted`, the best first.
fn best_first(candidates: &[HiddenCandidate], is_wanted: impl Fn(&Recipe) -> bool) -> Vec<Recipe> {
    let mut wanted: Vec<&HiddenCandidate> = candidates.iter().filter(|c| is_wanted(&c.recipe)).collect();
    wanted.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
    wanted.into_iter().map(|candidate| candidate.recipe).collect()
}

/// The best linear orders once more, held back more strongly; many samples do without.
pub(crate) fn stronger(linear: &[HiddenCandidate], effort: &Effort) -> Vec<Recipe> {
    match effort.kept {
        1 => Vec::new(),
        _ => held_back(&best_first(linear, Recipe::is_linear)),
    }
}

/// A few recipes not tried before, near the best networks.
pub(crate) fn near_the_best(
    candidates: &[HiddenCandidate],
    tried: &mut Vec<Recipe>,
    rng: &mut ChaCha8Rng,
) -> Vec<Recipe> {
    mutations(&best_first(candidates, |recipe| !recipe.is_linear()), tried, rng)
}
