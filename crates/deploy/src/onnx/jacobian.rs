//! The derivatives of a step as nodes: forward accumulation, one row of every tensor per variable.
//!
//! The variables of a member's step are z = [past inputs; own states; inputs now], as in the C code; a value `[members, 1, channels]` has
//! slopes `[members, variables, channels]`, so that products with weights are the same nodes for both.

use super::emit::{Dim, Emitter, Port, Value};
use super::network::Networks;
use super::state::State;
use super::state_space::StateSpace;
use super::step::{Regressor, regressor};
use crate::step_program::{Body, StepProgram};

/// A value and its slopes.
#[derive(Clone, Debug)]
pub(super) struct Jet {
    pub(super) value: Value,
    pub(super) slope: Value,
}

impl Jet {
    /// tanh, or its sigmoid: φ and φ'·slope, φ' as a function of φ.
    pub(super) fn activated(&self, emit: &mut Emitter, function: &str) -> Self {
        let value = emit.apply(function, &[&self.value]);
        let one = emit.scalar("one", 1.0);
        let factor = match function {
            "Tanh" => {
                let square = emit.apply("Mul", &[&value, &value]);
                emit.apply("Sub", &[&one, &square])
            }
            _ => {
                let rest = emit.apply("Sub", &[&one, &value]);
                emit.apply("Mul", &[&value, &rest])
            }
        };
        let slope = emit.apply("Mul", &[&self.slope, &factor]);
        Self { value, slope }
    }

    pub(super) fn product(&self, emit: &mut Emitter, other: &Self) -> Self {
        let slopes = [
            emit.apply("Mul", &[&self.slope, &other.value]),
            emit.apply("Mul", &[&other.slope, &self.value]),
        ];
        Self {
            value: emit.apply("Mul", &[&self.value, &other.value]),
            slope: emit.apply("Add", &[&slopes[0], &slopes[1]]),
        }
    }

    pub(super) fn plus(&self, emit: &mut Emitter, other: &Self) -> Self {
        Self {
            value: emit.apply("Add", &[&self.value, &other.value]),
            slope: emit.apply("Add", &[&self.slope, &other.slope]),
        }
    }

    /// Some of the channels.
    pub(super) fn channels(&self, emit: &mut Emitter, range: std::ops::Range<usize>) -> Self {
        Self {
            value: emit.slice(&self.value, 2, range.clone()),
            slope: emit.slice(&self.slope, 2, range),
        }
    }
}

/// The slopes of a step: of the outputs and of the next own states, `[members, variables, …]`, normalised.
pub(super) struct Slopes {
    pub(super) output: Value,
    pub(super) next: Value,
}

/// Which variables some channels are.
pub(super) struct Variables {
    members: usize,
    count: usize,
}

impl Variables {
    fn new(plan: &StepProgram) -> Self {
        Self {
            members: plan.members(),
            count: plan.variables(),
        }
    }

    /// Slopes of channels that are variables themselves: a one where channel and variable are the same.
    pub(super) fn slopes(&self, emit: &mut Emitter, name: &str, places: &[usize]) -> Value {
        let entries = (0..self.count).flat_map(|variable| {
            let entry = move |place: &usize| if *place == variable { 1.0 } else { 0.0 };
            places.iter().map(entry)
        });
        let dims = [1, self.count, places.len()];
        let one = emit.real(&format!("jacobian.{name}"), &dims, entries.collect::<Vec<f64>>());
        match self.members {
            1 => one,
            members => emit.expand(&one, &[members, self.count, places.len()]),
        }
    }
}

/// Places of the inputs of the regressor, u(k-n_d) first, among the variables.
fn taps(plan: &StepProgram) -> Vec<usize> {
    let inputs = plan.inputs.len();
    let shared = plan.remembered_inputs() * inputs;
    let now = shared + plan.own_states();
    let first = plan.lags.nd * inputs;
    (first..shared + inputs)
        .map(|place| if place < inputs { now + place } else { place - inputs })
        .collect()
}

/// The ports of the derivatives: rows are what changes, columns what is changed.
pub(super) fn jacobian_ports(plan: &StepProgram) -> Vec<Port> {
    let (states, inputs, outputs) = (plan.state_len(), plan.inputs.len(), plan.outputs.len());
    let sides = [("x", states, "next states"), ("y", outputs, "outputs")];
    let mut ports = Vec::new();
    for (of, rows, what) in sides {
        for (by, columns, with) in [("x", states, "states"), ("u", inputs, "inputs")] {
            if columns > 0 {
                ports.push(Port {
                    name: format!("jacobian_{of}_{by}"),
                    dims: [rows, columns].map(Dim::Fixed).to_vec(),
                    doc: format!("derivatives of the {what} with respect to the {with}, in physical units"),
                });
            }
        }
    }
    ports
}

