//! From what models say about divisions that they had not seen to the size of a band.

use intervalid_model::{BlockScores, Calibration, Model, calibrate, quantile};

use crate::config::SearchConfig;
use crate::folds::{BLOCKS, Folds, piece};
use crate::score::shaped_score;

/// Scores of blocks and of cuts, `[output][stretch]`.
pub(crate) type Stretches = (Vec<Vec<BlockScores>>, Vec<Vec<BlockScores>>);

/// What scores of blocks and of cuts, `[output][stretch]`, make of the band of so many members.
pub(crate) fn sized(model: &Model, (blocks, cuts): &Stretches, config: &SearchConfig, members: usize) -> Calibration {
    let floor = |(output, blocks): (usize, &Vec<BlockScores>)| {
        best_floor(blocks, model.interface().least_half_width(output), config.coverage)
    };
    let floors: Vec<f64> = blocks.iter().enumerate().map(floor).collect();
    calibrate((blocks, cuts), &floors, config.target(), members)
}

/// Scores `[output][division]` as those of blocks and of cuts; of a long record, which has one cut, as those of its pieces.
pub(crate) fn blocks_and_cuts(folds: &Folds<'_>, scores: &[Vec<BlockScores>]) -> Stretches {
    let split = |scores: &Vec<BlockScores>| match folds.is_long() {
        true => (scores.iter().flat_map(pieces).collect(), Vec::new()),
        false => (scores[..folds.blocks].to_vec(), scores[folds.blocks..].to_vec()),
    };
    scores.iter().map(split).unzip()
}

/// Scores of the same samples from runs over pieces and from one run over all of them: of each piece those with the larger errors. Runs of
/// users start anywhere, and may be long.
pub(crate) fn worse_pieces(in_pieces: BlockScores, as_a_whole: &BlockScores) -> BlockScores {
    if in_pieces.error.len() != as_a_whole.error.len() {
        return in_pieces;
    }
    let squares = |scores: &BlockScores| scores.error.iter().map(|error| error * error).sum::<f64>();
    let mut worse = BlockScores::default();
    for (alone, part) in pieces(&in_pieces).into_iter().zip(pieces(as_a_whole)) {
        let taken = if squares(&part) > squares(&alone) { part } else { alone };
        worse.error.extend(taken.error);
        worse.below.extend(taken.below);
        worse.above.extend(taken.above);
    }
    worse
}

/// One run's scores as those of several blocks.
fn pieces(scores: &BlockScores) -> Vec<BlockScores> {
    (0..BLOCKS)
        .map(|index| {
            let range = piece(0..scores.error.len(), index);
            BlockScores {
                error: scores.error[range.clone()].to_vec(),
                below: scores.below[range.clone()].to_vec(),
                above: scores.above[range].to_vec(),
            }
        })
        .collect()
}

/// How much of the margins' shape to believe: floors up to twice the median half-width are tried, the largest of which is
/// nearly a band of constant width.
fn best_floor(blocks: &[BlockScores], least: f64, coverage: f64) -> f64 {
    let halves = blocks.iter().flat_map(|block| block.below.iter().zip(&block.above));
    let median = quantile(halves.map(|(below, above)| 0.5 * (below + above)).collect(), 0.5);
    let floors = [2.0, 1.0, 0.5, 0.0].map(|share| (share * median).max(least));
    let score = |floor: f64| shaped_score(blocks, floor, coverage);
    // The first of equals is the plainest band.
    let best = floors.into_iter().min_by(|&a, &b| score(a).total_cmp(&score(b)));
    best.unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_drifts_sizes_the_pieces_that_it_drifts_in() {
        let of = |error: &dyn Fn(usize) -> f64| BlockScores {
            error: (0..100).map(error).collect(),
            below: vec![1.0; 100],
            above: vec![1.0; 100],
        };
        let (alone, drifting) = (of(&|_| 2.0), of(&|k| 0.05 * k as f64));
        let worse = worse_pieces(alone.clone(), &drifting);
        assert_eq!(worse.error[..40], alone.error[..40]);
        assert_eq!(worse.error[60..], drifting.error[60..]);
        assert_eq!(worse_pieces(alone.clone(), &BlockScores::default()), alone);
    }
}
