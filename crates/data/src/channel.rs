//! Measured quantities, and how they are found by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::read::{closest, split_unit};

/// A measured quantity: its column name and, where known, its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Name as in the file's header; unique within a [`Dataset`](crate::Dataset).
    pub name: String,
    /// Unit as text, for labels only.
    pub unit: Option<String>,
}

impl Channel {
    /// A channel without a unit.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: None,
        }
    }

    /// The same channel with a unit.
    pub fn with_unit(self, unit: impl Into<String>) -> Self {
        Self {
            unit: Some(unit.into()),
            ..self
        }
    }
}

/// Which side of a system a channel is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    /// What drives the system.
    Input,
    /// What the system answers with.
    Output,
}

impl ChannelKind {
    /// First letter of the columns that are taken where none are named: u, u1, u2… and y, y1, y2….
    pub fn default_letter(self) -> char {
        match self {
            Self::Input => 'u',
            Self::Output => 'y',
        }
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

/// Where the channel of this name is among `channels`; a name may be written as the file has it, too.
///
/// `flow` and `flow [l/s]` may both be there: the whole name comes first.
pub fn position_of<'a>(channels: impl Iterator<Item = &'a Channel> + Clone, name: &str) -> Option<usize> {
    let position = |name: &str| channels.clone().position(|channel| channel.name == name);
    position(name).or_else(|| position(split_unit(name).0))
}

/// Where the channel of this name is ([`position_of`]), inputs counted before outputs.
pub(crate) fn channel_index(inputs: &[Channel], outputs: &[Channel], name: &str) -> Result<usize, DataError> {
    position_of(inputs.iter().chain(outputs), name).ok_or_else(|| no_channel(inputs, outputs, name))
}

fn no_channel(inputs: &[Channel], outputs: &[Channel], name: &str) -> DataError {
    let channels = inputs.iter().chain(outputs);
    let known: Vec<String> = channels.map(|channel| channel.name.clone()).collect();
    DataError::NoChannel {
        name: name.to_owned(),
        closest: closest(name, known.iter().map(String::as_str)).map(str::to_owned),
        known,
    }
}
