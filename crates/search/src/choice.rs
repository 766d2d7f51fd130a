//! Which candidate becomes the model, and whether that model keeps what the candidate promised.

use intervalid_data::InitialState;
use intervalid_model::{Calibration, FitConfig, Model, ModelKind};

use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::error::{Result, SearchError};
use crate::finish::{Member, Plan, finish_linear};
use crate::folds::Folds;
use crate::hidden_states::{HiddenCandidate, Pool, best_pool, common_shape};
use crate::info::CandidateInfo;
use crate::linear::LinearCandidate;
use crate::promise::Promise;
use crate::rounds::Searched;
use crate::score::Score;
use crate::state_space::Shape;
use crate::table::{arx_name, pool_name, table};

/// A network has to beat the best linear model by this share of the score: it is harder to understand and to deploy.
const NETWORK_ADVANTAGE: f64 = 0.03;
/// A linear state-space model has to beat ARX models by this share.
const STATE_ADVANTAGE: f64 = 0.02;
/// A linear state-space model of fewer states may be worse by this share.
const PARSIMONY: f64 = 0.02;
/// Networks that are finished before linear models come, since each takes its time, and linear models before the search settles for
/// one that breaks its promise.
const MOST_NETWORKS: usize = 2;
const MOST_LINEAR: usize = 3;

/// A candidate by its family and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// Of the linear models on lagged outputs.
    Arx(usize),
    /// Of the networks on lagged outputs.
    Lagged(usize),
    /// Of the models with hidden states.
    Hidden(usize),
    /// Several of the models with hidden states together.
    Pool,
}

/// What a search settles on.
pub(crate) struct Choice {
    /// Everything that was tried, the chosen one first.
    pub(crate) candidates: Vec<CandidateInfo>,
    pub(crate) model: Model,
    pub(crate) calibration: Calibration,
    pub(crate) promise: Promise,
    pub(crate) why: String,
    pub(crate) warning: Option<String>,
    /// Held-out error along the descent, and the steps kept.
    pub(crate) descent: (Vec<f64>, usize),
}

/// A finished model that has not been chosen yet.
struct Finished {
    model: Model,
    calibration: Calibration,
    promise: Promise,
    /// Whether members that saw everything were left out.
    is_reduced: bool,
}

struct Chooser<'a> {
    folds: &'a Folds<'a>,
    /// The same and more cuts, which a finished model's band is sized by.
    finishing: Folds<'a>,
    config: &'a SearchConfig,
    searched: &'a Searched,
    budget: &'a Budget<'a>,
    /// The best models with hidden states together.
    pool: Option<Pool>,
}

/// Finishes the best candidate; where its model breaks the promise, the next.
pub(crate) fn choose(
    folds: &Folds<'_>,
    config: &SearchConfig,
    searched: &Searched,
    budget: &Budget<'_>,
) -> Result<Choice> {
    let chooser = Chooser {
        folds,
        finishing: folds.with_cuts(),
        config,
        searched,
        budget,
        pool: best_pool(searched.hidden_candidates(), folds.blocks, config.coverage),
    };
    let mut passed = PassedOver::default();
    for pick in chooser.order() {
        match chooser.finish(pick) {
            Ok(finished) if finished.promise.is_kept() => return Ok(chooser.settle(pick, finished, &passed)),
            Ok(finished) => passed.broken.push((pick, finished)),
            Err(SearchError::Cancelled) => return Err(SearchError::Cancelled),
            // What cannot be made of one candidate can be made of the next.
            Err(error) => passed.failed.push((pick, error)),
        }
    }
    // All of them disappoint: the least bad.
    let worst = |place: &usize| passed.broken[*place].1.promise.worst();
    let Some(place) = (0..passed.broken.len()).min_by(|a, b| worst(a).total_cmp(&worst(b))) else {
        let first = passed.failed.into_iter().next();
        return Err(first.map_or(SearchError::NoStableLinearModel, |(_, error)| error));
    };
    let (pick, finished) = passed.broken.swap_remove(place);
    Ok(chooser.settle(pick, finished, &passed))
}

/// Candidates that were not taken, and why.
#[derive(Default)]
struct PassedOver {
    /// Their models break the promise.
    broken: Vec<(Pick, Finished)>,
    /// No model could be made of them.
    failed: Vec<(Pick, SearchError)>,
}

impl PassedOver {
    fn is_empty(&self) -> bool {
        self.broken.is_empty() && self.failed.is_empty()
    }
}

