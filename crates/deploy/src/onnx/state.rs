//! What a step hands to the next one.

use intervalid_model::NetworkKind;

use super::emit::{Dim, Port, Value};
use crate::step_program::{Body, StepProgram};

/// The tensors of a state in a graph, normalised.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Past inputs `[samples, inputs]`, newest first; none where no lag reaches back.
    pub(super) inputs: Option<Value>,
    /// Past outputs `[members, lags, outputs]`, newest first. Not a number in a member that has left every sensible range.
    pub(super) outputs: Value,
    /// h and c `[members, size]` of each LSTM cell.
    pub(super) cells: Vec<[Value; 2]>,
}

impl State {
    /// From values in the order of [`state_ports`].
    pub(super) fn from_values(plan: &StepProgram, values: &[Value]) -> Self {
        let (inputs, rest) = values.split_at(usize::from(has_past_inputs(plan)));
        Self {
            inputs: inputs.first().cloned(),
            outputs: rest[0].clone(),
            cells: rest[1..]
                .chunks_exact(2)
                .map(|pair| [pair[0].clone(), pair[1].clone()])
                .collect(),
        }
    }

    /// In the order of [`state_ports`].
    pub(super) fn into_values(self) -> Vec<Value> {
        let mut values: Vec<Value> = self.inputs.into_iter().collect();
        values.push(self.outputs);
        values.extend(self.cells.into_iter().flatten());
        values
    }
}

/// Whether past inputs are part of the state.
pub(super) fn has_past_inputs(plan: &StepProgram) -> bool {
    plan.remembered_inputs() > 0 && !plan.inputs.is_empty()
}

/// Sizes of the LSTM cells.
pub(super) fn cell_sizes(plan: &StepProgram) -> &[usize] {
    match &plan.body {
        Body::Networks(networks) if networks.network == NetworkKind::Lstm => &networks.hidden,
        _ => &[],
    }
}

/// Names and sizes of the tensors of a state.
pub(super) fn state_ports(plan: &StepProgram) -> Vec<Port> {
    let members = Dim::Fixed(plan.members());
    let port = |name: String, dims: Vec<Dim>, doc: &str| Port {
        name,
        dims,
        doc: doc.to_owned(),
    };
    let mut ports = Vec::new();
    if has_past_inputs(plan) {
        let dims = [plan.remembered_inputs(), plan.inputs.len()].map(Dim::Fixed);
        let doc = "past inputs, normalised, newest first [samples, inputs]";
        ports.push(port("state_u".to_owned(), dims.to_vec(), doc));
    }
    ports.push(port(
        "state_y".to_owned(),
        vec![members, Dim::Fixed(plan.lags.ny), Dim::Fixed(plan.outputs.len())],
        "past outputs, normalised, newest first [networks, samples, outputs]",
    ));
    for (index, &size) in cell_sizes(plan).iter().enumerate() {
        for (letter, what) in [
            ("h", "output of LSTM cells [networks, cells]"),
            ("c", "memory of LSTM cells [networks, cells]"),
        ] {
            let name = format!("state_{letter}{}", index + 1);
            ports.push(port(name, vec![members, Dim::Fixed(size)], what));
        }
    }
    ports
}
