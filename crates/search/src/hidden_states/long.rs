//! Records of 10⁵ samples: Gauss–Newton from linear starts, judged after the forward cut.
//!
//! Linear orders are fitted on 10 000 samples and the best again on all. Networks get 30 steps on 50 samples per parameter; the best
//! two go on over everything before the cut, ten steps at a time, while it helps. Then the best grows: a record this long can tell
//! whether it needs more units. So it goes on for as long as there is work left and something is gained.

use std::time::Instant;

use super::candidate::HiddenCandidate;
use super::rounds::Wave;
use crate::budget::Budget;
use crate::cut::before_cut;
use crate::parallel::map_parallel;
use crate::state_space::{
    Descent, DescentConfig, Division, Fitted, LinearConfig, Recipe, Run, Scored, Start, beginnings, beside_linear,
    descend, descent_work, fit_linear, with_more_units,
};

/// Samples that linear orders are compared on.
const LINEAR_SAMPLES: usize = 10_000;
/// Linear models that are fitted again to everything before the cut, and their steps.
const LINEAR_AGAIN: usize = 2;
const LINEAR_STEPS: usize = 10;
/// Samples per parameter of the first stage: with fewer a model learns to diverge elsewhere.
const PER_PARAMETER: usize = 50;
const FIRST_STEPS: usize = 30;
/// Networks that go on, and their steps per round.
const KEPT: usize = 2;
const MORE_STEPS: usize = 10;
/// Rounds that gain less than this share of the score end a descent, or the growth.
const GAIN: f64 = 0.005;
/// Units of a map after it has grown, as a multiple of those before.
const GROWTH: f64 = 1.5;
/// Steps of the fit on everything, from the one before the cut.
const LAST_STEPS: usize = 12;
/// Penalties: clean records bear next to none.
const WEAK: f64 = 1e-9;
const STRONG: f64 = 1e-5;
const LINEAR_PENALTY: f64 = 1e-7;

/// What the rounds of a long record share.
pub(crate) struct LongSearch {
    /// Where each run is cut.
    cuts: Vec<usize>,
    /// Samples before the cuts.
    fitted: Scored,
    all: Scored,
    /// Whether more steps of the best networks gain nothing.
    is_settled: bool,
}

impl LongSearch {
    pub(crate) fn new(runs: &[Run]) -> Self {
        let cuts: Vec<usize> = runs.iter().map(|run| before_cut(run.len())).collect();
        Self {
            fitted: Scored::matching(runs, |run, k| k < cuts[run]),
            all: Scored::all(runs),
            cuts,
            is_settled: false,
        }
    }

    /// The forward cut, and everything.
    pub(crate) fn divisions(&self) -> Vec<Division> {
        let after = self.cuts.iter().enumerate();
        vec![
            Division {
                held_out: after.map(|(run, &cut)| Some(cut..self.all.end(run))).collect(),
                fitted: self.fitted.clone(),
            },
            Division {
                fitted: self.all.clone(),
                held_out: vec![None; self.cuts.len()],
            },
        ]
    }

    /// Networks worth a try around a linear order.
    pub(crate) fn networks(order: usize, seed: u64) -> Vec<Recipe> {
        let recipe = |(states, state_hidden, output_hidden, weight_penalty)| Recipe {
            states,
            state_hidden,
            output_hidden,
            weight_penalty,
            start: Start::Linear,
            explores: false,
            seed,
        };
        [
            (order, 12, 4, WEAK),
            (order + 2, 12, 4, WEAK),
            (order, 10, 0, WEAK),
            (order.max(3), 8, 0, STRONG),
            (order + 1, 8, 8, WEAK),
            (order + 2, 15, 15, WEAK),
        ]
        .map(recipe)
        .to_vec()
    }

