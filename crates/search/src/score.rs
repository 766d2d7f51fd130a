//! What held-out errors are worth: √(½ CV² + ½ F²), CV being the error over blocks and F the one after the forward cut.
//!
//! Either alone misleads: blocks have data on both sides, and one cut is one experiment. Neither is a sharp judge (rank correlations
//! with later errors are below one half on real records), so a network must beat a linear model clearly.

use intervalid_model::{BlockScores, quantile, standard_error};

use crate::folds::{BLOCKS, piece};

/// Errors y - ŷ of the point predictions on held-out samples, in standard deviations: `[division][output][sample]`, in the order of
/// [`Folds::folds`](crate::folds::Folds::folds). The one division of a long record may be there twice, run in pieces and then as a whole.
pub(crate) type HeldOut = Vec<Vec<Vec<f64>>>;

/// How good a candidate is on samples it had not seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Score {
    /// Root mean square error of each block, then of the part after the forward cut; of a long record in pieces of that part.
    pub(crate) blocks: Vec<f64>,
    /// CV: root mean square error over all blocks.
    pub(crate) rmse: f64,
    /// F: root mean square error after the forward cut.
    pub(crate) forward: f64,
    /// Share inside a band of constant width, each block's from the others.
    pub(crate) coverage: f64,
    /// Mean width of that band.
    pub(crate) width: f64,
    /// How far models of different divisions are apart on inputs in another order, in standard deviations; zero until that has been tried.
    pub(crate) doubt: f64,
}

impl Score {
    /// √(½ CV² + ½ F²); less is better.
    pub(crate) fn total(&self) -> f64 {
        (0.5 * self.rmse * self.rmse + 0.5 * self.forward * self.forward).sqrt()
    }

    /// The same score of models that are so far apart.
    pub(crate) fn doubted(self, doubt: f64) -> Self {
        Self { doubt, ..self }
    }

    /// Blocks on which this is better than `other`.
    pub(crate) fn blocks_better(&self, other: &Score) -> usize {
        self.blocks.iter().zip(&other.blocks).filter(|(a, b)| a < b).count()
    }

    /// Whether this is better than `other` by more than `share` of the score, by more than one standard error of the
    /// difference between blocks, and not on one lucky block alone.
    ///
    /// **Reference.** L. Breiman, J. Friedman, R. Olshen, C. Stone, *Classification and Regression Trees*, 1984, section
    /// 3.4.3 (the one-standard-error rule, here on paired blocks).
    pub(crate) fn clearly_beats(&self, other: &Score, share: f64) -> bool {
        let gains: Vec<f64> = self.blocks.iter().zip(&other.blocks).map(|(a, b)| b - a).collect();
        let gain = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        self.total() < (1.0 - share) * other.total()
            && gain > standard_error(&gains)
            && 2 * self.blocks_better(other) > gains.len()
    }
}

/// The score of held-out errors, the first `blocks` of which are blocks and the one after them the forward cut.
pub(crate) fn score(errors: &HeldOut, blocks: usize, coverage: f64) -> Score {
    let (within, after) = errors.split_at(blocks.min(errors.len()));
    let mut pieces = within.to_vec();
    if blocks == 0 {
        pieces.extend(after.first().into_iter().flat_map(|after| cut(after)));
    }
    let after = after.last();
    let (coverage, width) = constant_band(&pieces, coverage);
    let together = root_mean_square(pieces.iter().flatten());
    let mut sizes: Vec<f64> = pieces.iter().map(root_mean_square).collect();
    if blocks > 0 {
        sizes.extend(after.map(root_mean_square));
    }
    Score {
        forward: after.map_or(together, root_mean_square),
        blocks: sizes,
        rmse: together,
        coverage,
        width,
        doubt: 0.0,
    }
}

/// Errors `[output][sample]` in as many pieces as a shorter record has blocks.
fn cut(errors: &[Vec<f64>]) -> Vec<Vec<Vec<f64>>> {
    let of = |index: usize| move |samples: &Vec<f64>| samples[piece(0..samples.len(), index)].to_vec();
    (0..BLOCKS)
        .map(|index| errors.iter().map(of(index)).collect())
        .collect()
}