/// The derivatives in the order of [`jacobian_ports`]; `u` are the normalised inputs of the step.
pub(super) fn jacobian(
    emit: &mut Emitter,
    plan: &StepProgram,
    u: Option<&Value>,
    state: &State,
    doubt: &Value,
) -> Vec<Value> {
    let found = regressor(emit, plan, u, state);
    let slopes = slopes(emit, plan, &found, state);
    let (states, inputs, outputs) = (plan.state_len(), plan.inputs.len(), plan.outputs.len());
    let places = placements(emit, plan);
    // A member that has left every sensible range is left out, as it is of the mean.
    let (zero, one) = (emit.scalar("zero", 0.0), emit.scalar("one", 1.0));
    let out = emit.apply("IsNaN", &[doubt]);
    let counted = emit.apply("Where", &[&out, &zero, &one]);
    let count = emit.sum(&counted, 0);
    let mut whole = |slope: &Value, units: &Value, columns: usize| {
        let kept = emit.apply("Where", &[&out, &zero, slope]);
        let scaled = emit.apply("MatMul", &[&kept, units]);
        let placed = emit.apply("MatMul", &[&places.variables, &scaled]);
        let sum = emit.sum(&placed, 0);
        emit.reshape(&sum, &[states + inputs, columns])
    };
    let moved = whole(&slopes.next, &places.own, states);
    let given = whole(&slopes.output, &places.outputs, outputs);
    let count = emit.reshape(&count, &[1]);
    let given = emit.apply("Div", &[&given, &count]);
    let moved = emit.apply("Add", &[&moved, &places.shift]);
    // Not a number where no member is left.
    let none_left = emit.apply("Div", &[&zero, &count]);
    let moved = emit.apply("Add", &[&moved, &none_left]);
    let mut parts = Vec::new();
    for all in [moved, given] {
        for range in [0..states, states..states + inputs] {
            if !range.is_empty() {
                let part = emit.slice(&all, 0, range);
                parts.push(emit.apply("Transpose", &[&part]));
            }
        }
    }
    parts
}

fn slopes(emit: &mut Emitter, plan: &StepProgram, found: &Regressor, state: &State) -> Slopes {
    let variables = Variables::new(plan);
    let inputs = plan.inputs.len();
    let shared = plan.remembered_inputs() * inputs;
    let own: Vec<usize> = (shared..shared + plan.own_states()).collect();
    let taps = taps(plan);
    if let Body::StateSpace(models) = &plan.body {
        let model = StateSpace::new(models, inputs, plan.outputs.len());
        let own = variables.slopes(emit, "own", &own);
        let by_inputs = (inputs > 0).then(|| {
            let before = variables.slopes(emit, "before", &taps[inputs..]);
            [before, variables.slopes(emit, "now", &taps[..inputs])]
        });
        return model.slopes(emit, found, state, (own, by_inputs));
    }
    let lags = plan.output_lags_len();
    let places: Vec<usize> = own[..lags].iter().chain(&taps).copied().collect();
    let x = Jet {
        value: found.x.clone(),
        slope: variables.slopes(emit, "regressor", &places),
    };
    let (output, cells) = match &plan.body {
        Body::Linear(linear) => {
            let weight = super::step::arx_weight(emit, linear);
            (emit.apply("MatMul", &[&x.slope, &weight]), Vec::new())
        }
        Body::Networks(networks) => Networks::new(networks).slopes(emit, &x, state, (&variables, &own[lags..])),
        Body::StateSpace(_) => unreachable!("answered above"),
    };
    let mut parts = vec![output.clone()];
    if lags > plan.outputs.len() {
        parts.push(emit.slice(&x.slope, 2, 0..lags - plan.outputs.len()));
    }
    parts.extend(cells);
    let parts: Vec<&Value> = parts.iter().collect();
    Slopes {
        next: emit.concat(&parts, 2),
        output,
    }
}

/// Constants that put slopes in their places and into physical units.
struct Placements {
    /// `[members, states + inputs, variables]`: one over the unit of a variable where it stands among all states and inputs.
    variables: Value,
    /// `[members, own, states]`: the unit of an own state where it stands among all states.
    own: Value,
    /// `[outputs, outputs]`, diagonal.
    outputs: Value,
    /// `[states + inputs, states]`: past inputs move on by one sample.
    shift: Value,
}

fn placements(emit: &mut Emitter, plan: &StepProgram) -> Placements {
    let (members, own, inputs) = (plan.members(), plan.own_states(), plan.inputs.len());
    let (states, variables) = (plan.state_len(), plan.variables());
    let shared = plan.remembered_inputs() * inputs;
    let unit = |variable: usize| match variable {
        variable if variable < shared => plan.inputs[variable % inputs].scale.std,
        variable if variable < shared + own => plan.own_unit(variable - shared),
        variable => plan.inputs[variable - shared - own].scale.std,
    };
    let place = |member: usize, variable: usize| match variable {
        variable if variable < shared => variable,
        variable if variable < shared + own => variable + member * own,
        variable => states + variable - shared - own,
    };
    let mut by_variable = vec![0.0; members * (states + inputs) * variables];
    let mut by_state = vec![0.0; members * own * states];
    for member in 0..members {
        for variable in 0..variables {
            let row = member * (states + inputs) + place(member, variable);
            by_variable[row * variables + variable] = 1.0 / unit(variable);
        }
        for entry in 0..own {
            by_state[(member * own + entry) * states + shared + member * own + entry] = plan.own_unit(entry);
        }
    }
    let mut shift = vec![0.0; (states + inputs) * states];
    for entry in 0..shared {
        let from = if entry < inputs { states + entry } else { entry - inputs };
        shift[from * states + entry] = 1.0;
    }
    let outputs = plan.outputs.len();
    let scales = (0..outputs * outputs).map(|at| match at % (outputs + 1) {
        0 => plan.outputs[at / outputs].scale.std,
        _ => 0.0,
    });
    Placements {
        variables: emit.real(
            "jacobian.variables",
            &[members, states + inputs, variables],
            by_variable,
        ),
        own: emit.real("jacobian.own_units", &[members, own, states], by_state),
        outputs: emit.real(
            "jacobian.output_units",
            &[outputs, outputs],
            scales.collect::<Vec<f64>>(),
        ),
        shift: emit.real("jacobian.shift", &[states + inputs, states], shift),
    }
}
