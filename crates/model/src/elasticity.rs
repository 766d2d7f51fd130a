//! Elasticity: how far each parameter may move, relative to its size (docs/method.md, section 10).
//!
//! Per parameter r̄ = (θ_hi - θ_lo)/|θ|; per layer and input channel R̄(n_in) = Σ over outputs of r̄(n_in, n_out), with the
//! bias as one more channel `1`. Where |θ| is zero, or as good as zero beside the largest of its matrix or bias, r̄ is
//! unbounded and is counted, not summed.

use std::fmt::Write as _;

use intervalid_data::quote_csv;

use crate::error::{ModelError, Result};
use crate::family::body::NetworkParameters;
use crate::interface::ModelInterface;
use crate::model::Model;
use crate::network::{Architecture, Block, LayerId, MapId, NetworkKind, Role};

/// A parameter below this share of the largest of its block counts as zero: its r̄ says nothing but that it is small, and
/// one such number would drown all others of a sum.
const NEGLIGIBLE: f64 = 1e-3;

/// Elasticity of an interval network.
#[derive(Clone, Debug, PartialEq)]
pub struct Elasticity {
    /// Layer by layer, the read-out last, then a linear path if there is one.
    pub layers: Vec<LayerElasticity>,
}

/// Elasticity of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerElasticity {
    /// `0`, `1`, …, `linear`, or `state.0` and the like; as in a model file.
    pub layer: String,
    /// Names of the outputs: hidden channels, gates of a cell, or output channels.
    pub outputs: Vec<String>,
    /// Input channels, recurrent ones after them and the bias last.
    pub channels: Vec<ChannelElasticity>,
}

/// One input channel of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelElasticity {
    /// Such as `y(k-1)`, `h0[3]`, or `1` for the bias.
    pub name: String,
    /// Where its parameters are.
    pub role: Role,
    /// r̄ towards every output; `None` where it is unbounded.
    pub parameters: Vec<Option<f64>>,
}

impl LayerElasticity {
    /// Input channels and the bias, without recurrent ones, which are many and differ between networks; with R̄, or nothing
    /// where all of a channel's r̄ are unbounded.
    pub fn inputs(&self) -> impl Iterator<Item = (&ChannelElasticity, Option<f64>)> {
        let channels = self.channels.iter().filter(|channel| channel.role != Role::Recurrent);
        channels.map(|channel| {
            let all_unbounded = channel.unbounded() == channel.parameters.len();
            (channel, (!all_unbounded).then(|| channel.sum()))
        })
    }
}

impl ChannelElasticity {
    /// R̄: the sum of the bounded r̄.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.parameters.iter().flatten().sum()
    }

    /// How many r̄ are unbounded and not in the sum.
    #[must_use]
    pub fn unbounded(&self) -> usize {
        self.parameters.iter().filter(|value| value.is_none()).count()
    }
}

impl Elasticity {
    /// Elasticity of a fitted interval network.
    ///
    /// # Errors
    /// [`ModelError::Option`] if the model has no interval parameters.
    pub fn of(model: &Model) -> Result<Self> {
        // Hidden units of different members have nothing to do with one another: one member stands for all.
        let first = model.network_parameters().into_iter().next();
        let (Some(architecture), Some(parameters)) = (model.architecture(), first) else {
            return Err(ModelError::option(
                "model",
                model.kind(),
                "an interval network, inode, ilstm or iss",
            ));
        };
        let layout = architecture.layout();
        let interface = model.interface();
        let mut layers: Vec<LayerElasticity> = Vec::new();
        for block in layout.blocks() {
            let name = block.layer.name();
            let place = layers
                .iter()
                .position(|layer| layer.layer == name)
                .unwrap_or(layers.len());
            if place == layers.len() {
                layers.push(LayerElasticity {
                    layer: name,
                    outputs: output_names(&architecture, interface, block),
                    channels: Vec::new(),
                });
            }
            let ratios = ratios(&parameters, block);
            let names = input_names(&architecture, interface, block);
            let channels = names.into_iter().enumerate().map(|(column, name)| ChannelElasticity {
                name,
                role: block.role,
                parameters: ratios.iter().skip(column).step_by(block.columns).copied().collect(),
            });
            layers[place].channels.extend(channels);
        }
        Ok(Self { layers })
    }

