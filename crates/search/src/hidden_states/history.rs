//! How a model with hidden states is started: an observer per model, and the samples of history it needs.
//!
//! x(k+1) = f(x(k), u(k)) + K (y(k) - ŷ(k)) over n samples before a run, from x = 0. Held-out data choose how many samples K recalls; n is
//! the smallest whose held-out error is nearly that of the best.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::candidate::HiddenCandidate;
use super::long::fit_everything;
use super::renew::again;
use super::rounds::HiddenSearch;
use super::stress::{bears, run_backwards};
use crate::budget::Budget;
use crate::doubt::disagreement;
use crate::folds::{BLOCKS, piece};
use crate::parallel::map_parallel;
use crate::score::{HeldOut, Score, score};
use crate::state_space::{Fitted, HISTORY, Observer, Run, Scored, Shape, StateSpace, median};

/// Samples of history that are tried.
const HISTORIES: [usize; 5] = [20, 50, 100, 200, 400];
/// Samples that observers are tried to recall.
const RECALLED: [usize; 4] = [5, 15, 40, 100];
/// A shorter history may be worse by this share.
const NOTICEABLE: f64 = 0.02;
/// Errors beyond so many standard deviations are those of a run that has left the data.
const LOST: f64 = 5.0;

/// One model of an ensemble with its observer.
pub(crate) struct Observed {
    /// The division it was fitted on; none of everything.
    pub(crate) fold: Option<usize>,
    /// The model.
    pub(crate) model: StateSpace,
    /// K, `[state][output]`.
    pub(crate) gain: Vec<f64>,
    /// Whether it is part of the final model; else it is there for calibration alone.
    pub(crate) joins: bool,
}

/// A candidate as users start it.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    /// Samples that its observers recall.
    window: usize,
    /// A model of each division, those of everything last, with its observer.
    members: Vec<(usize, Fitted, Observer)>,
    pub(crate) judged: MeasuredStart,
}

/// What models are worth that start from measured samples.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredStart {
    /// Sizes of the models.
    pub(crate) shape: Shape,
    /// Samples of history.
    pub(crate) history: usize,
    /// Errors on held-out samples from such starts.
    pub(crate) errors: HeldOut,
    /// What they are worth.
    pub(crate) score: Score,
}

impl HiddenSearch {
    /// A candidate with observers that start it, judged on held-out samples from such starts; none where a division has no model that
    /// stays finite and can be started.
    pub(crate) fn start(&self, candidate: &HiddenCandidate, budget: &Budget<'_>) -> Option<Started> {
        let mut chosen = self.chosen_members(candidate);
        chosen.retain(|(_, fitted)| bears(fitted, &self.stress));
        let of_division = |division: usize| &self.divisions[division].fitted;
        let judging = chosen
            .iter()
            .filter(|(division, _)| division + 1 < self.divisions.len());
        let elsewhere: Vec<_> = judging.map(|(_, fitted)| run_backwards(fitted, &self.stress)).collect();
        let doubt = disagreement(&elsewhere);
        let ways = RECALLED.into_iter().map(|window| {
            let members = self.with_observers(chosen.clone(), of_division, window, budget);
            let (history, errors) = self.history(&members)?;
            let score = score(&errors, self.blocks(), self.coverage()).doubted(doubt);
            Some(Started {
                window,
                members,
                judged: MeasuredStart {
                    shape: candidate.members[0][0].model.shape(),
                    history,
                    errors,
                    score,
                },
            })
        });
        // Ties go to the first.
        ways.flatten()
            .min_by(|a, b| a.judged.score.total().total_cmp(&b.judged.score.total()))
    }

