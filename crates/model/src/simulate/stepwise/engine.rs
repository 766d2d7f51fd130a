//! The kinds of models that run step by step, behind one set of calls.

use super::linear::Linear;
use super::networks::IntervalNetworks;
use super::state::MemberState;
use crate::error::{ModelError, Result};
use crate::family::body::{Body, Networks};
use crate::interface::ModelInterface;
use crate::model::Model;

/// A model's own part of a simulation.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    F32(IntervalNetworks<f32>),
    F64(IntervalNetworks<f64>),
    Linear(Linear),
}

/// The same expression for every engine.
macro_rules! each {
    ($self:ident, $engine:ident => $value:expr) => {
        match $self {
            Self::F32($engine) => $value,
            Self::F64($engine) => $value,
            Self::Linear($engine) => $value,
        }
    };
}

impl Engine {
    pub(super) fn new(model: &Model) -> Result<Self> {
        let spreads = model.interface().spreads(model.config().coverage);
        Ok(match model.body() {
            Body::F32(Networks::Interval(members)) => Self::F32(IntervalNetworks::new(members, spreads)),
            Body::F64(Networks::Interval(members)) => Self::F64(IntervalNetworks::new(members, spreads)),
            Body::Linear(arx) => Self::Linear(Linear::new(arx, model.interface(), spreads)),
            Body::F32(Networks::Gaussian(_)) | Body::F64(Networks::Gaussian(_)) => {
                return Err(ModelError::NotStepwise { model: model.kind() });
            }
        })
    }

    pub(super) fn clear(&mut self) {
        each!(self, engine => engine.clear());
    }

    pub(super) fn push_inputs(&mut self, interface: &ModelInterface, sample: &[f64]) {
        each!(self, engine => engine.push_inputs(interface, sample));
    }

    /// Puts measured outputs in the place of the newest ones (`replace`), or before them.
    pub(super) fn push_measured(&mut self, interface: &ModelInterface, sample: &[f64], replace: bool) {
        each!(self, engine => engine.push_measured(interface, sample, replace));
    }

    /// `[lower, y, upper]` of every output, uncalibrated; false when the run has left every sensible range.
    pub(super) fn step(&mut self, interface: &ModelInterface, bounds: &mut [[f64; 3]]) -> bool {
        each!(self, engine => engine.step(interface, bounds))
    }

    pub(super) fn save(&self) -> (Vec<f64>, Vec<MemberState>) {
        each!(self, engine => engine.save())
    }

    pub(super) fn fits(&self, inputs: &[f64], members: &[MemberState]) -> bool {
        each!(self, engine => engine.fits(inputs, members))
    }

    pub(super) fn restore(&mut self, inputs: &[f64], members: &[MemberState]) {
        each!(self, engine => engine.restore(inputs, members));
    }
}
