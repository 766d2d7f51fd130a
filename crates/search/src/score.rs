//! What held-out errors are worth: the interval score of a band of constant width, each block's width from the others.

use intervalid_model::{BlockScores, quantile, standard_error};

/// Errors y - ŷ of the point predictions on held-out blocks, in standard deviations: `[block][output][sample]`.
pub(crate) type HeldOut = Vec<Vec<Vec<f64>>>;

/// How good a candidate is on blocks it had not seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Score {
    /// Interval score of each block, mean over outputs.
    pub(crate) blocks: Vec<f64>,
    /// Root mean square error.
    pub(crate) rmse: f64,
    /// Share inside.
    pub(crate) coverage: f64,
    /// Mean width.
    pub(crate) width: f64,
}

impl Score {
    /// Mean interval score over the blocks; less is better.
    pub(crate) fn mean(&self) -> f64 {
        self.blocks.iter().sum::<f64>() / self.blocks.len().max(1) as f64
    }

    /// Blocks on which this is better than `other`.
    pub(crate) fn blocks_better(&self, other: &Score) -> usize {
        self.blocks.iter().zip(&other.blocks).filter(|(a, b)| a < b).count()
    }

    /// Whether this is better than `other` by more than `share` on the mean, by more than one standard error of the
    /// difference between blocks, and not on one lucky block alone.
    ///
    /// **Reference.** L. Breiman, J. Friedman, R. Olshen, C. Stone, *Classification and Regression Trees*, 1984, section
    /// 3.4.3 (the one-standard-error rule, here on paired blocks).
    pub(crate) fn clearly_beats(&self, other: &Score, share: f64) -> bool {
        let gains: Vec<f64> = self.blocks.iter().zip(&other.blocks).map(|(a, b)| b - a).collect();
        let gain = other.mean() - self.mean();
        gain > share * other.mean() && gain > standard_error(&gains) && 2 * self.blocks_better(other) > gains.len()
    }
}

/// The score of held-out errors.
pub(crate) fn score(errors: &HeldOut, coverage: f64) -> Score {
    let outputs = errors.first().map_or(0, Vec::len);
    let (mut inside, mut count, mut widths, mut squares) = (0_usize, 0_usize, 0.0, 0.0);
    let mut blocks = Vec::with_capacity(errors.len());
    for (held_out, block) in errors.iter().enumerate() {
        let mut total = 0.0;
        for (output, samples) in block.iter().enumerate() {
            let others = errors.iter().enumerate().filter(|(index, _)| *index != held_out);
            let sizes = others.flat_map(|(_, block)| block[output].iter().map(|e| e.abs()));
            let half = quantile(sizes.collect(), coverage);
            let beyond: f64 = samples.iter().map(|e| (e.abs() - half).max(0.0)).sum();
            total += 2.0 * half + 2.0 / (1.0 - coverage) * beyond / samples.len().max(1) as f64;
            inside += samples.iter().filter(|e| e.abs() <= half).count();
            widths += 2.0 * half * samples.len() as f64;
            squares += samples.iter().map(|e| e * e).sum::<f64>();
            count += samples.len();
        }
        blocks.push(total / outputs.max(1) as f64);
    }
    let count = count.max(1) as f64;
    Score {
        blocks,
        rmse: (squares / count).sqrt(),
        coverage: inside as f64 / count,
        width: widths / count,
    }
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
        let found = score(&vec![block(1.0), block(1.0), block(3.0)], 0.5);
        // The median of two ones and of a one and a three; 2/(1-α) = 4.
        assert!((found.blocks[2] - (2.0 + 4.0 * 2.0)).abs() < 1e-12, "{found:?}");
        assert!((found.coverage - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_lucky_block_does_not_win() {
        let with = |blocks: [f64; 3]| Score {
            blocks: blocks.to_vec(),
            rmse: 1.0,
            coverage: 0.9,
            width: 1.0,
        };
        let linear = with([1.0, 1.0, 4.0]);
        assert!(!with([1.1, 1.1, 1.0]).clearly_beats(&linear, 0.02));
        assert!(with([0.9, 0.9, 3.0]).clearly_beats(&linear, 0.02));
        assert!(!with([0.99, 0.99, 3.99]).clearly_beats(&linear, 0.02));
        // Better on two of three blocks and by a tenth on the mean, but blocks differ by more than that.
        assert!(!with([0.9, 1.5, 3.0]).clearly_beats(&linear, 0.02));
    }
}
