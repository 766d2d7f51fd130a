//! A recipe carried out on every division, and what it is worth.

use intervalid_data::{Lags, count};

use super::history::Started;
use crate::score::{HeldOut, Score, score};
use crate::state_space::{self, Fitted, HISTORY, Recipe, Run, StateSpace, simulate_from};

/// A state-space model that was fitted and judged on every division.
#[derive(Clone, Debug)]
pub(crate) struct HiddenCandidate {
    pub(crate) recipe: Recipe,
    /// Samples between an input and its effect.
    pub(crate) dead_time: usize,
    /// Gauss–Newton steps after the exploration.
    pub(crate) refined: usize,
    /// `[division][start]` in the order of [`Folds::folds`](crate::folds::Folds::folds); then those that have seen everything, none
    /// yet of a long record.
    pub(crate) members: Vec<Vec<Fitted>>,
    /// Where further models of it start; none: as its recipe says.
    pub(crate) start: Option<StateSpace>,
    pub(crate) score: Score,
    /// The same as users start it, once that has been tried: a state that only the record's own run can find is of no use to them.
    pub(crate) started: Option<Started>,
    pub(crate) seconds: f64,
}

/// The delay of inputs as lags; outputs enter through states alone.
pub(super) fn lags_of(dead_time: usize) -> Lags {
    Lags {
        nx: 1,
        nd: dead_time,
        ny: 1,
    }
}

impl HiddenCandidate {
    /// Of an engine's candidate on blocks, forward cut and everything.
    pub(crate) fn of_blocks(found: state_space::Candidate, blocks: usize, dead_time: usize, coverage: f64) -> Self {
        let outputs = found.members[0][0].model.shape().outputs;
        let of_division = |held_out: &state_space::HeldOut| {
            let error = |output: usize| {
                let pairs = held_out.measured.iter().zip(&held_out.predicted);
                pairs.skip(output).step_by(outputs).map(|(y, p)| y - p).collect()
            };
            (0..outputs).map(error).collect()
        };
        let errors: HeldOut = found.held_out.iter().map(of_division).collect();
        let score = score(&errors, blocks, coverage);
        Self {
            recipe: found.recipe,
            dead_time,
            refined: found.refined,
            members: found.members,
            start: None,
            score,
            started: None,
            seconds: 0.0,
        }
    }

    /// Of a model fitted before the forward cut of every run alone; none if it diverges after it.
    pub(crate) fn of_cut(
        recipe: Recipe,
        fitted: Fitted,
        (runs, cuts): (&[Run], &[usize]),
        dead_time: usize,
        coverage: f64,
    ) -> Option<Self> {
        let outputs = fitted.model.shape().outputs;
        let mut errors = vec![Vec::new(); outputs];
        for ((run, &cut), x0) in runs.iter().zip(cuts).zip(&fitted.x0) {
            let start = cut.max(HISTORY.min(run.len() / 2));
            let predicted = simulate_from(&fitted.model, run, start, run.len(), x0);
            for (k, row) in (start..run.len()).zip(predicted.chunks_exact(outputs)) {
                let pairs = run.y(k).iter().zip(row);
                errors
                    .iter_mut()
                    .zip(pairs)
                    .for_each(|(errors, (y, p))| errors.push(y - p));
            }
        }
        let errors = vec![errors];
        let score = score(&errors, 0, coverage);
        score.rmse.is_finite().then(|| Self {
            recipe,
            dead_time,
            refined: 0,
            members: vec![vec![fitted]],
            start: None,
            score,
            started: None,
            seconds: 0.0,
        })
    }

    /// Parameters of one model, the observer's gain included.
    pub(crate) fn parameters(&self) -> usize {
        let shape = self.members[0][0].model.shape();
        shape.parameters() + shape.states * shape.outputs
    }

    /// As lags.
    pub(crate) fn lags(&self) -> Lags {
        lags_of(self.dead_time)
    }

    /// Units in the state and the output map.
    pub(crate) fn hidden(&self) -> Vec<usize> {
        vec![self.recipe.state_hidden, self.recipe.output_hidden]
    }

    /// Its name in words.
    pub(crate) fn name(&self) -> String {
        let recipe = &self.recipe;
        let delay = match self.dead_time {
            0 => String::new(),
            dead_time => format!(", dead time {dead_time}"),
        };
        let penalty = recipe.weight_penalty;
        let states = count(recipe.states, "state");
        if recipe.is_linear() {
            return format!("state space, {states}{delay}, penalty {penalty:.0e}");
        }
        let start = match (recipe.start, recipe.explores) {
            (state_space::Start::Random, _) => "random starts",
            (state_space::Start::Linear, true) => "linear start, explored",
            (state_space::Start::Linear, false) => "linear start",
        };
        let refined = match self.refined {
            0 => String::new(),
            steps => format!(", {steps} steps"),
        };
        format!(
            "ISS {states}, units {}-{}{delay}, penalty {penalty:.0e}, {start}{refined}",
            recipe.state_hidden, recipe.output_hidden
        )
    }
}