    /// All models of a started candidate, those of the cuts and of everything as well.
    pub(crate) fn observed(
        &self,
        candidate: &HiddenCandidate,
        started: &Started,
        budget: &Budget<'_>,
    ) -> Vec<Observed> {
        let all = self.divisions.len() - 1;
        let mut members = started.members.clone();
        if candidate.members.len() == all {
            let everything = fit_everything(candidate, &self.runs, &self.divisions[all].fitted, budget);
            let everything = everything.filter(|fitted| bears(fitted, &self.stress));
            let everything = everything.map(|fitted| (all, fitted)).into_iter().collect();
            let of_division = |division: usize| &self.divisions[division].fitted;
            members.extend(self.with_observers(everything, of_division, started.window, budget));
        }
        let has_all = members.iter().any(|(division, ..)| *division == all);
        let mut observed: Vec<Observed> = members
            .into_iter()
            .map(|(division, fitted, observer)| Observed {
                fold: (division < all).then_some(division),
                model: fitted.model,
                gain: observer.gain().to_vec(),
                // The forward cut's has seen least, and calibrates only.
                joins: match has_all {
                    true => division + 1 != all,
                    false => division + 1 < all || all == 1,
                },
            })
            .collect();
        let of_cuts = self.members_of_cuts(candidate, budget);
        let of_cuts = self.with_observers(of_cuts, |cut| &self.cuts[cut], started.window, budget);
        observed.extend(of_cuts.into_iter().map(|(cut, fitted, observer)| Observed {
            fold: Some(all + cut),
            model: fitted.model,
            gain: observer.gain().to_vec(),
            joins: false,
        }));
        observed
    }

    /// A model of each cut, made as the candidate was; none of a long record.
    fn members_of_cuts(&self, candidate: &HiddenCandidate, budget: &Budget<'_>) -> Vec<(usize, Fitted)> {
        let Some(effort) = self.effort() else {
            return Vec::new();
        };
        let numbered: Vec<(usize, &Scored)> = self.cuts.iter().enumerate().collect();
        let fitted = map_parallel(&numbered, budget.threads, |(cut, scored)| {
            let data = (self.runs.as_slice(), *scored);
            let key = || {
                let (recipe, refined) = (candidate.recipe, candidate.refined);
                format!("cut {cut} of {recipe:?}, {refined} steps, dead time {}", self.dead_time)
            };
            let found = budget.once("cuts", key, || {
                let is_cut = AtomicBool::new(false);
                let keep_on = |work: f64| {
                    let goes_on = budget.did(work, "cuts");
                    is_cut.fetch_or(!goes_on, Ordering::SeqCst);
                    goes_on
                };
                let found = match &candidate.start {
                    Some(start) => again(start, data, &candidate.recipe, &keep_on),
                    None => candidate.recipe.fit_one(data, effort, candidate.refined, &keep_on),
                };
                (!is_cut.into_inner()).then_some(found)
            });
            found.flatten()
        });
        let fitted = fitted.into_iter().enumerate();
        fitted.filter_map(|(cut, fitted)| Some((cut, fitted?))).collect()
    }

