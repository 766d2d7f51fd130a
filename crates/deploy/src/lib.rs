//! From a fitted model to a controller: its step as C99, as an FMU and as an ONNX graph.
//!
//! [`Plan`] describes what a step computes; each writer turns a plan into files. All give the numbers of
//! [`Model::simulate`](intervalid_model::Model::simulate), up to rounding.

mod error;
mod onnx;
mod plan;

pub use error::{DeployError, Result};
pub use onnx::{OnnxModels, OnnxOptions, onnx_models};
pub use plan::{Base, Body, Bounded, InputPlan, Layer, LinearPlan, Member, NetworkPlan, OutputPlan, Plan};
