//! `intervalid bench`.

use std::path::{Path, PathBuf};

use intervalid_bench::{BenchRequest, BenchResult, BenchTables, Benchmark, Protocol, Results, TableFormat};
use intervalid_model::{Control, Progress};
use intervalid_report::folder::command_line;
use intervalid_workflow::{FitRequest, Settings, check_data_dir};
use serde::Serialize;

use super::fit::ConfigFile;
use crate::args::{BenchCommand, BenchRunArgs, BenchTableArgs, BenchTableForm};
use crate::error::Failure;
use crate::format::{count, percent, significant, table};
use crate::interrupt;
use crate::output::Output;
use crate::path_text;
use crate::request::threads;
use crate::write::OutFolder;

/// Runs a verb of `bench`.
pub(crate) fn run(command: &BenchCommand, data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    match command {
        BenchCommand::List => list(data_dir, output),
        BenchCommand::Run(args) => run_benchmarks(args, data_dir, output),
        BenchCommand::Table(args) => print_tables(args, output),
    }
}

/// A benchmark in the JSON object of `bench list`.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    protocol: u32,
    unit: &'a str,
    unscored: usize,
    train: Vec<&'a str>,
    tests: Vec<&'a str>,
    outputs: &'a [String],
    files: Vec<&'a str>,
    home: &'a str,
    published: usize,
    /// Whether all files are in the data folder.
    available: bool,
}

/// The JSON object of `bench list`.
#[derive(Serialize)]
struct ListReport<'a> {
    data_dir: Option<String>,
    benchmarks: Vec<Listed<'a>>,
}

fn list(data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    check_data_dir(data_dir)?;
    let protocols = Protocol::all()?;
    let is_here = |protocol: &Protocol| Benchmark::find(protocol, data_dir).is_ok();
    if output.is_json() {
        let benchmarks = protocols.iter().map(|protocol| Listed {
            name: &protocol.name,
            title: &protocol.title,
            protocol: protocol.version,
            unit: &protocol.unit,
            unscored: protocol.unscored,
            train: protocol.train.iter().map(|record| record.name.as_str()).collect(),
            tests: protocol.test.iter().map(|record| record.name.as_str()).collect(),
            outputs: &protocol.outputs,
            files: protocol.files().collect(),
            home: &protocol.home,
            published: protocol.published.len(),
            available: is_here(protocol),
        });
        return output.json(&ListReport {
            data_dir: data_dir.map(|folder| folder.display().to_string()),
            benchmarks: benchmarks.collect(),
        });
    }
    let rows = protocols.iter().map(|protocol| {
        vec![
            protocol.name.clone(),
            protocol.version.to_string(),
            count(protocol.test.len(), "test"),
            protocol.unscored.to_string(),
            protocol.unit.clone(),
            if is_here(protocol) { "yes" } else { "no" }.to_owned(),
            protocol.home.clone(),
        ]
    });
    output.result(table(
        &["name", "protocol", "tests", "not scored", "unit", "here", "files"],
        &[1, 3],
        rows,
    ))?;
    if data_dir.is_none() {
        output
            .story("\nName the folder of their files with --data-dir or the environment variable INTERVALID_DATA.")?;
    }
    Ok(())
}

/// The JSON object of `bench run`.
#[derive(Serialize)]
struct RunReport<'a> {
    done: usize,
    skipped: usize,
    results: &'a [BenchResult],
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
}

/// One fit to do, everything found to be in order.
struct Planned<'a> {
    benchmark: &'a Benchmark,
    request: BenchRequest,
    place: PathBuf,
}

