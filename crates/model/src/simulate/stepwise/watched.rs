//! Whether the last step lies outside the region of the training data, for the monitor beside a simulation.

use intervalid_data::Regressor;
use serde::{Deserialize, Serialize};

use super::history::InputTaps;
use crate::band::extrapolation::TrainingRegion;
use crate::interface::ModelInterface;

/// The samples that the region looks at: those before the run as they were measured, then as they were predicted.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    region: TrainingRegion,
    regressor: Regressor,
    inputs: InputTaps<f64>,
    /// `[lag][output]`, newest first, normalised.
    outputs: Vec<f64>,
    x: Vec<f64>,
    is_outside: bool,
}

/// What it remembers, normalised, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WatchedState {
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    is_outside: bool,
}

impl Watched {
    /// None where the model does not know the region of its training data.
    pub(super) fn new(interface: &ModelInterface) -> Option<Self> {
        let region = interface.region.clone()?;
        let regressor = Regressor::new(region.lags, interface.inputs.len(), interface.outputs.len());
        Some(Self {
            inputs: InputTaps::new(regressor),
            outputs: vec![0.0; regressor.output_len()],
            x: vec![0.0; regressor.len()],
            is_outside: false,
            region,
            regressor,
        })
    }

    /// Samples of the outputs before a run that it looks back to.
    pub(super) fn lags(&self) -> usize {
        self.regressor.lags().ny
    }

    pub(super) fn push_inputs(&mut self, interface: &ModelInterface, sample: &[f64]) {
        let scales = &interface.normaliser.inputs;
        self.inputs
            .push(scales.iter().zip(sample).map(|(scale, &u)| scale.to_normalised(u)));
    }

    /// Puts outputs in the place of the newest ones (`replace`), or before them.
    pub(super) fn push_outputs(&mut self, interface: &ModelInterface, sample: &[f64], replace: bool) {
        let channels = self.regressor.outputs();
        if self.outputs.len() < channels {
            return;
        }
        if !replace {
            self.outputs.rotate_right(channels);
        }
        let scales = &interface.normaliser.outputs;
        for (to, (scale, &y)) in self.outputs.iter_mut().zip(scales.iter().zip(sample)) {
            *to = scale.to_normalised(y);
        }
    }

    /// Looks at the sample whose inputs came last, before its outputs do.
    pub(super) fn look(&mut self) {
        self.x[..self.outputs.len()].copy_from_slice(&self.outputs);
        self.inputs.write(&mut self.x);
        self.is_outside = !self.region.holds(&self.x);
    }

    pub(super) fn is_outside(&self) -> bool {
        self.is_outside
    }

    pub(super) fn save(&self) -> WatchedState {
        WatchedState {
            inputs: self.inputs.save(),
            outputs: self.outputs.clone(),
            is_outside: self.is_outside,
        }
    }

    pub(super) fn fits(&self, state: &WatchedState) -> bool {
        let mut all = state.inputs.iter().chain(&state.outputs);
        state.inputs.len() == self.inputs.len()
            && state.outputs.len() == self.outputs.len()
            && all.all(|value| value.is_finite())
    }

    pub(super) fn restore(&mut self, state: &WatchedState) {
        self.inputs.restore(&state.inputs);
        self.outputs.copy_from_slice(&state.outputs);
        self.is_outside = state.is_outside;
    }
}
