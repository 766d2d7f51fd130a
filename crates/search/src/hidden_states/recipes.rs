//! How much effort a recipe gets, and which of the judged ones the next are made from.

use rand_chacha::ChaCha8Rng;

use super::candidate::HiddenCandidate;
use crate::budget::WORK;
use crate::config::SearchConfig;
use crate::state_space::{Effort, Recipe, Run, held_back, mutations};

/// What a user has decided of the shape of models.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decided {
    states: Option<usize>,
    /// Units of the state map and the output map.
    units: Option<[usize; 2]>,
}

impl Decided {
    pub(crate) fn of(config: &SearchConfig) -> Self {
        Self {
            states: config.states,
            units: config.hidden,
        }
    }

    /// A recipe of the shape that was asked for.
    fn shaped(self, recipe: Recipe) -> Recipe {
        let [state_hidden, output_hidden] = match self.units {
            Some(units) if !recipe.is_linear() => units,
            _ => [recipe.state_hidden, recipe.output_hidden],
        };
        Recipe {
            states: self.states.unwrap_or(recipe.states),
            state_hidden,
            output_hidden,
            ..recipe
        }
    }

    /// Recipes of the shapes that were asked for, each once; no networks where none are wanted.
    pub(crate) fn among(self, recipes: Vec<Recipe>) -> Vec<Recipe> {
        let mut found = Vec::new();
        for recipe in recipes {
            let shaped = self.shaped(recipe);
            let is_wanted = recipe.is_linear() || !shaped.is_linear();
            if is_wanted && !found.contains(&shaped) {
                found.push(shaped);
            }
        }
        found
    }

    /// Whether units may be added.
    pub(crate) fn may_grow(self) -> bool {
        self.units.is_none()
    }
}

/// Above so many samples times outputs linear models get fewer steps.
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
        effort.linear = 10;
    }
    effort
}

/// Recipes of the judged candidates that `is_wanted`, the best first.
fn best_first(candidates: &[HiddenCandidate], is_wanted: impl Fn(&Recipe) -> bool) -> Vec<Recipe> {
    let mut wanted: Vec<&HiddenCandidate> = candidates.iter().filter(|c| is_wanted(&c.recipe)).collect();
    wanted.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
    wanted.into_iter().map(|candidate| candidate.recipe).collect()
}

/// The best linear orders once more, held back more strongly.
pub(crate) fn stronger(linear: &[HiddenCandidate]) -> Vec<Recipe> {
    held_back(&best_first(linear, Recipe::is_linear))
}

/// A few recipes not tried before, near the best networks.
pub(crate) fn near_the_best(
    candidates: &[HiddenCandidate],
    decided: Decided,
    tried: &mut Vec<Recipe>,
    rng: &mut ChaCha8Rng,
) -> Vec<Recipe> {
    let networks = best_first(candidates, |recipe| !recipe.is_linear());
    mutations(&networks, tried, rng, |recipe| decided.shaped(recipe))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::state_space::{first_networks, linear_orders};

    fn decided(states: Option<usize>, hidden: Option<[usize; 2]>) -> Decided {
        Decided::of(&SearchConfig {
            states,
            hidden,
            ..SearchConfig::default()
        })
    }

    #[test]
    fn only_shapes_that_were_asked_for_are_tried() {
        let shape = |recipe: &Recipe| (recipe.states, [recipe.state_hidden, recipe.output_hidden]);
        let asked = decided(Some(5), Some([7, 0]));
        let linear = asked.among(linear_orders(1, 1));
        assert_eq!(linear.iter().map(shape).collect::<Vec<_>>(), [(5, [0, 0])]);
        let networks = asked.among(first_networks(3, 1));
        assert!(networks.len() > 1 && networks.iter().all(|recipe| shape(recipe) == (5, [7, 0])));
        let mut tried = networks.clone();
        let more = mutations(&networks, &mut tried, &mut ChaCha8Rng::seed_from_u64(1), |recipe| {
            asked.shaped(recipe)
        });
        assert!(!more.is_empty() && more.iter().all(|recipe| shape(recipe) == (5, [7, 0])));
        assert!(more.iter().all(|recipe| !networks.contains(recipe)));
    }

    #[test]
    fn without_units_there_are_no_networks() {
        let linear = decided(None, Some([0, 0]));
        assert!(linear.among(first_networks(3, 1)).is_empty());
        assert_eq!(linear.among(linear_orders(1, 1)), linear_orders(1, 1));
        assert_eq!(decided(None, None).among(first_networks(3, 1)), first_networks(3, 1));
    }
}
