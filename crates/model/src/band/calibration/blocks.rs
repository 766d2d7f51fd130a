//! Quantiles of errors on held-out blocks, at a level that allows for how correlated those errors are.

use super::scaling::{Calibration, Scaling};

/// Aligned samples of one output in one held-out block, in order of time: what was measured, and the band of a model that
/// had not seen the block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockScores {
    /// y - ŷ, the error of the point prediction.
    pub error: Vec<f64>,
    /// ŷ - ŷ_lo.
    pub below: Vec<f64>,
    /// ŷ_hi - ŷ.
    pub above: Vec<f64>,
}

/// One block in units of its band: |error| over the side it falls on, and on which side.
type Scores = Vec<(f64, bool)>;

/// Asymmetric scales have twice the variance of a common one: they must be this much narrower to be worth it.
const WORTHWHILE: f64 = 0.9;
/// The level is raised by this many standard errors of the coverage.
const CAUTION: f64 = 1.5;

/// Scales the bands of every output so that a share `coverage` of the held-out errors is inside, and a little more: the
/// coverage measured on n correlated samples is as uncertain as that on n/τ independent ones, τ being the integrated
/// autocorrelation time of the misses, and may differ from block to block.
///
/// `blocks[output]` has the held-out blocks of an output, `floors[output]` the least half-width (see [`Scaling::floor`]).
///
/// **Reference.** V. Vovk, A. Gammerman, G. Shafer, *Algorithmic Learning in a Random World*, 2nd ed., 2022, section 4.4
/// (cross-conformal prediction). Its guarantee needs exchangeable errors, which these are not.
#[must_use]
pub fn calibrate(blocks: &[Vec<BlockScores>], floors: &[f64], coverage: f64) -> Calibration {
    let mut calibration = Calibration {
        outputs: Vec::new(),
        level: coverage,
        blocks: blocks.first().map_or(0, Vec::len),
        samples: blocks.iter().flatten().map(|block| block.error.len()).sum(),
        effective_samples: 0.0,
        block_coverage: Vec::new(),
    };
    let scores: Vec<Vec<Scores>> = blocks
        .iter()
        .zip(floors)
        .map(|(blocks, &floor)| blocks.iter().map(|block| scores(block, floor)).collect())
        .collect();
    let mut uncertainty: f64 = 0.0;
    for (output, scores) in scores.iter().enumerate() {
        let plain = quantile(scores.iter().flatten().map(|score| score.0).collect(), coverage);
        let time = correlation_time(scores, plain);
        let samples: usize = scores.iter().map(Vec::len).sum();
        let effective = (samples as f64 / time).max(1.0);
        let shares: Vec<f64> = scores.iter().map(|block| share_inside(block, plain)).collect();
        let sampling = (coverage * (1.0 - coverage) / effective).sqrt();
        uncertainty = uncertainty.max(sampling.max(standard_error(&shares)));
        if output == 0 || effective < calibration.effective_samples {
            (calibration.effective_samples, calibration.block_coverage) = (effective, shares);
        }
    }
    // Never beyond what is left to raise: with few blocks the standard error can exceed it.
    calibration.level = coverage + (CAUTION * uncertainty).min(0.7 * (1.0 - coverage));
    for (scores, &floor) in scores.iter().zip(floors) {
        let mut found = scaling(scores, floor, calibration.level);
        // New data may be as the worst block: each holds its share, too, up to what chance explains in so few samples.
        let samples: usize = scores.iter().map(Vec::len).sum();
        let mut widest: f64 = 1.0;
        for block in scores {
            let share = calibration.effective_samples * block.len() as f64 / samples.max(1) as f64;
            let chance = (coverage * (1.0 - coverage) / share.max(1.0)).sqrt();
            let sized = block
                .iter()
                .map(|&(score, is_below)| score / if is_below { found.lower } else { found.upper });
            let own = quantile(sized.collect(), (coverage - chance).max(0.5 * coverage));
            if own.is_finite() {
                widest = widest.max(own);
            }
        }
        (found.lower, found.upper) = (found.lower * widest, found.upper * widest);
        calibration.outputs.push(found);
    }
    calibration
}

fn scores(block: &BlockScores, floor: f64) -> Scores {
    let sides = block.error.iter().zip(block.below.iter().zip(&block.above));
    let score = |(&error, (&below, &above)): (&f64, (&f64, &f64))| {
        let side = if error < 0.0 { below } else { above };
        (error.abs() / side.max(floor).max(f64::MIN_POSITIVE), error < 0.0)
    };
    sides.map(score).collect()
}

