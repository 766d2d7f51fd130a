//! From errors on held-out stretches to the scale of a band: quantiles, and how much they differ from stretch to stretch.

use super::levels::{LevelScaling, nested};
use super::scaling::{Calibration, Scaling};
use super::together::{CoverageTarget, widened, worst_of_all};
use crate::band::metrics::Aligned;
use crate::family::ensemble::spread_factor;

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

impl BlockScores {
    /// Of these runs one after the other.
    pub(crate) fn of(runs: &[Aligned<'_>]) -> Self {
        let mut scores = Self::default();
        for run in runs {
            for k in 0..run.target.len() {
                scores.error.push(run.target[k] - run.centre[k]);
                scores.below.push(run.centre[k] - run.lower[k]);
                scores.above.push(run.upper[k] - run.centre[k]);
            }
        }
        scores
    }
}

/// One block in units of its band: |error| over the side it falls on, and on which side.
pub(super) type Scores = Vec<(f64, bool)>;

/// Asymmetric scales have twice the variance of a common one: they must be this much narrower to be worth it.
const WORTHWHILE: f64 = 0.9;
/// Independent samples that it takes to tell sides apart: the errors of a run that drifts lie on one side, and those of the next one may
/// lie on the other.
const FEWEST_FOR_SIDES: f64 = 30.0;
/// The band is widened by this many standard deviations of what stretches need, on a logarithmic scale.
const CAUTION: f64 = 0.7;
/// Stretches that differ by more than this say that nothing is known, not that a band must be wider still.
const MOST_DIFFERENT: f64 = 1.0;
/// Cuts may need bands this much narrower or wider than blocks, as logarithms.
const CUTS_AGAINST_BLOCKS: (f64, f64) = (-0.5, 1.0);
/// So far from the blocks a cut counts at the most: one fit that goes astray must not decide.
const MOST_ASTRAY: f64 = 1.5;

/// Scales the bands of every output so that a new stretch of data has a share `coverage` inside, as far as held-out stretches tell.
///
/// **Method.** Each stretch d needs a scale q_d of its band: the quantile of its errors in units of the band. Blocks have data on
/// both sides; cuts fit one side of a record and judge the other, as any use of a model on later data does. With L_b and L_c the means
/// of ln q over blocks and over cuts, each cut's at most 1.5 from L_b, and s the standard deviation of all of them, the scale is exp(½L_b + ½L_c + 0.7·s): what a
/// stretch needs on the average, and more where stretches differ, because the plant drifts or there are few samples. Of a model that
/// averages several, the band also reaches z_α·e^(0.7·s) standard deviations of their predictions ([`Scaling::spread`]).
///
/// Where all outputs are to be inside together, the same is done once more with the worst of their scores at every sample, in units of these
/// bands, which are all widened by what that asks for.
///
/// The same is done at a grid of other levels, so that other coverages can be had later ([`Calibration::at`]).
///
/// `blocks[output]` and `cuts[output]` have the held-out stretches of an output, `floors[output]` is the least half-width (see
/// [`Scaling::floor`]). docs/results/auto.md has what was tried.
///
/// **Reference.** V. Vovk, A. Gammerman, G. Shafer, *Algorithmic Learning in a Random World*, 2nd ed., 2022, section 4.4
/// (cross-conformal prediction). Its guarantee needs exchangeable errors, which these are not.
#[must_use]
pub fn calibrate(
    (blocks, cuts): (&[Vec<BlockScores>], &[Vec<BlockScores>]),
    floors: &[f64],
    target: CoverageTarget,
    members: usize,
) -> Calibration {
    let CoverageTarget {
        share: coverage,
        together,
    } = target;
    let mut calibration = Calibration {
        outputs: Vec::new(),
        level: coverage,
        blocks: blocks.first().map_or(0, Vec::len),
        cuts: cuts.first().map_or(0, Vec::len),
        samples: blocks.iter().flatten().map(|block| block.error.len()).sum(),
        effective_samples: 0.0,
        block_coverage: Vec::new(),
        cut_coverage: Vec::new(),
        expected: None,
        levels: Vec::new(),
        renewal: None,
        together: together && floors.len() > 1,
    };
    let none = Vec::new();
    let mut all_scores = Vec::new();
    for (output, (blocks, &floor)) in blocks.iter().zip(floors).enumerate() {
        let in_units = |stretches: &[BlockScores]| -> Vec<Scores> {
            let scored = stretches.iter().map(|stretch| scores(stretch, floor));
            scored.filter(|scores: &Scores| !scores.is_empty()).collect()
        };
        let (blocks, cuts) = (in_units(blocks), in_units(cuts.get(output).unwrap_or(&none)));
        let (found, plain) = scaled((&blocks, &cuts), floor, coverage, members);
        let shares = |stretches: &[Scores], (lower, upper): (f64, f64)| -> Vec<f64> {
            let share = |stretch: &Scores| share_inside(stretch, (lower, upper));
            stretches.iter().map(share).collect()
        };
        let samples: usize = blocks.iter().map(Vec::len).sum();
        let effective = (samples as f64 / correlation_time(&blocks, plain)).max(1.0);
        // The output that the least is known of speaks for all.
        if output == 0 || effective < calibration.effective_samples {
            calibration.effective_samples = effective;
            calibration.block_coverage = shares(&blocks, (plain, plain));
            calibration.cut_coverage = shares(&cuts, (plain, plain));
        }
        calibration.outputs.push(found);
        all_scores.push((blocks, cuts));
    }
    let (all_blocks, all_cuts): (Vec<Vec<Scores>>, Vec<Vec<Scores>>) = all_scores.into_iter().unzip();
    if calibration.together {
        calibration.outputs = widened((&all_blocks, &all_cuts), &calibration.outputs, coverage);
    }
    calibration.expected = expected((&all_blocks, &all_cuts), &calibration.outputs, calibration.together);
    let at = |level: f64| {
        let outputs = all_blocks.iter().zip(&all_cuts).zip(floors);
        let of_each = |((blocks, cuts), &floor): ((&Vec<Scores>, &Vec<Scores>), &f64)| {
            scaled((blocks, cuts), floor, level, members).0
        };
        let of_each: Vec<Scaling> = outputs.map(of_each).collect();
        match calibration.together {
            true => widened((&all_blocks, &all_cuts), &of_each, level),
            false => of_each,
        }
    };
    let own = LevelScaling {
        coverage,
        outputs: calibration.outputs.clone(),
    };
    calibration.levels = nested(own, at);
    calibration
}

/// The scaling of one output, and the quantile of all its blocks together.
fn scaled((blocks, cuts): (&[Scores], &[Scores]), floor: f64, coverage: f64, members: usize) -> (Scaling, f64) {
    let plain = quantile(blocks.iter().flatten().map(|score| score.0).collect(), coverage);
    let needed = Needed::of(blocks, cuts, coverage);
    let mut found = scaling(blocks, floor, coverage);
    if plain > 0.0 {
        let factor = needed.scale() / plain;
        (found.lower, found.upper) = (found.lower * factor, found.upper * factor);
        found = found.starting_at(1.0 / factor);
    }
    let mean = 0.5 * (found.lower + found.upper);
    found.spread = (members > 1 && mean > 0.0).then(|| spread_factor(coverage) * needed.caution() / mean);
    (found, plain)
}

/// What scales held-out stretches of one output need, as logarithms.
pub(super) struct Needed {
    mean: f64,
    deviation: f64,
}

impl Needed {
    pub(super) fn of(blocks: &[Scores], cuts: &[Scores], coverage: f64) -> Self {
        let logarithms = |stretches: &[Scores]| -> Vec<f64> {
            let needed = |stretch: &Scores| quantile(stretch.iter().map(|score| score.0).collect(), coverage);
            let needed = stretches.iter().map(needed);
            // Nothing can be said of no errors at all.
            needed.filter(|&scale| scale > 0.0).map(f64::ln).collect()
        };
        let (blocks, mut cuts) = (logarithms(blocks), logarithms(cuts));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let of_blocks = mean(&blocks);
        if !blocks.is_empty() {
            let near = (of_blocks - MOST_ASTRAY, of_blocks + MOST_ASTRAY);
            cuts.iter_mut().for_each(|cut| *cut = cut.clamp(near.0, near.1));
        }
        let growth = match blocks.is_empty() || cuts.is_empty() {
            true => 0.0,
            false => (mean(&cuts) - of_blocks).clamp(CUTS_AGAINST_BLOCKS.0, CUTS_AGAINST_BLOCKS.1),
        };
        let all: Vec<f64> = blocks.into_iter().chain(cuts).collect();
        let deviation = standard_error(&all) * (all.len() as f64).sqrt();
        Self {
            mean: of_blocks + 0.5 * growth,
            deviation: deviation.min(MOST_DIFFERENT),
        }
    }

