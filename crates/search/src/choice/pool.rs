//! Models of several recipes as one: the mean of their free runs, unless held-out data like the best recipe alone clearly better.
//!
//! Recipes differ in what they get wrong, so that their mean is better than most of them and often than all; and where held-out data
//! cannot tell recipes apart, the mean need not: what looks best among many is partly best by chance, and errs more on later data than its
//! mean with others does. One architecture serves all: lags are states, and models of fewer states or units get some that do nothing.

use intervalid_model::JudgedCandidate;

use super::{Chooser, Pick};
use crate::hidden_states::MeasuredStart;
use crate::score::{HeldOut, Score, score};
use crate::state_space::Shape;

/// Recipes of a pool at most: each adds members to the final model.
pub(crate) const MOST_POOLED: usize = 4;
/// Networks among them at most: each is fitted once more on every cut, for which a search keeps time.
pub(crate) const MOST_POOLED_NETWORKS: usize = 2;
/// Recipes whose score is worse than the best by more than this factor do not join.
const NEAR: f64 = 1.5;
/// A recipe joins if the score rises by less than this share: held-out data do not tell that little.
pub(crate) const UNTOLD: f64 = 0.03;

/// Recipes whose mean is one model.
pub(crate) struct Pool {
    /// Their candidates, the best first.
    pub(crate) of: Vec<Pick>,
    /// The shape that they share.
    pub(crate) shape: Shape,
    /// What the mean is worth on held-out samples.
    pub(crate) score: Score,
}

/// A candidate that can be started from measured samples.
#[derive(Clone, Copy)]
pub(super) struct Eligible<'a> {
    pub(super) pick: Pick,
    pub(super) judged: &'a MeasuredStart,
    pub(super) is_network: bool,
}

impl Chooser<'_> {
    /// Models on lagged outputs whose lags can be states; none where the user wants one family.
    pub(super) fn lagged_starts(&self) -> Vec<(Pick, MeasuredStart)> {
        let hidden = self.searched.hidden.as_ref().filter(|_| self.config.model.is_none());
        let Some(hidden) = hidden else { return Vec::new() };
        let judged = |pick: Pick| {
            let found = hidden.start_lagged(&self.lagged_models(pick)?)?;
            let known = match pick {
                Pick::Arx(index) => self.searched.linear[index].judged(),
                Pick::Lagged(index) => self.searched.lagged[index].judged(),
                Pick::Hidden(_) | Pick::Pool => return None,
            };
            // Who follows the search is told once more.
            self.budget.judged(JudgedCandidate {
                error: found.score.total(),
                ..known
            });
            Some((pick, found))
        };
        let arx = (0..self.searched.linear.len()).map(Pick::Arx);
        let networks = (0..self.searched.lagged.len()).map(Pick::Lagged);
        arx.chain(networks).filter_map(judged).collect()
    }

    /// Candidates that may be part of a mean: those that are believed and can be started from measured samples.
    pub(super) fn eligible(&self) -> Vec<Eligible<'_>> {
        let hidden = self.searched.hidden_candidates().iter().enumerate();
        let hidden = hidden.filter_map(|(index, candidate)| {
            let started = candidate.started.as_ref()?;
            Some((Pick::Hidden(index), &started.judged))
        });
        let lagged = self.lagged.iter().map(|(pick, judged)| (*pick, judged));
        let all = hidden
            .chain(lagged)
            .filter(|(_, judged)| self.beliefs.hold(&judged.score));
        all.map(|(pick, judged)| Eligible {
            pick,
            judged,
            is_network: !self.is_linear(pick),
        })
        .collect()
    }
}