impl Choice {
    /// The best linear model, since nobody waits for more.
    pub(crate) fn cancelled(
        folds: &Folds<'_>,
        config: &SearchConfig,
        linear: &[LinearCandidate],
        budget: &Budget<'_>,
    ) -> Result<Self> {
        let best = linear.first().ok_or(SearchError::NoStableLinearModel)?;
        let (model, calibration) = finish_linear(&folds.with_cuts(), config, best, budget)?;
        let searched = Searched {
            linear: linear.to_vec(),
            ..Searched::default()
        };
        Ok(Self {
            candidates: table(&searched, None, Pick::Arx(0)),
            promise: Promise::of(&model, folds, &best.score, None),
            model,
            calibration,
            why: "the search was stopped before a network was ready: this is the best linear model so far".to_owned(),
            warning: None,
            descent: (Vec::new(), 0),
        })
    }
}

impl Chooser<'_> {
    fn score(&self, pick: Pick) -> Option<&Score> {
        match pick {
            Pick::Arx(index) => Some(&self.searched.linear[index].score),
            Pick::Lagged(index) => self.searched.lagged[index].score.as_ref(),
            Pick::Hidden(index) => {
                let started = self.searched.hidden_candidates()[index].started.as_ref();
                started.map(|started| &started.score)
            }
            Pick::Pool => self.pool.as_ref().map(|pool| &pool.score),
        }
    }

    fn total(&self, pick: Pick) -> f64 {
        self.score(pick).map_or(f64::INFINITY, Score::total)
    }

    fn name(&self, pick: Pick) -> String {
        match pick {
            Pick::Arx(index) => arx_name(&self.searched.linear[index]),
            Pick::Lagged(index) => self.searched.lagged[index].recipe.name(),
            Pick::Hidden(index) => self.searched.hidden_candidates()[index].name(),
            Pick::Pool => pool_name(self.searched, self.pooled()),
        }
    }

    /// Places of the candidates that the pool is made of.
    fn pooled(&self) -> &[usize] {
        self.pool.as_ref().map_or(&[], |pool| &pool.of)
    }

    /// Models with hidden states that can be started.
    fn startable(&self, is_linear: bool) -> impl Iterator<Item = Pick> + use<'_> {
        let candidates = self.searched.hidden_candidates();
        let wanted = move |c: &HiddenCandidate| c.started.is_some() && c.recipe.is_linear() == is_linear;
        (0..candidates.len())
            .filter(move |&index| wanted(&candidates[index]))
            .map(Pick::Hidden)
    }

    /// Linear models, the best first: of a kind that was asked for where there are any.
    fn linear_models(&self) -> Vec<Pick> {
        let mut states: Vec<Pick> = self.startable(true).collect();
        let least = states
            .iter()
            .map(|&pick| self.total(pick))
            .fold(f64::INFINITY, f64::min);
        // Of those nearly as good as the best the one with the fewest states.
        let order = |pick: Pick| match pick {
            Pick::Hidden(index) if self.total(pick) <= (1.0 + PARSIMONY) * least => {
                self.searched.hidden_candidates()[index].recipe.states
            }
            _ => usize::MAX,
        };
        states.sort_by(|&a, &b| order(a).cmp(&order(b)).then(self.total(a).total_cmp(&self.total(b))));
        // The order of ARX models prefers few parameters.
        let arx = (0..self.searched.linear.len()).map(Pick::Arx);
        if self.config.model == Some(ModelKind::Iss) && !states.is_empty() {
            return states;
        }
        let Some(&best_arx) = arx.clone().collect::<Vec<_>>().first() else {
            return states;
        };
        let wins = |pick: &Pick| self.total(*pick) < (1.0 - STATE_ADVANTAGE) * self.total(best_arx);
        match states.first().is_some_and(wins) && self.config.model.is_none() {
            true => states.into_iter().filter(wins).take(MOST_LINEAR).chain(arx).collect(),
            false => arx.chain(states).collect(),
        }
    }

    /// Networks, the best first.
    fn networks(&self) -> Vec<Pick> {
        let lagged = (0..self.searched.lagged.len()).map(Pick::Lagged);
        let all = lagged.chain(self.startable(false)).chain([Pick::Pool]);
        let mut found: Vec<Pick> = all.filter(|&pick| self.total(pick).is_finite()).collect();
        found.sort_by(|&a, &b| self.total(a).total_cmp(&self.total(b)));
        found
    }

    /// Candidates in the order in which they are finished until one keeps its promise.
    fn order(&self) -> Vec<Pick> {
        let linear = self.linear_models();
        let best = linear.first().and_then(|&pick| self.score(pick));
        let is_asked = self.config.model.is_some_and(|model| model != ModelKind::Iss);
        let wins = |pick: &Pick| {
            let clearly = self
                .score(*pick)
                .zip(best)
                .is_none_or(|(score, best)| score.clearly_beats(best, NETWORK_ADVANTAGE));
            clearly || is_asked
        };
        let networks = self.networks().into_iter().filter(wins).take(MOST_NETWORKS);
        let mut order: Vec<Pick> = networks.chain(linear.iter().copied().take(MOST_LINEAR)).collect();
        // What starts from measured lags needs no observer, and can be had where all of those fail.
        let lagged = linear.into_iter().find(|pick| matches!(pick, Pick::Arx(_)));
        order.extend(lagged.filter(|pick| !order.contains(pick)));
        order
    }

    fn finish(&self, pick: Pick) -> Result<Finished> {
        let (folds, config) = (self.folds, self.config);
        let plan = match pick {
            Pick::Arx(index) => {
                let (model, calibration) =
                    finish_linear(&self.finishing, config, &self.searched.linear[index], self.budget)?;
                return Ok(Finished {
                    promise: Promise::of(&model, folds, &self.searched.linear[index].score, None),
                    model,
                    calibration,
                    is_reduced: false,
                });
            }
            Pick::Lagged(index) => self.lagged_plan(index)?,
            Pick::Hidden(index) => self.hidden_plan(&[index])?,
            Pick::Pool => self.hidden_plan(self.pooled())?,
        };
        let networks = plan.train(&self.finishing, config, self.budget)?;
        let assemble = |of_folds_only: bool| -> Result<Finished> {
            let (model, calibration) = networks.assemble(folds, config, of_folds_only)?;
            let score = self.score(pick).ok_or(SearchError::NoStableLinearModel)?;
            Ok(Finished {
                promise: Promise::of(&model, folds, score, Some(networks.held_out(folds.folds.len()))),
                model,
                calibration,
                is_reduced: of_folds_only,
            })
        };
        let finished = assemble(false)?;
        if !finished.promise.is_kept() && networks.is_mixed() {
            let reduced = assemble(true)?;
            if reduced.promise.worst() < finished.promise.worst() {
                return Ok(reduced);
            }
        }
        Ok(finished)
    }

    fn lagged_plan(&self, index: usize) -> Result<Plan> {
        let candidate = &self.searched.lagged[index];
        let forward = self.folds.forward_fold();
        let of_folds = (0..self.folds.folds.len()).filter_map(|fold| {
            Some(Member {
                theta: candidate.theta(fold)?.to_vec(),
                // The forward cut's has seen least, and calibrates only.
                joins: Some(fold) != forward,
                fold: Some(fold),
            })
        });
        let of_cuts = candidate.members_from(self.folds.folds.len(), &self.finishing, self.config, self.budget)?;
        let of_cuts = of_cuts.into_iter().map(|(fold, theta)| Member {
            fold: Some(fold),
            theta,
            joins: false,
        });
        let everything = candidate.members_of_everything(self.folds, self.config, self.budget)?;
        let everything = everything.into_iter().map(|theta| Member {
            fold: None,
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
    fn hidden_plan(&self, places: &[usize]) -> Result<Plan> {
        let candidates = self.searched.hidden_candidates();
        let hidden = self.searched.hidden.as_ref();
        let started = |place: usize| hidden.zip(candidates[place].started.as_ref());
        let mut observed = Vec::new();
        let mut history = 0;
        for &place in places {
            let (hidden, started) = started(place).ok_or(SearchError::NoStableLinearModel)?;
            observed.extend(hidden.observed(&candidates[place], started, self.budget));
            history = history.max(started.history);
        }
        let shapes = observed.iter().map(|member| member.model.shape());
        let shape = common_shape(shapes).ok_or(SearchError::NoStableLinearModel)?;
        let settings = state_space_settings(self.config, &candidates[places[0]], shape, history);
        let members = observed.into_iter().map(|member| {
            let mut theta = member.model.widened(shape).theta().to_vec();
            let gain_end = theta.len() + shape.states * shape.outputs;
            theta.extend(member.gain);
            theta.resize(gain_end, 0.0);
            Member {
                fold: member.fold,
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

    fn settle(&self, pick: Pick, finished: Finished, passed: &PassedOver) -> Choice {
        let mut warnings = Vec::new();
        for (other, error) in &passed.failed {
            warnings.push(format!("no model could be made of {}: {error}", self.name(*other)));
        }
        for (other, disappointing) in &passed.broken {
            warnings.push(format!(
                "{} promised an error of {:.3} standard deviations, but the model made of it has {:.3}, so it was not taken",
                self.name(*other),
                disappointing.promise.promised,
                disappointing.promise.worst()
            ));
        }
        if finished.is_reduced {
            warnings.push(
                "the networks fitted to everything did worse than promised, so only those of the blocks are averaged"
                    .to_owned(),
            );
        }
        if !finished.promise.is_kept() {
            warnings.push(format!(
                "no model kept its promise; the error of this one is {:.3} standard deviations where {:.3} was promised",
                finished.promise.worst(),
                finished.promise.promised
            ));
        }
        let descent = match pick {
            Pick::Lagged(index) => {
                let candidate = &self.searched.lagged[index];
                (candidate.curve.clone(), candidate.steps)
            }
            Pick::Arx(_) | Pick::Hidden(_) | Pick::Pool => (Vec::new(), 0),
        };
        Choice {
            why: match (passed.is_empty(), finished.promise.is_kept()) {
                (true, _) => self.why(pick),
                (false, true) => {
                    "the best candidate whose model does what held-out data promised; better ones did not".to_owned()
                }
                (false, false) => "the least bad of the models made: none does what held-out data promised".to_owned(),
            },
            candidates: table(self.searched, self.pool.as_ref(), pick),
            model: finished.model,
            calibration: finished.calibration,
            promise: finished.promise,
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
            descent,
        }
    }

    fn why(&self, pick: Pick) -> String {
        let linear = self.linear_models();
        let is_linear = linear.contains(&pick);
        let network = self.networks().first().copied();
        let rival = if is_linear { network } else { Some(pick) };
        let best = if is_linear { Some(pick) } else { linear.first().copied() };
        let compared = rival
            .zip(best)
            .and_then(|(rival, best)| Some((self.score(rival)?, self.score(best)?)));
        let Some((score, linear)) = compared else {
            return match self.config.model {
                Some(ModelKind::Arx) => "the best linear model on held-out data; no network was asked for".to_owned(),
                _ => "the best linear model: no network stayed finite on all held-out blocks".to_owned(),
            };
        };
        let share = 100.0 * (score.total() / linear.total() - 1.0);
        let compared = match share < 0.0 {
            true => format!("{:.0} % lower than", -share),
            false => format!("{share:.0} % higher than"),
        };
        let (blocks, all) = (score.blocks_better(linear), score.blocks.len());
        match is_linear {
            false if self.config.model.is_some() => format!(
                "the best {} on held-out data, as asked; its error there is {compared} the best linear model's",
                self.kind(pick)
            ),
            false => format!(
                "its error on held-out data is {compared} the best linear model's, and lower on {blocks} of {all} blocks"
            ),
            true => format!(
                "no network is clearly better than this linear model: the best one's error on held-out data is {compared} its, and \
                 lower on {blocks} of {all} blocks, where {:.0} %, more than the standard error between blocks, and most blocks were \
                 needed",
                100.0 * NETWORK_ADVANTAGE
            ),
        }
    }

    fn kind(&self, pick: Pick) -> ModelKind {
        match pick {
            Pick::Arx(_) => ModelKind::Arx,
            Pick::Lagged(index) => self.searched.lagged[index].recipe.model,
            Pick::Hidden(_) | Pick::Pool => ModelKind::Iss,
        }
    }
}

/// Samples of a window of margin training of a model with hidden states, besides its history.
const WINDOW: usize = 250;

/// Settings of a model with hidden states that was started from so many samples of history.
fn state_space_settings(config: &SearchConfig, candidate: &HiddenCandidate, shape: Shape, history: usize) -> FitConfig {
    let initial = config.initial.unwrap_or(InitialState::History(history));
    let settings = config.fit_config(ModelKind::Iss, candidate.lags(), initial);
    settings.with(|settings| {
        settings.network.states = Some(shape.states);
        settings.network.hidden = vec![shape.state_hidden, shape.output_hidden];
    })
}

#[cfg(test)]
mod tests {
    use intervalid_data::{LinearSystem, Split, SplitFractions};

    use super::*;
    use crate::config::SearchOptions;
    use crate::linear::linear_candidates;

    #[test]
    fn a_candidate_that_promised_too_much_is_passed_over() {
        let dataset = LinearSystem::default()
            .generate(400, 3)
            .expect("generates")
            .into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let config = SearchConfig::default();
        let budget = Budget::new(&SearchOptions::default());
        let mut searched = Searched {
            linear: linear_candidates(&folds, &config, &budget).expect("fits"),
            ..Searched::default()
        };
        let names: Vec<String> = searched.linear.iter().map(arx_name).collect();
        let is_of = |choice: &Choice, place: usize| choice.candidates[0].name == names[place];
        let honest = choose(&folds, &config, &searched, &budget).expect("chooses");
        assert!(is_of(&honest, 0) && honest.warning.is_none() && honest.promise.is_kept());
        // A hundredth of its error: no model can keep that.
        searched.linear[0].score.rmse *= 0.01;
        searched.linear[0].score.forward *= 0.01;
        let second = choose(&folds, &config, &searched, &budget).expect("chooses");
        assert!(is_of(&second, 1));
        assert!(second.warning.is_some_and(|warning| warning.contains("promised")));
        for candidate in &mut searched.linear {
            candidate.score.rmse = 1e-6;
            candidate.score.forward = 1e-6;
        }
        let least_bad = choose(&folds, &config, &searched, &budget).expect("chooses");
        assert!(
            least_bad
                .warning
                .is_some_and(|warning| warning.contains("no model kept its promise"))
        );
    }
}
