//! The order of events of `monitor`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_model::{DriftKind, Health, Model, ModelKind, MonitorConfig, MonitorReport, TestHealth};
use intervalid_report::{MonitorPage, asked, monitor_page};
use serde::Serialize;

use super::follow::Growing;
use super::state_file::Memory;
use crate::args::{GlobalArgs, MonitorArgs, PartName};
use crate::commands::load::{FAR_INPUTS, Simulation, model, model_file, simulate_settled};
use crate::commands::seen::{WHOLE, warn_of_split};
use crate::error::Failure;
use crate::format::{count, percent, significant, table};
use crate::interrupt;
use crate::output::Output;
use crate::path_text;
use crate::request::files;
use crate::write::{OutFile, refuse_replacing, refuse_same};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    /// Samples that this call has added.
    new_samples: u64,
    #[serde(flatten)]
    report: &'a MonitorReport,
    #[serde(serialize_with = "path_text::maybe")]
    state_file: Option<PathBuf>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// One call.
struct Call<'a> {
    args: &'a MonitorArgs,
    global: &'a GlobalArgs,
    output: &'a Output,
    model: Model,
    memory: Memory,
    page: Option<OutFile>,
    /// The name of the data read last.
    dataset: String,
    new_samples: u64,
    diverged: Option<anyhow::Error>,
}

/// Runs the model over new recordings and says whether it still does what it promised.
pub(crate) fn run(args: &MonitorArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = model_file(&args.model)?;
    refuse_same(&[("--out", args.out.as_deref()), ("--state", args.state.as_deref())])?;
    for (option, path) in [("--out", &args.out), ("--state", &args.state)] {
        if let Some(path) = path {
            let sources = files(&args.data.data, global).chain([file.clone()]);
            refuse_replacing(option, path, sources)?;
        }
    }
    let growing = args.follow.then(|| Growing::new(&args.data.data)).transpose()?;
    let model = model(&args.model, output)?;
    // Once, however often a file that grows is read.
    warn_of_split(&args.data.options, WHOLE, output);
    let page = args
        .out
        .as_deref()
        .map(|path| OutFile::open(path, "--out"))
        .transpose()?;
    let config = MonitorConfig {
        false_alarm: args.false_alarm,
        block: args.block,
        horizon: args.horizon,
    };
    let mut call = Call {
        memory: Memory::open(args.state.as_deref(), &model, config)?,
        args,
        global,
        output,
        model,
        page,
        dataset: String::new(),
        new_samples: 0,
        diverged: None,
    };
    match growing {
        None => {
            let simulation = output.working("simulating", || call.simulate())?;
            call.take(&simulation)?;
            call.write()?;
        }
        Some(growing) => call.follow(growing)?,
    }
    call.end()
}