/// The pool that forward selection finds; none where the best alone is clearly better.
pub(super) fn best_pool(eligible: &[Eligible<'_>], blocks: usize, coverage: f64) -> Option<Pool> {
    let total = |of: &Eligible<'_>| of.judged.score.total();
    let best = eligible.iter().min_by(|a, b| total(a).total_cmp(&total(b)))?;
    let near: Vec<&Eligible<'_>> = eligible.iter().filter(|of| total(of) <= NEAR * total(best)).collect();
    let (mut pool, mut reached) = (vec![best], best.judged.score.clone());
    while pool.len() < MOST_POOLED {
        let has_room = pool.iter().filter(|of| of.is_network).count() < MOST_POOLED_NETWORKS;
        let is_in = |other: &Eligible<'_>| pool.iter().any(|of| of.pick == other.pick);
        let others = near.iter().filter(|of| !is_in(of) && (has_room || !of.is_network));
        let larger = others.map(|&other| {
            let errors = pool.iter().copied().chain([other]).map(|of| &of.judged.errors);
            (other, score(&mean(&errors.collect::<Vec<_>>()), blocks, coverage))
        });
        let larger = larger.min_by(|a, b| a.1.total().total_cmp(&b.1.total()));
        match larger {
            Some((other, score)) if score.total() < (1.0 + UNTOLD) * reached.total() => {
                pool.push(other);
                reached = score;
            }
            _ => break,
        }
    }
    let shape = common_shape(pool.iter().map(|of| of.judged.shape))?;
    (pool.len() > 1).then(|| Pool {
        of: pool.iter().map(|of| of.pick).collect(),
        shape,
        score: reached,
    })
}

/// The smallest shape that holds models of all of these.
pub(super) fn common_shape(shapes: impl IntoIterator<Item = Shape>) -> Option<Shape> {
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
    fn judged(of: impl Fn(usize) -> f64) -> MeasuredStart {
        let errors: HeldOut = (0..6)
            .map(|division| vec![(0..50).map(|k| of(50 * division + k)).collect()])
            .collect();
        MeasuredStart {
            shape: Shape {
                states: 2,
                inputs: 1,
                outputs: 1,
                state_hidden: 0,
                output_hidden: 0,
            },
            history: 20,
            score: score(&errors, 5, 0.9),
            errors,
        }
    }

    fn wave(rate: f64, size: f64) -> MeasuredStart {
        judged(move |k| size * (rate * k as f64).sin())
    }

    /// Places of those that [`best_pool`] takes.
    fn pooled(of: &[(&MeasuredStart, bool)]) -> Option<Vec<usize>> {
        let eligible = |(place, &(judged, is_network))| Eligible {
            pick: Pick::Hidden(place),
            judged,
            is_network,
        };
        let all: Vec<Eligible<'_>> = of.iter().enumerate().map(eligible).collect();
        let place = |pick: &Pick| all.iter().position(|of| of.pick == *pick).expect("one of them");
        best_pool(&all, 5, 0.9).map(|pool| pool.of.iter().map(place).collect())
    }

    #[test]
    fn a_pool_has_recipes_that_err_differently() {
        let all = [wave(1.3, 1.0), wave(1.3, 1.2), wave(2.1, 1.2), wave(0.7, 5.0)];
        // The second errs as the first does, and the last is far worse than both.
        assert_eq!(pooled(&all.each_ref().map(|of| (of, true))), Some(vec![0, 2]));
        assert_eq!(pooled(&[(&all[0], true), (&all[1], true), (&all[3], true)]), None);
        // One that errs in the same way and hardly more is as good as the best, for all that is known.
        let near = [wave(1.3, 1.0), wave(1.3, 1.02)];
        assert_eq!(pooled(&near.each_ref().map(|of| (of, true))), Some(vec![0, 1]));
    }

    #[test]
    fn a_pool_has_two_networks_at_most() {
        let all = [1.3, 2.1, 0.7].map(|rate| wave(rate, 1.0));
        let count = |is_network: [bool; 3]| {
            let of: Vec<_> = all.iter().zip(is_network).collect();
            pooled(&of).map(|of| of.len())
        };
        assert_eq!(count([true, true, false]), Some(3));
        assert_eq!(count([true, true, true]), Some(2));
    }
}
