//! Whether a finished model keeps what its candidate promised.
//!
//! A candidate is judged by models of divisions; the final model is fitted anew, averaged, rounded to its precision and started as
//! users start it. Each step can lose what the table said, so the finished model's free runs are compared with it: on the data it
//! was fitted to, and, by its members that had not seen them, on held-out samples.

use intervalid_data::{Dataset, Part};
use intervalid_model::{Model, ModelKind, align};
use serde::{Deserialize, Serialize};

use crate::folds::Folds;
use crate::score::Score;

/// Errors may be larger than promised by this factor: a final model differs from those that were judged.
const KEPT: f64 = 1.25;

/// What a candidate promised and what its final model was found to do, root mean square errors in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The candidate's error on held-out samples: the larger of blocks and forward cut.
    pub promised: f64,
    /// The final model's error on the data it was fitted to, in a free run over all of them; of a model that starts from history,
    /// in one over each block and after the forward cut, as its candidate was judged.
    pub fitted: f64,
    /// The error of its members on held-out samples they had not seen; none of a linear model, which is fitted once.
    pub held_out: Option<f64>,
}

impl Promise {
    /// Compares a finished model with its candidate.
    pub(crate) fn of(model: &Model, folds: &Folds<'_>, score: &Score, held_out: Option<f64>) -> Self {
        Self {
            promised: score.rmse.max(score.forward),
            fitted: own_error(model, folds),
            held_out,
        }
    }

    /// Whether the model does what was promised.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.worst() <= KEPT * self.promised
    }

    /// The larger of the errors found.
    pub(crate) fn worst(&self) -> f64 {
        self.held_out.map_or(self.fitted, |held_out| held_out.max(self.fitted))
    }
}

/// The error of a model on all data, those it was fitted to among them, as its candidate was judged.
pub(crate) fn own_error(model: &Model, folds: &Folds<'_>) -> f64 {
    free_run_error(model, folds.dataset, &judged_parts(model, folds))
}

/// Where free runs start: with lags at the beginning, with history before every part that judged the candidate. The longer a run
/// of a plant that integrates, the larger its error, so that both must be alike.
fn judged_parts(model: &Model, folds: &Folds<'_>) -> Vec<Part> {
    match warmup_of_history(model) {
        None => vec![folds.all.clone()],
        Some(warmup) => (0..folds.folds.len())
            .map(|fold| folds.historic_runs(fold, warmup))
            .collect(),
    }
}

/// Of models that were judged in runs which begin where held-out samples do, with history before: by how much a run over a part has to begin
/// earlier, for its warm-up. None of models that were judged in runs which begin long before. Whatever the user has said of starts, models
/// with hidden states were judged so.
pub(crate) fn warmup_of_history(model: &Model) -> Option<usize> {
    let initial = model.config().initial;
    let is_judged_so = model.kind() == ModelKind::Iss || initial.looks_back() > 0;
    is_judged_so.then(|| initial.unscored() - initial.looks_back())
}

/// Root mean square error of free runs over parts, in standard deviations; infinite where one diverges or cannot be run.
fn free_run_error(model: &Model, dataset: &Dataset, parts: &[Part]) -> f64 {
    let runs = parts.iter().map(|part| model.simulate(dataset, part));
    let Ok(bands) = runs.collect::<Result<Vec<_>, _>>() else {
        return f64::INFINITY;
    };
    let bands = bands.concat();
    if bands.iter().any(|band| band.diverged_at.is_some()) {
        return f64::INFINITY;
    }
    let (mut squares, mut count) = (0.0, 0_usize);
    for (output, scale) in model.interface().normaliser.outputs.iter().enumerate() {
        let Ok(runs) = align(dataset, &bands, output) else {
            return f64::INFINITY;
        };
        for run in &runs {
            let errors = run.target.iter().zip(run.centre).map(|(y, p)| (y - p) / scale.std);
            squares += errors.map(|e| e * e).sum::<f64>();
            count += run.target.len();
        }
    }
    let error = (squares / count.max(1) as f64).sqrt();
    if error.is_finite() { error } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_error_can_break_a_promise() {
        let promise = |fitted: f64, held_out: Option<f64>| Promise {
            promised: 1.0,
            fitted,
            held_out,
        };
        assert!(promise(0.5, None).is_kept() && promise(1.2, Some(1.2)).is_kept());
        assert!(!promise(1.3, None).is_kept());
        assert!(!promise(0.5, Some(1.3)).is_kept());
        assert!(!promise(f64::INFINITY, None).is_kept());
    }
}
