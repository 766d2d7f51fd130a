//! From a fitted model to a controller: its step as C99, as an FMU and as an ONNX graph.
//!
//! [`StepProgram`] describes what a step computes; each writer turns a plan into files. All give the numbers of
//! [`Model::simulate`](intervalid_model::Model::simulate), up to rounding.

mod band_choice;
mod c;
mod error;
mod fmu;
mod onnx;
mod state_space_plan;
mod step_program;
mod step_states;

pub use band_choice::{BandChoice, Lightened, StepCost};
pub use c::{CCode, COptions, CPrecision, Footprint, c_code, identifier};
pub use error::{DeployError, Result};
pub use fmu::{FmiVersion, FmuOptions, FmuPackage, fmu};
pub use onnx::{OnnxModels, OnnxOptions, onnx_models};
pub use state_space_plan::{MapPlan, StateSpaceMember, StateSpacePlan, UnitsPlan};
pub use step_program::{
    Base, Body, Bounded, InputPlan, Layer, LinearPlan, Member, NetworkPlan, OutputPlan, StepProgram,
};
