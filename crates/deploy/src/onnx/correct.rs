//! Steps that start from a measurement: the state after it, and the band of steps so soon after it.

use super::emit::{Emitter, Value};
use super::state::State;
use super::step::normalised_outputs;
use crate::step_program::StepProgram;

/// What [`State::ahead`] is in a free run; else it counts the steps since a correction.
const FREE: f64 = -1.0;

/// The count of a run that starts: nothing was corrected yet. None where the model does not know how its band shrinks.
pub(super) fn free_run(emit: &mut Emitter, plan: &StepProgram) -> Option<Value> {
    plan.horizons.as_ref()?;
    Some(emit.real("free_run", &[1], [FREE]))
}

/// The share of the free run's band that a step has, `[outputs]`, and the count after it.
///
/// The shares of all horizons are a table, whose first row is the free run's: onnxruntime of 2020 has no logarithm in double precision.
pub(super) fn share_ahead(emit: &mut Emitter, plan: &StepProgram, state: &State) -> Option<(Value, Value)> {
    let (known, count) = (plan.horizons.as_ref()?, state.ahead.as_ref()?);
    let outputs = plan.outputs.len();
    let last = known.horizons.last().copied()?;
    let shares = (0..=last).flat_map(|horizon| {
        (0..outputs).map(move |output| match horizon {
            0 => 1.0,
            _ => known.at(horizon, output),
        })
    });
    let table = emit.real("horizon.share", &[last + 1, outputs], shares);
    let (zero, one) = (emit.scalar("zero", 0.0), emit.scalar("one", 1.0));
    let furthest = emit.scalar("horizon.last", last as f64);
    let more = emit.apply("Add", &[count, &one]);
    // Further away all have the share of the last.
    let more = emit.apply("Min", &[&more, &furthest]);
    let share = emit.row_at(&table, &more);
    let is_free = emit.apply("Less", &[count, &zero]);
    let next = emit.apply("Where", &[&is_free, count, &more]);
    Some((emit.reshape(&share, &[outputs]), next))
}

/// The state from which the next step starts when `measured` `[outputs]`, in physical units, is known of the last one. A member that has left
/// every sensible range stays out.
pub(super) fn corrected(emit: &mut Emitter, plan: &StepProgram, state: &State, measured: &Value) -> State {
    let outputs = plan.outputs.len();
    let measured = normalised_outputs(emit, plan, measured);
    let zero = emit.scalar("zero", 0.0);
    let (newest, older) = match plan.lags.ny {
        1 => (state.outputs.clone(), None),
        ny => {
            let older = emit.slice(&state.outputs, 1, 1..ny);
            (emit.slice(&state.outputs, 1, 0..1), Some(older))
        }
    };
    let doubt = emit.apply("Mul", &[&newest, &zero]);
    let doubt = emit.sum(&doubt, 2);
    let row = emit.reshape(&measured, &[1, 1, outputs]);
    let row = emit.apply("Add", &[&row, &doubt]);
    let watched = state.watched.as_ref().map(|past| {
        let newest = emit.reshape(&measured, &[1, outputs]);
        match plan.region.as_ref().map_or(1, |region| region.lags.ny) {
            1 => newest,
            lags => {
                let older = emit.slice(past, 0, 1..lags);
                emit.concat(&[&newest, &older], 0)
            }
        }
    });
    State {
        inputs: state.inputs.clone(),
        outputs: match older {
            None => row,
            Some(older) => emit.concat(&[&row, &older], 1),
        },
        cells: state.cells.clone(),
        watched,
        ahead: state.ahead.as_ref().map(|_| emit.real("just_corrected", &[1], [0.0])),
    }
}
