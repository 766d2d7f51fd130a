//! Errors of predictions some samples ahead over what divisions hold out, which size their bands.

use intervalid_data::{DataError, Part, Segment};
use intervalid_model::{AheadScores, BlockScores, HorizonScales, Model, ModelError};

use crate::error::Result;
use crate::folds::Folds;
use crate::parallel::map_parallel;
use crate::sizing::blocks_and_cuts;

/// Scores `[output]` of one division at one horizon.
type OfDivision = Vec<BlockScores>;

/// What predictions of `blind` models, each of which had not seen its division, are worth some samples ahead; nothing of models that cannot
/// run step by step.
pub(crate) fn held_out_ahead(folds: &Folds<'_>, blind: &[Option<Model>], threads: usize) -> Result<Vec<AheadScores>> {
    let numbered: Vec<(usize, &Option<Model>)> = blind.iter().enumerate().collect();
    let found = map_parallel(&numbered, threads, |(fold, model)| match model {
        Some(model) => of_division(folds, *fold, model),
        None => Ok(Vec::new()),
    });
    let outputs = folds.dataset.outputs().len();
    let mut by_horizon: Vec<(usize, Vec<Vec<BlockScores>>)> = Vec::new();
    for (fold, found) in found.into_iter().enumerate() {
        for (horizon, scores) in found? {
            let place = by_horizon.iter().position(|(known, _)| *known == horizon);
            let place = place.unwrap_or_else(|| {
                by_horizon.push((horizon, vec![vec![BlockScores::default(); blind.len()]; outputs]));
                by_horizon.len() - 1
            });
            for (output, scores) in scores.into_iter().enumerate() {
                by_horizon[place].1[output][fold] = scores;
            }
        }
    }
    by_horizon.sort_by_key(|(horizon, _)| *horizon);
    let sized = by_horizon.into_iter().map(|(horizon, scores)| {
        let (blocks, cuts) = blocks_and_cuts(folds, &scores);
        AheadScores { horizon, blocks, cuts }
    });
    Ok(sized.collect())
}

/// Scores of one division at every horizon.
fn of_division(folds: &Folds<'_>, fold: usize, model: &Model) -> Result<Vec<(usize, OfDivision)>> {
    let sampled = match model.sample_ahead(folds.dataset, &runs(folds, fold, model)) {
        // A model without steps has no predictions ahead, and a piece that is too short for a run says nothing.
        Err(ModelError::NotStepwise { .. } | ModelError::Data(DataError::TooShort { .. })) => return Ok(Vec::new()),
        sampled => sampled?,
    };
    let outputs = folds.dataset.outputs().len();
    let scores = sampled.into_iter().map(|(horizon, bands)| {
        // Predictions ahead go on where a free run has ended.
        let of = |output: usize| folds.scores(fold, &bands, None, output);
        Ok((horizon, (0..outputs).map(of).collect::<Result<OfDivision>>()?))
    });
    scores.collect()
}

/// Where predictions over what a division holds out start: as far before it as the furthest horizon reaches back, after a warm-up.
fn runs(folds: &Folds<'_>, fold: usize, model: &Model) -> Part {
    let config = model.config();
    // History lies before a run anyway.
    let warmup = config.initial.unscored() - config.initial.looks_back();
    let approach = HorizonScales::FURTHEST + warmup + config.lags.ny + 1;
    let shortened = |(run, block): (Segment, Segment)| Segment {
        start: run.start.max(block.start.saturating_sub(approach)),
        ..run
    };
    Part::from_segments(folds.approaches(fold).into_iter().map(shortened).collect())
}
