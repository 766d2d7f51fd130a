//! The rounds of a search in their order, the same on every machine.
//!
//! 1. linear models on lagged outputs, fitted to free runs
//! 2. linear state-space models of all orders
//! 3. the first networks with hidden states, each a round
//! 4. networks on lagged outputs: many, a few steps each
//! 5. more networks with hidden states
//! 6. lagged networks: the best of them, more steps, on all divisions
//! 7. lagged networks once more, the best two
//! 8. mutations of the best networks with hidden states, each a round, until work is spent or six waves gain nothing
//!
//! A deadline ends the rounds wherever it falls; as many rounds again give the same result.

use intervalid_data::find_dead_times;

use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::doubt::Beliefs;
use crate::error::{Result, SearchError};
use crate::finish::Plan;
use crate::folds::Folds;
use crate::hidden_states::{HiddenCandidate, HiddenSearch, everything_work};
use crate::linear::{LinearCandidate, with_simulation_fits};
use crate::networks::{LaggedSearch, NetworkCandidate};
use crate::state_space::Recipe;

/// Waves of networks with hidden states before lagged networks go on.
const FIRST_WAVES: usize = 3;
/// Dead times of lags this close to the best are believed.
const GOOD_LAGS: f64 = 0.05;
/// Linear models with a dead time must beat those without by this share of the score.
const DEAD_TIME_ADVANTAGE: f64 = 0.03;
/// Lagged networks whose margins are trained, on the average: the first may break its promise.
const ATTEMPTS: f64 = 1.5;
/// Networks with hidden states that are started as users do.
const NETWORKS_STARTED: usize = 6;
/// Networks whose margins are trained in the end, at most.
const MEMBERS: usize = 9;

/// What the end takes of the work that is counted for it: most pools are smaller than the dearest, and few candidates are fitted again.
/// On ten records it was half at most.
const OF_THE_DEAREST: f64 = 0.5;

/// What the rounds found.
#[derive(Default)]
pub(crate) struct Searched {
    /// Linear models on lagged outputs, the best first.
    pub(crate) linear: Vec<LinearCandidate>,
    /// Networks on lagged outputs, the best first; those that left early have no score.
    pub(crate) lagged: Vec<NetworkCandidate>,
    /// Models with hidden states; none if they were not wanted or the record is too short.
    pub(crate) hidden: Option<HiddenSearch>,
    /// Rounds that were finished.
    pub(crate) rounds: usize,
    /// Whether time ran out.
    pub(crate) is_capped: bool,
}

impl Searched {
    /// Models with hidden states that were judged.
    pub(crate) fn hidden_candidates(&self) -> &[HiddenCandidate] {
        self.hidden.as_ref().map_or(&[], |hidden| &hidden.candidates)
    }

    /// Which candidates are believed, of all that could be the model.
    pub(crate) fn beliefs(&self) -> Beliefs {
        let lagged = self.lagged.iter().filter_map(|candidate| candidate.score.as_ref());
        let hidden = self.hidden_candidates().iter();
        let hidden = hidden.filter_map(|candidate| Some(&candidate.started.as_ref()?.judged.score));
        Beliefs::of(
            self.linear
                .iter()
                .map(|candidate| &candidate.score)
                .chain(lagged)
                .chain(hidden),
        )
    }
}

/// Carries out the rounds, from linear models fitted to one-step errors; there is at least one.
pub(crate) fn carry_out(
    folds: &Folds<'_>,
    config: &SearchConfig,
    linear: &[LinearCandidate],
    budget: &Budget<'_>,
) -> Result<Searched> {
    let mut rounds = Rounds {
        folds,
        config,
        budget,
        linear: linear.to_vec(),
        lagged: LaggedSearch::default(),
        hidden: Vec::new(),
        done: 0,
        is_capped: false,
    };
    rounds.run()?;
    Ok(Searched {
        linear: rounds.linear,
        lagged: rounds.lagged.into_candidates(),
        hidden: rounds.hidden.into_iter().next(),
        rounds: rounds.done,
        is_capped: rounds.is_capped,
    })
}

/// No dead time, and what both the correlation of inputs and outputs and the lags of linear models allow.
fn dead_times(folds: &Folds<'_>, config: &SearchConfig, linear: &[LinearCandidate]) -> Vec<usize> {
    if let Some(lags) = config.lags {
        return vec![lags.nd];
    }
    let good = linear
        .iter()
        .filter(|candidate| candidate.score.total() <= (1.0 + GOOD_LAGS) * linear[0].score.total());
    let of_lags = good.map(|candidate| candidate.lags.nd).min().unwrap_or(0);
    let pairs = find_dead_times(folds.dataset, &folds.all).unwrap_or_default();
    // Where no answer stands out, none speaks against the lags.
    let seen = pairs.iter().filter_map(|pair| pair.delay).min().unwrap_or(of_lags);
    match of_lags.min(seen) {
        0 => vec![0],
        dead_time => vec![0, dead_time],
    }
}

