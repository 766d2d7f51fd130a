//! A simulation in the middle of its run, to be stored and gone on with.

use serde::{Deserialize, Serialize};

use super::watched::WatchedState;
use crate::band::monitor::{MonitorConfig, MonitorState};

/// All that a [`Simulator`](crate::Simulator) remembers between two steps, with the fingerprint of its model.
///
/// Plain numbers: written with serde to any format that keeps `f64` exactly, it reads back to the same simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatorState {
    /// [`Model::fingerprint`](crate::Model::fingerprint)
    pub(super) model: String,
    /// Steps since the start; none before it.
    pub(super) steps: Option<u64>,
    /// Whether a measurement of the last step may still come.
    pub(super) awaits_measurement: bool,
    /// Steps since the outputs were last corrected; none in a free run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) since_correction: Option<u64>,
    /// Whether the outputs of the last step may still be corrected.
    #[serde(default)]
    pub(super) awaits_correction: bool,
    /// Whether all runs have left every sensible range.
    pub(super) diverged: bool,
    /// Newest first, normalised.
    pub(super) inputs: Vec<f64>,
    pub(super) members: Vec<MemberState>,
    pub(super) online: Vec<OnlineState>,
    /// Of a simulation that watches over its model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) monitor: Option<MonitorState>,
    /// `[lower, y, upper]` of every output at the last step, which the monitor compares its measurement with. Earlier versions left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) predicted: Option<Vec<[f64; 3]>>,
    /// What the monitor's look at the region of the training data remembers. Earlier versions did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) watched: Option<WatchedState>,
}

/// One network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberState {
    pub(super) is_sound: bool,
    /// `[lag][output]`, newest first, normalised.
    pub(super) outputs: Vec<f64>,
    /// Per cell.
    pub(super) h: Vec<Vec<f64>>,
    pub(super) c: Vec<Vec<f64>>,
}

/// The adaptive band of one output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnlineState {
    pub(super) scales: [f64; 2],
    pub(super) last: Option<[f64; 2]>,
}

impl SimulatorState {
    /// Settings of the monitor of the simulation, where it had one: another must be made with the same to go on from it.
    #[must_use]
    pub fn monitor_config(&self) -> Option<MonitorConfig> {
        self.monitor.as_ref().map(MonitorState::config)
    }

    /// Whether every number is one.
    pub(super) fn is_finite(&self) -> bool {
        let members = self.members.iter().flat_map(|member| {
            let states = member.h.iter().chain(&member.c).flatten();
            // A runaway's own numbers are never read again.
            states.chain(&member.outputs).filter(|_| member.is_sound)
        });
        let predicted = self.predicted.iter().flatten().flatten();
        let mut all = self.inputs.iter().chain(members).chain(predicted);
        all.all(|value| value.is_finite())
    }
}