    /// By how much more than the mean a band is scaled.
    fn caution(&self) -> f64 {
        (CAUTION * self.deviation).exp()
    }

    pub(super) fn scale(&self) -> f64 {
        self.mean.exp() * self.caution()
    }
}

/// Scores `[output][stretch]` of blocks and of cuts.
pub(super) type AllScores<'a> = (&'a [Vec<Scores>], &'a [Vec<Scores>]);

/// Between which shares the coverage of bands of these scales lies in blocks and cuts: of the output with the least, or of all outputs
/// together. See [`Calibration::expected`].
pub(super) fn expected((blocks, cuts): AllScores<'_>, scalings: &[Scaling], together: bool) -> Option<(f64, f64)> {
    if together {
        // In units of the bands, of which each score is the worst.
        let (blocks, cuts) = (worst_of_all(blocks, scalings), worst_of_all(cuts, scalings));
        let all = blocks.iter().chain(&cuts);
        return typical_range(all.map(|stretch| share_inside(stretch, (1.0, 1.0))).collect());
    }
    let of_output = |((blocks, cuts), scaling): ((&Vec<Scores>, &Vec<Scores>), &Scaling)| {
        let all = blocks.iter().chain(cuts);
        typical_range(
            all.map(|stretch| share_inside(stretch, (scaling.lower, scaling.upper)))
                .collect(),
        )
    };
    let outputs = blocks.iter().zip(cuts).zip(scalings).filter_map(of_output);
    outputs.reduce(|least, other| if other.0 < least.0 { other } else { least })
}

/// The least and the greatest of some shares but for one at either end; none of fewer than five.
fn typical_range(mut shares: Vec<f64>) -> Option<(f64, f64)> {
    shares.sort_by(f64::total_cmp);
    let count = shares.len();
    (count >= 5).then(|| (shares[1], shares[count - 2]))
}

pub(super) fn scores(block: &BlockScores, floor: f64) -> Scores {
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
    let samples: usize = scores.iter().map(Vec::len).sum();
    let independent = samples as f64 / correlation_time(scores, common);
    let (lower, upper) = if lower + upper < WORTHWHILE * 2.0 * common && independent >= FEWEST_FOR_SIDES {
        (lower, upper)
    } else {
        (common, common)
    };
    Scaling {
        lower,
        upper,
        floor,
        spread: None,
        online_start: None,
    }
}

fn share_inside(block: &Scores, (lower, upper): (f64, f64)) -> f64 {
    let scale = |is_below: bool| if is_below { lower } else { upper };
    let inside = block.iter().filter(|score| score.0 <= scale(score.1)).count();
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

    fn of_blocks(blocks: &[Vec<BlockScores>]) -> Calibration {
        calibrate((blocks, &[]), &[0.0], CoverageTarget::of_each(0.9), 1)
    }

    #[test]
    fn independent_normal_errors_get_the_normal_quantile() {
        let blocks = vec![(0..5).map(|seed| block(correlated(2000, 0.0, seed))).collect()];
        let found = of_blocks(&blocks);
        // 1.645, and a little more for how blocks of 2000 samples differ.
        let scale = found.outputs[0].upper;
        assert!((scale - 1.645).abs() < 0.1, "{scale}");
        assert!(found.effective_samples > 5000.0);
        assert_eq!((found.blocks, found.cuts, found.outputs[0].spread), (5, 0, None));
    }

    #[test]
    fn stretches_that_differ_widen_the_band() {
        let sized = |sizes: [f64; 5]| {
            let stretch = |size: f64| block(correlated(2000, 0.5, 7).iter().map(|e| size * e).collect());
            vec![sizes.map(stretch).to_vec()]
        };
        // The same needs on the average, as logarithms.
        let alike = of_blocks(&sized([1.0; 5])).outputs[0].upper;
        let found = of_blocks(&sized([0.25, 0.5, 1.0, 2.0, 4.0]));
        assert!(
            found.outputs[0].upper > 1.8 * alike,
            "{} {alike}",
            found.outputs[0].upper
        );
        let (least, most) = found.expected.expect("five blocks");
        assert!(least < 0.95 && most > 0.99, "{least} {most}");
    }

    #[test]
    fn other_levels_are_what_they_would_be_by_themselves() {
        let blocks = vec![
            (0..5)
                .map(|seed| block(correlated(2000, 0.0, seed)))
                .collect::<Vec<_>>(),
        ];
        let at = |coverage: f64| calibrate((&blocks, &[]), &[0.0], CoverageTarget::of_each(coverage), 6);
        let of_most = at(0.9);
        for level in [0.5, 0.8, 0.99] {
            let (here, alone) = (of_most.at(level).expect("a level").outputs[0], at(level).outputs[0]);
            assert_eq!(here, alone, "errors of one kind need nothing to be nested");
        }
        assert_eq!(of_most.at(0.9).expect("its own").outputs, of_most.outputs);
        assert_eq!(of_most.reach(), Some((0.1, 0.99)));
        assert_eq!(of_most.at(0.999), None);
        assert_eq!(at(0.999).reach(), Some((0.1, 0.999)));
    }

    #[test]
    fn correlated_errors_are_worth_few_samples() {
        let blocks = vec![(0..5).map(|seed| block(correlated(100, 0.97, 10 + seed))).collect()];
        let effective = of_blocks(&blocks).effective_samples;
        assert!(effective < 150.0, "{effective}");
    }

    #[test]
    fn cuts_say_how_errors_grow_beyond_the_data() {
        let alike = |factor: f64| {
            (0..5).map(move |seed| block(correlated(2000, 0.0, seed).iter().map(|e| factor * e).collect()))
        };
        let blocks = vec![alike(1.0).collect::<Vec<_>>()];
        let with_cuts = |factor: f64| {
            let cuts = vec![alike(factor).collect::<Vec<_>>()];
            calibrate((&blocks, &cuts), &[0.0], CoverageTarget::of_each(0.9), 6).outputs[0]
        };
        let (same, twice) = (with_cuts(1.0), with_cuts(2.0));
        // Half the logarithm of 2, and the standard deviation of five zeros and five ln 2 times 0.7.
        let expected = 2.0_f64.sqrt() * (0.7 * 2.0_f64.ln() * 0.5 * (10.0_f64 / 9.0).sqrt()).exp();
        assert!(
            (twice.upper / same.upper / expected - 1.0).abs() < 0.02,
            "{}",
            twice.upper / same.upper
        );
        // Where all agree, members that disagree widen the band by the normal quantile of their deviations.
        let reach = same.spread.expect("six members") * same.upper;
        assert!((reach - 1.645).abs() < 0.05, "{reach}");
        // However wild cuts are, they count for e at the most.
        assert!(with_cuts(1e9).upper < 1.01 * same.upper * (0.5_f64 + 0.7).exp());
    }

    #[test]
    fn errors_on_one_side_get_unequal_sides() {
        let one_sided = |seed| correlated(2000, 0.0, seed).iter().map(|e| e.abs()).collect();
        let blocks = vec![(0..5).map(|seed| block(one_sided(seed))).collect()];
        let Scaling { lower, upper, .. } = of_blocks(&blocks).outputs[0];
        // Nothing is ever below; the upper side is missed by 5 % of |z|: 1.96, and a little more for the raised level.
        assert!(lower < 1e-12 && (upper - 1.96).abs() < 0.1, "{lower} {upper}");
    }
}
