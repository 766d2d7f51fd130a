//! Gauss–Newton steps of a recipe's models, as many as help on samples that were not fitted.
//!
//! On clean records every step helps; on short noisy ones the first few already fit noise. So steps come in stages, and after each
//! of them the models predict what they have not seen: two stages in a row that gain too little there are the last. One may be a
//! detour: a network that starts as a linear model needs some steps before it is worth anything.

use super::descent::{DescentConfig, Fitted, descend};
use super::divisions::Divisions;
use super::effort::Effort;
use super::fit_recipe::Candidate;
use super::recipe::{Recipe, descent_work};
use super::run::{Run, Scored};

/// Steps of the first stage; each of the others takes as many as all before it.
const FIRST_STAGE: usize = 5;
/// A stage gains if it lowers the best score by this share.
const GAIN: f64 = 0.01;
/// Stages in a row without a gain that end a descent.
const IDLE_STAGES: usize = 2;

impl Recipe {
    /// The candidate after Gauss–Newton steps; none where they do not help after an exploration, or nothing stays finite.
    ///
    /// One model of every division comes first and tells how many steps help. Where these models are far from the best, others are
    /// not worth their work, and the candidate does without them.
    pub(super) fn refine(
        &self,
        mut members: Vec<Vec<Fitted>>,
        (runs, divisions): (&[Run], &Divisions),
        effort: &Effort,
        best: f64,
        did: &dyn Fn(f64) -> bool,
    ) -> Option<Candidate> {
        let fitted = divisions.fitted();
        let samples = runs.iter().map(Run::len).sum();
        let work = descent_work(self.shape(&runs[0]), samples);
        let all: usize = members.iter().map(Vec::len).sum();
        let affordable = effort.descent_work / (all as f64 * work).max(1.0);
        let most = (affordable.max(FIRST_STAGE as f64) as usize).min(effort.descent);
        let descend_by = |descender: &mut Descender, scored: &Scored, steps: usize| {
            let config = self.descent(steps, effort);
            descender.descend(runs, scored, config, || did(work));
        };

        let mut firsts: Vec<Descender> = members.iter().map(|members| Descender::new(&members[0])).collect();
        let judge = |firsts: &[Descender], steps: usize| {
            let members = firsts.iter().map(|first| vec![first.fitted.clone()]).collect();
            self.judge(members, steps, runs, divisions)
        };
        let start = judge(&firsts, 0).map_or(f64::INFINITY, |start| start.score);
        let (mut before, mut steps, mut idle) = (start, 0, 0);
        let mut alone: Option<Candidate> = None;
        while steps < most {
            let stage = steps.max(FIRST_STAGE).min(most - steps);
            for (first, scored) in firsts.iter_mut().zip(&fitted) {
                descend_by(first, scored, stage);
            }
            steps += stage;
            let Some(judged) = judge(&firsts, steps) else { break };
            let score = judged.score;
            if alone.as_ref().is_none_or(|alone| score < alone.score) {
                alone = Some(judged);
            }
            idle = if score <= (1.0 - GAIN) * before { 0 } else { idle + 1 };
            if idle == IDLE_STAGES {
                break;
            }
            before = score.min(before);
        }
        let alone = alone.filter(|alone| alone.score < start || !self.explores)?;
        if alone.score > effort.worth_company * best || all == members.len() {
            return Some(alone);
        }
        for ((members, scored), first) in members.iter_mut().zip(&fitted).zip(alone.members) {
            for member in &mut members[1..] {
                let mut descender = Descender::new(member);
                descend_by(&mut descender, scored, alone.refined);
                *member = descender.fitted;
            }
            members.splice(..1, first);
        }
        self.judge(members, alone.refined, runs, divisions)
    }
}

/// A model on its way down, which goes on where it stopped.
struct Descender {
    fitted: Fitted,
    damping: f64,
    is_down: bool,
}

impl Descender {
    fn new(start: &Fitted) -> Self {
        Self {
            fitted: start.clone(),
            damping: DescentConfig::default().damping,
            is_down: false,
        }
    }

    /// Goes so many steps further; a model that diverges stays where it is.
    fn descend(&mut self, runs: &[Run], scored: &Scored, config: DescentConfig, keep_on: impl Fn() -> bool) {
        if self.is_down {
            return;
        }
        let config = DescentConfig {
            damping: self.damping,
            ..config
        };
        match descend(self.fitted.clone(), runs, scored, config, |_, _| keep_on()) {
            Some(found) => {
                self.fitted = found.fitted;
                self.damping = found.damping;
                self.is_down = found.converged;
            }
            None => self.is_down = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::fixtures::saturating_plant;
    use crate::state_space::recipe::Start;

    const NETWORK: Recipe = Recipe {
        states: 1,
        state_hidden: 2,
        output_hidden: 0,
        weight_penalty: 1e-5,
        start: Start::Linear,
        explores: false,
        seed: 1,
    };

    /// Far from the best a recipe gets one refined model per division, near it all of them.
    #[test]
    fn a_recipe_that_is_far_from_the_best_is_refined_in_part() {
        let runs = [saturating_plant(300)];
        let divisions = Divisions::new(&runs).expect("long enough");
        let effort = Effort::default();
        let members_and_work = |best: f64| {
            let work = std::sync::Mutex::new(0.0);
            let keep_on = |more: f64| {
                *work.lock().expect("no panic") += more;
                true
            };
            let found = NETWORK.fit(&runs, &divisions, &effort, best, &keep_on);
            assert_eq!(found.len(), 1);
            let members: Vec<usize> = found[0].members.iter().map(Vec::len).collect();
            (members, found[0].score, work.into_inner().expect("no panic"))
        };
        let (all, score, all_work) = members_and_work(f64::INFINITY);
        assert_eq!(all, [3; 7]);
        let (near, _, _) = members_and_work(score);
        assert_eq!(near, all);
        let (few, _, few_work) = members_and_work(0.1 * score);
        assert_eq!(few, [1; 7]);
        assert!(few_work < 0.6 * all_work, "{few_work} {all_work}");
    }

    /// What is fitted in stages is what is fitted at once.
    #[test]
    fn stages_are_one_descent() {
        let runs = [saturating_plant(300)];
        let scored = Scored::outside(&runs, 100..150);
        let linear = NETWORK.fit(
            &runs,
            &Divisions::new(&runs).expect("long enough"),
            &Effort::default(),
            f64::INFINITY,
            &|_| true,
        );
        let start = &linear[0].members[0][1];
        let config = |iterations| DescentConfig {
            iterations,
            weight_penalty: 1e-6,
            ..DescentConfig::default()
        };
        let mut in_stages = Descender::new(start);
        in_stages.descend(&runs, &scored, config(2), || true);
        in_stages.descend(&runs, &scored, config(3), || true);
        let mut at_once = Descender::new(start);
        at_once.descend(&runs, &scored, config(5), || true);
        assert_ne!(&at_once.fitted, start);
        assert_eq!(in_stages.fitted, at_once.fitted);
    }
}
