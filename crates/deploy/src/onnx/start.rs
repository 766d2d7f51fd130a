//! From measured history to the state before the first step.

use super::correct::free_run;
use super::emit::{Dim, Emitter, Port, Value};
use super::state::{State, carried, has_past_inputs, state_ports};
use super::step::{crisp_step, normalised_inputs, normalised_outputs, pushed_outputs, regressor};
use crate::step_program::StepProgram;

/// Inputs of a graph that starts a run: the samples before the first step, in physical units and in order of time.
pub(super) fn history_ports(plan: &StepProgram) -> Vec<Port> {
    let needs = plan.needs();
    let mut ports = Vec::new();
    if has_history_inputs(plan) {
        ports.push(Port {
            name: "past_u".to_owned(),
            dims: vec![Dim::Named("past_inputs"), Dim::Fixed(plan.inputs.len())],
            doc: format!(
                "inputs before the first step, oldest first: at least {} rows; the last {} are used, missing ones count as \
                 the training mean",
                needs.least_inputs, needs.inputs
            ),
        });
    }
    ports.push(Port {
        name: "past_y".to_owned(),
        dims: vec![Dim::Named("past_outputs"), Dim::Fixed(plan.outputs.len())],
        doc: format!(
            "measured outputs before the first step, oldest first: at least {} rows; the last {} are used",
            needs.outputs,
            plan.useful_outputs()
        ),
    });
    ports
}

/// Whether a start looks at past inputs.
fn has_history_inputs(plan: &StepProgram) -> bool {
    plan.needs().inputs > 0 && !plan.inputs.is_empty()
}

/// Writes the start of a run from the inputs of [`history_ports`].
pub(super) fn start(emit: &mut Emitter, plan: &StepProgram) -> State {
    let needs = plan.needs();
    let warmup = needs.least_inputs;
    let (inputs, outputs, members) = (plan.inputs.len(), plan.outputs.len(), plan.members());
    let ports = history_ports(plan);
    let past_y = ports[ports.len() - 1].value();
    let past_y = normalised_outputs(emit, plan, &past_y);
    let known = needs.outputs - warmup;
    let measured = rows(emit, &past_y, needs.outputs, outputs, "past_y");
    let past_u = has_history_inputs(plan).then(|| {
        let value = ports[0].value();
        normalised_inputs(emit, plan, &value)
    });
    let state = State {
        inputs: past_u
            .as_ref()
            .filter(|_| has_past_inputs(plan))
            .map(|past| past_inputs(emit, plan, past, needs.inputs)),
        outputs: {
            let first = match warmup {
                0 => measured.clone(),
                _ => emit.slice(&measured, 0, 0..known),
            };
            let newest_first = emit.reversed_rows(&first);
            let missing = plan.lags.ny - known;
            let lags = if missing > 0 {
                let zeros = emit.real("no_outputs", &[missing, outputs], vec![0.0; missing * outputs]);
                emit.concat(&[&newest_first, &zeros], 0)
            } else {
                newest_first
            };
            let lags = emit.reshape(&lags, &[1, plan.lags.ny, outputs]);
            if members > 1 {
                emit.expand(&lags, &[members, plan.lags.ny, outputs])
            } else {
                lags
            }
        },
        cells: carried(plan)
            .into_iter()
            .map(|pair| {
                pair.map(|(name, size, _)| {
                    emit.real(&format!("no_{name}"), &[members, size], vec![0.0; members * size])
                })
            })
            .collect(),
        watched: watched(emit, plan, &past_y),
        ahead: free_run(emit, plan),
    };
    let history = state.watched.clone();
    let state = if warmup == 0 {
        state
    } else {
        let forced = emit.slice(&measured, 0, known..needs.outputs);
        let during = past_u.map(|past| rows(emit, &past, warmup, inputs, "past_u"));
        let state = warm_up(emit, plan, state, during, forced);
        match plan.initial.looks_back() {
            0 => state,
            // A history is no part of the run: the alarm sees what was measured.
            _ => State {
                watched: history,
                ..state
            },
        }
    };
    refusing(emit, state)
}

