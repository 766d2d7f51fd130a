//! The networks of a chosen candidate: of blocks, of everything, and of cuts that size the band.

use intervalid_data::{InitialState, Lags};
use intervalid_model::{FitConfig, ModelKind};

use super::pool::common_shape;
use super::{Chooser, Pick};
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};
use crate::finish::{Member, Plan, linear_members};
use crate::hidden_states::{HiddenSearch, Observed, with_lags_as_states};
use crate::output_error::Narx;
use crate::state_space::Shape;

impl Chooser<'_> {
    /// Models on lagged outputs of every division that judges; none where one has none, or of an LSTM.
    pub(super) fn lagged_models(&self, pick: Pick) -> Option<Vec<Narx>> {
        match pick {
            Pick::Arx(index) => Some(self.searched.linear[index].models.clone()),
            Pick::Lagged(index) => {
                let candidate = &self.searched.lagged[index];
                let model = |fold| Some(candidate.model(self.folds, candidate.theta(fold)?.to_vec()));
                let models = (candidate.score.is_some() && candidate.recipe.model == ModelKind::Inode).then(|| {
                    let folds = 0..self.folds.folds.len();
                    folds.map(model).collect::<Option<Vec<Narx>>>()
                });
                models.flatten()
            }
            Pick::Hidden(_) | Pick::Pool => None,
        }
    }

    pub(super) fn lagged_plan(&self, index: usize) -> Result<Plan> {
        let candidate = &self.searched.lagged[index];
        Ok(Plan {
            members: self.lagged_members(index)?,
            settings: candidate.recipe.fit_config(self.config, candidate.recipe.window, 1),
            window: candidate.recipe.window,
        })
    }

    fn lagged_members(&self, index: usize) -> Result<Vec<Member>> {
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
        Ok(of_folds.chain(of_cuts).chain(everything).collect())
    }

    /// Models of one recipe or of several, which then share one shape and the longest history.
    pub(super) fn hidden_plan(&self, picks: &[Pick]) -> Result<Plan> {
        let hidden = self.searched.hidden.as_ref().ok_or(SearchError::NoStableLinearModel)?;
        let mut observed = Vec::new();
        let mut history = 0;
        for &pick in picks {
            let (members, needed) = self.observed(pick, hidden)?;
            observed.push(members);
            history = history.max(needed);
        }
        hidden_plan(observed, hidden.lags(), history, self.config)
    }

    /// All models of a recipe with their observers, and the samples of history that these need.
    fn observed(&self, pick: Pick, hidden: &HiddenSearch) -> Result<(Vec<Observed>, usize)> {
        if let Pick::Hidden(index) = pick {
            let candidate = &hidden.candidates[index];
            let started = candidate.started.as_ref().ok_or(SearchError::NoStableLinearModel)?;
            return Ok((hidden.observed(candidate, started, self.budget), started.judged.history));
        }
        let members = match pick {
            Pick::Arx(index) => {
                linear_members(&self.finishing, self.config, &self.searched.linear[index], self.budget)?
            }
            Pick::Lagged(index) => {
                let candidate = &self.searched.lagged[index];
                let members = self.lagged_members(index)?.into_iter();
                members
                    .map(|member| (member.fold, candidate.model(self.folds, member.theta), member.joins))
                    .collect()
            }
            Pick::Hidden(_) | Pick::Pool => Vec::new(),
        };
        let judged = self.lagged.iter().find(|(of, _)| *of == pick);
        let observed = members.into_iter().map(|(fold, narx, joins)| {
            let (model, observer) = with_lags_as_states(&narx, hidden.dead_time)?;
            Some(Observed {
                fold,
                model,
                gain: observer.gain().to_vec(),
                joins,
            })
        });
        let observed = observed.collect::<Option<Vec<_>>>();
        let both = observed.zip(judged.map(|(_, judged)| judged.history));
        both.ok_or(SearchError::NoStableLinearModel)
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
