//! A model in use: one sample in, one prediction with its band out.

mod combine;
mod engine;
mod history;
mod linear;
mod networks;
mod simulator;
mod state;
#[cfg(test)]
mod tests;
mod watched;

pub use history::{History, HistoryNeeds};
pub use simulator::{Prediction, Simulator};
pub use state::SimulatorState;