    /// One row per parameter: layer, role, input, output, elasticity (`unbounded` where it is).
    #[must_use]
    pub fn parameters_csv(&self) -> String {
        let mut text = "layer,role,input,output,elasticity\n".to_owned();
        for layer in &self.layers {
            for channel in &layer.channels {
                for (output, value) in layer.outputs.iter().zip(&channel.parameters) {
                    let value = value.map_or_else(|| "unbounded".to_owned(), |value| value.to_string());
                    let (name, role) = (&channel.name, channel.role.name());
                    let _ = writeln!(
                        text,
                        "{},{role},{},{},{value}",
                        layer.layer,
                        quote_csv(name),
                        quote_csv(output)
                    );
                }
            }
        }
        text
    }

    /// One row per layer and input channel: sum over outputs of the bounded elasticities, and how many are unbounded.
    #[must_use]
    pub fn channels_csv(&self) -> String {
        let mut text = "layer,role,input,elasticity,unbounded\n".to_owned();
        for layer in &self.layers {
            for channel in &layer.channels {
                let (name, role) = (quote_csv(&channel.name), channel.role.name());
                let (sum, unbounded) = (channel.sum(), channel.unbounded());
                let _ = writeln!(text, "{},{role},{name},{sum},{unbounded}", layer.layer);
            }
        }
        text
    }
}

/// r̄ of a block, row by row.
fn ratios(parameters: &NetworkParameters, block: &Block) -> Vec<Option<f64>> {
    let range = block.range.clone();
    let size = |index: usize| parameters.theta[index].abs();
    let largest = range.clone().map(size).fold(0.0, f64::max);
    range
        .map(|index| {
            let width = parameters.margin_lower[index] + parameters.margin_upper[index];
            if width > 0.0 {
                (size(index) > NEGLIGIBLE * largest).then(|| width / size(index))
            } else {
                Some(0.0)
            }
        })
        .collect()
}

/// Regressor entries in words: outputs first, newest first, as docs/method.md, section 2 orders them.
#[must_use]
pub fn regressor_names(architecture: &Architecture, interface: &ModelInterface) -> Vec<String> {
    let lags = architecture.lags;
    let outputs = (1..=lags.ny).flat_map(|lag| interface.outputs.iter().map(move |channel| (channel, lag)));
    let inputs =
        (lags.nd..=lags.nd + lags.nx).flat_map(|lag| interface.inputs.iter().map(move |channel| (channel, lag)));
    outputs
        .chain(inputs)
        .map(|(channel, lag)| match lag {
            0 => format!("{}(k)", channel.name),
            lag => format!("{}(k-{lag})", channel.name),
        })
        .collect()
}

fn input_names(architecture: &Architecture, interface: &ModelInterface, block: &Block) -> Vec<String> {
    match (block.role, block.layer) {
        (Role::Bias, _) => vec!["1".to_owned()],
        (Role::Weight, LayerId::Linear | LayerId::Network(0)) => regressor_names(architecture, interface),
        (Role::Weight, LayerId::Network(layer)) => (0..block.columns).map(|i| format!("h{}[{i}]", layer - 1)).collect(),
        (Role::Recurrent, LayerId::Network(layer)) => {
            (0..block.columns).map(|i| format!("h{layer}[{i}](k-1)")).collect()
        }
        (Role::Weight, LayerId::Map(map, 0) | LayerId::MapLinear(map)) => map_inputs(architecture, interface, map),
        (Role::Weight, LayerId::Map(map, _)) => (0..block.columns).map(|i| format!("{}[{i}]", map.name())).collect(),
        (Role::Weight, LayerId::Observer) => {
            let outputs = interface.outputs.iter();
            outputs.map(|channel| format!("e_{}(k-1)", channel.name)).collect()
        }
        (Role::Recurrent, LayerId::Linear | LayerId::Map(..) | LayerId::MapLinear(_) | LayerId::Observer) => Vec::new(),
    }
}

/// z of a map: states, then inputs.
fn map_inputs(architecture: &Architecture, interface: &ModelInterface, map: MapId) -> Vec<String> {
    let age = |lag: usize| match lag {
        0 => "(k)".to_owned(),
        lag => format!("(k-{lag})"),
    };
    let lag = match map {
        MapId::State => 1,
        MapId::Output => 0,
    };
    let states = (0..architecture.states).map(|state| format!("x[{state}]{}", age(lag)));
    let inputs = interface.inputs.iter();
    let inputs = inputs.map(|channel| format!("{}{}", channel.name, age(architecture.lags.nd + lag)));
    states.chain(inputs).collect()
}

