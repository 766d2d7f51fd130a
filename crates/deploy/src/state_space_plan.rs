//! The step of a state-space model: two maps and an observer.

use intervalid_model::{LayerId, MapId, Role};

use crate::step_program::{Blocks, Bounded};

/// Interval state-space models on the same inputs, each with states and outputs of its own.
///
/// 1. x ← L·z + b + W₂·tanh(W₁·z + b₁) + K·e by the state map, z the states and the inputs before, e the last outputs less what the
///    model had predicted for them: zero in a free run, since the last outputs are then that prediction.
/// 2. ŷ likewise by the output map, z the new states and the inputs now.
///
/// The bounds come from one interval pass through both maps that starts from the crisp states; they are never fed back.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpacePlan {
    /// States of each model.
    pub states: usize,
    /// The models.
    pub members: Vec<StateSpaceMember>,
}

/// One state-space model.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpaceMember {
    /// The next states.
    pub state: MapPlan,
    /// The outputs.
    pub output: MapPlan,
    /// K `[states, outputs]`.
    pub observer: Bounded,
}

/// L·z + b, with tanh units beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct MapPlan {
    /// L `[out, states + inputs]`: [A B] or [C D].
    pub linear: Bounded,
    /// b `[out, 1]`.
    pub bias: Bounded,
    /// W₂·tanh(W₁·z + b₁); none in a linear map.
    pub units: Option<UnitsPlan>,
}

/// The network of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitsPlan {
    /// W₁ `[units, states + inputs]`.
    pub weight: Bounded,
    /// b₁ `[units, 1]`.
    pub bias: Bounded,
    /// W₂ `[out, units]`.
    pub read_out: Bounded,
}

impl StateSpacePlan {
    pub(crate) fn new<'a>(states: usize, members: impl Iterator<Item = Blocks<'a>>) -> Self {
        Self {
            states,
            members: members
                .map(|blocks| {
                    let member = StateSpaceMember::new(&blocks);
                    member.unwrap_or_else(|| unreachable!("the layout of a state-space model has maps and an observer"))
                })
                .collect(),
        }
    }

    /// Units of the state map and of the output map.
    #[must_use]
    pub fn units(&self) -> [usize; 2] {
        let first = &self.members[0];
        [first.state.units(), first.output.units()]
    }
}

impl StateSpaceMember {
    fn new(blocks: &Blocks<'_>) -> Option<Self> {
        Some(Self {
            state: MapPlan::new(blocks, MapId::State)?,
            output: MapPlan::new(blocks, MapId::Output)?,
            observer: blocks.bounded(LayerId::Observer, Role::Weight)?,
        })
    }

    /// All matrices.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = &Bounded> {
        let maps = [&self.state, &self.output];
        maps.into_iter().flat_map(MapPlan::matrices).chain([&self.observer])
    }
}

impl MapPlan {
    fn new(blocks: &Blocks<'_>, map: MapId) -> Option<Self> {
        Some(Self {
            linear: blocks.bounded(LayerId::MapLinear(map), Role::Weight)?,
            bias: blocks.bounded(LayerId::Map(map, 1), Role::Bias)?,
            units: UnitsPlan::new(blocks, map),
        })
    }

    fn units(&self) -> usize {
        self.units.as_ref().map_or(0, |units| units.bias.rows)
    }

    fn matrices(&self) -> impl Iterator<Item = &Bounded> {
        let units = self
            .units
            .iter()
            .flat_map(|units| [&units.weight, &units.bias, &units.read_out]);
        [&self.linear, &self.bias].into_iter().chain(units)
    }
}

impl UnitsPlan {
    fn new(blocks: &Blocks<'_>, map: MapId) -> Option<Self> {
        Some(Self {
            weight: blocks.bounded(LayerId::Map(map, 0), Role::Weight)?,
            bias: blocks.bounded(LayerId::Map(map, 0), Role::Bias)?,
            read_out: blocks.bounded(LayerId::Map(map, 1), Role::Weight)?,
        })
    }
}
