//! `intervalid explain`.

use std::fmt::Write as _;
use std::path::PathBuf;

use intervalid_data::quote_csv;
use intervalid_model::{Elasticity, LayerElasticity, LinearTerm, LinearView, Model};
use intervalid_study::figures::{elasticity_bars, elasticity_heat_maps};
use serde::Serialize;

use super::load::model;
use crate::args::ExplainArgs;
use crate::error::Failure;
use crate::format::{significant, table};
use crate::output::Output;
use crate::path_text;
use crate::plot::both_forms;
use crate::write::OutFolder;

const PARAMETERS: &str = "parameters.csv";
const CHANNELS: &str = "channels.csv";
/// Of linear models.
const COEFFICIENTS: &str = "coefficients.csv";
/// Coefficients are printed with this many significant digits; the file has all.
const DIGITS: usize = 5;

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
    if let Some(view) = LinearView::of(&model) {
        return linear(&view, args, &model, output);
    }
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
        let title = format!("Elasticity of {}", model.kind());
        let tables = [
            (PARAMETERS.to_owned(), elasticity.parameters_csv().into_bytes()),
            (CHANNELS.to_owned(), elasticity.channels_csv().into_bytes()),
        ];
        let maps = both_forms("heat-maps", &elasticity_heat_maps(&title, &elasticity)?)?;
        let bars = both_forms("channels", &elasticity_bars(&title, &[("", &elasticity)])?)?;
        let [parameters, channels] = tables
            .each_ref()
            .map(|(name, content)| (name.as_str(), content.as_slice()));
        folder.refuse_other_tables(&[parameters, channels])?;
        let files = tables.iter().chain(&maps).chain(&bars);
        folder.write_all(files.map(|(name, content)| (name.as_str(), content.as_slice())))?;
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

/// The JSON object of a linear model.
#[derive(Serialize)]
struct LinearReport<'a> {
    model: intervalid_model::ModelKind,
    #[serde(flatten)]
    linear: &'a LinearView,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// A linear model: its difference equation, gains and poles.
fn linear(view: &LinearView, args: &ExplainArgs, model: &Model, output: &Output) -> Result<(), Failure> {
    if let Some(folder) = &args.out {
        let folder = OutFolder::open(folder, &[COEFFICIENTS])?;
        let table = coefficients_csv(view);
        folder.refuse_other_tables(&[(COEFFICIENTS, table.as_bytes())])?;
        folder.write(COEFFICIENTS, table.as_bytes())?;
    }
    if output.is_json() {
        return output.json(&LinearReport {
            model: model.kind(),
            linear: view,
            out: args.out.clone(),
        });
    }
    for equation in &view.equations {
        output.heading(format_args!("{}(k) =", equation.output))?;
        let term = |term: &LinearTerm| {
            let age = if term.age == 0 {
                "k".to_owned()
            } else {
                format!("k-{}", term.age)
            };
            vec![
                significant(term.coefficient, DIGITS),
                format!("{}({age})", term.channel),
            ]
        };
        let constant = vec![significant(equation.constant, DIGITS), String::new()];
        let rows = equation.terms.iter().map(term).chain([constant]);
        output.result(table(&["coefficient", "times"], &[0], rows))?;
        for (input, gain) in equation.gains.iter().flatten() {
            output.result(format_args!("gain from {input}: {}", significant(*gain, DIGITS)))?;
        }
    }
    output.heading("poles")?;
    let rows = view.poles.iter().map(|pole| {
        let time = pole
            .time_constant
            .map_or_else(|| "-".to_owned(), |time| significant(time, DIGITS));
        let parts = [pole.re, pole.im, pole.magnitude].map(|part| significant(part, DIGITS));
        parts.into_iter().chain([time]).collect::<Vec<_>>()
    });
    output.result(table(
        &["real", "imaginary", "magnitude", "samples to 1/e"],
        &[0, 1, 2, 3],
        rows,
    ))?;
    let verdict = match view.is_stable {
        true => "All poles lie inside the unit circle: the free run is stable.",
        false => "A pole lies on or outside the unit circle: the free run does not settle.",
    };
    output.story(verdict)?;
    if view.members > 1 {
        output.story(format_args!(
            "Shown is the first of {} linear models, which has seen all the data; predictions are the mean of all.",
            view.members
        ))?;
    }
    if let Some(folder) = &args.out {
        output.story(format_args!("Written to {}", folder.display()))?;
    }
    Ok(())
}

fn coefficients_csv(view: &LinearView) -> String {
    let mut text = String::from("output,channel,role,age,coefficient\n");
    for equation in &view.equations {
        let output = quote_csv(&equation.output).into_owned();
        for term in &equation.terms {
            let channel = quote_csv(&term.channel);
            let _ = writeln!(
                text,
                "{output},{channel},{},{},{}",
                term.role, term.age, term.coefficient
            );
        }
        let _ = writeln!(text, "{output},,constant,,{}", equation.constant);
    }
    text
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