fn output_names(architecture: &Architecture, interface: &ModelInterface, block: &Block) -> Vec<String> {
    let is_cell = architecture.kind == NetworkKind::Lstm;
    match block.layer {
        LayerId::Network(layer) if layer < architecture.hidden.len() => {
            let size = architecture.hidden[layer];
            (0..block.rows)
                .map(|row| match is_cell {
                    true => format!("{}{layer}[{}]", ["i", "f", "q", "o"][row / size], row % size),
                    false => format!("h{layer}[{row}]"),
                })
                .collect()
        }
        LayerId::Map(map, 0) => (0..block.rows).map(|row| format!("{}[{row}]", map.name())).collect(),
        LayerId::Map(MapId::State, _) | LayerId::MapLinear(MapId::State) | LayerId::Observer => {
            (0..block.rows).map(|row| format!("x[{row}](k)")).collect()
        }
        _ => interface.outputs.iter().map(|channel| channel.name.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::fixtures::recipes;

    #[test]
    fn sums_and_names_of_every_layer_are_those_of_the_definition() {
        for recipe in recipes(0.1) {
            let model = recipe.model::<f64>();
            let elasticity = Elasticity::of(&model.to_model()).unwrap();
            let layout = model.architecture.layout();
            let names: HashSet<String> = layout.blocks().iter().map(|block| block.layer.name()).collect();
            assert_eq!(elasticity.layers.len(), names.len());
            for block in layout.blocks() {
                let layer = elasticity
                    .layers
                    .iter()
                    .find(|layer| layer.layer == block.layer.name())
                    .expect("every layer is there");
                let channels: Vec<_> = layer
                    .channels
                    .iter()
                    .filter(|channel| channel.role == block.role)
                    .collect();
                assert_eq!((channels.len(), layer.outputs.len()), (block.columns, block.rows));
                for (column, channel) in channels.iter().enumerate() {
                    let (mut sum, mut unbounded) = (0.0, 0);
                    for row in 0..block.rows {
                        let at = block.range.start + row * block.columns + column;
                        let (low, high) = (
                            model.theta[at] - model.margin_lower[at],
                            model.theta[at] + model.margin_upper[at],
                        );
                        let largest = model.theta[block.range.clone()]
                            .iter()
                            .fold(0.0_f64, |m, w| m.max(w.abs()));
                        if model.theta[at].abs() > 1e-3 * largest {
                            sum += (high - low) / model.theta[at].abs();
                        } else {
                            unbounded += 1;
                        }
                    }
                    assert_eq!(channel.unbounded(), unbounded);
                    assert!(
                        (channel.sum() - sum).abs() <= 1e-9 * sum.abs().max(1.0),
                        "{}",
                        channel.name
                    );
                }
            }
            let rows = elasticity.parameters_csv().lines().count() - 1;
            assert_eq!(rows, layout.len());
        }
    }

    #[test]
    fn a_parameter_of_zero_is_unbounded_and_not_a_huge_number() {
        let mut model = recipes(0.1)[0].model::<f64>();
        let bias = model
            .architecture
            .layout()
            .blocks()
            .iter()
            .find(|b| b.role == Role::Bias)
            .unwrap()
            .range
            .clone();
        model.theta[bias.start] = 0.0;
        model.margin_lower[bias.start] = 0.5;
        model.margin_upper[bias.start] = 0.5;
        let last = bias.end - 1;
        model.theta[last] = 0.0;
        model.margin_lower[last] = 0.0;
        model.margin_upper[last] = 0.0;
        let elasticity = Elasticity::of(&Model::from(model)).unwrap();
        let channel = elasticity.layers[0].channels.last().unwrap();
        assert_eq!((channel.name.as_str(), channel.unbounded()), ("1", 1));
        assert!(channel.sum().is_finite());
        assert_eq!(channel.parameters[0], None);
        // No margin, no elasticity.
        assert_eq!(channel.parameters.last(), Some(&Some(0.0)));
        assert!(
            elasticity
                .channels_csv()
                .lines()
                .any(|line| line.starts_with("0,bias,1,") && line.ends_with(",1"))
        );
    }

    #[test]
    fn regressors_are_named_in_the_order_of_the_method() {
        let recipe = &recipes(0.1)[0];
        let model = recipe.model::<f64>();
        let names = regressor_names(&model.architecture, &model.interface);
        assert_eq!(names.len(), model.architecture.regressor_len());
        assert_eq!(names[0], "y0(k-1)");
        let lags = model.architecture.lags;
        let last = format!("u{}(k-{})", model.interface.inputs.len() - 1, lags.nd + lags.nx);
        assert_eq!(*names.last().unwrap(), last);
    }
}
