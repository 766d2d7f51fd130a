//! A recipe carried out on every division of the data.
//!
//! start (linear or random) → Adam on whole free runs from several starts → Levenberg–Marquardt (`refine`) → held-out runs, each
//! the median of the models kept. Both stages are candidates, since the second helps on clean records and harms on short noisy ones.

use std::cell::Cell;

use super::descent::{DescentConfig, Fitted, descend};
use super::divisions::{Divisions, HeldOut};
use super::effort::Effort;
use super::explore::{Walker, explore};
use super::fit_linear::{LinearConfig, fit_linear};
use super::model::Shape;
use super::recipe::{Recipe, Start, descent_work, explore_work};
use super::run::{Run, Scored};
use super::start::{at_random, beside_linear};
use crate::parallel::map_parallel;

/// A recipe carried out: a few models per division, and what they are worth together.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// How it was made.
    pub recipe: Recipe,
    /// Gauss–Newton steps after the exploration.
    pub refined: usize,
    /// `[division][start]` in the order of [`Divisions`]; the last have seen everything.
    pub members: Vec<Vec<Fitted>>,
    /// What all but the last members predict for samples they have not seen: the median of the starts.
    pub held_out: Vec<HeldOut>,
    /// √(½ CV² + ½ F²)
    pub score: f64,
    /// Geometric mean over the blocks and the forward cut.
    pub geometric_score: f64,
}

impl Recipe {
    /// Carries the recipe out: candidates after exploration and after refinement, those that stayed finite.
    ///
    /// `best` is the best score so far. `keep_on(work)` is told of work about to be done, in multiplications, before every step;
    /// after a false nothing more is returned.
    pub fn fit(
        &self,
        runs: &[Run],
        divisions: &Divisions,
        effort: &Effort,
        best: f64,
        keep_on: &(dyn Fn(f64) -> bool + Sync),
    ) -> Vec<Candidate> {
        let fitted = divisions.fitted();
        let shape = self.shape(&runs[0]);
        let samples: usize = runs.iter().map(Run::len).sum();
        let is_going_on = Cell::new(true);
        let did = |work: f64| {
            is_going_on.set(is_going_on.get() && keep_on(work));
            is_going_on.get()
        };
        let linear: Option<Vec<Fitted>> = match (self.start, self.is_linear()) {
            (Start::Random, false) => None,
            _ => fitted
                .iter()
                .map(|scored| self.fit_linear(runs, scored, effort, keep_on))
                .collect(),
        };
        if self.is_linear() {
            let members = linear.map(|members| members.into_iter().map(|member| vec![member]).collect());
            return members
                .and_then(|members| self.judge(members, effort.linear, runs, divisions))
                .into_iter()
                .collect();
        }
        if self.start == Start::Linear && linear.is_none() {
            return Vec::new();
        }
        let start = |division: usize, seed: u64| {
            self.start_of(linear.as_ref().map(|linear| &linear[division]), runs, effort, seed)
        };
        let seeds = self.seed..self.seed + if self.explores { effort.starts } else { effort.kept } as u64;
        let jobs = seeds.flat_map(|seed| (0..fitted.len()).map(move |division| (division, seed)));
        let mut candidates = Vec::new();
        let mut members = vec![Vec::new(); fitted.len()];
        if self.explores {
            let walkers =
                jobs.map(|(division, seed)| Walker::new(start(division, seed), division, self.weight_penalty));
            let work = explore_work(shape, samples);
            for walker in explore(walkers.collect(), runs, &fitted, &effort.explore, || did(work)) {
                members[walker.group].push(walker.fitted);
            }
            members.iter_mut().for_each(|members| members.truncate(effort.kept));
            if !is_going_on.get() {
                return candidates;
            }
            candidates.extend(self.judge(members.clone(), 0, runs, divisions));
            if candidates
                .iter()
                .all(|candidate| candidate.score > effort.promising * best)
            {
                return candidates;
            }
        } else {
            jobs.for_each(|(division, seed)| members[division].push(start(division, seed)));
        }
        let refined = self.refine(members, (runs, divisions), effort, best, &did);
        candidates.extend(refined.filter(|_| is_going_on.get()));
        candidates
    }

    /// Settings of so many Gauss–Newton steps.
    pub(super) fn descent(&self, iterations: usize, effort: &Effort) -> DescentConfig {
        DescentConfig {
            iterations,
            weight_penalty: self.weight_penalty,
            linear_share: effort.explore.linear_share,
            ..DescentConfig::default()
        }
    }

    /// One model of these samples, made in the same way: of several starts the one that fits best after exploration, then so many
    /// Gauss–Newton steps. None where that is not possible, or after `keep_on` said no.
    pub(crate) fn fit_one(
        &self,
        (runs, scored): (&[Run], &Scored),
        effort: &Effort,
        refined: usize,
        keep_on: &(dyn Fn(f64) -> bool + Sync),
    ) -> Option<Fitted> {
        let linear = match (self.start, self.is_linear()) {
            (Start::Random, false) => None,
            _ => Some(self.fit_linear(runs, scored, effort, keep_on)?),
        };
        if self.is_linear() {
            return linear;
        }
        let (shape, samples) = (self.shape(&runs[0]), runs.iter().map(Run::len).sum());
        let start = |seed: u64| self.start_of(linear.as_ref(), runs, effort, seed);
        let mut member = match self.explores {
            true => {
                let seeds = self.seed..self.seed + effort.starts as u64;
                let walkers = seeds
                    .map(|seed| Walker::new(start(seed), 0, self.weight_penalty))
                    .collect();
                let work = explore_work(shape, samples);
                let scored = std::slice::from_ref(scored);
                let found = explore(walkers, runs, scored, &effort.explore, || keep_on(work));
                // The best come first.
                found.into_iter().next()?.fitted
            }
            false => start(self.seed),
        };
        if refined > 0 {
            let config = self.descent(refined, effort);
            let work = descent_work(shape, samples);
            member = descend(member, runs, scored, config, |_, _| keep_on(work))?.fitted;
        }
        keep_on(0.0).then_some(member)
    }

