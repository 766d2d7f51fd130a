//! Crisp and interval networks side by side, with exact reverse mode.
//!
//! [`Architecture`] → [`Layout`] of one flat parameter vector → `Network`, which simulates a `Batch` of windows
//! (crisp, with BPTT) and evaluates the interval branch on the tiles of the crisp trajectory.

mod architecture;
pub(crate) mod batch_fill;
#[cfg(test)]
mod checks;
mod core;
mod elementwise;
#[cfg(test)]
mod golden;
pub(crate) mod initialise;
mod interval_stepper;
mod layout;
mod lstm;
#[expect(clippy::module_inception, reason = "the file of the type Network")]
mod network;
mod node;
mod parameters;
mod state_space;
mod state_space_stepper;
mod stepper;
mod tiles;

pub(crate) use self::core::TrajectoryAdjoint;
pub use architecture::{Architecture, Head, NetworkKind};
pub(crate) use interval_stepper::IntervalStepper;
pub use layout::{Block, LayerId, Layout, MapId, Role};
pub(crate) use layout::{MapLayout, Maps};
pub(crate) use network::Network;
pub(crate) use parameters::{IntervalAdjoint, IntervalParameters};
pub(crate) use stepper::Stepper;
pub(crate) use tiles::{Batch, Frames, TILE};