fn root_mean_square<'a>(errors: impl IntoIterator<Item = &'a Vec<f64>>) -> f64 {
    let (mut squares, mut count) = (0.0, 0_usize);
    for samples in errors {
        squares += samples.iter().map(|e| e * e).sum::<f64>();
        count += samples.len();
    }
    (squares / count.max(1) as f64).sqrt()
}

/// Share inside and mean width of bands of constant width, each block's from the other blocks.
fn constant_band(blocks: &[Vec<Vec<f64>>], coverage: f64) -> (f64, f64) {
    let (mut inside, mut count, mut widths) = (0_usize, 0_usize, 0.0);
    for (held_out, block) in blocks.iter().enumerate() {
        for (output, samples) in block.iter().enumerate() {
            let others = blocks.iter().enumerate().filter(|(index, _)| *index != held_out);
            let sizes = others.flat_map(|(_, block)| block[output].iter().map(|e| e.abs()));
            let half = quantile(sizes.collect(), coverage);
            inside += samples.iter().filter(|e| e.abs() <= half).count();
            widths += 2.0 * half * samples.len() as f64;
            count += samples.len();
        }
    }
    let count = count.max(1) as f64;
    (inside as f64 / count, widths / count)
}

/// Mean interval score of bands of varying width, each block's scale from the other blocks.
pub(crate) fn shaped_score(blocks: &[BlockScores], floor: f64, coverage: f64) -> f64 {
    let half = |block: &BlockScores, at: usize| {
        let side = if block.error[at] < 0.0 {
            &block.below
        } else {
            &block.above
        };
        side[at].max(floor)
    };
    let mut total = 0.0;
    for (held_out, block) in blocks.iter().enumerate() {
        let others = blocks.iter().enumerate().filter(|(index, _)| *index != held_out);
        let ratios =
            others.flat_map(|(_, other)| (0..other.error.len()).map(|at| other.error[at].abs() / half(other, at)));
        let scale = quantile(ratios.collect(), coverage);
        let mut sum = 0.0;
        for at in 0..block.error.len() {
            let beyond = (block.error[at].abs() - scale * half(block, at)).max(0.0);
            let width = scale * (block.below[at].max(floor) + block.above[at].max(floor));
            sum += width + 2.0 / (1.0 - coverage) * beyond;
        }
        total += sum / block.error.len().max(1) as f64;
    }
    total / blocks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_judged_by_the_width_of_the_others() {
        let block = |size: f64| vec![vec![size; 20]];
        let found = score(&vec![block(1.0), block(1.0), block(3.0), block(5.0)], 3, 0.5);
        assert_eq!(
            (found.blocks.as_slice(), found.forward),
            (&[1.0, 1.0, 3.0, 5.0][..], 5.0)
        );
        assert!((found.rmse - (11.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((found.total() - (0.5 * 11.0 / 3.0 + 12.5_f64).sqrt()).abs() < 1e-12);
        // The median of two ones and of a one and a three.
        assert!((found.coverage - 2.0 / 3.0).abs() < 1e-12);
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        let twice = score(&vec![vec![ramp.clone()], vec![vec![7.0; 100]]], 0, 0.5);
        assert!((twice.forward - 7.0).abs() < 1e-12 && twice.blocks.len() == 5);
        let long = score(&vec![vec![ramp]], 0, 0.5);
        assert_eq!(long.blocks.len(), BLOCKS);
        assert!((long.rmse - long.forward).abs() < 1e-12);
    }

    #[test]
    fn one_lucky_block_does_not_win() {
        let with = |blocks: [f64; 3]| Score {
            blocks: blocks.to_vec(),
            rmse: blocks.iter().sum(),
            forward: blocks.iter().sum(),
            coverage: 0.9,
            width: 1.0,
            doubt: 0.0,
        };
        let linear = with([1.0, 1.0, 4.0]);
        assert!(!with([1.1, 1.1, 1.0]).clearly_beats(&linear, 0.02));
        assert!(with([0.9, 0.9, 3.0]).clearly_beats(&linear, 0.02));
        assert!(!with([0.99, 0.99, 3.99]).clearly_beats(&linear, 0.02));
        // Better on two of three blocks and by a tenth on the mean, but blocks differ by more than that.
        assert!(!with([0.9, 1.5, 3.0]).clearly_beats(&linear, 0.02));
    }
}
