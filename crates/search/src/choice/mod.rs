//! Which candidate becomes the model, and whether that model keeps what the candidate promised.

mod plans;
mod pool;
mod words;

pub(crate) use plans::hidden_plan;
pub(crate) use pool::{MOST_POOLED, MOST_POOLED_NETWORKS, Pool};

use intervalid_model::{Calibration, Model, ModelKind};
use pool::{UNTOLD, best_pool};

use crate::average::Averaged;
use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::doubt::Beliefs;
use crate::error::{Result, SearchError};
use crate::finish::finish_linear;
use crate::folds::Folds;
use crate::hidden_states::{HiddenCandidate, MeasuredStart};
use crate::info::CandidateInfo;
use crate::linear::LinearCandidate;
use crate::promise::Promise;
use crate::rounds::Searched;
use crate::score::Score;
use crate::table::{arx_name, pool_name, table};

/// A network has to beat the best linear model by this share of the score: it is harder to understand and to deploy.
const NETWORK_ADVANTAGE: f64 = 0.03;
/// A linear state-space model has to beat ARX models by this share.
const STATE_ADVANTAGE: f64 = 0.02;
/// A linear state-space model of fewer states may be worse by this share.
const PARSIMONY: f64 = 0.02;
/// Networks that are finished before linear models come, since each takes its time, and linear models before the search settles for
/// one that breaks its promise.
const MOST_NETWORKS: usize = 3;
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
    /// Several of all these together.
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
    /// Which networks are averaged.
    averaged: Averaged,
}

struct Chooser<'a> {
    folds: &'a Folds<'a>,
    /// The same and more cuts, which a finished model's band is sized by.
    finishing: Folds<'a>,
    config: &'a SearchConfig,
    searched: &'a Searched,
    budget: &'a Budget<'a>,
    beliefs: Beliefs,
    /// Models on lagged outputs, judged as those with hidden states are.
    lagged: Vec<(Pick, MeasuredStart)>,
    /// The best models together.
    pool: Option<Pool>,
}