fn scaling(scores: &[Scores], floor: f64, level: f64) -> Scaling {
    let all = || scores.iter().flatten();
    let common = quantile(all().map(|score| score.0).collect(), level);
    // A side is missed by half of the rest; errors on the other side count as hits.
    let side = |is_below: bool| {
        let inside = all().map(|&(score, below)| if below == is_below { score } else { 0.0 });
        quantile(inside.collect(), 0.5 + 0.5 * level)
    };
    let (lower, upper) = (side(true), side(false));
    let (lower, upper) = if lower + upper < WORTHWHILE * 2.0 * common {
        (lower, upper)
    } else {
        (common, common)
    };
    Scaling { lower, upper, floor }
}

fn share_inside(block: &Scores, scale: f64) -> f64 {
    let inside = block.iter().filter(|score| score.0 <= scale).count();
    inside as f64 / block.len().max(1) as f64
}

/// Standard error of the mean of a few values.
#[must_use]
pub fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

/// τ = 1 + 2 Σ ρ(lag) of the misses of `scale`, up to the first ρ that is not positive; at least 1.
fn correlation_time(scores: &[Scores], scale: f64) -> f64 {
    let misses: Vec<Vec<f64>> = scores
        .iter()
        .map(|block| block.iter().map(|score| f64::from(u8::from(score.0 > scale))).collect())
        .collect();
    let count: usize = misses.iter().map(Vec::len).sum();
    let mean = misses.iter().flatten().sum::<f64>() / count.max(1) as f64;
    let covariance = |lag: usize| -> f64 {
        let products = misses.iter().flat_map(|block| {
            let later = block.iter().skip(lag);
            later.zip(block).map(|(a, b)| (a - mean) * (b - mean))
        });
        products.sum()
    };
    let variance = covariance(0);
    let longest = misses.iter().map(Vec::len).max().unwrap_or(0);
    let mut time = 1.0;
    for lag in 1..longest / 2 {
        let correlation = covariance(lag) / variance;
        if correlation.is_nan() || correlation <= 0.0 {
            break;
        }
        time += 2.0 * correlation;
    }
    time
}

/// The smallest value that at least the share `level` of n+1 exchangeable values does not exceed: the one of rank
/// ⌈level·(n+1)⌉, at most n. Zero without values.
#[must_use]
pub fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (level * (values.len() + 1) as f64).ceil() as usize;
    rank.clamp(1, values.len().max(1))
        .checked_sub(1)
        .and_then(|index| values.get(index).copied())
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "a quantile is one of the values")]
    fn quantile_is_the_ranked_value() {
        let values: Vec<f64> = (1..=99).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.9), 90.0);
        assert_eq!(quantile(values, 1.0), 99.0);
        assert_eq!(quantile(vec![3.0], 0.9), 3.0);
        assert_eq!(quantile(Vec::new(), 0.9), 0.0);
    }

    fn block(errors: Vec<f64>) -> BlockScores {
        let ones = vec![1.0; errors.len()];
        BlockScores {
            error: errors,
            below: ones.clone(),
            above: ones,
        }
    }

    /// AR(1) errors of unit variance.
    fn correlated(samples: usize, rho: f64, seed: u64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut state: f64 = rng.sample(StandardNormal);
        let mut next = || {
            let draw: f64 = rng.sample(StandardNormal);
            state = rho * state + (1.0 - rho * rho).sqrt() * draw;
            state
        };
        (0..samples).map(|_| next()).collect()
    }

    #[test]
    fn independent_normal_errors_get_the_normal_quantile() {
        let blocks = vec![(0..5).map(|seed| block(correlated(2000, 0.0, seed))).collect()];
        let found = calibrate(&blocks, &[0.0], 0.9);
        // 1.645, and a little more for the raised level: d quantile = d level / density ≈ 0.004 / 0.206.
        let scale = found.outputs[0].upper;
        assert!((scale - 1.645).abs() < 0.1, "{scale}");
        assert!(found.level > 0.9 && found.level < 0.925, "{}", found.level);
        assert!(found.effective_samples > 5000.0);
    }

    #[test]
    fn correlated_errors_raise_the_level() {
        let blocks = vec![(0..5).map(|seed| block(correlated(100, 0.97, 10 + seed))).collect()];
        let found = calibrate(&blocks, &[0.0], 0.9);
        assert!(found.effective_samples < 150.0, "{}", found.effective_samples);
        assert!(found.level > 0.92 && found.level <= 0.97, "{}", found.level);
    }

    #[test]
    fn errors_on_one_side_get_unequal_sides() {
        let one_sided = |seed| correlated(2000, 0.0, seed).iter().map(|e| e.abs()).collect();
        let blocks = vec![(0..5).map(|seed| block(one_sided(seed))).collect()];
        let Scaling { lower, upper, .. } = calibrate(&blocks, &[0.0], 0.9).outputs[0];
        // Nothing is ever below; the upper side is missed by 5 % of |z|: 1.96, and a little more for the raised level.
        assert!(lower < 1e-12 && (upper - 1.96).abs() < 0.1, "{lower} {upper}");
    }
}
