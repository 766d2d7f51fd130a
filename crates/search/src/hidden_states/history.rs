//! How a model with hidden states is started: an observer per model, and the samples of history it needs.
//!
//! x(k+1) = f(x(k), u(k)) + K (y(k) - ŷ(k)) over n samples before a run, from x = 0. K comes from errors on what the model was fitted
//! to, with the aim that held-out data like better; n is the smallest whose held-out error is nearly that of the best.

use super::candidate::HiddenCandidate;
use super::long::fit_everything;
use super::rounds::HiddenSearch;
use crate::budget::Budget;
use crate::folds::{BLOCKS, CUTS};
use crate::parallel::map_parallel;
use crate::state_space::{Division, Fitted, HISTORY, Observer, ObserverConfig, Run, Scored, beginnings, median};

/// Samples of history that are tried.
const HISTORIES: [usize; 5] = [20, 50, 100, 200, 400];
/// A shorter history may be worse by this share.
const NOTICEABLE: f64 = 0.02;
/// Samples that an observer's gain is fitted to.
const OBSERVED: usize = 20_000;
/// Errors beyond so many standard deviations are those of a run that has left the data.
const LOST: f64 = 5.0;

/// One model of an ensemble with its observer.
pub(crate) struct Observed {
    /// The division it was fitted on; none of everything.
    pub(crate) fold: Option<usize>,
    /// Parameters of both maps, then K row by row.
    pub(crate) theta: Vec<f64>,
    /// Whether it is part of the final model; else it is there for calibration alone.
    pub(crate) joins: bool,
}

impl HiddenSearch {
    /// The chosen recipe's models with their observers, those of the cuts as well, and the samples of history that start them.
    pub(crate) fn observed(&self, candidate: &HiddenCandidate, budget: &Budget<'_>) -> (Vec<Observed>, usize) {
        let chosen = self.chosen_members(candidate, budget);
        let of_division = |division: usize| &self.divisions[division].fitted;
        let ways = [ObserverConfig::default(), ObserverConfig::keeping()].map(|config| {
            let with_gain = self.with_observers(chosen.clone(), of_division, config, budget);
            let (history, error) = self.history(&with_gain);
            (error, config, history, with_gain)
        });
        // Of members without an observer nothing is known; ties go to the first.
        let [find, keep] = ways;
        let is_kept = keep.3.len() > find.3.len() || (keep.3.len() == find.3.len() && keep.0 < find.0);
        let (_, config, history, with_gain) = if is_kept { keep } else { find };
        let all = self.divisions.len() - 1;
        let has_all = with_gain.iter().any(|(division, ..)| *division == all);
        let theta = |fitted: &Fitted, observer: &Observer| {
            let theta = fitted.model.theta().iter().chain(observer.gain());
            theta.copied().collect()
        };
        let mut observed: Vec<Observed> = with_gain
            .iter()
            .map(|(division, fitted, observer)| Observed {
                fold: (*division < all).then_some(*division),
                theta: theta(fitted, observer),
                // The forward cut's has seen least, and calibrates only.
                joins: match has_all {
                    true => division + 1 != all,
                    false => division + 1 < all || all == 1,
                },
            })
            .collect();
        let (scored, of_cuts) = self.members_of_cuts(candidate, budget);
        let of_cuts = self.with_observers(of_cuts, |cut| &scored[cut], config, budget);
        observed.extend(of_cuts.iter().map(|(cut, fitted, observer)| Observed {
            fold: Some(all + cut),
            theta: theta(fitted, observer),
            joins: false,
        }));
        (observed, history)
    }

