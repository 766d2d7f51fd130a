//! `intervalid compare`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_data::Dataset;
use intervalid_files::settle;
use intervalid_model::{Evaluation, Method, Metrics, Model, ModelKind, Strategy, evaluate};
use intervalid_report::folder::{METRICS, READ};
use intervalid_report::{Comparison, Page, asked_beside, compare_page, linear_baseline, metric_texts};
use intervalid_workflow::RecordStamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::comparable::{against, differences, differences_on_data, prepare_alike};
use super::load::{FAR_INPUTS, model, page, simulate};
use super::report::read_page;
use super::seen::{WHOLE, warn_of_split};
use crate::args::{CompareArgs, DataArgs, DataOptions, GlobalArgs, PartName};
use crate::error::Failure;
use crate::format::table;
use crate::output::Output;
use crate::path_text;
use crate::request::files;
use crate::write::{OutFile, refuse_replacing};

/// The JSON object.
#[derive(Serialize)]
struct Report {
    fits: Vec<Value>,
    /// The linear model beside them, where none of them is one.
    linear: Option<Linear>,
    /// What keeps their numbers from being compared; empty if nothing is known to.
    differences: Vec<String>,
    /// The page, if one was asked for.
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// The JSON object with `--data`.
#[derive(Serialize)]
struct OnData {
    dataset: String,
    fits: Vec<OnDataRow>,
    /// What keeps their numbers from being compared; empty if nothing does.
    differences: Vec<String>,
    /// The page, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct OnDataRow {
    #[serde(serialize_with = "path_text::one")]
    fit: PathBuf,
    model: ModelKind,
    coverage: f64,
    metrics: Evaluation,
}

#[derive(Serialize)]
struct Linear {
    name: String,
    test: Metrics,
}

/// What the table shows of `metrics.json`.
#[derive(Deserialize)]
pub(super) struct FitRecord {
    pub(super) dataset: String,
    model: ModelKind,
    strategy: Option<Strategy>,
    pub(super) coverage: f64,
    train_seconds: f64,
    /// None where there was no test part.
    pub(super) test: Option<TestRecord>,
    /// What it was judged on; earlier versions did not say.
    #[serde(default)]
    pub(super) record: Option<RecordStamp>,
}

/// Metrics of the test part.
#[derive(Deserialize)]
pub(super) struct TestRecord {
    #[serde(default)]
    n: Option<Measure>,
    /// Of a simulation that ended early, and has no numbers to compare.
    #[serde(default)]
    diverged_at: Option<usize>,
    rmse: Option<Measure>,
    fit_percent: Option<Measure>,
    picp: Option<Measure>,
    pinaw: Option<Measure>,
    cwc: Option<Measure>,
    interval_score: Option<Measure>,
}

/// One measure: a number, or with several outputs one per output, of which `all` is the mean.
#[derive(Deserialize)]
#[serde(untagged)]
enum Measure {
    One(f64),
    Several(BTreeMap<String, Option<f64>>),
}

/// One table of what several fits wrote; nothing is computed again.
pub(crate) fn run(args: &CompareArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    if !args.data.is_empty() {
        return on_data(args, global, output);
    }
    let fits: Vec<(Value, FitRecord)> = args
        .folders
        .iter()
        .map(|folder| {
            output.detail(format_args!("reading {}", folder.join(METRICS).display()));
            read(folder)
        })
        .collect::<Result<_, _>>()?;
    let has_linear = fits.iter().any(|(_, fit)| fit.model.method() == Method::Linear);
    if let Some(path) = &args.out {
        let pages = args.folders.iter().map(|folder| read_page(folder));
        let pages = pages.collect::<Result<Vec<_>, _>>()?;
        write_page(&OutFile::open(path, "--out")?, (args, global), &pages)?;
    }
    // Folders of earlier versions have no page to take it from.
    let linear = match has_linear {
        true => None,
        false => args.folders.iter().zip(&fits).find_map(|(folder, (_, fit))| {
            let (name, test) = linear_baseline(&read_page(folder).ok()?)?;
            Some((name, test, fit))
        }),
    };
    let differences = differences(&args.folders, &fits);
    if output.is_json() {
        return output.json(&Report {
            differences: differences.found,
            linear: linear.map(|(name, test, _)| Linear { name, test }),
            fits: fits.into_iter().map(|(json, _)| json).collect(),
            out: args.out.clone(),
        });
    }
    let mut rows: Vec<Vec<String>> = args
        .folders
        .iter()
        .zip(&fits)
        .map(|(folder, (_, fit))| {
            let kind = [fit.model.name(), fit.strategy.map_or("-", Strategy::name)];
            let metrics = fit.test.as_ref().map_or_else(Metrics::default, TestRecord::mean);
            row(
                folder.display().to_string(),
                fit,
                kind,
                Some(fit.train_seconds),
                &metrics,
            )
        })
        .collect();
    if let Some((name, metrics, beside)) = &linear {
        rows.push(row(format!("({name})"), beside, ["arx", "-"], None, metrics));
    }
    let header = [
        "fit", "data", "model", "strategy", "RMSE", "fit", "PICP", "asked", "PINAW", "CWC", "score", "time",
    ];
    output.result(table(&header, &[4, 5, 6, 7, 8, 9, 10, 11], rows))?;
    for difference in &differences.found {
        output.warning(difference);
    }
    if !differences.found.is_empty() {
        output.story(match prepare_alike(&args.folders) {
            _ if !differences.are_of_samples => "Widths, CWC and scores of bands for different shares do not compare; errors do.",
            true => "These numbers do not compare. `intervalid compare DIR DIR --data FILE` evaluates all models on one record.",
            false => "These numbers do not compare, nor would they on one record: the fits take other samples from it, by --decimate or --clip-spikes.",
        })?;
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

/// All models on one record, simulated and judged again.
fn on_data(args: &CompareArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    warn_of_split(&args.options, WHOLE, output);
    // Said once, not for every model.
    let options = DataOptions {
        split: None,
        ..args.options.clone()
    };
    let data = DataArgs {
        data: args.data.clone(),
        options,
    };
    let out = match &args.out {
        Some(path) => {
            refuse_replacing("--out", path, files(&args.data, global))?;
            Some(OutFile::open(path, "--out")?)
        }
        None => None,
    };
    let (mut rows, mut pages) = (Vec::new(), Vec::new());
    let mut end = Ok(());
    let mut first: Option<Dataset> = None;
    let mut differences = Vec::new();
    let models = args.folders.iter().map(|folder| model(folder, output));
    let models = models.collect::<Result<Vec<Model>, _>>()?;
    let latest = models.iter().map(first_scored).max().unwrap_or(0);
    for (folder, model) in args.folders.iter().zip(&models) {
        let mut simulation = simulate((folder, model), &data, (PartName::All, None), global, output)?;
        // All are judged on the same samples: those that all can predict.
        if first_scored(model) < latest {
            simulation.start_later(model, latest - 1 - led(model))?;
        }
        let coverage = model.config().coverage;
        rows.push(OnDataRow {
            fit: folder.clone(),
            model: model.kind(),
            coverage,
            metrics: evaluate(&simulation.dataset, &simulation.bands, coverage)?,
        });
        if out.is_some() {
            pages.push(page(model, &simulation, global.command())?);
        }
        match &first {
            None => first = Some(simulation.dataset.clone()),
            Some(first) => {
                let reasons = differences_on_data(first, &simulation.dataset).into_iter();
                differences.extend(reasons.map(|reason| against(folder, &args.folders[0], &reason)));
            }
        }
        // The first that diverged ends the command, after all were shown.
        if let (Ok(()), Some(found)) = (&end, simulation.diverged()) {
            let failure = Failure::run(anyhow!("{}: {found}", folder.display()));
            end = Err(failure.with_hint(FAR_INPUTS));
        }
    }
    let dataset = first.map_or_else(String::new, |first| first.name().to_owned());
    if let Some(out) = &out {
        write_page(out, (args, global), &pages)?;
    }
    if output.is_json() {
        output.json(&OnData {
            dataset,
            fits: rows,
            differences,
            out: args.out.clone(),
        })?;
        return end;
    }
    output.story(format_args!("Free runs over all of {dataset}:"))?;
    let header = [
        "fit", "model", "output", "RMSE", "fit", "PICP", "asked", "PINAW", "CWC", "score",
    ];
    let mut lines = Vec::new();
    for row in &rows {
        for (name, metrics) in &row.metrics.outputs {
            let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let [rmse, fit, picp, pinaw, cwc, score] = metric_texts(metrics).map(cell);
            let [folder, model] = [row.fit.display().to_string(), row.model.name().to_owned()];
            let asked = asked_beside(row.coverage);
            lines.push(vec![
                folder,
                model,
                name.clone(),
                rmse,
                fit,
                picp,
                asked,
                pinaw,
                cwc,
                score,
            ]);
        }
    }
    output.result(table(&header, &[3, 4, 5, 6, 7, 8, 9], lines))?;
    for difference in &differences {
        output.warning(difference);
    }
    if !differences.is_empty() {
        output.story("Models that are judged by other samples do not compare.")?;
    }
    if let Some(path) = &args.out {
        output.story(format_args!("Written to {}: open it in a browser", path.display()))?;
    }
    end
}

/// The first sample (from 0) of a record that a free run of the model is judged by.
fn first_scored(model: &Model) -> usize {
    model.config().initial.known_samples(model.config().lags)
}

/// Samples at the start of a run that are led by measured outputs, and not judged.
fn led(model: &Model) -> usize {
    let initial = model.config().initial;
    initial.unscored() - initial.looks_back()
}

/// The file as it is, and what the table shows of it.
pub(super) fn read(folder: &Path) -> Result<(Value, FitRecord), Failure> {
    let refused = |error: anyhow::Error| Failure::input(error).with_hint("name a folder that `intervalid fit` wrote");
    let name = folder.display();
    if !folder.is_dir() {
        let found = match folder.exists() {
            true => anyhow!("{name}: this is a file, expected a folder"),
            false => anyhow!("{name}: no such folder"),
        };
        return Err(refused(found));
    }
    settle(folder, &READ)?;
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
    if value.get("test").is_none() {
        return Err(refused(anyhow!("{}: holds no metrics of one fit", path.display())));
    }
    let record = FitRecord::deserialize(&value)
        .with_context(|| format!("{}: is damaged", path.display()))
        .map_err(refused)?;
    Ok((value, record))
}

impl TestRecord {
    /// Samples that were scored; none of a simulation that diverged, which ended before the others.
    pub(super) fn scored(&self) -> Option<f64> {
        match self.n.as_ref().filter(|_| self.diverged_at.is_none())? {
            Measure::One(n) => Some(*n),
            Measure::Several(values) => values.get("all").copied().flatten(),
        }
    }

    /// Means where there are several outputs.
    fn mean(&self) -> Metrics {
        // Errors in different units have no mean.
        let with_unit = |measure: &Option<Measure>| match measure.as_ref()? {
            Measure::One(value) => Some(*value),
            Measure::Several(_) => None,
        };
        let number = |measure: &Option<Measure>| match measure.as_ref()? {
            Measure::One(value) => Some(*value),
            Measure::Several(values) => values.get("all").copied().flatten(),
        };
        Metrics {
            rmse: with_unit(&self.rmse),
            fit_percent: number(&self.fit_percent),
            picp: number(&self.picp),
            pinaw: number(&self.pinaw),
            cwc: number(&self.cwc),
            interval_score: with_unit(&self.interval_score),
            ..Metrics::default()
        }
    }
}

/// Whose row it is, model, strategy and seconds of training, then its metrics in the order of the heading.
fn row(
    name: String,
    fit: &FitRecord,
    [model, strategy]: [&str; 2],
    seconds: Option<f64>,
    metrics: &Metrics,
) -> Vec<String> {
    let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let [rmse, fit_percent, picp, pinaw, cwc, score] = metric_texts(metrics).map(cell);
    vec![
        name,
        fit.dataset.clone(),
        model.to_owned(),
        strategy.to_owned(),
        rmse,
        fit_percent,
        picp,
        asked_beside(fit.coverage),
        pinaw,
        cwc,
        score,
        cell(seconds.map(|value| format!("{value:.1} s"))),
    ]
}

fn write_page(file: &OutFile, (args, global): (&CompareArgs, &GlobalArgs), pages: &[Page]) -> Result<(), Failure> {
    let names: Vec<String> = args.folders.iter().map(|folder| folder.display().to_string()).collect();
    let fits: Vec<Comparison<'_>> = names
        .iter()
        .zip(pages)
        .map(|(name, page)| Comparison { name, page })
        .collect();
    file.write(compare_page(&fits, &global.command())?.to_html()?.as_bytes())
}
