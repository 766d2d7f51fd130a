//! The test of coverage by itself, for code that carries it out elsewhere.

use super::evidence::{MOST, STAKES};
use super::health::WATCH_EXTRAPOLATED;
use super::moments::FURTHEST;
use super::output::RECENT;
use super::watch::{BLOCKS, BURN_IN, BY_RESIDUALS, CORRELATION_TIMES, Monitor, NEWEST, WATCH};

/// All that the coverage test of a [`Monitor`] depends on. It alone has a memory of fixed size, which small machines can afford: the tests of
/// drift rank a block among those before it.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageTest {
    /// Probability that a model which keeps its promise is ever told to be refitted, at the most.
    pub false_alarm: f64,
    /// Greatest share of misses that is no reason to worry.
    pub most_misses: f64,
    /// Whether a sample is missed for every output if any is outside its band: the promise is one of all together.
    pub together: bool,
    /// Evidence from which the model is to be watched, and from which it is to be refitted.
    pub watch_at: f64,
    /// See `watch_at`.
    pub refit_at: f64,
    /// Evidence of a bettor is cut here.
    pub most_evidence: f64,
    /// Stakes of the bettors.
    pub stakes: Vec<f64>,
    /// Samples per block, where they are given.
    pub block: Option<u64>,
    /// Samples from which the length of blocks is chosen otherwise.
    pub burn_in: usize,
    /// Correlation times of the first residuals in a block.
    pub correlation_times: f64,
    /// The greatest block that those can ask for.
    pub most_by_residuals: f64,
    /// The block that held-out data ask for.
    pub by_held_out: f64,
    /// Least and greatest block that is chosen.
    pub blocks: (f64, f64),
    /// Blocks that the coverage of late comes from.
    pub recent_blocks: usize,
    /// Residuals and half-widths count as so many standard deviations at most.
    pub furthest: f64,
    /// Weight of the newest sample in the share that was extrapolated of late, and the share from which the model is to be watched.
    pub newest: f64,
    /// See `newest`.
    pub watch_extrapolated: f64,
    /// Standard deviation in training, and least half-width of the band, of every output.
    pub outputs: Vec<(f64, f64)>,
}

impl Monitor {
    /// Its test of coverage.
    #[must_use]
    pub fn coverage_test(&self) -> CoverageTest {
        let interface = self.interface();
        let output = |index: usize| {
            let std = interface.normaliser.outputs[index].std;
            (std, interface.least_half_width(index))
        };
        CoverageTest {
            false_alarm: self.state().config().false_alarm,
            most_misses: self.most_misses(),
            together: interface.is_together(),
            watch_at: WATCH * self.refit_at_evidence(),
            refit_at: self.refit_at_evidence(),
            most_evidence: MOST,
            stakes: STAKES.to_vec(),
            block: self.state().config().block.map(|block| block as u64),
            burn_in: BURN_IN,
            correlation_times: CORRELATION_TIMES.0,
            most_by_residuals: BY_RESIDUALS,
            by_held_out: self.block_by_held_out(),
            blocks: BLOCKS,
            recent_blocks: RECENT,
            furthest: FURTHEST,
            newest: NEWEST,
            watch_extrapolated: WATCH_EXTRAPOLATED,
            outputs: (0..interface.outputs.len()).map(output).collect(),
        }
    }
}
