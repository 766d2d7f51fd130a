//! The networks of a chosen candidate: of blocks, of everything, and of cuts that size the band.

use intervalid_data::{InitialState, Lags};
use intervalid_model::{FitConfig, ModelKind};

use super::Chooser;
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};
use crate::finish::{Member, Plan};
use crate::hidden_states::{Observed, common_shape};
use crate::state_space::Shape;

impl Chooser<'_> {
    pub(super) fn lagged_plan(&self, index: usize) -> Result<Plan> {
        let candidate = &self.searched.lagged[index];
        let forward = self.folds.forward_fold();
        let of_folds = (0..self.folds.folds.len()).filter_map(|fold| {
            Some(Member {
                theta: candidate.theta(fold)?.to_vec(),
                recipe: 0,
                // The forward cut's has seen least, and calibrates only.
                joins: Some(fold) != forward,
                fold: Some(fold),
            })
        });
        let of_cuts = candidate.members_from(self.folds.folds.len(), &self.finishing, self.config, self.budget)?;
        let of_cuts = of_cuts.into_iter().map(|(fold, theta)| Member {
            fold: Some(fold),
            recipe: 0,
            theta,
            joins: false,
        });
        let everything = candidate.members_of_everything(self.folds, self.config, self.budget)?;
        let everything = everything.into_iter().map(|theta| Member {
            fold: None,
            recipe: 0,
            theta,
            joins: true,
        });
        Ok(Plan {
            members: of_folds.chain(of_cuts).chain(everything).collect(),
            settings: candidate.recipe.fit_config(self.config, candidate.recipe.window, 1),
            window: candidate.recipe.window,
        })
    }

    /// Models of one recipe with hidden states or of several, which then share one shape and the longest history.
    pub(super) fn hidden_plan(&self, places: &[usize]) -> Result<Plan> {
        let candidates = self.searched.hidden_candidates();
        let hidden = self.searched.hidden.as_ref();
        let started = |place: usize| hidden.zip(candidates[place].started.as_ref());
        let mut observed = Vec::new();
        let mut history = 0;
        for &place in places {
            let (hidden, started) = started(place).ok_or(SearchError::NoStableLinearModel)?;
            observed.push(hidden.observed(&candidates[place], started, self.budget));
            history = history.max(started.history);
        }
        hidden_plan(observed, candidates[places[0]].lags(), history, self.config)
    }
}

/// Models with hidden states and observers, `[recipe][model]`, which then share one shape.
pub(crate) fn hidden_plan(
    observed: Vec<Vec<Observed>>,
    lags: Lags,
    history: usize,
    config: &SearchConfig,
) -> Result<Plan> {
    let shapes = observed.iter().flatten().map(|member| member.model.shape());
    let shape = common_shape(shapes).ok_or(SearchError::NoStableLinearModel)?;
    let settings = state_space_settings(config, lags, shape, history);
    let observed = observed.into_iter().enumerate();
    let numbered = observed.flat_map(|(recipe, members)| members.into_iter().map(move |member| (recipe, member)));
    let members = numbered.map(|(recipe, member)| {
        let mut theta = member.model.widened(shape).theta().to_vec();
        let gain_end = theta.len() + shape.states * shape.outputs;
        theta.extend(member.gain);
        theta.resize(gain_end, 0.0);
        Member {
            fold: member.fold,
            recipe,
            theta,
            joins: member.joins,
        }
    });
    Ok(Plan {
        window: WINDOW + settings.initial.unscored(),
        members: members.collect(),
        settings,
    })
}

/// Samples of a window of margin training of a model with hidden states, besides its history.
const WINDOW: usize = 250;

/// Settings of a model with hidden states that was started from so many samples of history.
fn state_space_settings(config: &SearchConfig, lags: Lags, shape: Shape, history: usize) -> FitConfig {
    let initial = config.initial.unwrap_or(InitialState::History(history));
    let settings = config.fit_config(ModelKind::Iss, lags, initial);
    settings.with(|settings| {
        settings.network.states = Some(shape.states);
        settings.network.hidden = vec![shape.state_hidden, shape.output_hidden];
    })
}