    /// All orders on the beginning, the best again on everything before the cut; none if time or the user cut it.
    pub(crate) fn linear_models(
        &self,
        orders: &[Recipe],
        runs: &[Run],
        (dead_time, coverage): (usize, f64),
        budget: &Budget<'_>,
    ) -> Option<Vec<HiddenCandidate>> {
        let share = LINEAR_SAMPLES as f64 / self.fitted.samples().max(1) as f64;
        let beginning = beginnings(runs, &self.fitted, share);
        let judge = |recipe: Recipe, fitted: Fitted, started: Instant| {
            let judged = HiddenCandidate::of_cut(recipe, fitted, (runs, &self.cuts), dead_time, coverage);
            judged.map(|judged| HiddenCandidate {
                seconds: started.elapsed().as_secs_f64(),
                ..judged
            })
        };
        let found = map_parallel(orders, budget.threads, |recipe| {
            let started = Instant::now();
            let work = 20.0 * descent_work(recipe.shape(&runs[0]), beginning.samples());
            if !budget.did(work, "linear models") || budget.is_over() {
                return None;
            }
            let fitted = fit_one(recipe, runs, &beginning);
            budget.took(work, started.elapsed());
            Some(fitted.and_then(|fitted| judge(*recipe, fitted, started)))
        });
        let found: Vec<Option<HiddenCandidate>> = found.into_iter().collect::<Option<_>>()?;
        let mut found: Vec<HiddenCandidate> = found.into_iter().flatten().collect();
        found.sort_by(|a, b| a.score.total().total_cmp(&b.score.total()));
        let places: Vec<usize> = (0..found.len().min(LINEAR_AGAIN)).collect();
        let again = map_parallel(&places, budget.threads, |&place| {
            let started = Instant::now();
            let candidate = &found[place];
            let work = descent_work(candidate.recipe.shape(&runs[0]), self.fitted.samples());
            let config = descent(LINEAR_PENALTY, LINEAR_STEPS);
            let start = candidate.members[0][0].clone();
            let key = || format!("long linear {:?}, dead time {dead_time}", candidate.recipe);
            let fitted = budget.once("linear models", key, || {
                let mut is_cut = false;
                let descent = descend(start, runs, &self.fitted, config, |_, _| {
                    is_cut = !budget.did(work, "linear models") || budget.is_over();
                    !is_cut
                });
                (!is_cut).then(|| descent.map(|descent| descent.fitted))
            });
            fitted.map(|fitted| fitted.and_then(|fitted| judge(candidate.recipe, fitted, started)))
        });
        for (place, better) in places.into_iter().zip(again.into_iter().collect::<Option<Vec<_>>>()?) {
            if let Some(better) = better.filter(|better| better.score.total() < found[place].score.total()) {
                found[place] = better;
            }
        }
        Some(found)
    }

    /// The first steps of every network; each is a round.
    pub(crate) fn first_stage(
        &self,
        recipes: &[Recipe],
        (runs, (dead_time, coverage)): (&[Run], (usize, f64)),
        candidates: &mut Vec<HiddenCandidate>,
        budget: &Budget<'_>,
    ) -> Wave {
        let known: &[HiddenCandidate] = candidates;
        let found = map_parallel(recipes, budget.threads, |recipe| {
            let started = Instant::now();
            let shape = recipe.shape(&runs[0]);
            let share = (PER_PARAMETER * shape.parameters()) as f64 / self.fitted.samples().max(1) as f64;
            let beginning = beginnings(runs, &self.fitted, share.min(1.0));
            // The linear model of this order is known, unless it diverged.
            let same = known
                .iter()
                .find(|c| c.recipe.is_linear() && c.recipe.states == recipe.states);
            let linear = match same {
                Some(same) => Some(same.members[0][0].clone()),
                None => fit_one(recipe, runs, &beginning),
            };
            let Some(linear) = linear else { return Some(None) };
            let start = Fitted {
                model: beside_linear(&linear.model, recipe.state_hidden, recipe.output_hidden, recipe.seed),
                x0: linear.x0,
            };
            let work = descent_work(shape, beginning.samples());
            let config = descent(recipe.weight_penalty, FIRST_STEPS);
            let key = || format!("long {recipe:?}, dead time {dead_time}");
            let fitted = budget.once("networks", key, || {
                descend_within(budget, work, |goes_on| {
                    descend(start, runs, &beginning, config, goes_on)
                })
            });
            fitted.map(|fitted| {
                let judged = fitted.and_then(|fitted| {
                    HiddenCandidate::of_cut(*recipe, fitted, (runs, &self.cuts), dead_time, coverage)
                });
                judged.map(|judged| HiddenCandidate {
                    refined: FIRST_STEPS,
                    seconds: started.elapsed().as_secs_f64(),
                    ..judged
                })
            })
        });
        let finished: Vec<_> = found.into_iter().map_while(|found| found).collect();
        let done = finished.len();
        candidates.extend(finished.into_iter().flatten());
        Wave {
            done,
            is_cut: done < recipes.len(),
            is_last: false,
        }
    }

    /// More steps on everything before the cut for the best networks, and growth of the best once they gain nothing; one round.
    pub(crate) fn next_stage(
        &mut self,
        data: (&[Run], (usize, f64)),
        may_grow: bool,
        candidates: &mut Vec<HiddenCandidate>,
        budget: &Budget<'_>,
    ) -> Wave {
        let mut networks: Vec<usize> = (0..candidates.len())
            .filter(|&place| !candidates[place].recipe.is_linear())
            .collect();
        networks.sort_by(|&a, &b| candidates[a].score.total().total_cmp(&candidates[b].score.total()));
        // Where a result belongs: in the place of the candidate that went on, or beside all.
        let starts: Vec<(Option<usize>, HiddenCandidate)> = match self.is_settled {
            true => {
                let best = networks.first().map(|&best| grown(&candidates[best]));
                best.into_iter().flatten().map(|grown| (None, grown)).collect()
            }
            false => {
                let kept = networks.iter().take(KEPT);
                kept.map(|&place| (Some(place), candidates[place].clone())).collect()
            }
        };
        let found = map_parallel(&starts, budget.threads, |(_, start)| {
            self.more_steps(start, data, budget)
        });
        let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() else {
            return Wave {
                done: 0,
                is_cut: true,
                is_last: false,
            };
        };
        let mut has_gained = false;
        for ((place, start), better) in starts.into_iter().zip(found) {
            let Some(better) = better.filter(|better| better.score.total() < start.score.total()) else {
                continue;
            };
            has_gained |= better.score.total() < (1.0 - GAIN) * start.score.total();
            match place {
                Some(place) => candidates[place] = better,
                None => candidates.push(better),
            }
        }
        let was_settled = self.is_settled;
        // What has grown may need more steps, and what needs no more may grow.
        self.is_settled = !has_gained && may_grow;
        Wave {
            done: 1,
            is_cut: false,
            is_last: (was_settled || !may_grow) && !has_gained,
        }
    }

