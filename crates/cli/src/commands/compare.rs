//! `intervalid compare`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_model::Metrics;
use intervalid_report::{Comparison, Page, compare_page, linear_baseline};
use serde::Serialize;
use serde_json::Value;

use super::fit::METRICS;
use super::report::read_page;
use crate::args::CompareArgs;
use crate::error::Failure;
use crate::format::{percent, significant, table};
use crate::output::Output;
use crate::write::OutFile;

/// The JSON object.
#[derive(Serialize)]
struct Report {
    fits: Vec<Value>,
    /// The linear model beside them, where none of them is one.
    linear: Option<Linear>,
    /// The page, if one was asked for.
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Linear {
    name: String,
    test: Metrics,
}

/// One table of what several fits wrote; nothing is computed again.
pub(crate) fn run(args: &CompareArgs, output: &Output) -> Result<(), Failure> {
    let fits: Vec<Value> = args
        .folders
        .iter()
        .map(|folder| {
            output.detail(format_args!("reading {}", folder.join(METRICS).display()));
            read(folder)
        })
        .collect::<Result<_, _>>()?;
    let is_linear = |fit: &Value| fit["model"] == "arx";
    // Pages are needed for the linear model beside the fits, and to write one; folders of earlier versions have none.
    let wants_pages = args.out.is_some() || !fits.iter().any(is_linear);
    let pages: Vec<Option<Page>> = args
        .folders
        .iter()
        .map(|folder| match (wants_pages, args.out.is_some()) {
            (_, true) => read_page(folder).map(Some),
            (true, _) => Ok(read_page(folder).ok()),
            _ => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    if let Some(path) = &args.out {
        write_page(path, &args.folders, &pages)?;
    }
    let linear = (!fits.iter().any(is_linear))
        .then(|| pages.iter().flatten().find_map(linear_baseline))
        .flatten();
    if output.is_json() {
        return output.json(&Report {
            fits,
            linear: linear.map(|(name, test)| Linear { name, test }),
            out: args.out.clone(),
        });
    }
    let mut rows: Vec<Vec<String>> = args
        .folders
        .iter()
        .zip(&fits)
        .map(|(folder, fit)| row(folder, fit))
        .collect();
    if let Some((name, metrics)) = &linear {
        rows.push(linear_row(name, metrics, &fits[0]));
    }
    let header = [
        "fit", "data", "model", "strategy", "RMSE", "fit", "PICP", "asked", "PINAW", "CWC", "score", "time",
    ];
    output.result(table(&header, &[4, 5, 6, 7, 8, 9, 10, 11], rows))?;
    let dataset = |fit: &Value| fit["dataset"].clone();
    if fits.iter().any(|fit| dataset(fit) != dataset(&fits[0])) {
        output.warning("these fits are of different data sets: their numbers do not compare");
    }
    if !fits.iter().any(is_linear) && linear.is_none() {
        output.story(
            "No linear model among them: `intervalid fit DATA --model arx` shows whether a network is worth it.",
        )?;
    }
    if let Some(path) = &args.out {
        output.story(format_args!("Written to {}: open it in a browser", path.display()))?;
    }
    Ok(())
}

fn read(folder: &Path) -> Result<Value, Failure> {
    let refused =
        |error: anyhow::Error| Failure::input(error).with_hint("compare takes folders that `intervalid fit` wrote");
    let name = folder.display();
    if !folder.is_dir() {
        let found = match folder.exists() {
            true => anyhow!("{name}: this is a file, expected a folder"),
            false => anyhow!("{name}: no such folder"),
        };
        return Err(refused(found));
    }
    let path = folder.join(METRICS);
    if !path.exists() {
        return Err(refused(anyhow!("{name}: there is no {METRICS} in this folder")));
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{}: cannot be read", path.display()))
        .map_err(refused)?;
    let value: Value = serde_json::from_str(&text)
        .with_context(|| format!("{}: is not JSON", path.display()))
        .map_err(refused)?;
    match value.get("test") {
        Some(_) => Ok(value),
        None => Err(refused(anyhow!("{}: holds no metrics of one fit", path.display()))),
    }
}

fn row(folder: &Path, fit: &Value) -> Vec<String> {
    let test = &fit["test"];
    // Several outputs: an object per measure, of which `all` is the mean.
    let number = |name: &str| test[name].as_f64().or_else(|| test[name]["all"].as_f64());
    let cell = |name: &str, text: fn(f64) -> String| number(name).map_or_else(|| "-".to_owned(), text);
    let word = |name: &str| fit[name].as_str().unwrap_or("-").to_owned();
    let own = |name: &str, text: fn(f64) -> String| fit[name].as_f64().map_or_else(|| "-".to_owned(), text);
    vec![
        folder.display().to_string(),
        word("dataset"),
        word("model"),
        word("strategy"),
        cell("rmse", |value| significant(value, 4)),
        cell("fit_percent", |value| format!("{value:.1} %")),
        cell("picp", percent),
        own("coverage", percent),
        cell("pinaw", percent),
        cell("cwc", |value| significant(value, 3)),
        cell("interval_score", |value| significant(value, 4)),
        own("train_seconds", |value| format!("{value:.1} s")),
    ]
}

/// The linear model that a fit was judged beside.
fn linear_row(name: &str, metrics: &Metrics, fit: &Value) -> Vec<String> {
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
    vec![
        format!("({name})"),
        fit["dataset"].as_str().unwrap_or("-").to_owned(),
        "arx".to_owned(),
        "-".to_owned(),
        cell(metrics.rmse, |value| significant(value, 4)),
        cell(metrics.fit_percent, |value| format!("{value:.1} %")),
        cell(metrics.picp, percent),
        cell(fit["coverage"].as_f64(), percent),
        cell(metrics.pinaw, percent),
        cell(metrics.cwc, |value| significant(value, 3)),
        cell(metrics.interval_score, |value| significant(value, 4)),
        "-".to_owned(),
    ]
}

fn write_page(path: &Path, folders: &[PathBuf], pages: &[Option<Page>]) -> Result<(), Failure> {
    let file = OutFile::open(path, "--out")?;
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let fits: Vec<Comparison<'_>> = names
        .iter()
        .zip(pages.iter().flatten())
        .map(|(name, page)| Comparison { name, page })
        .collect();
    file.write(compare_page(&fits)?.to_html()?.as_bytes())
}
