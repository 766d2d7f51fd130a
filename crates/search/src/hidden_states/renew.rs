//! Models with hidden states that were found before, fitted once more from where they are.

use super::candidate::HiddenCandidate;
use super::rounds::HiddenSearch;
use crate::budget::Budget;
use crate::error::{Result, SearchError};
use crate::parallel::map_parallel;
use crate::score::Score;
use crate::state_space::{DescentConfig, Fitted, Recipe, Run, Scored, Start, StateSpace, descend};

/// Most Gauss–Newton steps: the start is nearly right.
const STEPS: usize = 30;
/// λ of linear models and of networks: what the search found best is not kept in a model, and a start that is nearly right needs little.
const PENALTIES: [f64; 2] = [1e-5, 1e-4];

impl HiddenSearch {
    /// One candidate of these models: the first is fitted to every division, all of them to everything. It is judged as any other.
    ///
    /// # Errors
    /// [`SearchError::NoStableLinearModel`] if a division has no model that stays finite.
    pub(crate) fn renewed(&self, starts: &[StateSpace], budget: &Budget<'_>) -> Result<HiddenCandidate> {
        let first = starts.first().ok_or(SearchError::NoStableLinearModel)?;
        let shape = first.shape();
        let is_linear = shape.state_hidden + shape.output_hidden == 0;
        let recipe = Recipe {
            states: shape.states,
            state_hidden: shape.state_hidden,
            output_hidden: shape.output_hidden,
            weight_penalty: PENALTIES[usize::from(!is_linear)],
            start: Start::Linear,
            explores: false,
            seed: 1,
        };
        let all = self.divisions.len() - 1;
        let of_divisions = (0..all).map(|division| (division, first));
        let jobs: Vec<(usize, &StateSpace)> = of_divisions.chain(starts.iter().map(|start| (all, start))).collect();
        let keep_on = |work: f64| budget.did(work, "models with hidden states");
        let fitted = map_parallel(&jobs, budget.threads, |(division, start)| {
            let data = (self.runs.as_slice(), &self.divisions[*division].fitted);
            again(start, data, &recipe, &keep_on)
        });
        budget.check()?;
        let mut members = vec![Vec::new(); self.divisions.len()];
        for ((division, _), fitted) in jobs.into_iter().zip(fitted) {
            members[division].extend(fitted);
        }
        if members.iter().any(Vec::is_empty) {
            return Err(SearchError::NoStableLinearModel);
        }
        let mut candidate = HiddenCandidate {
            recipe,
            dead_time: self.dead_time,
            refined: STEPS,
            members,
            start: Some(first.clone()),
            // Models that saw everything and started apart may well disagree: that is what several are for.
            score: Score {
                blocks: Vec::new(),
                rmse: f64::INFINITY,
                forward: f64::INFINITY,
                coverage: f64::NAN,
                width: f64::NAN,
                doubt: 0.0,
            },
            started: None,
            seconds: 0.0,
        };
        candidate.started = self.start(&candidate, budget);
        Ok(candidate)
    }
}

/// One model of these samples from where it was; none if it diverges there, or after `keep_on` said no.
pub(super) fn again(
    start: &StateSpace,
    (runs, scored): (&[Run], &Scored),
    recipe: &Recipe,
    keep_on: &(dyn Fn(f64) -> bool + Sync),
) -> Option<Fitted> {
    let start = Fitted {
        x0: vec![vec![0.0; start.shape().states]; runs.len()],
        model: start.clone(),
    };
    let config = DescentConfig {
        iterations: STEPS,
        weight_penalty: recipe.weight_penalty,
        ..DescentConfig::default()
    };
    let work = start.model.shape().parameters() as f64 * scored.samples() as f64;
    let found = descend(start, runs, scored, config, |_, _| keep_on(work))?;
    keep_on(0.0).then_some(found.fitted)
}
