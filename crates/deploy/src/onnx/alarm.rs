//! The extrapolation alarm of a step as nodes.

use super::emit::{Emitter, Value};
use super::state::State;
use super::step::{Regressor, normalised_outputs};
use crate::step_program::StepProgram;

/// Whether a step extrapolates, and the outputs that the alarm of the next one looks at; none where the model does not know its region.
///
/// **Formula.** 1 where not ‖W·(x - c)‖² ≤ limit, so where x is not a number too, or where x is beyond a side of the box; see
/// `TrainingRegion`.
pub(super) fn alarm(
    emit: &mut Emitter,
    plan: &StepProgram,
    found: &Regressor,
    state: &State,
    y: &Value,
) -> Option<(Value, Value)> {
    let (region, past) = (plan.region.as_ref()?, state.watched.as_ref()?);
    let length = region.centre.len();
    let outputs = plan.watched_outputs_len();
    let own = emit.reshape(past, &[1, outputs]);
    let x = match &found.taps {
        None => own,
        Some(taps) => {
            let all = plan.regressor_len() - plan.output_lags_len();
            let taps = emit.reshape(taps, &[1, all]);
            let taps = match length - outputs {
                wanted if wanted == all => taps,
                wanted => emit.slice(&taps, 1, 0..wanted),
            };
            emit.concat(&[&own, &taps], 1)
        }
    };
    let centre = emit.real("region.centre", &[1, length], region.centre.iter().copied());
    // W transposed: rows are entries of x.
    let entries = (0..length).flat_map(|column| (0..length).map(move |row| (row, column)));
    let entries = entries.map(|(row, column)| region.whitening[row].get(column).copied().unwrap_or(0.0));
    let whitening = emit.real("region.whitening", &[length, length], entries);
    let limit = emit.real("region.limit", &[1], [region.limit]);
    let away = emit.apply("Sub", &[&x, &centre]);
    let white = emit.apply("MatMul", &[&away, &whitening]);
    let squares = emit.apply("Mul", &[&white, &white]);
    let distance = emit.sum(&squares, 1);
    let distance = emit.reshape(&distance, &[1]);
    let inside = emit.apply("LessOrEqual", &[&distance, &limit]);
    let (zero, one) = (emit.scalar("zero", 0.0), emit.scalar("one", 1.0));
    let mut flag = emit.apply("Where", &[&inside, &zero, &one]);
    if !region.lowest.is_empty() {
        let lowest = emit.real("region.lowest", &[1, length], region.lowest.iter().copied());
        let highest = emit.real("region.highest", &[1, length], region.highest.iter().copied());
        let pairs = [[&lowest, &x], [&x, &highest]].map(|pair| emit.apply("LessOrEqual", &pair));
        let inside = emit.apply("And", &[&pairs[0], &pairs[1]]);
        let beyond = emit.apply("Where", &[&inside, &zero, &one]);
        let beyond = emit.sum(&beyond, 1);
        let beyond = emit.reshape(&beyond, &[1]);
        let either = emit.apply("Add", &[&flag, &beyond]);
        flag = emit.apply("Min", &[&either, &one]);
    }
    Some((flag, pushed_watched(emit, plan, past, y)))
}

/// The outputs that the alarm looks at after `y` `[outputs]`, in physical units, was given.
pub(super) fn pushed_watched(emit: &mut Emitter, plan: &StepProgram, past: &Value, y: &Value) -> Value {
    let newest = normalised_outputs(emit, plan, y);
    let newest = emit.reshape(&newest, &[1, plan.outputs.len()]);
    match plan.region.as_ref().map_or(1, |region| region.lags.ny) {
        1 => newest,
        lags => {
            let kept = emit.slice(past, 0, 0..lags - 1);
            emit.concat(&[&newest, &kept], 0)
        }
    }
}
