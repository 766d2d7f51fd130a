//! The size of bands some samples ahead, from the same held-out stretches as that of free runs.

use super::blocks::{BlockScores, Needed, Scores, scores};
use crate::band::horizon::HorizonScales;

/// Predictions so many samples ahead over held-out stretches, `[output][stretch]`, in the half-widths of the free run's band; errors that are
/// not numbers are of samples without a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct AheadScores {
    /// Samples ahead.
    pub horizon: usize,
    /// Of blocks.
    pub blocks: Vec<Vec<BlockScores>>,
    /// Of cuts.
    pub cuts: Vec<Vec<BlockScores>>,
}

/// Fewer errors of a stretch say nothing about a quantile.
const LEAST_OF_A_STRETCH: usize = 10;
/// Nor do fewer of all stretches together.
const LEAST: usize = 30;

/// By how much bands some samples ahead are narrower than the free run's: s_K/s, both found as [`calibrate`](super::calibrate()) finds the scale of a
/// band, from what blocks and cuts need on the average and how much they differ. None where the free run has no errors to compare with, or
/// no horizon has enough.
///
/// `free` has the scores of free runs over blocks and cuts, `[output][stretch]`, `floors[output]` the least half-width.
#[must_use]
pub fn horizon_scales(
    free: (&[Vec<BlockScores>], &[Vec<BlockScores>]),
    ahead: &[AheadScores],
    floors: &[f64],
    coverage: f64,
) -> Option<HorizonScales> {
    let in_units = |stretches: Option<&Vec<BlockScores>>, floor: f64, least: usize| -> Vec<Scores> {
        let scored = stretches.into_iter().flatten().map(|stretch| {
            let found = scores(stretch, floor).into_iter();
            found.filter(|score| score.0.is_finite()).collect::<Scores>()
        });
        scored.filter(|scores| scores.len() >= least).collect()
    };
    let needed = |(blocks, cuts): (&[Vec<BlockScores>], &[Vec<BlockScores>]), output: usize, least: usize| {
        let of = |stretches: &[Vec<BlockScores>]| in_units(stretches.get(output), floors[output], least);
        let (blocks, cuts) = (of(blocks), of(cuts));
        let errors = || blocks.iter().chain(&cuts).flatten();
        let is_known = errors().count() >= LEAST && errors().any(|score| score.0 > 0.0);
        is_known.then(|| Needed::of(&blocks, &cuts, coverage).scale())
    };
    let outputs = 0..floors.len();
    let of_free: Vec<f64> = outputs
        .clone()
        .map(|output| needed(free, output, 1))
        .collect::<Option<_>>()?;
    let (mut horizons, mut scales) = (Vec::new(), Vec::new());
    for AheadScores { horizon, blocks, cuts } in ahead {
        let found = outputs.clone().map(|output| {
            let scale = needed((blocks, cuts), output, LEAST_OF_A_STRETCH)?;
            Some(scale / of_free[output])
        });
        // Those about which every output has enough to say.
        if let Some(found) = found.collect::<Option<Vec<f64>>>() {
            horizons.push(*horizon);
            scales.push(found);
        }
    }
    HorizonScales::learnt(horizons, scales)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::*;

    /// Normal errors of these sizes in bands of ±1, a stretch of each.
    fn stretches(sizes: &[f64], seed: u64) -> Vec<Vec<BlockScores>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut stretch = |size: &f64| BlockScores {
            error: (0..500).map(|_| size * rng.sample::<f64, _>(StandardNormal)).collect(),
            below: vec![1.0; 500],
            above: vec![1.0; 500],
        };
        vec![sizes.iter().map(&mut stretch).collect()]
    }

    fn ahead(horizon: usize, blocks: &[f64], cuts: &[f64]) -> AheadScores {
        AheadScores {
            horizon,
            blocks: stretches(blocks, 1),
            cuts: stretches(cuts, 2),
        }
    }

    #[test]
    fn each_horizon_is_sized_by_its_own_stretches() {
        let (free_blocks, free_cuts) = (stretches(&[1.0; 5], 3), stretches(&[2.0; 4], 4));
        let free = (free_blocks.as_slice(), free_cuts.as_slice());
        // Soon after a measurement cuts are no harder than blocks; later on they are as much harder as free runs.
        let found = horizon_scales(
            free,
            &[ahead(1, &[0.1; 5], &[0.1; 4]), ahead(10, &[0.5; 5], &[1.0; 4])],
            &[0.0],
            0.9,
        );
        let found = found.expect("enough errors");
        assert_eq!(found.horizons[..2], [1, 10]);
        // √2, the mean of both kinds of stretches as logarithms, is what free runs need; and more, since they differ.
        let at_one = found.at(1, 0);
        assert!((0.04..0.1 / 2.0_f64.sqrt()).contains(&at_one), "{at_one}");
        let at_ten = found.at(10, 0);
        assert!((at_ten - 0.5).abs() < 0.03, "{at_ten}");
        // Further than anybody looked there is the free run.
        assert!((found.at(100, 0) - 1.0).abs() < 1e-12);
        assert!(found.at(30, 0) > at_ten && found.at(30, 0) < 1.0);
    }

    #[test]
    fn samples_without_a_prediction_do_not_count() {
        let (blocks, cuts) = (stretches(&[1.0; 5], 3), stretches(&[1.0; 4], 4));
        let free = (blocks.as_slice(), cuts.as_slice());
        let whole = ahead(5, &[0.5; 5], &[0.5; 4]);
        let mut sparse = whole.clone();
        for stretch in sparse.blocks.iter_mut().chain(&mut sparse.cuts).flatten() {
            let every_third = |(k, error): (usize, &mut f64)| *error = if k % 3 == 0 { *error } else { f64::NAN };
            stretch.error.iter_mut().enumerate().for_each(every_third);
        }
        let scale = |scores: AheadScores| horizon_scales(free, &[scores], &[0.0], 0.9).map(|found| found.at(5, 0));
        let (all, third) = (scale(whole).expect("known"), scale(sparse).expect("known"));
        assert!((all / third - 1.0).abs() < 0.1, "{all} {third}");
        let none = AheadScores {
            horizon: 5,
            blocks: vec![vec![BlockScores {
                error: vec![f64::NAN; 500],
                below: vec![1.0; 500],
                above: vec![1.0; 500],
            }]],
            cuts: vec![Vec::new()],
        };
        assert_eq!(scale(none), None);
    }
}
