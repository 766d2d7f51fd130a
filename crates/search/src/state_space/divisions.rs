//! Samples kept apart while models are fitted, and what models are worth there.
//!
//! Score: √(½ CV² + ½ F²), with CV the root mean squared error over five blocks, each held out once, and F the one after a forward
//! cut. A held-out block is a mask, not a gap: free runs pass through it on inputs alone, so that every division has the same
//! runs and no first state is needed after a gap. That is why these are not the blocks of `folds`, which lagged models need.

use std::ops::Range;

use intervalid_data::DataError;

use super::descent::Fitted;
use super::initial::{InitialConfig, state_before};
use super::model::StateSpace;
use super::run::{Run, Scored};
use crate::cut::before_cut;
use crate::error::Result;
use crate::folds::{BLOCKS, SHORTEST_BLOCK};

/// One way to divide the samples: a model is fitted on some and judged on others.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// Fitted on these.
    pub(crate) fitted: Scored,
    /// Judged on these, `[run]`; none for the fit on everything.
    pub(crate) held_out: Vec<Option<Range<usize>>>,
}

/// Divisions of a set of runs, always in this order: contiguous blocks, each held out once; the forward cut, which holds out
/// the last part of every run; everything.
#[derive(Clone, Debug)]
pub struct Divisions {
    divisions: Vec<Division>,
    /// Range of every output that predictions are clipped to.
    range: Vec<(f64, f64)>,
}

/// Samples of history from which the state before a held-out block is estimated; where nothing precedes a block, as many of its own.
pub(crate) const HISTORY: usize = 100;
/// Predictions are clipped this far outside the range of the measured outputs, as a share of it.
const MARGIN: f64 = 0.5;

/// Predictions and measurements on held-out samples.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOut {
    /// ŷ, `[sample][output]`
    pub predicted: Vec<f64>,
    /// y
    pub measured: Vec<f64>,
}

impl HeldOut {
    /// Mean squared error over samples and outputs.
    pub fn mse(&self) -> f64 {
        let errors = self.predicted.iter().zip(&self.measured);
        errors.map(|(p, y)| (p - y) * (p - y)).sum::<f64>() / self.measured.len().max(1) as f64
    }
}

impl Divisions {
    /// Five blocks, a forward cut and everything, over all runs one after the other.
    ///
    /// # Errors
    /// If a block would have fewer than 20 samples.
    pub fn new(runs: &[Run]) -> Result<Self> {
        let samples: usize = runs.iter().map(Run::len).sum();
        let needed = BLOCKS * SHORTEST_BLOCK;
        if samples < needed {
            let what = "a search of state-space models";
            let found = samples;
            return Err(DataError::TooShort { what, needed, found }.into());
        }
        let division = |fitted: Scored, apart: Scored| Division {
            fitted,
            held_out: (0..runs.len()).map(|run| apart.ranges(run).first().cloned()).collect(),
        };
        let mut divisions: Vec<Division> = (0..BLOCKS)
            .map(|block| samples * block / BLOCKS..samples * (block + 1) / BLOCKS)
            .map(|range| division(Scored::outside(runs, range.clone()), Scored::between(runs, range)))
            .collect();
        let is_before = |run: usize, k: usize| k < before_cut(runs[run].len());
        let after = Scored::matching(runs, |run, k| !is_before(run, k));
        divisions.push(division(Scored::matching(runs, is_before), after));
        divisions.push(Division {
            fitted: Scored::all(runs),
            held_out: vec![None; runs.len()],
        });
        let outputs = runs.first().map_or(0, Run::outputs);
        let range = (0..outputs).map(|output| {
            let values = runs
                .iter()
                .flat_map(|run| (0..run.len()).map(move |k| run.y(k)[output]));
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
            (low - MARGIN * (high - low), high + MARGIN * (high - low))
        });
        Ok(Self {
            range: range.collect(),
            divisions,
        })
    }

    /// All of them, in their order.
    pub(crate) fn divisions(&self) -> &[Division] {
        &self.divisions
    }

    /// What each division's model is fitted on.
    pub(crate) fn fitted(&self) -> Vec<Scored> {
        self.divisions.iter().map(|division| division.fitted.clone()).collect()
    }

    /// Brings a prediction `[sample][output]` into the outputs' range and more; what is not a number becomes the mean.
    pub fn clip(&self, predicted: &mut [f64]) {
        for row in predicted.chunks_exact_mut(self.range.len().max(1)) {
            for (value, (low, high)) in row.iter_mut().zip(&self.range) {
                *value = if value.is_nan() { 0.0 } else { value.clamp(*low, *high) };
            }
        }
    }

