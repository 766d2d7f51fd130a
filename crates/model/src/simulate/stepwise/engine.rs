//! The kinds of models that run step by step, behind one set of calls.

use super::linear::Linear;
use super::networks::Networks;
use super::state::MemberState;
use crate::error::{ModelError, Result};
use crate::interface::ModelInterface;
use crate::kind::Method;
use crate::model::Model;

/// A model's own part of a simulation.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    F32(Networks<f32>),
    F64(Networks<f64>),
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
        Ok(match model {
            Model::IntervalF32(model) => Self::F32(Networks::new(std::slice::from_ref(model))),
            Model::IntervalF64(model) => Self::F64(Networks::new(std::slice::from_ref(model))),
            Model::IntervalEnsembleF32(model) => Self::F32(Networks::new(model.members())),
            Model::IntervalEnsembleF64(model) => Self::F64(Networks::new(model.members())),
            Model::Linear(model) => Self::Linear(Linear::new(model)),
            Model::GaussianF32(_) | Model::GaussianF64(_) => {
                return Err(ModelError::NotStepwise {
                    model: model.kind(),
                    reason: refusal(model.kind().method()),
                });
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
        match self {
            Self::F32(engine) => engine.step(interface, bounds),
            Self::F64(engine) => engine.step(interface, bounds),
            Self::Linear(engine) => {
                engine.step(interface, bounds);
                true
            }
        }
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

/// Why a baseline has no step of its own, and what to use instead.
fn refusal(method: Method) -> &'static str {
    match method {
        Method::Bayesian => {
            "its band is made of many random draws of the whole network at every sample; fit inode or ilstm, whose band is one pass"
        }
        Method::Dropout => {
            "its band is made of many randomly thinned networks at every sample; fit inode or ilstm, whose band is one pass"
        }
        Method::Ensemble => {
            "its members feed back their common mean, which needs all of them and a Gaussian read-out; fit inode or ilstm, which also come as ensembles (--preset auto)"
        }
        Method::Interval | Method::Linear => "it is not supported",
    }
}