    /// The samples that each cut fits, and a model of each, made as the candidate was; none of a long record.
    fn members_of_cuts(&self, candidate: &HiddenCandidate, budget: &Budget<'_>) -> (Vec<Scored>, Vec<(usize, Fitted)>) {
        let Some(effort) = self.effort() else {
            return (Vec::new(), Vec::new());
        };
        let scored = CUTS.map(|cut| Scored::matching(&self.runs, |run, k| cut.fits(k, self.runs[run].len())));
        let fitted = map_parallel(&scored, budget.threads, |scored| {
            let data = (self.runs.as_slice(), scored);
            let keep_on = |work: f64| budget.did(work, "cuts");
            candidate.recipe.fit_one(data, effort, candidate.refined, &keep_on)
        });
        let fitted = fitted.into_iter().enumerate();
        let found = fitted.filter_map(|(cut, fitted)| Some((cut, fitted?))).collect();
        (scored.to_vec(), found)
    }

    /// Models with the gains that follow what they were fitted to best.
    fn with_observers<'a>(
        &self,
        members: Vec<(usize, Fitted)>,
        scored: impl Fn(usize) -> &'a Scored + Sync,
        config: ObserverConfig,
        budget: &Budget<'_>,
    ) -> Vec<(usize, Fitted, Observer)> {
        let share = OBSERVED as f64 / self.runs.iter().map(Run::len).sum::<usize>().max(1) as f64;
        let observers = map_parallel(&members, budget.threads, |(place, fitted)| {
            let scored = beginnings(&self.runs, scored(*place), share);
            Observer::fit(fitted, &self.runs, &scored, config)
        });
        let both = members.into_iter().zip(observers);
        both.filter_map(|((place, fitted), observer)| Some((place, fitted, observer?)))
            .collect()
    }

    /// Of every division the model nearest to what its models agree on; of everything all that agree.
    fn chosen_members(&self, candidate: &HiddenCandidate, budget: &Budget<'_>) -> Vec<(usize, Fitted)> {
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
        if candidate.members.len() == all {
            let everything = fit_everything(candidate, &self.runs, &self.divisions[all].fitted, budget);
            chosen.extend(everything.map(|fitted| (all, fitted)));
        }
        chosen
    }

    fn free_run(&self, fitted: &Fitted) -> Option<Vec<f64>> {
        let runs = self.runs.iter().zip(&fitted.x0);
        let runs: Option<Vec<Vec<f64>>> = runs.map(|(run, x0)| fitted.model.simulate(run, x0)).collect();
        runs.map(|runs| runs.concat())
    }

    /// The smallest history nearly as good as the best on held-out samples, and the error of the best.
    fn history(&self, members: &[(usize, Fitted, Observer)]) -> (usize, f64) {
        // A block at the beginning of the record has no samples before it: half of one has to do.
        let longest = self.runs.iter().map(Run::len).max().unwrap_or(0) / (2 * BLOCKS);
        let mut tried: Vec<usize> = HISTORIES.into_iter().filter(|&n| n <= longest).collect();
        if tried.is_empty() {
            tried.push(longest.max(1));
        }
        let errors: Vec<f64> = tried
            .iter()
            .map(|&history| {
                members
                    .iter()
                    .map(|(division, fitted, observer)| {
                        squares_after(&self.divisions[*division], fitted, observer, &self.runs, history)
                    })
                    .sum::<f64>()
                    .sqrt()
            })
            .collect();
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let place = errors.iter().position(|error| *error <= least * (1.0 + NOTICEABLE));
        (place.map_or(tried[0], |place| tried[place]), least)
    }
}

/// Σ e² on what a division holds out, the state followed over `history` samples before.
fn squares_after(division: &Division, fitted: &Fitted, observer: &Observer, runs: &[Run], history: usize) -> f64 {
    let model = &fitted.model;
    let zero = vec![0.0; model.shape().states];
    let mut squares = 0.0;
    for (range, run) in division.held_out.iter().zip(runs) {
        let Some(range) = range else { continue };
        let start = if range.start == 0 {
            HISTORY.min(range.end / 2)
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
            let of = |output: usize| {
                predicted
                    .as_ref()
                    .map_or(f64::INFINITY, |rows| rows[k * outputs + output])
            };
            let errors = unseen
                .y(k)
                .iter()
                .enumerate()
                .map(|(output, y)| (y - of(output)).abs().min(LOST));
            squares += errors.map(|e| e * e).sum::<f64>();
        }
    }
    squares
}
