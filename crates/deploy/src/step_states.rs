//! What a step remembers, in numbers: the state that its derivatives are about, and the outputs that its alarm looks back to.

use crate::step_program::{Body, StepProgram};

impl StepProgram {
    /// Measured outputs that a start can make use of: all that it needs, and those that the alarm looks back to.
    #[must_use]
    pub fn useful_outputs(&self) -> usize {
        let needed = self.needs().outputs;
        let warmup = self.needs().least_inputs - self.initial.looks_back();
        let watched = self.region.as_ref().map_or(0, |region| region.lags.ny + warmup);
        needed.max(watched)
    }

    /// Outputs that the alarm remembers.
    #[must_use]
    pub fn watched_outputs_len(&self) -> usize {
        self.region
            .as_ref()
            .map_or(0, |region| region.lags.ny * self.outputs.len())
    }

    /// States of one member in a free run: past outputs, then h and c of each LSTM cell; of a state-space model its states.
    #[must_use]
    pub fn own_states(&self) -> usize {
        match &self.body {
            Body::StateSpace(plan) => plan.states,
            Body::Linear(_) | Body::Networks(_) => self.output_lags_len() + 2 * self.cell_states(),
        }
    }

    /// How many of them are past outputs; they come first.
    #[must_use]
    pub fn own_output_lags(&self) -> usize {
        match &self.body {
            Body::StateSpace(_) => 0,
            Body::Linear(_) | Body::Networks(_) => self.output_lags_len(),
        }
    }

    /// Physical units of one normalised unit of a state of a member; 1 of hidden states.
    #[must_use]
    pub fn own_unit(&self, state: usize) -> f64 {
        match state < self.own_output_lags() {
            true => self.outputs[state % self.outputs.len()].scale.std,
            false => 1.0,
        }
    }

    /// States of the whole model: past inputs, which all members share, then the states of each member.
    #[must_use]
    pub fn state_len(&self) -> usize {
        self.remembered_inputs() * self.inputs.len() + self.members() * self.own_states()
    }

    /// What the step of a member depends on: past inputs, its own states, inputs now.
    #[must_use]
    pub(crate) fn variables(&self) -> usize {
        (self.remembered_inputs() + 1) * self.inputs.len() + self.own_states()
    }
}