fn run_benchmarks(args: &BenchRunArgs, data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    check_data_dir(data_dir)?;
    let file = ConfigFile::load(args.config.as_deref())?;
    if let [first, ..] = file.data_keys().as_slice() {
        output.warning(format_args!(
            "'{first}' in the configuration file is about data, which the protocol of a benchmark decides: passed over"
        ));
    }
    let flags = Settings {
        model: args.model,
        preset: args.preset,
        coverage: args.coverage,
        epochs: args.epochs,
        ..Settings::default()
    };
    let settings = flags.over(file.settings);
    let seeds = match &args.seed {
        Some(seeds) => seeds.clone(),
        None => vec![settings.seed.unwrap_or(1)],
    };
    let request = |seed: u64| BenchRequest {
        settings: Settings {
            seed: Some(seed),
            ..settings.clone()
        },
        budget: args.budget,
        threads: threads(args.threads),
    };
    let protocols: Vec<Protocol> = args
        .names
        .iter()
        .map(|name| Protocol::named(name))
        .collect::<Result<_, _>>()?;
    // Names, settings and files are checked before anything long is done.
    for protocol in &protocols {
        request(1).fit(protocol)?;
        Benchmark::find(protocol, data_dir)?;
    }
    let read = |protocol: &Protocol| Benchmark::read(protocol, data_dir);
    let benchmarks: Vec<Benchmark> =
        output.working("reading", || protocols.iter().map(read).collect::<Result<_, _>>())?;
    let folder = OutFolder::open(&args.out, &[])?;
    let results = Results::new(folder.path());
    let mut skipped = Vec::new();
    let mut planned = Vec::new();
    for benchmark in &benchmarks {
        for &seed in &seeds {
            let request = request(seed);
            let key = request.key(benchmark)?;
            match results.find(&key)? {
                Some(result) if !args.again => skipped.push(result),
                _ => planned.push(Planned {
                    benchmark,
                    request,
                    place: results.path(&key)?,
                }),
            }
        }
    }
    interrupt::listen();
    let mut done = Vec::new();
    for plan in &planned {
        let result = fit(plan, output).inspect_err(|_| folder.abandon())?;
        results.write(&result)?;
        output.detail(format_args!("written to {}", plan.place.display()));
        if !output.is_json() {
            tell(&result, output)?;
        }
        done.push(result);
    }
    if output.is_json() {
        let all: Vec<BenchResult> = skipped.iter().chain(&done).cloned().collect();
        return output.json(&RunReport {
            done: done.len(),
            skipped: skipped.len(),
            results: &all,
            out: &args.out,
        });
    }
    output.story(format_args!(
        "{} done, {} done before. Beside published figures:\n  {}",
        count(done.len(), "run"),
        skipped.len(),
        command_line(&["intervalid", "bench", "table", &args.out.display().to_string()])
    ))?;
    Ok(())
}

fn fit(plan: &Planned<'_>, output: &Output) -> Result<BenchResult, Failure> {
    let protocol = &plan.benchmark.protocol;
    let bars = output.bars();
    let bar = match plan.request.fit(protocol)? {
        FitRequest::One { config, .. } => bars.add(config.model.name()),
        FitRequest::Search(..) => bars.add_search(),
    };
    output.detail(format_args!(
        "{}: {} samples for training, {} to test",
        protocol.name,
        plan.benchmark.split.train.samples() + plan.benchmark.split.validation.samples(),
        plan.benchmark.split.test.samples()
    ));
    let observer = |progress: &Progress| bar.observe(progress);
    let control = Control {
        observer: Some(&observer),
        cancel: Some(interrupt::flag()),
        deadline: None,
    };
    let result = plan.request.run(plan.benchmark, control);
    result.map_err(|error| Failure::from(error).or_hint("run the same command again: what is done is not repeated"))
}

/// The lines of a result.
fn tell(result: &BenchResult, output: &Output) -> Result<(), Failure> {
    let key = &result.key;
    output.heading(format_args!(
        "{}, {}, seed {}: {} in {:.0} s",
        key.benchmark,
        key.label(),
        key.seed,
        result.model,
        result.fit_seconds
    ))?;
    let unit = &result.unit;
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| significant(value, 4));
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
    let rows = result.scores.iter().map(|score| {
        vec![
            score.test.clone(),
            score.output.clone(),
            match score.diverged_at {
                Some(step) => format!("diverged at step {step}"),
                None => number(score.rmse),
            },
            share(score.picp),
            number(score.width),
            number(score.interval_score),
        ]
    });
    output.result(table(
        &[
            "test",
            "output",
            &format!("RMSE, {unit}"),
            "inside",
            &format!("width, {unit}"),
            &format!("interval score, {unit}"),
        ],
        &[2, 3, 4, 5],
        rows,
    ))?;
    Ok(())
}

fn print_tables(args: &BenchTableArgs, output: &Output) -> Result<(), Failure> {
    let tables = BenchTables::new(&Results::new(&args.folder).all()?)?;
    for outdated in tables.benchmarks.iter().filter(|table| table.outdated) {
        output.warning(format_args!(
            "results of {} are of protocol {}, which is not the one of this version: run them again",
            outdated.benchmark, outdated.protocol
        ));
    }
    let format = match args.format {
        _ if output.is_json() => TableFormat::Json,
        BenchTableForm::Md => TableFormat::Markdown,
        BenchTableForm::Csv => TableFormat::Csv,
        BenchTableForm::Json => TableFormat::Json,
    };
    Ok(output.content(tables.render(format)?.trim_end())?)
}