/// The measured outputs that the alarm of the first step of a run looks at, newest first; the training mean where there are none.
fn watched(emit: &mut Emitter, plan: &StepProgram, past_y: &Value) -> Option<Value> {
    let lags = plan.region.as_ref()?.lags.ny;
    let outputs = plan.outputs.len();
    // A run begins with its warm-up.
    let warmup = plan.needs().least_inputs - plan.initial.looks_back();
    let all = lags + warmup;
    let zeros = emit.real("no_watched", &[all, outputs], vec![0.0; all * outputs]);
    let padded = emit.concat(&[&zeros, past_y], 0);
    let last = emit.last_rows(&padded, all);
    let last = emit.reshape(&last, &[all, outputs]);
    let before = match warmup {
        0 => last,
        _ => emit.slice(&last, 0, 0..lags),
    };
    Some(emit.reversed_rows(&before))
}

/// Makes the outputs not a number where a past input is none, which a regressor may reach later only.
fn refusing(emit: &mut Emitter, state: State) -> State {
    let Some(inputs) = &state.inputs else {
        return state;
    };
    let zero = emit.scalar("zero", 0.0);
    let refused = emit.apply("Mul", &[inputs, &zero]);
    let refused = emit.sum(&refused, 0);
    let refused = emit.sum(&refused, 1);
    State {
        outputs: emit.apply("Add", &[&state.outputs, &refused]),
        ..state
    }
}

/// The last `count` rows of what was given; a runtime refuses fewer and names this node.
fn rows(emit: &mut Emitter, value: &Value, count: usize, channels: usize, name: &str) -> Value {
    let last = emit.last_rows(value, count);
    emit.reshape_named(&last, &[count, channels], format!("{name}_needs_{count}_rows"))
}

/// The oldest of the last `all` inputs, those before a warm-up, newest first; the training mean where there are none.
fn past_inputs(emit: &mut Emitter, plan: &StepProgram, past: &Value, all: usize) -> Value {
    let inputs = plan.inputs.len();
    let zeros = emit.real("no_inputs", &[all, inputs], vec![0.0; all * inputs]);
    let padded = emit.concat(&[&zeros, past], 0);
    let last = emit.last_rows(&padded, all);
    let last = emit.reshape(&last, &[all, inputs]);
    let before = emit.slice(&last, 0, 0..plan.remembered_inputs());
    emit.reversed_rows(&before)
}

/// Runs over the warm-up: every step sees measured outputs, only states settle.
fn warm_up(emit: &mut Emitter, plan: &StepProgram, state: State, during: Option<Value>, forced: Value) -> State {
    let row = |name: &str, channels: usize| Port {
        name: name.to_owned(),
        dims: vec![Dim::Fixed(channels)],
        doc: String::new(),
    };
    let states: Vec<(Port, Value)> = state_ports(plan).into_iter().zip(state.into_values()).collect();
    let mut scanned = vec![(row("measured", plan.outputs.len()), forced)];
    scanned.extend(during.map(|during| (row("u", plan.inputs.len()), during)));
    let (last, _) = emit.scan("warmup", &states, &scanned, |emit, state, now| {
        let state = State::from_values(plan, state);
        let found = regressor(emit, plan, now.get(1), &state);
        let (doubt, cells, watched) = crisp_step(emit, plan, &found, &state);
        let measured = emit.reshape(&now[0], &[1, 1, plan.outputs.len()]);
        // A member that has left every sensible range stays out.
        let newest = emit.apply("Add", &[&measured, &doubt]);
        let next = State {
            outputs: pushed_outputs(emit, plan, &newest, &state),
            inputs: found.past_inputs,
            cells,
            watched,
            ahead: state.ahead.clone(),
        };
        (next.into_values(), Vec::new())
    });
    State::from_values(plan, &last)
}
