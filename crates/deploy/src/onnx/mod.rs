//! ONNX: how a run starts, one step, a correction by what was measured, and whole records.
//!
//! All tensors inside are normalised; what goes in and comes out is in physical units, but for the state between steps.
//! There, normalised numbers keep digits that physical ones far from zero would lose in single precision.

mod alarm;
mod correct;
mod describe;
mod emit;
mod jacobian;
mod models;
mod network;
mod proto;
mod start;
mod state;
mod state_space;
mod step;
#[cfg(test)]
mod tests;
mod weights;

pub use models::{OnnxModels, OnnxOptions, onnx_models};
