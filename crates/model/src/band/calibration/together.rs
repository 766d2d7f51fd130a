//! A band that holds all outputs together: a sample counts as inside if every output is.

use super::blocks::{AllScores, Needed, Scores};
use super::scaling::Scaling;

/// What share of samples a band should hold, and of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageTarget {
    /// The share α.
    pub share: f64,
    /// Whether all outputs are to be inside together; else each on its own.
    pub together: bool,
}

impl CoverageTarget {
    /// Each output on its own.
    #[must_use]
    pub fn of_each(share: f64) -> Self {
        Self { share, together: false }
    }

    /// The share that one of several outputs is held to as measurements arrive: if each misses no more than its part of what all may miss,
    /// all together miss no more than was allowed (Bonferroni's inequality).
    #[must_use]
    pub fn of_one(self, outputs: usize) -> f64 {
        match self.together {
            true => 1.0 - (1.0 - self.share) / outputs.max(1) as f64,
            false => self.share,
        }
    }
}

/// The worst score of all outputs, sample by sample, in units of their scaled bands: at most 1 where all are inside.
pub(super) fn worst_of_all(stretches: &[Vec<Scores>], scalings: &[Scaling]) -> Vec<Scores> {
    let count = stretches.iter().map(Vec::len).min().unwrap_or(0);
    let worst = |stretch: usize| {
        let samples = stretches.iter().map(|of| of[stretch].len()).min().unwrap_or(0);
        let at = |sample: usize| {
            let scores = stretches.iter().zip(scalings).map(|(of, scaling)| {
                let (score, is_below) = of[stretch][sample];
                let side = if is_below { scaling.lower } else { scaling.upper };
                // No score is larger than a side that was never missed in zero width.
                if side > 0.0 {
                    score / side
                } else {
                    f64::from(u8::from(score > 0.0))
                }
            });
            (scores.fold(0.0, f64::max), false)
        };
        (0..samples).map(at).collect()
    };
    (0..count).map(worst).collect()
}

/// Widens bands of outputs that hold each on its own so that they hold all together.
pub(super) fn widened((blocks, cuts): AllScores<'_>, scalings: &[Scaling], coverage: f64) -> Vec<Scaling> {
    let (blocks, cuts) = (worst_of_all(blocks, scalings), worst_of_all(cuts, scalings));
    // Bands that are cautious already stay as they are where there is one output: it needs them just so.
    let factor = Needed::of(&blocks, &cuts, coverage).scale().max(1.0);
    let wider = |scaling: &Scaling| Scaling {
        lower: factor * scaling.lower,
        upper: factor * scaling.upper,
        ..*scaling
    };
    scalings.iter().map(wider).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::super::blocks::{BlockScores, calibrate};
    use super::*;

    /// Five blocks of normal errors of each output, in bands of ±1.
    fn blocks(outputs: usize) -> Vec<Vec<BlockScores>> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut block = |_| BlockScores {
            error: (0..400).map(|_| rng.sample(StandardNormal)).collect(),
            below: vec![1.0; 400],
            above: vec![1.0; 400],
        };
        (0..outputs).map(|_| (0..5).map(&mut block).collect()).collect()
    }

    #[test]
    fn all_outputs_are_inside_together() {
        let blocks = blocks(3);
        let target = |together| CoverageTarget { share: 0.9, together };
        let of_each = calibrate((&blocks, &[]), &[0.0; 3], target(false), 1);
        let together = calibrate((&blocks, &[]), &[0.0; 3], target(true), 1);
        assert!(together.together && !of_each.together);
        let inside = |scalings: &[Scaling]| {
            let is_inside = |block: usize, k: usize| {
                let outputs = blocks.iter().zip(scalings);
                outputs.into_iter().all(|(blocks, scaling)| {
                    let error = blocks[block].error[k];
                    -scaling.lower <= error && error <= scaling.upper
                })
            };
            let hits: usize = (0..5)
                .map(|block| (0..400).filter(|&k| is_inside(block, k)).count())
                .sum();
            hits as f64 / 2000.0
        };
        // Three independent outputs, each with a little more than 0.9: about 0.9³ of the samples.
        let found = inside(&of_each.outputs);
        assert!((0.70..0.80).contains(&found), "{found}");
        let found = inside(&together.outputs);
        assert!((0.89..0.93).contains(&found), "{found}");
        // Other coverages are of all together too.
        let half = together.at(0.5).expect("stored");
        let found = inside(&half.outputs);
        assert!((0.48..0.56).contains(&found), "{found}");
    }

    #[test]
    fn one_output_is_all_of_them() {
        let blocks = blocks(1);
        let of = |together| calibrate((&blocks, &[]), &[0.0], CoverageTarget { share: 0.9, together }, 1);
        assert_eq!(of(true), of(false));
    }

    #[test]
    fn parts_of_what_may_be_missed_add_up() {
        let together = CoverageTarget {
            share: 0.9,
            together: true,
        };
        assert!((together.of_one(4) - 0.975).abs() < 1e-12);
        assert!((CoverageTarget::of_each(0.9).of_one(4) - 0.9).abs() < 1e-12);
    }
}