/// Finishes the best candidate; where its model breaks the promise, the next.
pub(crate) fn choose(
    folds: &Folds<'_>,
    config: &SearchConfig,
    searched: &Searched,
    budget: &Budget<'_>,
) -> Result<Choice> {
    let mut chooser = Chooser {
        folds,
        finishing: folds.with_cuts(),
        config,
        searched,
        budget,
        beliefs: searched.beliefs(),
        lagged: Vec::new(),
        pool: None,
    };
    chooser.lagged = chooser.lagged_starts();
    chooser.pool = best_pool(&chooser.eligible(), folds.blocks, config.coverage);
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
            candidates: table(&searched, &[], None, Pick::Arx(0)),
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
            Pick::Arx(_) | Pick::Lagged(_) => self.judged_alike(pick).or_else(|| self.own_score(pick)),
            Pick::Hidden(_) | Pick::Pool => self.own_score(pick),
        }
    }

    /// The score of a model on lagged outputs in the runs that judge models with hidden states: those begin where held-out samples do,
    /// its own long before.
    fn judged_alike(&self, pick: Pick) -> Option<&Score> {
        let of = self.lagged.iter().find(|(of, _)| *of == pick);
        of.map(|(_, judged)| &judged.score)
    }

    /// What a candidate was worth to its own family.
    fn own_score(&self, pick: Pick) -> Option<&Score> {
        match pick {
            Pick::Arx(index) => Some(&self.searched.linear[index].score),
            Pick::Lagged(index) => self.searched.lagged[index].score.as_ref(),
            Pick::Hidden(index) => {
                let started = self.searched.hidden_candidates()[index].started.as_ref();
                started.map(|started| &started.judged.score)
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
            Pick::Pool => self
                .pool
                .as_ref()
                .map_or_else(String::new, |pool| pool_name(self.searched, pool)),
        }
    }

    /// The candidates that the pool is made of.
    fn pooled(&self) -> &[Pick] {
        self.pool.as_ref().map_or(&[], |pool| &pool.of)
    }

    /// Whether the pool is a mean of the best linear model and others like it, which is linear as well.
    fn is_mean_of_linear(&self, linear: &[Pick]) -> bool {
        let has = |pick: &Pick| self.pooled().contains(pick);
        linear.first().is_some_and(has) && self.pooled().iter().all(|&pick| self.is_linear(pick))
    }

    fn is_linear(&self, pick: Pick) -> bool {
        match pick {
            Pick::Arx(_) => true,
            Pick::Lagged(_) => false,
            Pick::Hidden(index) => self.searched.hidden_candidates()[index].recipe.is_linear(),
            Pick::Pool => self.pooled().iter().all(|&pick| self.is_linear(pick)),
        }
    }

    /// Models with hidden states that can be started.
    fn startable(&self, is_linear: bool) -> impl Iterator<Item = Pick> + use<'_> {
        let candidates = self.searched.hidden_candidates();
        let wanted = move |c: &HiddenCandidate| c.started.is_some() && c.recipe.is_linear() == is_linear;
        (0..candidates.len())
            .filter(move |&index| wanted(&candidates[index]))
            .map(Pick::Hidden)
    }

    fn is_believed(&self, pick: &Pick) -> bool {
        self.score(*pick).is_some_and(|score| self.beliefs.hold(score))
    }

    /// Linear models, the best first, those that are not believed last: of a kind that was asked for where there are any.
    fn linear_models(&self) -> Vec<Pick> {
        let mut all = self.linear_among(|pick| self.is_believed(pick));
        all.extend(self.linear_among(|pick| !self.is_believed(pick)));
        all
    }

    fn linear_among(&self, is_wanted: impl Fn(&Pick) -> bool) -> Vec<Pick> {
        let has_states = self.startable(true).next().is_some();
        let mut states: Vec<Pick> = self.startable(true).filter(&is_wanted).collect();
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
        let arx: Vec<Pick> = (0..self.searched.linear.len())
            .map(Pick::Arx)
            .filter(is_wanted)
            .collect();
        if self.config.model == Some(ModelKind::Iss) && has_states {
            return states;
        }
        let best_arx = arx.iter().map(|&pick| self.total(pick)).fold(f64::INFINITY, f64::min);
        let wins = |pick: &Pick| self.total(*pick) < (1.0 - STATE_ADVANTAGE) * best_arx;
        match states.first().is_some_and(wins) && self.config.model.is_none() {
            true => states.into_iter().filter(wins).take(MOST_LINEAR).chain(arx).collect(),
            false => arx.into_iter().chain(states).collect(),
        }
    }

    /// Networks of one recipe that have been judged.
    fn judged_networks(&self) -> impl Iterator<Item = Pick> + use<'_> {
        let lagged = (0..self.searched.lagged.len()).map(Pick::Lagged);
        let all = lagged.chain(self.startable(false));
        all.filter(|&pick| self.total(pick).is_finite())
    }

    /// Whether the user wants a network, however a linear model compares.
    fn is_network_asked(&self) -> bool {
        match (self.config.model, self.config.hidden) {
            // Linear models are there to start from.
            (_, Some(units)) => units != [0, 0],
            (Some(model), None) => matches!(model, ModelKind::Inode | ModelKind::Ilstm),
            (None, None) => false,
        }
    }

    /// Networks, the best first, those that are not believed last: none of these unless a network was asked for.
    fn networks(&self) -> Vec<Pick> {
        let pool = [Pick::Pool].into_iter().filter(|&pick| self.total(pick).is_finite());
        let mut found: Vec<Pick> = self.judged_networks().chain(pool).collect();
        found.retain(|pick| self.is_believed(pick) || self.is_network_asked());
        // What a single network is better by must be more than held-out data tell: of two equals the mean errs less on new data.
        let total = |pick: Pick| match pick {
            Pick::Pool => self.total(pick) / (1.0 + UNTOLD),
            _ => self.total(pick),
        };
        let order = |pick: &Pick| (!self.is_believed(pick), total(*pick));
        found.sort_by(|a, b| {
            let ((a_doubted, a), (b_doubted, b)) = (order(a), order(b));
            a_doubted.cmp(&b_doubted).then(a.total_cmp(&b))
        });
        found
    }

    /// Candidates in the order in which they are finished until one keeps its promise.
    fn order(&self) -> Vec<Pick> {
        let linear = self.linear_models();
        let best = linear.first().and_then(|&pick| self.score(pick));
        // A mean takes the place of a state-space model unless it is clearly worse, of ARX, which is simpler, if it is better.
        let bound = match linear.first() {
            Some(Pick::Arx(_)) => 1.0 - STATE_ADVANTAGE,
            _ => 1.0 + UNTOLD,
        };
        let wins = |pick: &Pick| {
            let is_better = self.score(*pick).zip(best).is_none_or(|(score, best)| {
                let is_mean = *pick == Pick::Pool && self.is_mean_of_linear(&linear);
                score.clearly_beats(best, NETWORK_ADVANTAGE) || (is_mean && score.total() < bound * best.total())
            });
            is_better || self.is_network_asked()
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
                    averaged: Averaged::All,
                });
            }
            Pick::Lagged(index) => self.lagged_plan(index)?,
            Pick::Hidden(_) => self.hidden_plan(&[pick])?,
            Pick::Pool => self.hidden_plan(self.pooled())?,
        };
        let networks = plan.train(&self.finishing, config, self.budget)?;
        let assemble = |averaged: Averaged| -> Result<Finished> {
            let (model, calibration) = networks.assemble(config, averaged)?;
            let score = self.own_score(pick).ok_or(SearchError::NoStableLinearModel)?;
            Ok(Finished {
                promise: Promise::of(&model, folds, score, Some(networks.held_out(folds.folds.len()))),
                model,
                calibration,
                averaged,
            })
        };
        let mut finished = assemble(Averaged::All)?;
        for fewer in [Averaged::Sound, Averaged::OfBlocks] {
            if !finished.promise.is_kept() && networks.has_fewer(fewer) {
                let other = assemble(fewer)?;
                if other.promise.worst() < finished.promise.worst() {
                    finished = other;
                }
            }
        }
        Ok(finished)
    }
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
        // Its models are far apart on other inputs, and the next is hardly worse.
        let first = searched.linear[0].score.clone();
        searched.linear[0].score = Score {
            rmse: 0.9 * first.rmse,
            forward: 0.9 * first.forward,
            doubt: 11.0,
            ..first.clone()
        };
        let certain = choose(&folds, &config, &searched, &budget).expect("chooses");
        assert!(is_of(&certain, 1) && certain.warning.is_none());
        let is_told = certain.why.contains(&names[0]) && certain.why.contains("11.0 standard deviations apart");
        assert!(is_told, "{}", certain.why);
        searched.linear[0].score = first;
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