    /// The linear model that a network is put beside.
    fn fit_linear(
        &self,
        runs: &[Run],
        scored: &Scored,
        effort: &Effort,
        keep_on: &(dyn Fn(f64) -> bool + Sync),
    ) -> Option<Fitted> {
        let config = LinearConfig {
            states: self.states,
            weight_penalty: self.weight_penalty,
            iterations: effort.linear,
        };
        let linear = Shape {
            state_hidden: 0,
            output_hidden: 0,
            ..self.shape(&runs[0])
        };
        let samples = runs.iter().map(Run::len).sum();
        let is_wanted = keep_on(effort.linear as f64 * descent_work(linear, samples));
        fit_linear(runs, scored, config).ok().filter(|_| is_wanted)
    }

    /// Where a fit starts: beside a linear model, or at random.
    fn start_of(&self, linear: Option<&Fitted>, runs: &[Run], effort: &Effort, seed: u64) -> Fitted {
        if let Some(linear) = linear {
            return Fitted {
                model: beside_linear(&linear.model, self.state_hidden, self.output_hidden, seed),
                x0: linear.x0.clone(),
            };
        }
        let shape = self.shape(&runs[0]);
        let samples: usize = runs.iter().map(Run::len).sum();
        let horizon = (effort.horizon * samples as f64).clamp(5.0, 500.0);
        Fitted {
            model: at_random(shape, horizon, seed),
            x0: vec![vec![0.0; self.states]; runs.len()],
        }
    }

    /// What members of every division are worth together; none if that is not finite, or they are not of this recipe.
    pub(crate) fn judge(
        &self,
        members: Vec<Vec<Fitted>>,
        refined: usize,
        runs: &[Run],
        divisions: &Divisions,
    ) -> Option<Candidate> {
        let shape = self.shape(&runs[0]);
        let is_of_recipe = |member: &Fitted| member.model.shape() == shape && member.x0.len() == runs.len();
        let is_whole = members.len() == divisions.fitted().len()
            && members
                .iter()
                .all(|members| !members.is_empty() && members.iter().all(is_of_recipe));
        if !is_whole {
            return None;
        }
        let judged = members.iter().take(members.len() - 1).enumerate();
        let held_out: Vec<HeldOut> = judged
            .map(|(division, members)| divisions.held_out(division, members, runs))
            .collect();
        let score = divisions.score(&held_out);
        score.is_finite().then_some(Candidate {
            recipe: *self,
            refined,
            members,
            geometric_score: divisions.geometric_score(&held_out),
            held_out,
            score,
        })
    }
}

/// Carries several recipes out with up to `threads` threads; candidates in the order of the recipes, the same whatever `threads`
/// says unless time runs out. Arguments as for [`Recipe::fit`].
pub fn fit_recipes(
    recipes: &[Recipe],
    (runs, divisions): (&[Run], &Divisions),
    effort: &Effort,
    best: f64,
    threads: usize,
    keep_on: &(dyn Fn(f64) -> bool + Sync),
) -> Vec<Candidate> {
    let found = map_parallel(recipes, threads, |recipe| {
        recipe.fit(runs, divisions, effort, best, keep_on)
    });
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::fixtures::saturating_plant;

    const LINEAR: Recipe = Recipe {
        states: 2,
        state_hidden: 0,
        output_hidden: 0,
        weight_penalty: 1e-5,
        start: Start::Linear,
        explores: false,
        seed: 1,
    };

    /// A saturating first-order plant: a network must beat the linear model on held-out blocks.
    #[test]
    fn a_network_beats_the_linear_model_on_a_saturating_plant() {
        let runs = [saturating_plant(500)];
        let divisions = Divisions::new(&runs).expect("long enough");
        let effort = Effort::default();
        let linear = LINEAR.fit(&runs, &divisions, &effort, f64::INFINITY, &|_| true);
        let network = Recipe {
            state_hidden: 4,
            ..LINEAR
        };
        let network = network.fit(&runs, &divisions, &effort, f64::INFINITY, &|_| true);
        assert!(
            network[0].score < 0.3 * linear[0].score,
            "{} {}",
            network[0].score,
            linear[0].score
        );
        assert_eq!((network[0].members.len(), network[0].held_out.len()), (7, 6));
        let orders = [1, 2, 3].map(|states| Recipe { states, ..LINEAR });
        let with = |threads| {
            let found = fit_recipes(&orders, (&runs, &divisions), &effort, f64::INFINITY, threads, &|_| true);
            found.into_iter().map(|candidate| candidate.members).collect::<Vec<_>>()
        };
        assert_eq!(with(1), with(3));
    }
}
