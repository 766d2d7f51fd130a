//! A simulator that stands at an operating point.

use intervalid_data::Scale;
use intervalid_model::{History, Model, Simulator};

use crate::error::Result;
use crate::operating_point::OperatingPoint;

/// Most steps that hidden states get to find their rest.
const MOST_STEPS: usize = 3000;
/// A run that moves by less than this share of an output's standard deviation, so many steps in a row, has settled. Single precision
/// does not stand much stiller.
const STILL: f64 = 1e-6;
const IN_A_ROW: usize = 25;

/// The bounds of each output of the last step: lower, ŷ, upper.
pub(crate) type Sample = Vec<[f64; 3]>;

/// The model after its inputs have been those of the point for long, and what it says there.
pub(crate) fn at_rest(model: &Model, point: &OperatingPoint, scales: &[Scale]) -> Result<(Simulator, Sample)> {
    let mut simulator = Simulator::new(&model.bare())?;
    let needs = simulator.needs();
    let inputs = point.inputs.repeat(needs.inputs.max(needs.least_inputs));
    let outputs = point.outputs.repeat(needs.outputs);
    simulator.reset(History {
        inputs: &inputs,
        outputs: &outputs,
    })?;
    let mut last = step(&mut simulator, &point.inputs)?;
    let mut still = 0;
    for _ in 0..MOST_STEPS {
        let next = step(&mut simulator, &point.inputs)?;
        let moved = next
            .iter()
            .zip(&last)
            .zip(scales)
            .map(|((next, last), scale)| (next[1] - last[1]).abs() / scale.std);
        still = if moved.fold(0.0, f64::max) < STILL {
            still + 1
        } else {
            0
        };
        last = next;
        if still >= IN_A_ROW {
            break;
        }
    }
    Ok((simulator, last))
}

/// One step.
pub(crate) fn step(simulator: &mut Simulator, inputs: &[f64]) -> Result<Sample> {
    let found = simulator.step(inputs)?;
    let outputs = 0..found.y.len();
    Ok(outputs
        .map(|output| [found.lower[output], found.y[output], found.upper[output]])
        .collect())
}