    /// A candidate after more steps on everything before the cut: some unless time or the user cut it, and none in it if it diverges.
    fn more_steps(
        &self,
        candidate: &HiddenCandidate,
        (runs, (dead_time, coverage)): (&[Run], (usize, f64)),
        budget: &Budget<'_>,
    ) -> Option<Option<HiddenCandidate>> {
        let started = Instant::now();
        let work = descent_work(candidate.recipe.shape(&runs[0]), self.fitted.samples());
        let config = descent(candidate.recipe.weight_penalty, MORE_STEPS);
        let start = candidate.members[0][0].clone();
        let key = || {
            format!(
                "long {:?} from {:?}, dead time {dead_time}",
                candidate.recipe, candidate.members[0][0]
            )
        };
        let fitted = budget.once("networks", key, || {
            descend_within(budget, work, |goes_on| {
                descend(start, runs, &self.fitted, config, goes_on)
            })
        });
        fitted.map(|fitted| {
            let judged = fitted.and_then(|fitted| {
                HiddenCandidate::of_cut(candidate.recipe, fitted, (runs, &self.cuts), dead_time, coverage)
            });
            judged.map(|judged| HiddenCandidate {
                refined: candidate.refined + MORE_STEPS,
                seconds: candidate.seconds + started.elapsed().as_secs_f64(),
                ..judged
            })
        })
    }
}

/// What a descent of a network finds whose steps take `work` each: some unless time or the user cut it, and none in it if it diverges.
fn descend_within(
    budget: &Budget<'_>,
    work: f64,
    descent: impl FnOnce(&mut dyn FnMut(usize, f64) -> bool) -> Option<Descent>,
) -> Option<Option<Fitted>> {
    let started = Instant::now();
    let (mut is_cut, mut worked) = (false, 0.0);
    let found = descent(&mut |_, _| {
        worked += work;
        is_cut = !budget.did(work, "networks") || budget.is_over();
        !is_cut
    });
    budget.took(worked, started.elapsed());
    (!is_cut).then(|| found.map(|found| found.fitted))
}

/// A network with more units in its state map, and one with more in its output map; at first they do what it does.
fn grown(candidate: &HiddenCandidate) -> Vec<HiddenCandidate> {
    let larger = |units: usize| (units as f64 * GROWTH).ceil().max(units as f64 + 4.0) as usize;
    let recipe = candidate.recipe;
    let larger_maps = [
        Recipe {
            state_hidden: larger(recipe.state_hidden),
            ..recipe
        },
        Recipe {
            output_hidden: larger(recipe.output_hidden),
            ..recipe
        },
    ];
    larger_maps
        .map(|recipe| {
            let seed = recipe.seed + (recipe.state_hidden + recipe.output_hidden) as u64;
            let grow = |fitted: &Fitted| Fitted {
                model: with_more_units(&fitted.model, recipe.state_hidden, recipe.output_hidden, seed),
                x0: fitted.x0.clone(),
            };
            HiddenCandidate {
                recipe,
                members: vec![candidate.members[0].iter().map(grow).collect()],
                ..candidate.clone()
            }
        })
        .to_vec()
}

/// A model of everything from one of what lies before the cut.
pub(crate) fn fit_everything(
    candidate: &HiddenCandidate,
    runs: &[Run],
    all: &Scored,
    budget: &Budget<'_>,
) -> Option<Fitted> {
    let start = candidate.members[0][0].clone();
    let work = descent_work(candidate.recipe.shape(&runs[0]), all.samples());
    let penalty = match candidate.recipe.is_linear() {
        true => LINEAR_PENALTY,
        false => candidate.recipe.weight_penalty,
    };
    let found = descend(start, runs, all, descent(penalty, LAST_STEPS), |_, _| {
        budget.did(work, "fit on everything")
    });
    found.map(|found| found.fitted)
}

/// Work of [`fit_everything`].
pub(crate) fn everything_work(recipe: &Recipe, runs: &[Run]) -> f64 {
    let samples = runs.iter().map(Run::len).sum();
    (LAST_STEPS as f64 + 1.0) * descent_work(recipe.shape(&runs[0]), samples)
}

fn fit_one(recipe: &Recipe, runs: &[Run], scored: &Scored) -> Option<Fitted> {
    let config = LinearConfig {
        states: recipe.states,
        weight_penalty: LINEAR_PENALTY,
        ..LinearConfig::default()
    };
    fit_linear(runs, scored, config).ok()
}

fn descent(weight_penalty: f64, iterations: usize) -> DescentConfig {
    DescentConfig {
        iterations,
        weight_penalty,
        ..DescentConfig::default()
    }
}
