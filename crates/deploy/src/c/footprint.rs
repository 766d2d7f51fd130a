//! Memory that an exported step takes.

use super::code::{CPrecision, Numbers, number};
use crate::step_program::{Body, Bounded, StepProgram};

/// Bytes of memory on a machine with 32-bit `int`; code is not counted, it depends on the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Read-only memory: the constant tables.
    pub tables: usize,
    /// RAM of one state.
    pub state: usize,
    /// RAM of the arrays that a step puts on the stack.
    pub stack: usize,
}

const INT: usize = 4;
const DOUBLE: usize = 8;

impl Footprint {
    /// That of C code in this precision; the model's own where none is given.
    #[must_use]
    pub fn of_c(plan: &StepProgram, precision: Option<CPrecision>) -> Self {
        Self::new(plan, Numbers::uniform(plan, number(plan, precision)))
    }

    /// That of the code in an FMU.
    #[must_use]
    pub fn of_fmu(plan: &StepProgram) -> Self {
        Self::new(plan, Numbers::of_predict(plan))
    }

    pub(super) fn new(plan: &StepProgram, numbers: Numbers) -> Self {
        let inner = numbers.inner.bytes();
        let (inputs, outputs, members) = (plan.inputs.len(), plan.outputs.len(), plan.members());
        let remembered = plan.remembered_inputs() * inputs;
        let lists = remembered + members * (plan.output_lags_len() + 2 * plan.cell_states() + plan.carried());
        let aligned = |bytes: usize, to: usize| bytes.div_ceil(to) * to;
        let watched = plan.region.as_ref().map_or(0, |region| region.centre.len());
        let head = aligned(INT * (4 + members + usize::from(watched > 0)), inner);
        let state = aligned(head + inner * lists, DOUBLE) + DOUBLE * (4 * outputs + plan.watched_outputs_len());
        let taps = (plan.lags.input_taps() + 1) * inputs;
        let (parameters, scratch) = match &plan.body {
            Body::Linear(linear) => (linear.weight.len() + linear.bias.len(), outputs),
            Body::Networks(networks) => {
                let parameters: usize = networks
                    .members
                    .iter()
                    .flat_map(|member| {
                        let layers = member.layers.iter();
                        let blocks =
                            layers.flat_map(|layer| [Some(&layer.weight), layer.recurrent.as_ref(), Some(&layer.bias)]);
                        blocks.chain([member.linear.as_ref()]).flatten()
                    })
                    .map(entries)
                    .sum();
                let cells = if networks.lstm { 2 * widest(&networks.hidden) } else { 0 };
                let member = plan.regressor_len() + 6 * width(plan) + cells;
                (parameters, member + 3 * outputs * members)
            }
            Body::StateSpace(models) => {
                let matrices = models.members.iter().flat_map(|member| member.matrices());
                let units = models.units().into_iter().max().unwrap_or(0);
                let member = outputs + 3 * (models.states + inputs) + 2 * units;
                (matrices.map(entries).sum(), member + 3 * outputs * members)
            }
        };
        // Normalisation of every channel, the adaptive band, calibration or half-widths.
        let constants = 2 * inputs + outputs * (3 + if plan.outputs[0].calibration.is_some() { 3 } else { 0 });
        let horizons = plan
            .horizons
            .as_ref()
            .map_or(0, |known| known.horizons.len() * (2 + outputs));
        let sides = plan.region.as_ref().map_or(0, |region| 2 * region.lowest.len());
        let region = match watched {
            0 => 0,
            watched => watched + watched * (watched + 1) / 2 + 1 + sides,
        };
        Self {
            tables: inner * parameters + DOUBLE * (constants + region + horizons + 4),
            state,
            stack: inner * (taps + scratch) + DOUBLE * 3 * outputs,
        }
    }
}

/// Numbers of a matrix and of its bounds.
fn entries(block: &Bounded) -> usize {
    3 * block.centre.len()
}

/// Rows of the largest layer.
pub(super) fn width(plan: &StepProgram) -> usize {
    match &plan.body {
        Body::Linear(_) | Body::StateSpace(_) => 0,
        Body::Networks(networks) => networks
            .members
            .iter()
            .flat_map(|member| &member.layers)
            .map(|layer| layer.bias.rows)
            .max()
            .unwrap_or(0),
    }
}

pub(super) fn widest(hidden: &[usize]) -> usize {
    hidden.iter().copied().max().unwrap_or(0)
}
