//! Which parameters and inputs carry the uncertainty.

use intervalid_model::{ChannelElasticity, Elasticity, LayerElasticity, Model, Role};
use serde::{Deserialize, Serialize};

use crate::chart::{BarsChart, Chart, HeatChart};
use crate::column::rounded;

/// Elasticity of an interval network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ElasticityView {
    /// Input channels of the first layer.
    pub(crate) channels: Option<Chart>,
    /// A map per layer.
    pub(crate) layers: Vec<Chart>,
    pub(crate) reading: String,
}

/// `None` of models without interval parameters.
pub(crate) fn view(model: &Model) -> Option<ElasticityView> {
    let elasticity = Elasticity::of(model).ok()?;
    let first = elasticity.layers.first();
    let whose = match model.members() {
        1 => String::new(),
        members => format!("These are the values of the first of {members} networks. "),
    };
    Some(ElasticityView {
        channels: first.map(bars),
        reading: whose + &first.map_or_else(String::new, reading),
        layers: elasticity.layers.iter().map(heat_map).collect(),
    })
}

/// Names and sums; recurrent channels are only in the map.
fn shown(layer: &LayerElasticity) -> Vec<(String, Option<f64>)> {
    let name = |channel: &ChannelElasticity| match channel.role {
        Role::Bias => "bias".to_owned(),
        _ => channel.name.clone(),
    };
    layer.inputs().map(|(channel, sum)| (name(channel), sum)).collect()
}

fn bars(layer: &LayerElasticity) -> Chart {
    let (categories, values): (Vec<String>, Vec<Option<f64>>) = shown(layer).into_iter().unzip();
    Chart::Bars(BarsChart {
        title: "Elasticity of the inputs of the first layer".to_owned(),
        x_label: "input of the first layer".to_owned(),
        y_label: "elasticity, summed over units".to_owned(),
        categories,
        values: rounded(values.into_iter().map(|value| value.unwrap_or(f64::NAN))),
        // From hardly any to many times a parameter's size.
        log: true,
        ..BarsChart::default()
    })
}

fn heat_map(layer: &LayerElasticity) -> Chart {
    let row = |output: usize| {
        let channels = layer.channels.iter();
        rounded(channels.map(|channel| channel.parameters[output].unwrap_or(f64::NAN)))
    };
    Chart::Heat(HeatChart {
        title: match layer.layer.as_str() {
            "linear" => "Linear path".to_owned(),
            index => format!("Layer {index}"),
        },
        rows: layer.outputs.clone(),
        columns: layer.channels.iter().map(|channel| channel.name.clone()).collect(),
        values: (0..layer.outputs.len()).map(row).collect(),
        value_label: "elasticity".to_owned(),
    })
}

fn reading(layer: &LayerElasticity) -> String {
    let mut channels = shown(layer);
    channels.retain(|(_, value)| value.is_some_and(|value| value > 0.0));
    channels.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)));
    match channels.as_slice() {
        [] => "No parameter of the first layer has a margin, so the band comes from deeper layers.".to_owned(),
        [(most, _), .., (least, _)] => {
            format!("In the first layer, most of the uncertainty enters through {most} and least through {least}.")
        }
        [(only, _)] => format!("In the first layer, all of the uncertainty enters through {only}."),
    }
}
