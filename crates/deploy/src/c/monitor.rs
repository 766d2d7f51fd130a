//! The watch over a model: what its templates need to know.

use intervalid_model::CoverageTest;
use minijinja::{Value, context};

use super::literal::CNumber;

const DOUBLE: usize = 8;
const INT: usize = 4;

/// Constants as C writes them.
pub(super) fn monitor_context(test: &CoverageTest) -> Value {
    let number = |value: f64| CNumber::Double.literal(value);
    let list = |of: fn(&(f64, f64)) -> f64| CNumber::Double.list(test.outputs.iter().map(of));
    context! {
        false_alarm => test.false_alarm.to_string(),
        bettors => test.stakes.len(),
        stakes => CNumber::Double.list(test.stakes.iter().copied()),
        most_misses => number(test.most_misses),
        together => test.together,
        watch_at => number(test.watch_at),
        refit_at => number(test.refit_at),
        most_evidence => number(test.most_evidence),
        newest => number(test.newest),
        watch_extrapolated => number(test.watch_extrapolated),
        block => test.block.map(|block| number(block as f64)),
        burn_in => waiting(test),
        recent_blocks => test.recent_blocks,
        correlation_times => number(test.correlation_times),
        most_by_residuals => number(test.most_by_residuals),
        by_held_out => number(test.by_held_out),
        least_block => number(test.blocks.0),
        most_block => number(test.blocks.1),
        furthest => number(test.furthest),
        std => list(|(std, _)| *std),
        floor => list(|(_, floor)| *floor),
    }
}

/// Samples that wait until the length of blocks is decided.
fn waiting(test: &CoverageTest) -> usize {
    match test.block {
        Some(_) => 0,
        None => test.burn_in,
    }
}

/// Bytes of a watch on a machine with 32-bit `int`.
pub(super) fn monitor_bytes(test: &CoverageTest) -> usize {
    let (outputs, waiting) = (test.outputs.len(), waiting(test));
    let watch = DOUBLE * (7 + test.stakes.len() + test.recent_blocks);
    // Flags of a start and of padding, then two numbers.
    let head = DOUBLE * 3;
    let tail = match waiting {
        0 => 0,
        _ => DOUBLE * outputs * waiting + (outputs * waiting).div_ceil(INT) * INT + INT,
    };
    (head + outputs * watch + tail).div_ceil(DOUBLE) * DOUBLE
}
