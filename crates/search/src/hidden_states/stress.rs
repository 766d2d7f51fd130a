//! Whether a model stays in sight on inputs like those of its record, in another order and larger.
//!
//! A network that was fitted closely can be quiet along its own record and run away on the next one, for ever once its units are
//! saturated. That shows on inputs that come in another order: each stretch backwards, and then forwards again, twice as large. What a
//! plant does then nobody knows, but even one that integrates does not go a thousand standard deviations away.

use crate::doubt::{OUT_OF_SIGHT, SAMPLES};
use crate::state_space::{Fitted, Run};

/// The second pass is larger by this factor.
const LARGER: f64 = 2.0;

/// Inputs of every stretch backwards, then forwards and larger.
pub(crate) fn stress_runs(runs: &[Run]) -> Vec<Run> {
    let stress = |run: &Run| {
        let samples = run.len().min(SAMPLES);
        let backwards = (0..samples).rev().flat_map(|k| run.u(k).iter().copied());
        let forwards = (0..samples).flat_map(|k| run.u(k).iter().map(|u| LARGER * u));
        let u: Vec<f64> = backwards.chain(forwards).collect();
        Run::new(run.inputs(), run.outputs(), u, vec![0.0; 2 * samples * run.outputs()])
    };
    runs.iter().map(stress).collect()
}

/// Whether a model stays in sight on them.
pub(crate) fn bears(fitted: &Fitted, stress: &[Run]) -> bool {
    let mut runs = stress.iter().zip(&fitted.x0);
    runs.all(|(run, x0)| {
        let predicted = fitted.model.simulate(run, x0);
        predicted.is_some_and(|predicted| predicted.iter().all(|y| y.abs() <= OUT_OF_SIGHT))
    })
}

/// Free runs over the part of them that is backwards, one after the other; none where one does not stay finite.
pub(crate) fn run_backwards(fitted: &Fitted, stress: &[Run]) -> Option<Vec<f64>> {
    let runs = stress.iter().zip(&fitted.x0);
    let runs = runs.map(|(run, x0)| fitted.model.simulate(&run.slice(0..run.len() / 2), x0));
    Some(runs.collect::<Option<Vec<_>>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::StateSpace;

    #[test]
    fn a_model_that_runs_away_later_is_told() {
        let u: Vec<f64> = (0..200).map(|k| if k < 100 { 1.0 } else { -1.0 }).collect();
        let runs = [Run::new(1, 1, u, vec![0.0; 200])];
        let of = |pole: f64| Fitted {
            model: StateSpace::linear((1, 1, 1), &[pole, 1.0], &[1.0, 0.0]),
            x0: vec![vec![0.0]],
        };
        let stress = stress_runs(&runs);
        assert_eq!(stress[0].len(), 400);
        assert!(bears(&of(0.9), &stress));
        // Finite along the record, and beyond all bounds after two more passes.
        assert!(of(1.05).model.simulate(&runs[0], &[0.0]).is_some() && !bears(&of(1.05), &stress));
    }
}