    /// Models with observers that recall so many samples.
    fn with_observers<'a>(
        &self,
        members: Vec<(usize, Fitted)>,
        scored: impl Fn(usize) -> &'a Scored + Sync,
        window: usize,
        budget: &Budget<'_>,
    ) -> Vec<(usize, Fitted, Observer)> {
        let observers = map_parallel(&members, budget.threads, |(place, fitted)| {
            Observer::recalling(fitted, &self.runs, scored(*place), window)
        });
        let both = members.into_iter().zip(observers);
        both.filter_map(|((place, fitted), observer)| Some((place, fitted, observer?)))
            .collect()
    }

    /// Of every division the model nearest to what its models agree on; of everything all that agree.
    fn chosen_members(&self, candidate: &HiddenCandidate) -> Vec<(usize, Fitted)> {
        let all = self.divisions.len() - 1;
        let mut chosen = Vec::new();
        for (division, members) in candidate.members.iter().enumerate() {
            let runs: Vec<Option<Vec<f64>>> = members.iter().map(|member| self.free_run(member)).collect();
            let finite: Vec<Vec<f64>> = runs.iter().flatten().cloned().collect();
            let middle = median(&finite);
            let distance = |run: &Vec<f64>| {
                let squares = run.iter().zip(&middle).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                (squares / run.len().max(1) as f64).sqrt()
            };
            let mut near: Vec<(f64, usize)> = (0..members.len())
                .filter_map(|place| Some((distance(runs[place].as_ref()?), place)))
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            let most = if division == all { members.len() } else { 1 };
            let agrees =
                |(rank, (distance, _)): &(usize, &(f64, usize))| *rank == 0 || *distance <= candidate.score.total();
            let kept = near.iter().enumerate().filter(agrees).take(most);
            chosen.extend(kept.map(|(_, &(_, place))| (division, members[place].clone())));
        }
        chosen
    }

    fn free_run(&self, fitted: &Fitted) -> Option<Vec<f64>> {
        let runs = self.runs.iter().zip(&fitted.x0);
        let runs: Option<Vec<Vec<f64>>> = runs.map(|(run, x0)| fitted.model.simulate(run, x0)).collect();
        runs.map(|runs| runs.concat())
    }

    /// The longest history that the record has room for.
    fn longest_history(&self) -> usize {
        let lengths = || self.runs.iter().map(Run::len);
        // A block at the beginning of the record has no samples before it: half of one has to do. A model of one half of every run keeps a
        // quarter of that apart to choose epochs on: its windows, history and all, have to fit in what is left.
        let of_block = lengths().sum::<usize>() / (2 * BLOCKS);
        of_block.min(lengths().max().unwrap_or(0) / 4)
    }

    /// Samples of history that are tried: those that users will give, where they have said so.
    pub(super) fn histories(&self) -> Vec<usize> {
        if let Some(initial) = self.initial {
            return vec![initial.unscored()];
        }
        let longest = self.longest_history();
        let mut tried: Vec<usize> = HISTORIES.into_iter().filter(|&n| n <= longest).collect();
        if tried.is_empty() {
            tried.push(longest.max(1));
        }
        tried
    }

    /// The smallest history nearly as good as the best on held-out samples, and the errors from there; none where a division that
    /// judges has no model.
    fn history(&self, members: &[(usize, Fitted, Observer)]) -> Option<(usize, HeldOut)> {
        let tried = self.histories();
        let errors = tried.iter().map(|&history| self.held_out_errors(members, history));
        let errors = errors.collect::<Option<Vec<HeldOut>>>();
        let errors = errors?;
        let squares = |errors: &HeldOut| errors.iter().flatten().flatten().map(|e| e * e).sum::<f64>().sqrt();
        let least = errors.iter().map(squares).fold(f64::INFINITY, f64::min);
        let mut all = tried.into_iter().zip(errors);
        all.find(|(_, errors)| squares(errors) <= least * (1.0 + NOTICEABLE))
    }

    /// Errors of every division's model on what the division holds out, the state followed over `history` samples before; none where a
    /// division that judges has no model. How well a state is found depends on where a run starts, and how far a run drifts on its length:
    /// the one part of a long record is run in pieces, and as a whole.
    pub(super) fn held_out_errors(&self, members: &[(usize, Fitted, Observer)], history: usize) -> Option<HeldOut> {
        let after = |division, in_pieces| self.errors_after(division, members, history, in_pieces);
        match self.blocks() {
            0 => Some(vec![after(0, true)?, after(0, false)?]),
            _ => (0..self.divisions.len() - 1)
                .map(|division| after(division, false))
                .collect(),
        }
    }

    /// Errors `[output][sample]` of one division, run as a whole or in pieces.
    fn errors_after(
        &self,
        division: usize,
        members: &[(usize, Fitted, Observer)],
        history: usize,
        in_pieces: bool,
    ) -> Option<Vec<Vec<f64>>> {
        let (_, fitted, observer) = members.iter().find(|(of, ..)| *of == division)?;
        let model = &fitted.model;
        let zero = vec![0.0; model.shape().states];
        let mut errors = vec![Vec::new(); model.shape().outputs];
        let held_out = self.divisions[division].held_out.iter().zip(&self.runs);
        let held_out = held_out.filter_map(|(range, run)| Some((range.clone()?, run)));
        let pieces = |(range, run): (Range<usize>, _)| match in_pieces {
            true => (0..BLOCKS).map(|index| (piece(range.clone(), index), run)).collect(),
            false => vec![(range, run)],
        };
        for (range, run) in held_out.flat_map(pieces) {
            let start = if range.start == 0 {
                HISTORY.min(range.end / 2).min(self.longest_history())
            } else {
                range.start
            };
            let past = run.slice(start.saturating_sub(history)..start);
            let unseen = run.slice(start..range.end);
            let predicted = observer
                .follow(model, &past, &zero)
                .and_then(|state| model.simulate(&unseen, &state));
            let outputs = unseen.outputs();
            for k in 0..unseen.len() {
                for (output, (y, errors)) in unseen.y(k).iter().zip(&mut errors).enumerate() {
                    let error = predicted.as_ref().map_or(LOST, |rows| y - rows[k * outputs + output]);
                    errors.push(if error.is_nan() { LOST } else { error.clamp(-LOST, LOST) });
                }
            }
        }
        Some(errors)
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::{Channel, Dataset, Experiment, InitialState, Split, SplitFractions};

    use super::*;
    use crate::config::{SearchConfig, SearchOptions};
    use crate::folds::Folds;

    /// Experiments of these lengths, of a first-order plant.
    fn dataset_of(lengths: &[usize]) -> Dataset {
        let experiment = |(index, &len): (usize, &usize)| {
            let u: Vec<f64> = (0..len).map(|k| (0.7 * (k * k + 3 * index) as f64).sin()).collect();
            let respond = |level: &mut f64, u: &f64| {
                *level = 0.8 * *level + 0.2 * u;
                Some(*level)
            };
            let y = u.iter().scan(0.5, respond).collect();
            Experiment::new(format!("e{index}"), vec![u], vec![y])
        };
        let experiments = lengths.iter().enumerate().map(experiment).collect();
        let [inputs, outputs] = ["u", "y"].map(|name| vec![Channel::new(name)]);
        Dataset::new("d", inputs, outputs, None, experiments).expect("valid")
    }

    fn with_search(lengths: &[usize], initial: Option<InitialState>, look: impl Fn(&mut HiddenSearch)) {
        let dataset = dataset_of(lengths);
        let split = Split::new(&dataset, SplitFractions::new(0.8, 0.2, 0.0).expect("valid")).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let config = SearchConfig {
            initial,
            ..SearchConfig::default()
        };
        look(&mut HiddenSearch::new(&folds, 0, &config).expect("long enough"));
    }

    #[test]
    fn histories_fit_in_the_blocks_and_runs_of_a_record() {
        let tried = |lengths: &[usize], expected: &[usize]| {
            with_search(lengths, None, |search| {
                assert_eq!(search.histories(), expected, "{lengths:?}");
            });
        };
        tried(&[1000], &[20, 50, 100]);
        tried(&[140], &[14]);
        // A block has whole runs.
        tried(&[400; 3], &[20, 50, 100]);
        tried(&[45; 14], &[11]);
    }

    #[test]
    fn a_start_that_the_user_has_set_is_the_one_that_candidates_are_judged_from() {
        for initial in [InitialState::Warmup(1), InitialState::History(30)] {
            with_search(&[500], Some(initial), |search| {
                let budget = Budget::new(&SearchOptions::default());
                assert!(search.linear_models(&budget).expect("fits"));
                let started = search
                    .candidates
                    .iter()
                    .filter_map(|candidate| candidate.started.as_ref());
                let histories: Vec<usize> = started.map(|started| started.judged.history).collect();
                assert!(
                    !histories.is_empty() && histories.iter().all(|&n| n == initial.unscored()),
                    "{histories:?}"
                );
            });
        }
    }
}
