//! Models of several recipes as one: the mean of their free runs, unless held-out data like the best recipe alone clearly better.
//!
//! Recipes differ in what they get wrong, so that their mean is better than most of them and often than all; and where held-out data
//! cannot tell recipes apart, the mean need not: what looks best among many is partly best by chance, and errs more on later data than its
//! mean with others does. One architecture serves all: models of fewer states or units get some that do nothing.

use super::candidate::HiddenCandidate;
use crate::doubt::Beliefs;
use crate::score::{HeldOut, Score, score};
use crate::state_space::Shape;

/// Recipes of a pool at most: each adds members to the final model.
pub(super) const MOST: usize = 4;
/// Networks among them at most: each is fitted once more on every cut, for which a search keeps time.
pub(super) const MOST_NETWORKS: usize = 2;
/// Recipes whose score is worse than the best by more than this factor do not join.
const NEAR: f64 = 1.5;
/// A recipe joins if the score rises by less than this share: held-out data do not tell that little.
pub(crate) const UNTOLD: f64 = 0.03;

/// Recipes whose mean is one model.
pub(crate) struct Pool {
    /// Places of their candidates, the best first.
    pub(crate) of: Vec<usize>,
    /// What the mean is worth on held-out samples.
    pub(crate) score: Score,
}

/// The pool that forward selection finds among started candidates that are believed; none where the best alone is clearly better.
pub(crate) fn best_pool(
    candidates: &[HiddenCandidate],
    beliefs: &Beliefs,
    blocks: usize,
    coverage: f64,
) -> Option<Pool> {
    let eligible = candidates.iter().map(|candidate| {
        let started = candidate
            .started
            .as_ref()
            .filter(|started| beliefs.hold(&started.score))?;
        Some(Eligible {
            errors: &started.errors,
            score: &started.score,
            is_network: !candidate.recipe.is_linear(),
        })
    });
    select(&eligible.collect::<Vec<_>>(), blocks, coverage)
}

/// A candidate that can be started.
#[derive(Clone, Copy)]
struct Eligible<'a> {
    errors: &'a HeldOut,
    score: &'a Score,
    is_network: bool,
}

fn select(started: &[Option<Eligible<'_>>], blocks: usize, coverage: f64) -> Option<Pool> {
    let errors = |place: usize| started[place].map(|eligible| eligible.errors);
    let total = |place: usize| started[place].map_or(f64::INFINITY, |eligible| eligible.score.total());
    let is_network = |&&place: &&usize| started[place].is_some_and(|eligible| eligible.is_network);
    let places = 0..started.len();
    let best = places.clone().min_by(|&a, &b| total(a).total_cmp(&total(b)))?;
    let near: Vec<usize> = places.filter(|&place| total(place) <= NEAR * total(best)).collect();
    let mut pool = Pool {
        score: started[best]?.score.clone(),
        of: vec![best],
    };
    while pool.of.len() < MOST {
        let has_room = pool.of.iter().filter(is_network).count() < MOST_NETWORKS;
        let others = near
            .iter()
            .filter(|place| !pool.of.contains(place) && (has_room || !is_network(place)));
        let larger = others.map(|&place| {
            let of: Vec<usize> = pool.of.iter().copied().chain([place]).collect();
            let errors: Vec<&HeldOut> = of.iter().filter_map(|&place| errors(place)).collect();
            let score = score(&mean(&errors), blocks, coverage);
            Pool { of, score }
        });
        let larger = larger.min_by(|a, b| a.score.total().total_cmp(&b.score.total()));
        match larger {
            Some(larger) if larger.score.total() < (1.0 + UNTOLD) * pool.score.total() => pool = larger,
            _ => break,
        }
    }
    (pool.of.len() > 1).then_some(pool)
}

/// The smallest shape that holds models of all of these.
pub(crate) fn common_shape(shapes: impl IntoIterator<Item = Shape>) -> Option<Shape> {
    shapes.into_iter().reduce(|a, b| Shape {
        states: a.states.max(b.states),
        state_hidden: a.state_hidden.max(b.state_hidden),
        output_hidden: a.output_hidden.max(b.output_hidden),
        ..a
    })
}

/// Errors of the mean of several predictions of the same samples.
fn mean(errors: &[&HeldOut]) -> HeldOut {
    let mut mean = errors[0].clone();
    for (division, outputs) in mean.iter_mut().enumerate() {
        for (output, samples) in outputs.iter_mut().enumerate() {
            for (sample, mean) in samples.iter_mut().enumerate() {
                let all = errors.iter().map(|errors| errors[division][output][sample]);
                *mean = all.sum::<f64>() / errors.len() as f64;
            }
        }
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors in five blocks and after a cut.
    fn errors(of: impl Fn(usize) -> f64) -> HeldOut {
        (0..6)
            .map(|division| vec![(0..50).map(|k| of(50 * division + k)).collect()])
            .collect()
    }

    #[test]
    fn a_pool_has_recipes_that_err_differently() {
        let wave = |rate: f64, size: f64| errors(move |k| size * (rate * k as f64).sin());
        let all = [wave(1.3, 1.0), wave(1.3, 1.2), wave(2.1, 1.2), wave(0.7, 5.0)];
        let scores_of = |all: &[HeldOut]| -> Vec<Score> { all.iter().map(|errors| score(errors, 5, 0.9)).collect() };
        let scores = scores_of(&all);
        let eligible = |(errors, score)| Eligible {
            errors,
            score,
            is_network: true,
        };
        let mut started: Vec<Option<Eligible<'_>>> = all.iter().zip(&scores).map(eligible).map(Some).collect();
        let pool = select(&started, 5, 0.9).expect("two are better than one");
        // The second errs as the first does, and the last is far worse than both.
        assert_eq!(pool.of, [0, 2]);
        assert!(pool.score.total() < 0.8 * scores[0].total());
        started[2] = None;
        assert!(select(&started, 5, 0.9).is_none());
        // One that errs in the same way and hardly more is as good as the best, for all that is known.
        let near = [wave(1.3, 1.0), wave(1.3, 1.02)];
        let scores = scores_of(&near);
        let started: Vec<Option<Eligible<'_>>> = near.iter().zip(&scores).map(eligible).map(Some).collect();
        assert_eq!(select(&started, 5, 0.9).map(|pool| pool.of), Some(vec![0, 1]));
    }

    #[test]
    fn a_pool_has_two_networks_at_most() {
        let all = [1.3, 2.1, 0.7].map(|rate: f64| errors(move |k| (rate * k as f64).sin()));
        let scores = all.each_ref().map(|errors| score(errors, 5, 0.9));
        let pool_of = |is_network: [bool; 3]| {
            let eligible = |place: usize| {
                Some(Eligible {
                    errors: &all[place],
                    score: &scores[place],
                    is_network: is_network[place],
                })
            };
            select(&[0, 1, 2].map(eligible), 5, 0.9).map(|pool| pool.of.len())
        };
        assert_eq!(pool_of([true, true, false]), Some(3));
        assert_eq!(pool_of([true, true, true]), Some(2));
    }
}
