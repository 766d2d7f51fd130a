//! `intervalid linearise`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_analysis::{LinearForm, Linearisation, Place, PointRequest, PoleView};
use serde::Serialize;

use super::load::{model, model_file};
use crate::args::LineariseArgs;
use crate::error::Failure;
use crate::format::{significant, table};
use crate::output::Output;
use crate::path_text;
use crate::write::{OutFile, refuse_replacing};

const DIGITS: usize = 5;
/// More rows of poles than these say little on a terminal; the JSON object has all.
const MOST_POLES: usize = 12;

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    linear: &'a Linearisation,
    notes: Vec<String>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// The form of a file by its name.
fn form(path: &Path) -> Result<LinearForm, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    LinearForm::of_ending(ending).ok_or_else(|| {
        Failure::input(anyhow!(
            "--out {}: expected a name that ends in {}",
            path.display(),
            LinearForm::ENDINGS
        ))
    })
}

/// Linearises a model, prints what a control engineer reads first, writes the rest.
pub(crate) fn run(args: &LineariseArgs, output: &Output) -> Result<(), Failure> {
    let out = match &args.out {
        None => None,
        Some(path) => {
            let form = form(path)?;
            refuse_replacing("--out", path, [model_file(&args.model)?.as_path()])?;
            Some((form, OutFile::open(path, "--out")?))
        }
    };
    let model = model(&args.model, output)?;
    let request = PointRequest {
        values: args.at.clone(),
    };
    let linear = output.working("linearising", || Linearisation::new(&model, &request))?;
    if let Some((form, file)) = &out {
        file.write(&form.content(&linear)?)?;
    }
    if output.is_json() {
        return output.json(&Report {
            linear: &linear,
            notes: linear.notes(),
            out: args.out.clone(),
        });
    }
    print(&linear, output)?;
    if let Some(path) = &args.out {
        output.story(format_args!("Written to {}", path.display()))?;
    }
    Ok(())
}

/// The point, gains, poles and zeros.
pub(super) fn print(linear: &Linearisation, output: &Output) -> Result<(), Failure> {
    let point = &linear.operating_point;
    let values = |names: &[intervalid_data::Channel], values: &[f64]| -> String {
        let each = names.iter().zip(values).map(|(channel, value)| {
            let unit = channel
                .unit
                .as_ref()
                .map_or_else(String::new, |unit| format!(" {unit}"));
            format!("{} = {}{unit}", channel.name, significant(*value, DIGITS))
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let kind = if point.is_steady { "steady state" } else { "point" };
    output.heading(format_args!("{} around the {kind}", linear.model))?;
    for (channels, numbers) in [(&linear.inputs, &point.inputs), (&linear.outputs, &point.outputs)] {
        if !channels.is_empty() {
            output.result(values(channels, numbers))?;
        }
    }
    if !linear.channels.is_empty() {
        output.heading("gains and zeros")?;
        let rows = linear.channels.iter().map(|channel| {
            let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, DIGITS));
            let range = channel.gain_range.map_or_else(
                || "-".to_owned(),
                |[least, most]| format!("{} to {}", significant(least, DIGITS), significant(most, DIGITS)),
            );
            let zeros: Vec<String> = channel.zeros.iter().take(MOST_POLES).map(|zero| place(*zero)).collect();
            vec![
                channel.input.clone(),
                channel.output.clone(),
                channel.delay.to_string(),
                number(channel.gain),
                range,
                if zeros.is_empty() {
                    "-".to_owned()
                } else {
                    zeros.join("  ")
                },
            ]
        });
        let header = ["input", "output", "delay", "gain", "within", "zeros"];
        output.result(table(&header, &[2, 3], rows))?;
    }
    output.heading("poles")?;
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, DIGITS));
    let rows = linear.poles.iter().take(MOST_POLES).map(|pole: &PoleView| {
        vec![
            place(pole.place),
            significant(pole.magnitude, DIGITS),
            number(pole.time_constant),
            number(pole.damping),
        ]
    });
    let time = format!("time constant ({})", linear.time_unit);
    output.result(table(&["pole", "magnitude", &time, "damping"], &[1, 2, 3], rows))?;
    if linear.poles.len() > MOST_POLES {
        output.story(format_args!(
            "and {} faster ones: --json has all",
            linear.poles.len() - MOST_POLES
        ))?;
    }
    for note in linear.notes() {
        output.story(note)?;
    }
    Ok(())
}

fn place(place: Place) -> String {
    let imaginary = significant(place.im.abs(), DIGITS);
    // Poles and zeros off the axis come in pairs; both are listed.
    match place.im.abs() > 1e-9 {
        true => format!(
            "{} {} {imaginary}i",
            significant(place.re, DIGITS),
            if place.im > 0.0 { "+" } else { "-" }
        ),
        false => significant(place.re, DIGITS),
    }
}
