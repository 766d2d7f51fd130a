//! `intervalid compare`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_model::Metrics;
use intervalid_report::{Comparison, Page, compare_page, linear_baseline, metric_texts};
use serde::Serialize;
use serde_json::Value;

use super::fit::METRICS;
use super::report::read_page;
use crate::args::CompareArgs;
use crate::error::Failure;
use crate::format::{percent, table};
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
    let has_linear = fits.iter().any(|fit| fit["model"] == "arx");
    if let Some(path) = &args.out {
        write_page(path, &args.folders)?;
    }
    // Folders of earlier versions have no page to take it from.
    let linear = match has_linear {
        true => None,
        false => args
            .folders
            .iter()
            .find_map(|folder| linear_baseline(&read_page(folder).ok()?)),
    };
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
        .map(|(folder, fit)| {
            let kind = [word(fit, "model"), word(fit, "strategy")];
            let seconds = fit["train_seconds"].as_f64();
            row(folder.display().to_string(), fit, kind, seconds, &test_metrics(fit))
        })
        .collect();
    if let Some((name, metrics)) = &linear {
        rows.push(row(format!("({name})"), &fits[0], ["arx", "-"], None, metrics));
    }
    let header = [
        "fit", "data", "model", "strategy", "RMSE", "fit", "PICP", "asked", "PINAW", "CWC", "score", "time",
    ];
    output.result(table(&header, &[4, 5, 6, 7, 8, 9, 10, 11], rows))?;
    let dataset = |fit: &Value| fit["dataset"].clone();
    if fits.iter().any(|fit| dataset(fit) != dataset(&fits[0])) {
        output.warning("these fits are of different data sets: their numbers do not compare");
    }
    if !has_linear && linear.is_none() {
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

/// Metrics of the test part; means where there are several outputs.
fn test_metrics(fit: &Value) -> Metrics {
    let test = &fit["test"];
    // Several outputs: an object per measure, of which `all` is the mean.
    let number = |name: &str| test[name].as_f64().or_else(|| test[name]["all"].as_f64());
    Metrics {
        rmse: number("rmse"),
        fit_percent: number("fit_percent"),
        picp: number("picp"),
        pinaw: number("pinaw"),
        cwc: number("cwc"),
        interval_score: number("interval_score"),
        ..Metrics::default()
    }
}

/// Whose row it is, model, strategy and seconds of training, then its metrics in the order of the heading.
fn row(
    name: String,
    fit: &Value,
    [model, strategy]: [&str; 2],
    seconds: Option<f64>,
    metrics: &Metrics,
) -> Vec<String> {
    let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let [rmse, fit_percent, picp, pinaw, cwc, score] = metric_texts(metrics).map(cell);
    vec![
        name,
        word(fit, "dataset").to_owned(),
        model.to_owned(),
        strategy.to_owned(),
        rmse,
        fit_percent,
        picp,
        cell(fit["coverage"].as_f64().map(percent)),
        pinaw,
        cwc,
        score,
        cell(seconds.map(|value| format!("{value:.1} s"))),
    ]
}

fn word<'a>(fit: &'a Value, name: &str) -> &'a str {
    fit[name].as_str().unwrap_or("-")
}

fn write_page(path: &Path, folders: &[PathBuf]) -> Result<(), Failure> {
    let pages: Vec<Page> = folders
        .iter()
        .map(|folder| read_page(folder))
        .collect::<Result<_, _>>()?;
    let file = OutFile::open(path, "--out")?;
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let fits: Vec<Comparison<'_>> = names
        .iter()
        .zip(&pages)
        .map(|(name, page)| Comparison { name, page })
        .collect();
    file.write(compare_page(&fits)?.to_html()?.as_bytes())
}
