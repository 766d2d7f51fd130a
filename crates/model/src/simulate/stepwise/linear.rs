//! ARX, step by step.

use intervalid_data::{ArxModel, DIVERGED, Regressor};

use super::history::InputTaps;
use super::state::MemberState;
use crate::family::linear::ArxWithBand;
use crate::interface::ModelInterface;

/// An ARX model with its regressor.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    arx: ArxModel,
    half_width: Vec<f64>,
    inputs: InputTaps<f64>,
    layout: Regressor,
    regressor: Vec<f64>,
    prediction: Vec<f64>,
    /// Whether the run has stayed in range.
    is_sound: bool,
}

impl Linear {
    pub(super) fn new(model: &ArxWithBand, interface: &ModelInterface) -> Self {
        let (inputs, outputs) = (interface.inputs.len(), interface.outputs.len());
        let arx = model.arx.clone();
        let layout = Regressor::new(arx.lags, inputs, outputs);
        Self {
            half_width: model.half_width.clone(),
            inputs: InputTaps::new(layout),
            regressor: vec![0.0; layout.len()],
            layout,
            prediction: vec![0.0; outputs],
            is_sound: true,
            arx,
        }
    }

    pub(super) fn clear(&mut self) {
        self.inputs.clear();
        self.regressor.fill(0.0);
        self.is_sound = true;
    }

    pub(super) fn push_inputs(&mut self, interface: &ModelInterface, sample: &[f64]) {
        let scales = &interface.normaliser.inputs;
        self.inputs
            .push(scales.iter().zip(sample).map(|(scale, &u)| scale.to_normalised(u)));
    }

    pub(super) fn push_measured(&mut self, interface: &ModelInterface, sample: &[f64], replace: bool) {
        let scales = &interface.normaliser.outputs;
        let measured = scales.iter().zip(sample).map(|(scale, &y)| scale.to_normalised(y));
        if replace {
            self.regressor.iter_mut().zip(measured).for_each(|(to, y)| *to = y);
        } else {
            self.layout.push_outputs(measured, &mut self.regressor);
        }
    }

    /// One step on the inputs pushed last; false when it has left every sensible range.
    pub(super) fn step(&mut self, interface: &ModelInterface, bounds: &mut [[f64; 3]]) -> bool {
        self.inputs.write(&mut self.regressor);
        self.arx.step(&self.regressor, &mut self.prediction);
        self.is_sound = !self.prediction.iter().any(|y| y.is_nan() || y.abs() > DIVERGED);
        for (output, bounds) in bounds.iter_mut().enumerate() {
            let y = interface.normaliser.output_to_physical(output, self.prediction[output]);
            let width = self.half_width[output];
            *bounds = [y - width, y, y + width];
        }
        self.layout
            .push_outputs(self.prediction.iter().copied(), &mut self.regressor);
        self.is_sound
    }

    pub(super) fn save(&self) -> (Vec<f64>, Vec<MemberState>) {
        let member = MemberState {
            is_sound: self.is_sound,
            outputs: self.regressor[..self.layout.output_len()].to_vec(),
            h: Vec::new(),
            c: Vec::new(),
        };
        (self.inputs.save(), vec![member])
    }

    /// Whether a saved state has the sizes of this model.
    pub(super) fn fits(&self, inputs: &[f64], members: &[MemberState]) -> bool {
        let sized = |saved: &MemberState| {
            saved.outputs.len() == self.layout.output_len() && saved.h.is_empty() && saved.c.is_empty()
        };
        inputs.len() == self.inputs.len() && members.len() == 1 && members.iter().all(sized)
    }

    pub(super) fn restore(&mut self, inputs: &[f64], members: &[MemberState]) {
        self.inputs.restore(inputs);
        for saved in members {
            self.is_sound = saved.is_sound;
            self.regressor[..saved.outputs.len()].copy_from_slice(&saved.outputs);
        }
    }
}
