//! `intervalid card`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_files::{FolderError, settle};
use intervalid_report::folder::{CONFIG, METRICS, MODEL, READ};
use intervalid_report::{Card, CardSource};
use serde::Serialize;
use serde_json::Value;

use super::load::{model, model_file};
use crate::args::CardArgs;
use crate::error::Failure;
use crate::output::Output;
use crate::path_text;
use crate::write::{OutFile, here, refuse_replacing};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    card: &'a Card,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// How a card is written.
#[derive(Clone, Copy)]
enum Form {
    Markdown,
    Html,
}

/// Puts together what the model file and its fit say.
pub(crate) fn run(args: &CardArgs, output: &Output) -> Result<(), Failure> {
    let file = model_file(&args.model)?;
    let form = args.out.as_deref().map(form).transpose()?;
    if let Some(path) = &args.out {
        refuse_replacing("--out", path, [file.as_path()])?;
    }
    let out = args
        .out
        .as_deref()
        .map(|path| OutFile::open(path, "--out"))
        .transpose()?;
    let model = model(&args.model, output)?;
    let bytes = fs::read(&file)
        .with_context(|| format!("{}: cannot be read", file.display()))
        .map_err(Failure::input)?;
    let fit = beside(&file, output)?;
    let card = Card::new(&CardSource {
        model: &model,
        file: &file.display().to_string(),
        bytes: &bytes,
        metrics: fit.as_ref().map(|fit| &fit.metrics),
        split: fit.as_ref().and_then(|fit| fit.split.as_deref()),
        licence: args.data_licence.as_deref(),
    })?;
    if let (Some(out), Some(form)) = (&out, form) {
        let text = match form {
            Form::Markdown => card.to_markdown(),
            Form::Html => card.to_page().to_html()?,
        };
        out.write(text.as_bytes())?;
    }
    if output.is_json() {
        return output.json(&Report {
            card: &card,
            out: args.out.clone(),
        });
    }
    match &args.out {
        Some(path) => output.story(format_args!("Written to {}", path.display()))?,
        None => output.content(card.to_markdown().trim_end())?,
    }
    Ok(())
}

fn form(path: &Path) -> Result<Form, Failure> {
    let end = path.extension().map(|end| end.to_ascii_lowercase());
    match end.as_deref().and_then(|end| end.to_str()) {
        Some("md") => Ok(Form::Markdown),
        Some("html") => Ok(Form::Html),
        _ => Err(Failure::input(anyhow!(
            "--out {}: expected a name that ends in .md or .html",
            path.display()
        ))),
    }
}

/// What the fit that wrote a model says of it.
struct Fit {
    metrics: Value,
    split: Option<String>,
}

/// The files of the fit, where the model is the one it wrote: others in its folder were judged by nobody.
fn beside(file: &Path, output: &Output) -> Result<Option<Fit>, Failure> {
    let metrics = file.with_file_name(METRICS);
    if file.file_name() != Some(MODEL.as_ref()) || !metrics.is_file() {
        return Ok(None);
    }
    match settle(here(file.parent().unwrap_or(Path::new(""))), &READ) {
        Err(error @ (FolderError::Changed { .. } | FolderError::Damaged { .. })) => {
            output.warning(format_args!("{error}: the card leaves out what they say of a fit"));
            return Ok(None);
        }
        settled => settled?,
    }
    let read = |path: &Path| {
        fs::read_to_string(path)
            .with_context(|| format!("{}: cannot be read", path.display()))
            .map_err(Failure::input)
    };
    let values = serde_json::from_str(&read(&metrics)?)
        .with_context(|| format!("{}: not the metrics of a fit", metrics.display()))
        .map_err(Failure::input)?;
    let config = file.with_file_name(CONFIG);
    let split = match config.is_file() {
        false => None,
        true => {
            let table: toml::Table = read(&config)?
                .parse()
                .with_context(|| format!("{}: not the settings of a fit", config.display()))
                .map_err(Failure::input)?;
            table.get("split").map(|split| split.to_string().replace('"', ""))
        }
    };
    Ok(Some(Fit { metrics: values, split }))
}
