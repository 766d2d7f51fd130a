//! ARX, one model or the mean of several, step by step.

use intervalid_data::{ArxModel, DIVERGED, Regressor};

use super::combine::combine;
use super::history::InputTaps;
use super::state::MemberState;
use crate::family::ensemble::Spread;
use crate::family::linear::ArxWithBand;
use crate::interface::ModelInterface;

/// ARX models that run side by side on the same inputs.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    half_width: Vec<f64>,
    inputs: InputTaps<f64>,
    layout: Regressor,
    members: Vec<Member>,
    /// The widening where members disagree, one per output.
    spread: Vec<Spread>,
}

#[derive(Clone, Debug)]
struct Member {
    arx: ArxModel,
    regressor: Vec<f64>,
    prediction: Vec<f64>,
    /// Whether the run has stayed in range; a runaway is left out until the next start.
    is_sound: bool,
}

impl Linear {
    pub(super) fn new(model: &ArxWithBand, interface: &ModelInterface, spread: Vec<Spread>) -> Self {
        let (inputs, outputs) = (interface.inputs.len(), interface.outputs.len());
        let layout = Regressor::new(model.lags(), inputs, outputs);
        let member = |arx: &ArxModel| Member {
            arx: arx.clone(),
            regressor: vec![0.0; layout.len()],
            prediction: vec![0.0; outputs],
            is_sound: true,
        };
        Self {
            half_width: model.half_width.clone(),
            inputs: InputTaps::new(layout),
            layout,
            members: model.members.iter().map(member).collect(),
            spread,
        }
    }

    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        for member in &mut self.members {
            member.regressor.fill(0.0);
            member.is_sound = true;
        }
    }

    pub(super) fn push_inputs(&mut self, interface: &ModelInterface, sample: &[f64]) {
        let scales = &interface.normaliser.inputs;
        self.inputs
            .push(scales.iter().zip(sample).map(|(scale, &u)| scale.to_normalised(u)));
    }

    pub(super) fn push_measured(&mut self, interface: &ModelInterface, sample: &[f64], replace: bool) {
        let scales = &interface.normaliser.outputs;
        for Member { regressor, .. } in &mut self.members {
            let measured = scales.iter().zip(sample).map(|(scale, &y)| scale.to_normalised(y));
            if replace {
                regressor.iter_mut().zip(measured).for_each(|(to, y)| *to = y);
            } else {
                self.layout.push_outputs(measured, regressor);
            }
        }
    }

    /// One step on the inputs pushed last; false when no member is left in range.
    pub(super) fn step(&mut self, interface: &ModelInterface, bounds: &mut [[f64; 3]]) -> bool {
        for member in self.members.iter_mut().filter(|member| member.is_sound) {
            let Member {
                arx,
                regressor,
                prediction,
                is_sound,
            } = member;
            self.inputs.write(regressor);
            arx.step(regressor, prediction);
            *is_sound = !prediction.iter().any(|y| y.is_nan() || y.abs() > DIVERGED);
            self.layout.push_outputs(prediction.iter().copied(), regressor);
        }
        let half_width = &self.half_width;
        let physical = |member: &Member, output: usize| {
            let y = interface
                .normaliser
                .output_to_physical(output, member.prediction[output]);
            [y - half_width[output], y, y + half_width[output]]
        };
        combine(&self.members, |member| member.is_sound, &self.spread, physical, bounds)
    }

    pub(super) fn save(&self) -> (Vec<f64>, Vec<MemberState>) {
        let members = self.members.iter().map(|member| MemberState {
            is_sound: member.is_sound,
            outputs: member.regressor[..self.layout.output_len()].to_vec(),
            h: Vec::new(),
            c: Vec::new(),
        });
        (self.inputs.save(), members.collect())
    }

    /// Whether a saved state has the sizes of this model.
    pub(super) fn fits(&self, inputs: &[f64], members: &[MemberState]) -> bool {
        let sized = |saved: &MemberState| {
            saved.outputs.len() == self.layout.output_len() && saved.h.is_empty() && saved.c.is_empty()
        };
        inputs.len() == self.inputs.len() && members.len() == self.members.len() && members.iter().all(sized)
    }

    pub(super) fn restore(&mut self, inputs: &[f64], members: &[MemberState]) {
        self.inputs.restore(inputs);
        for (member, saved) in self.members.iter_mut().zip(members) {
            member.is_sound = saved.is_sound;
            member.regressor[..saved.outputs.len()].copy_from_slice(&saved.outputs);
        }
    }
}