struct Rounds<'a> {
    folds: &'a Folds<'a>,
    config: &'a SearchConfig,
    budget: &'a Budget<'a>,
    linear: Vec<LinearCandidate>,
    lagged: LaggedSearch,
    /// One per dead time until linear models have chosen one.
    hidden: Vec<HiddenSearch>,
    done: usize,
    is_capped: bool,
}

impl Rounds<'_> {
    fn run(&mut self) -> Result<()> {
        self.simulation_round()?;
        self.lagged = LaggedSearch::new(self.folds, self.config, self.linear[0].lags)?;
        self.linear_round()?;
        let mut is_worth_more = self.hidden_wave()?;
        self.lagged_round()?;
        for _ in 1..FIRST_WAVES {
            is_worth_more = is_worth_more && self.hidden_wave()?;
        }
        self.lagged_round()?;
        self.lagged_round()?;
        while is_worth_more {
            is_worth_more = self.hidden_wave()?;
        }
        // Networks with hidden states are judged once more, as users start them.
        self.hidden
            .first_mut()
            .map_or(Ok(()), |hidden| hidden.start_best(false, NETWORKS_STARTED, self.budget))
    }

    /// Linear models on lagged outputs, fitted to free runs.
    fn simulation_round(&mut self) -> Result<()> {
        if !self.goes_on() {
            return Ok(());
        }
        match with_simulation_fits(self.folds, self.config, &self.linear, self.budget)? {
            Some(linear) => {
                self.linear = linear;
                self.done += 1;
            }
            None => self.is_capped = true,
        }
        Ok(())
    }

    /// Linear state-space models of every dead time; the better one's searches on.
    fn linear_round(&mut self) -> Result<()> {
        if !self.goes_on() || !self.config.searches_hidden_states() {
            return Ok(());
        }
        let search = |dead_time| HiddenSearch::new(self.folds, dead_time, self.config);
        let dead_times = dead_times(self.folds, self.config, &self.linear);
        self.hidden = dead_times.into_iter().filter_map(search).collect();
        if self.hidden.is_empty() {
            let samples = self.folds.all.samples();
            return match self.config.model {
                Some(model) => Err(SearchError::TooShortForNetworks { model, samples }),
                None => Ok(()),
            };
        }
        for hidden in &mut self.hidden {
            if !hidden.linear_models(self.budget)? {
                self.is_capped = true;
                self.hidden.clear();
                return Ok(());
            }
        }
        // No dead time comes first, and is kept unless another is clearly better: too long a one costs the model.
        let mut best = 0;
        for other in 1..self.hidden.len() {
            let score = |place: usize| self.hidden[place].best_score();
            if score(other) < (1.0 - DEAD_TIME_ADVANTAGE) * score(best) {
                best = other;
            }
        }
        self.hidden.swap(0, best);
        self.hidden.truncate(1);
        self.done += 1;
        self.reserve();
        Ok(())
    }

    /// Whether another round is wanted and affordable.
    fn goes_on(&self) -> bool {
        !self.is_capped && self.done < self.config.rounds && !self.budget.is_spent()
    }

    fn lagged_round(&mut self) -> Result<()> {
        if !self.goes_on() || self.lagged.is_done() {
            return Ok(());
        }
        match self.lagged.next_round(self.folds, self.config, self.budget)? {
            true => self.done += 1,
            false => self.is_capped = true,
        }
        self.reserve();
        Ok(())
    }

    /// A wave of networks with hidden states; whether another may follow.
    fn hidden_wave(&mut self) -> Result<bool> {
        let most = self.config.rounds - self.done;
        let goes_on = self.goes_on();
        let Some(hidden) = self.hidden.first_mut().filter(|_| goes_on) else {
            return Ok(false);
        };
        let wave = hidden.wave(most, self.budget)?;
        self.done += wave.done;
        self.is_capped = wave.is_cut;
        self.reserve();
        Ok(!wave.is_cut && !wave.is_last)
    }

    /// Keeps time for what the best candidates so far will need in the end: a network on lagged outputs, or models with hidden states
    /// that may be one model together. Before any network has been judged, for the first that will be.
    fn reserve(&self) {
        let threads = self.budget.threads as f64;
        let cuts = self.folds.cuts().len();
        let margins = |parameters: usize| Plan::work(self.folds, parameters, MEMBERS + cuts) / threads;
        let of_lagged = self.lagged.best().map_or(0.0, |best| {
            let fits = best.everything_work(self.folds) + cuts as f64 * best.member_work(self.folds);
            ATTEMPTS * (margins(best.parameters) + fits / threads)
        });
        let of_hidden = self.hidden.first().map_or(0.0, |hidden| {
            let needed = hidden.needed_in_the_end();
            let work = |(recipe, steps): &(Recipe, usize)| {
                let refit = match hidden.effort() {
                    None => everything_work(recipe, &hidden.runs),
                    Some(effort) => cuts as f64 * recipe.work(&hidden.runs, effort, *steps) / threads,
                };
                margins(recipe.shape(&hidden.runs[0]).parameters()) + refit
            };
            needed.iter().map(work).sum()
        });
        // A mean may have both.
        self.budget.reserve(OF_THE_DEAREST * (of_lagged + of_hidden));
    }
}
