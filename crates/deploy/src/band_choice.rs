//! Which band of its model a step has, and what a step costs.

use intervalid_data::Channel;
use intervalid_model::{LightBand, Model};

use crate::error::Result;
use crate::step_program::{Body, StepProgram};

/// The band of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum BandChoice {
    /// That of the model as it is, with all its members.
    Full,
    /// That of its light model.
    Light(Lightened),
}

/// What a light model was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Lightened {
    /// [`Model::fingerprint`] of the full model.
    pub full: String,
    /// Members of the full model.
    pub members: usize,
    /// Root mean square of what ŷ changes by, per output in its unit ([`LightBand::difference`]).
    pub difference: Vec<f64>,
}

/// What one step takes, apart from its memory: counts that do not depend on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCost {
    /// Models that run side by side.
    pub members: usize,
    /// Multiplications by parameters: of the prediction, and of either end of the band. A parameter whose margins have different signs takes
    /// up to two more.
    pub multiplications: usize,
    /// Hyperbolic tangents and logistic functions.
    pub activations: usize,
}

impl StepProgram {
    /// Reads the light model of a model ([`Model::light`]); of one member, that model itself.
    ///
    /// # Errors
    /// If the model stores none, and those of [`StepProgram::new`].
    pub fn light(model: &Model) -> Result<Self> {
        let program = Self::new(&model.light()?)?;
        let Some(LightBand { difference, .. }) = &model.interface().light else {
            return Ok(program);
        };
        Ok(Self {
            band: BandChoice::Light(Lightened {
                full: model.fingerprint()?,
                members: model.members(),
                difference: difference.clone(),
            }),
            ..program
        })
    }

    /// What a step takes.
    #[must_use]
    pub fn cost(&self) -> StepCost {
        // A prediction, and a lower and an upper bound.
        const VALUES: usize = 3;
        /// Four gates, and the memory that the last of them lets out.
        const OF_A_CELL: usize = 5;
        let (multiplications, activations) = match &self.body {
            Body::Linear(linear) => (linear.weight.len(), 0),
            Body::Networks(networks) => {
                let products = networks.members.iter().flat_map(|member| {
                    let layers = member.layers.iter();
                    let weights = layers.flat_map(|layer| [Some(&layer.weight), layer.recurrent.as_ref()]);
                    weights.chain([member.linear.as_ref()]).flatten()
                });
                let units: usize = networks.hidden.iter().sum();
                let of_unit = if networks.lstm { OF_A_CELL } else { 1 };
                (
                    VALUES * products.map(|weight| weight.centre.len()).sum::<usize>(),
                    VALUES * of_unit * units * networks.members.len(),
                )
            }
            Body::StateSpace(plan) => {
                let products = plan.members.iter().flat_map(|member| {
                    let maps = [&member.state, &member.output].into_iter();
                    let of_maps = maps.flat_map(|map| {
                        let units = map.units.iter().flat_map(|units| [&units.weight, &units.read_out]);
                        [&map.linear].into_iter().chain(units)
                    });
                    of_maps.chain([&member.observer])
                });
                let units: usize = plan.units().into_iter().sum();
                (
                    VALUES * products.map(|weight| weight.centre.len()).sum::<usize>(),
                    VALUES * units * plan.members.len(),
                )
            }
        };
        StepCost {
            members: self.members(),
            multiplications,
            activations,
        }
    }

    /// Which band the step has, in a sentence; nothing of a model of one member.
    #[must_use]
    pub fn band_in_words(&self) -> Option<String> {
        match &self.band {
            BandChoice::Full if self.members() == 1 => None,
            BandChoice::Full => Some(format!(
                "This is the full band: the mean of {} members, widened where they disagree.",
                self.members()
            )),
            BandChoice::Light(lightened) => {
                let outputs = self.outputs.iter().map(|output| &output.channel);
                let change = outputs.zip(&lightened.difference).map(|(channel, difference)| {
                    let Channel { name, unit, .. } = channel;
                    let unit = unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
                    format!("{difference:.2e}{unit} ({name})")
                });
                let change: Vec<String> = change.collect();
                let kept = match self.members() {
                    1 => "1 member".to_owned(),
                    several => format!("{several} members"),
                };
                Some(format!(
                    "This is the light band: {kept} of the {} of the model with hash {}, sized anew by errors of such models on data that they had \
                     not seen. It does not widen where members disagree, as the full band does. Against that model, predictions differ by {} \
                     on data that it was fitted to (root mean square).",
                    lightened.members,
                    lightened.full,
                    change.join(", ")
                ))
            }
        }
    }
}
