//! `intervalid explain`.

use std::path::PathBuf;

use intervalid_model::{Elasticity, LayerElasticity};
use intervalid_study::figures::{elasticity_bars, elasticity_heat_maps};
use serde::Serialize;

use super::load::model;
use crate::args::ExplainArgs;
use crate::error::Failure;
use crate::format::{significant, table};
use crate::output::Output;
use crate::path_text;
use crate::plot::write_both;
use crate::write::OutFolder;

const PARAMETERS: &str = "parameters.csv";
const CHANNELS: &str = "channels.csv";

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    model: intervalid_model::ModelKind,
    layers: Vec<Layer<'a>>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Layer<'a> {
    layer: &'a str,
    channels: Vec<Channel<'a>>,
}

#[derive(Serialize)]
struct Channel<'a> {
    name: &'a str,
    role: &'static str,
    /// Sum over outputs of the bounded elasticities.
    elasticity: f64,
    /// Parameters of (near) zero, whose elasticity is unbounded and not in the sum.
    unbounded: usize,
}

/// Elasticity of an interval network, printed and on request written with its pictures.
pub(crate) fn run(args: &ExplainArgs, output: &Output) -> Result<(), Failure> {
    let model = model(&args.model, output)?;
    let elasticity = Elasticity::of(&model).map_err(|error| {
        Failure::from(error)
            .with_hint("only intervals have an elasticity: `intervalid fit DATA --model inode` makes some")
    })?;
    if let Some(folder) = &args.out {
        let files = [
            PARAMETERS,
            CHANNELS,
            "heat-maps.svg",
            "heat-maps.png",
            "channels.svg",
            "channels.png",
        ];
        let folder = OutFolder::open(folder, &files)?;
        folder.write(PARAMETERS, elasticity.parameters_csv().as_bytes())?;
        folder.write(CHANNELS, elasticity.channels_csv().as_bytes())?;
        let title = format!("Elasticity of {}", model.kind());
        write_both(&folder, "heat-maps", &elasticity_heat_maps(&title, &elasticity)?)?;
        write_both(&folder, "channels", &elasticity_bars(&title, &[("", &elasticity)])?)?;
    }
    if output.is_json() {
        return output.json(&Report {
            model: model.kind(),
            layers: elasticity.layers.iter().map(layer).collect(),
            out: args.out.clone(),
        });
    }
    for layer in &elasticity.layers {
        output.heading(format_args!("layer {}", layer.layer))?;
        let rows = layer.channels.iter().map(|channel| {
            vec![
                channel.name.clone(),
                channel.role.name().to_owned(),
                significant(channel.sum(), 4),
                channel.unbounded().to_string(),
            ]
        });
        output.result(table(&["input", "role", "elasticity", "unbounded"], &[2, 3], rows))?;
    }
    output.story(
        "\nElasticity is the width of a parameter's interval over its size, summed over the outputs of a layer.\n\
         Where a parameter is (near) zero that ratio is unbounded: such parameters are counted and not summed.",
    )?;
    if model.members() > 1 {
        output.story(format_args!("Shown is the first of {} networks.", model.members()))?;
    }
    if let Some(folder) = &args.out {
        output.story(format_args!("Written to {}", folder.display()))?;
    }
    Ok(())
}

fn layer(layer: &LayerElasticity) -> Layer<'_> {
    let channels = layer.channels.iter().map(|channel| Channel {
        name: &channel.name,
        role: channel.role.name(),
        elasticity: channel.sum(),
        unbounded: channel.unbounded(),
    });
    Layer {
        layer: &layer.layer,
        channels: channels.collect(),
    }
}
