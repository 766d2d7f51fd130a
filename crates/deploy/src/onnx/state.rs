//! What a step hands to the next one.

use super::emit::{Dim, Port, Value};
use crate::step_program::{Body, StepProgram};

/// The tensors of a state in a graph, normalised.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Past inputs `[samples, inputs]`, newest first; none where no lag reaches back.
    pub(super) inputs: Option<Value>,
    /// Past outputs `[members, lags, outputs]`, newest first. Not a number in a member that has left every sensible range.
    pub(super) outputs: Value,
    /// h and c `[members, size]` of each LSTM cell; the states and the last prediction of a state-space model.
    pub(super) cells: Vec<[Value; 2]>,
    /// Outputs that were given last `[lags, outputs]`, newest first, for the alarm; none where the model does not know its region.
    pub(super) watched: Option<Value>,
    /// Steps since a correction `[1]`, negative in a free run; none where the model does not know how its band shrinks after one.
    pub(super) ahead: Option<Value>,
}

impl State {
    /// From values in the order of [`state_ports`].
    pub(super) fn from_values(plan: &StepProgram, values: &[Value]) -> Self {
        let (inputs, rest) = values.split_at(usize::from(has_past_inputs(plan)));
        let (rest, ahead) = rest.split_at(rest.len() - usize::from(plan.horizons.is_some()));
        let (rest, watched) = rest.split_at(rest.len() - usize::from(plan.region.is_some()));
        Self {
            inputs: inputs.first().cloned(),
            outputs: rest[0].clone(),
            cells: rest[1..]
                .chunks_exact(2)
                .map(|pair| [pair[0].clone(), pair[1].clone()])
                .collect(),
            watched: watched.first().cloned(),
            ahead: ahead.first().cloned(),
        }
    }

    /// In the order of [`state_ports`].
    pub(super) fn into_values(self) -> Vec<Value> {
        let mut values: Vec<Value> = self.inputs.into_iter().collect();
        values.push(self.outputs);
        values.extend(self.cells.into_iter().flatten());
        values.extend(self.watched);
        values.extend(self.ahead);
        values
    }
}

/// Whether past inputs are part of the state.
pub(super) fn has_past_inputs(plan: &StepProgram) -> bool {
    plan.remembered_inputs() > 0 && !plan.inputs.is_empty()
}

/// What a model carries beside its last outputs, in pairs: names, sizes and meaning.
pub(super) fn carried(plan: &StepProgram) -> Vec<[(String, usize, &'static str); 2]> {
    match &plan.body {
        Body::Networks(networks) if networks.lstm => {
            let cells = networks.hidden.iter().enumerate();
            let pair = |(index, &size): (usize, &usize)| {
                [
                    (
                        format!("state_h{}", index + 1),
                        size,
                        "output of LSTM cells [networks, cells]",
                    ),
                    (
                        format!("state_c{}", index + 1),
                        size,
                        "memory of LSTM cells [networks, cells]",
                    ),
                ]
            };
            cells.map(pair).collect()
        }
        Body::StateSpace(models) => vec![[
            ("state_x".to_owned(), models.states, "states [networks, states]"),
            (
                "state_predicted".to_owned(),
                plan.outputs.len(),
                "prediction for the last outputs, normalised [networks, outputs]",
            ),
        ]],
        Body::Linear(_) | Body::Networks(_) => Vec::new(),
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
    for (name, size, what) in carried(plan).into_iter().flatten() {
        ports.push(port(name, vec![members, Dim::Fixed(size)], what));
    }
    if let Some(region) = &plan.region {
        let dims = [region.lags.ny, plan.outputs.len()].map(Dim::Fixed);
        let doc = "outputs that were given last, normalised, newest first, for the alarm [samples, outputs]";
        ports.push(port("state_watched".to_owned(), dims.to_vec(), doc));
    }
    if plan.horizons.is_some() {
        let doc = "steps since a correction, negative in a free run [1]";
        ports.push(port("state_ahead".to_owned(), vec![Dim::Fixed(1)], doc));
    }
    ports
}