impl Call<'_> {
    fn simulate(&self) -> Result<Simulation, Failure> {
        // Who counts a recording that grows counts no sample that the next rows will change.
        let settled_alone = self.args.follow || self.args.state.is_some();
        simulate_settled(
            (&self.args.model, &self.model),
            &self.args.data,
            (PartName::All, self.args.horizon, settled_alone),
            self.global,
            self.output,
        )
    }

    /// Counts what is new; true where something is.
    fn take(&mut self, simulation: &Simulation) -> Result<bool, Failure> {
        let Simulation { dataset, bands, .. } = simulation;
        let before = self.memory.monitor.state().samples();
        for (index, band) in bands.iter().enumerate() {
            let flags = simulation.extrapolated.as_ref().map(|flags| flags[index].as_slice());
            let counted = self.memory.counted(dataset, band.experiment);
            let experiment = &dataset.experiments()[band.experiment];
            if counted > 0 && !self.args.follow {
                self.output.warning(format_args!(
                    "{}: {} of its {} were counted before and are left out",
                    experiment.name(),
                    counted,
                    count(experiment.len(), "sample")
                ));
            }
            self.memory.monitor.observe_band(dataset, band, flags, counted)?;
            self.memory.note(dataset, band.experiment, counted);
        }
        dataset.name().clone_into(&mut self.dataset);
        self.diverged = simulation.diverged();
        let new = self.memory.monitor.state().samples() - before;
        self.new_samples += new;
        Ok(new > 0)
    }

    /// Reads the file again whenever it has grown.
    fn follow(&mut self, mut growing: Growing) -> Result<(), Failure> {
        interrupt::listen();
        let mut said = None;
        while growing.wait(self.output)? {
            let simulation = self.simulate();
            if !growing.is_settled()? {
                continue;
            }
            let simulation = simulation?;
            if self.take(&simulation)? {
                self.write()?;
                let report = self.memory.monitor.report();
                let now = (report.blocks, report.state);
                if said != Some(now) {
                    said = Some(now);
                    self.output.story(headline(&report))?;
                }
            }
            let nobody_reads = self.output.reader_left();
            if nobody_reads || self.memory.monitor.health() == Health::Refit || self.diverged.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// The state first: a page can be written again.
    fn write(&self) -> Result<(), Failure> {
        self.memory.save()?;
        if let Some(page) = &self.page {
            let report = self.memory.monitor.report();
            let content = MonitorPage {
                report: &report,
                model: &self.model,
                dataset: &self.dataset,
            };
            page.write(monitor_page(&content).to_html()?.as_bytes())?;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Failure> {
        let report = self.memory.monitor.report();
        let output = self.output;
        if output.is_json() {
            output.json(&Report {
                dataset: &self.dataset,
                model: self.model.kind(),
                new_samples: self.new_samples,
                report: &report,
                state_file: self.memory.path().map(Path::to_owned),
                out: self.args.out.clone(),
            })?;
        } else {
            print(&report, output)?;
            if let Some(path) = &self.args.out {
                output.story(format_args!("Written to {}", path.display()))?;
            }
        }
        if let Some(found) = self.diverged {
            return Err(Failure::run(found).with_hint(FAR_INPUTS));
        }
        match report.state {
            Health::Refit => Err(Failure::requirement(anyhow!(
                "the model needs a refit since sample {}: {}",
                report.refit_since.unwrap_or(report.samples),
                report
                    .reasons
                    .first()
                    .map_or("its promise is broken", |reason| reason.trim_end_matches('.'))
            ))
            .with_hint(
                "`intervalid recalibrate` scales its band by new recordings; `intervalid update` fits it to what has changed",
            )),
            Health::Ok | Health::Watch => Ok(()),
        }
    }
}

/// One line.
fn headline(report: &MonitorReport) -> String {
    let blocks = report.block_length.map_or_else(String::new, |length| {
        format!(" ({} of {length})", count(report.blocks as usize, "block"))
    });
    let inside: Vec<String> = report
        .outputs
        .iter()
        .filter_map(|output| output.coverage.map(percent))
        // Together they have one share.
        .take(if report.together { 1 } else { usize::MAX })
        .collect();
    let inside = match inside.is_empty() {
        true => String::new(),
        false => format!(
            ", {} inside the band{}, promised {}",
            inside.join(" and "),
            if report.together { " together" } else { "" },
            asked(report.promised_coverage)
        ),
    };
    format!(
        "{}: {}{blocks}{inside}",
        report.state.name(),
        count(report.samples as usize, "sample")
    )
}

fn print(report: &MonitorReport, output: &Output) -> Result<(), Failure> {
    output.heading(headline(report))?;
    let mut rows = Vec::new();
    for out in &report.outputs {
        let unit = out.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        let tests = &out.tests;
        let number = |value: f64| format!("{}{unit}", significant(value, 3));
        let answer = |value: f64| percent(1.0 + value);
        for (kind, test, text) in [
            (DriftKind::Coverage, &tests.coverage, &percent as &dyn Fn(f64) -> String),
            (DriftKind::Level, &tests.level, &number),
            (DriftKind::Gain, &tests.gain, &answer),
            (DriftKind::Noise, &tests.noise, &number),
        ] {
            rows.push(row(&out.name, kind, test, text, report));
        }
    }
    if report.blocks > 0 {
        let header = ["output", "test", "now", "at first", "evidence", "of", "says"];
        output.result(table(&header, &[2, 3, 4, 5], rows))?;
    }
    for reason in &report.reasons {
        output.result(reason)?;
    }
    if let Some(share) = report.extrapolated {
        output.story(format_args!(
            "{} of the samples lie outside the region of the training data.",
            percent(share)
        ))?;
    }
    output.story(format_args!(
        "A model that keeps its promise is ever told to be refitted with a probability of {} at most.",
        asked(report.false_alarm)
    ))?;
    Ok(())
}

fn row(
    output: &str,
    kind: DriftKind,
    test: &TestHealth,
    text: &dyn Fn(f64) -> String,
    report: &MonitorReport,
) -> Vec<String> {
    vec![
        output.to_owned(),
        kind.name().to_owned(),
        text(test.now),
        text(test.at_first),
        significant(test.evidence, 3),
        significant(report.refit_at, 3),
        test.state.name().to_owned(),
    ]
}