    /// Free runs of a division's models over what they have not seen, clipped, as their median: the state comes from the last
    /// 100 samples before, or from the first ones of a block that nothing precedes, which then do not count.
    pub(crate) fn held_out(&self, division: usize, members: &[Fitted], runs: &[Run]) -> HeldOut {
        let mut out = HeldOut {
            predicted: Vec::new(),
            measured: Vec::new(),
        };
        for (index, range) in self.divisions[division].held_out.iter().enumerate() {
            let (Some(range), run) = (range, &runs[index]) else {
                continue;
            };
            let start = if range.start == 0 {
                HISTORY.min(range.end / 2)
            } else {
                range.start
            };
            let predictions = members.iter().map(|member| {
                let mut predicted = simulate_from(&member.model, run, start, range.end, &member.x0[index]);
                self.clip(&mut predicted);
                predicted
            });
            out.predicted.extend(median(&predictions.collect::<Vec<_>>()));
            (start..range.end).for_each(|k| out.measured.extend(run.y(k)));
        }
        out
    }

    /// √(½ CV² + ½ F²): the error over all blocks and the one after the forward cut.
    pub(crate) fn score(&self, held_out: &[HeldOut]) -> f64 {
        let (blocks, forward) = held_out.split_at(BLOCKS.min(held_out.len()));
        let count: usize = blocks.iter().map(|block| block.measured.len()).sum();
        let cv = blocks
            .iter()
            .map(|block| block.mse() * block.measured.len() as f64)
            .sum::<f64>()
            / count.max(1) as f64;
        let forward = forward.first().map_or(cv, HeldOut::mse);
        (0.5 * cv + 0.5 * forward).sqrt()
    }

    /// The geometric mean of the errors of all blocks and the one after the forward cut, each at least a twentieth of their root
    /// mean square: a block that no model could know about does not decide alone.
    pub(crate) fn geometric_score(&self, held_out: &[HeldOut]) -> f64 {
        let floor = 0.05 * self.score(held_out);
        let logarithms = held_out
            .iter()
            .map(|block| block.mse().sqrt().max(floor).max(1e-300).ln());
        (logarithms.sum::<f64>() / held_out.len().max(1) as f64).exp()
    }
}

/// Free run over samples `start..end` from the state that the history before implies, looked for near where the run from
/// `x0` at the run's beginning would be: ŷ as `[sample][output]`, not a number where the model diverges.
pub fn simulate_from(model: &StateSpace, run: &Run, start: usize, end: usize, x0: &[f64]) -> Vec<f64> {
    let zero = vec![0.0; model.shape.states];
    let carried = model
        .state_after(run, x0, start.saturating_sub(HISTORY))
        .unwrap_or_else(|| zero.clone());
    let state = state_before(model, run, start, HISTORY, &[carried], InitialConfig::default());
    let run = run.slice(start..end);
    let predicted = model.simulate(&run, &state.unwrap_or(zero));
    predicted.unwrap_or_else(|| vec![f64::NAN; run.len() * run.outputs()])
}

/// The median of several predictions of the same samples, sample by sample.
pub fn median(runs: &[Vec<f64>]) -> Vec<f64> {
    let mut column = vec![0.0; runs.len()];
    (0..runs.first().map_or(0, Vec::len))
        .map(|k| {
            column.iter_mut().zip(runs).for_each(|(to, run)| *to = run[k]);
            column.sort_by(f64::total_cmp);
            0.5 * (column[(runs.len() - 1) / 2] + column[runs.len() / 2])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_true_model_has_no_held_out_error() {
        let model = StateSpace::linear((1, 1, 1), &[0.9, 0.5], &[1.0, 0.2]);
        let u: Vec<f64> = (0..900).map(|k| (0.37 * (k * k % 97) as f64).sin()).collect();
        let runs: Vec<Run> = [&u[..600], &u[600..]]
            .iter()
            .map(|u| {
                let blank = Run::new(1, 1, u.to_vec(), vec![0.0; u.len()]);
                Run::new(1, 1, u.to_vec(), model.simulate(&blank, &[0.5]).expect("stable"))
            })
            .collect();
        let divisions = Divisions::new(&runs).expect("long enough");
        assert!(Divisions::new(&[runs[0].slice(0..99)]).is_err());
        assert_eq!(divisions.divisions.len(), 7);
        let fitted = [Fitted {
            model,
            x0: vec![vec![0.5]; 2],
        }];
        let held_out: Vec<HeldOut> = (0..6)
            .map(|division| divisions.held_out(division, &fitted, &runs))
            .collect();
        // The block across both runs starts the second one without history.
        let lengths: Vec<usize> = held_out.iter().map(|block| block.measured.len()).collect();
        assert_eq!(lengths, [90, 180, 180, 120, 180, 360]);
        assert!(divisions.score(&held_out) < 1e-4, "{}", divisions.score(&held_out));
        let block = |error: f64| HeldOut {
            predicted: vec![error; 4],
            measured: vec![0.0; 4],
        };
        let blocks: Vec<HeldOut> = [1.0, 1.0, 1.0, 1.0, 1.0, 8.0].map(block).to_vec();
        assert!((divisions.score(&blocks) - 32.5_f64.sqrt()).abs() < 1e-12);
        assert!((divisions.geometric_score(&blocks) - 2.0_f64.sqrt()).abs() < 1e-12);
        for (index, division) in divisions.divisions.iter().enumerate().take(6) {
            let apart: usize = division.held_out.iter().flatten().map(ExactSizeIterator::len).sum();
            assert_eq!(apart + division.fitted.samples(), 900, "{index}");
        }
    }
}
