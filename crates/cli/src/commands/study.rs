//! `intervalid study`.

use std::path::Path;
use std::sync::Mutex;

use anyhow::anyhow;
use indicatif::HumanDuration;
use intervalid_report::folder::command_line;
use intervalid_study::figures::study_figures;
use intervalid_study::{
    MergeSummary, RunOptions, Spec, Store, StudyEvent, StudyProgress, StudySummary, StudyTables, TableFormat,
    merge_studies, run_study, side_by_side, status, study_tables,
};
use serde::Serialize;

use crate::args::{FiguresArgs, MergeArgs, RunArgs, StudyCommand, TableArgs, TableForm};
use crate::error::Failure;
use crate::format::{count, significant, table};
use crate::interrupt;
use crate::output::Output;
use crate::path_text;
use crate::plot::both_forms;
use crate::request::threads;
use crate::write::{OutFolder, refuse_file};

/// Runs a verb of `study`.
pub(crate) fn run(command: &StudyCommand, data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    match command {
        StudyCommand::Run(args) => run_spec(args, data_dir, output),
        StudyCommand::Merge(args) => merge(args, output),
        StudyCommand::Status(args) => print_status(&args.folder, output),
        StudyCommand::Table(args) => print_tables(args, output),
        StudyCommand::Figures(args) => write_figures(args, output),
    }
}

/// The JSON object of `study run`.
#[derive(Serialize)]
struct RunReport<'a> {
    study: &'a str,
    #[serde(flatten)]
    summary: &'a StudySummary,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
}

fn run_spec(args: &RunArgs, data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    if args.print {
        let text = Spec::text(&args.spec)?;
        if output.is_json() {
            return output.json(&Spec::load(&args.spec)?);
        }
        return Ok(output.content(text.trim_end())?);
    }
    let spec = Spec::load(&args.spec).map_err(|error| Failure::from(error).about(&args.spec))?;
    let folder = args.out.as_deref().unwrap_or(Path::new("."));
    refuse_file(folder)?;
    interrupt::listen();
    let display = StudyDisplay::new(output);
    let observer = |event: &StudyEvent<'_>| display.show(event, output);
    let options = RunOptions {
        jobs: threads(args.jobs),
        data_dir,
        shard: args.shard,
        stop: interrupt::flag(),
        observer: &observer,
    };
    let summary = run_study(&spec, folder, &options)?;
    display.clear();
    if output.is_json() {
        output.json(&RunReport {
            study: &spec.name,
            summary: &summary,
            out: folder,
        })?;
    } else {
        let shard = args.shard.map_or_else(String::new, |shard| format!(", shard {shard}"));
        output.story(format_args!(
            "{}{shard}: {} done in {}, {} done before, {} failed",
            spec.name,
            count(summary.done, "run"),
            HumanDuration(std::time::Duration::from_secs_f64(summary.seconds)),
            summary.resumed,
            summary.failed,
        ))?;
        let shown = folder.display().to_string();
        output.story(match args.shard {
            None => format!(
                "Look at it with\n  {}\n  {}",
                command_line(&["intervalid", "study", "table", &shown]),
                command_line(&["intervalid", "study", "figures", &shown])
            ),
            Some(_) => format!(
                "When all shards are done, put them together with\n  {} …",
                command_line(&["intervalid", "study", "merge", "OUT", &shown])
            ),
        })?;
    }
    if summary.left > 0 {
        let failure = Failure::run(anyhow!("interrupted: {} are left", count(summary.left, "run")));
        return Err(failure.with_hint("run the same command again to go on"));
    }
    if summary.failed > 0 {
        let failure = Failure::run(anyhow!("{} failed, the others are done", count(summary.failed, "run")));
        let hint = format!(
            "`{}` says why; the same command tries them again",
            command_line(&["intervalid", "study", "status", &folder.display().to_string()])
        );
        return Err(failure.with_hint(hint));
    }
    Ok(())
}

/// Bars of a running study: one for all of it, one per worker.
struct StudyDisplay {
    bars: crate::progress::StudyBars,
    /// Reported failures, so that one line per cause is enough.
    reasons: Mutex<Vec<String>>,
}

impl StudyDisplay {
    fn new(output: &Output) -> Self {
        Self {
            bars: output.study_bars(),
            reasons: Mutex::default(),
        }
    }

    fn show(&self, event: &StudyEvent<'_>, output: &Output) {
        match event {
            StudyEvent::MissingDataset(missing) => output.warning(format_args!(
                "data set '{}' is missing, {} left out: {}",
                missing.name,
                count(missing.runs, "run"),
                missing.reason
            )),
            StudyEvent::Started {
                runs, done, outdated, ..
            } => {
                if *outdated > 0 {
                    output.warning(format_args!(
                        "{} of an earlier version of the study, the data or the program: run again",
                        count(*outdated, "run")
                    ));
                }
                self.bars.start(*runs, *done);
            }
            StudyEvent::OtherVersions { runs, versions } => output.warning(format_args!(
                "{} of intervalid {} are kept: other versions may have trained or evaluated differently; a new folder has all of one version",
                count(*runs, "run"),
                versions.join(", ")
            )),
            StudyEvent::Waiting { runs } => self.bars.suspend(|| {
                output.warning(format_args!(
                    "{} are being computed by another process: waiting for them",
                    count(*runs, "run")
                ));
            }),
            StudyEvent::JobStarted { worker, cell, .. } => self.bars.job(*worker, &cell.to_string()),
            StudyEvent::Epoch {
                worker,
                epochs_done,
                epochs_total,
                progress,
                ..
            } => {
                self.bars.epoch(*worker, *epochs_done, *epochs_total);
                self.progress(*progress);
            }
            StudyEvent::Finished {
                cell,
                test,
                seconds,
                progress,
                ..
            } => {
                self.progress(*progress);
                let rmse = test.rmse.map_or_else(|| "-".to_owned(), |rmse| significant(rmse, 4));
                let picp = test
                    .picp
                    .map_or_else(|| "-".to_owned(), |picp| format!("{:.1} %", 100.0 * picp));
                self.bars
                    .detail(output, &format!("{cell}: RMSE {rmse}, PICP {picp}, {seconds:.1} s"));
            }
            StudyEvent::Failed {
                cell, reason, progress, ..
            } => {
                self.progress(*progress);
                let mut reasons = self.reasons.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if !reasons.iter().any(|known| known == reason) {
                    reasons.push((*reason).to_owned());
                    self.bars
                        .suspend(|| output.warning(format_args!("{cell} failed: {reason}")));
                }
            }
            _ => {}
        }
    }

    fn progress(&self, progress: StudyProgress) {
        self.bars.progress(progress.runs_done, progress.seconds_left);
    }

    fn clear(&self) {
        self.bars.clear();
    }
}

/// The JSON object of `study merge`.
#[derive(Serialize)]
struct MergeReport<'a> {
    #[serde(flatten)]
    summary: &'a MergeSummary,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
}

fn merge(args: &MergeArgs, output: &Output) -> Result<(), Failure> {
    let out = args.folder.as_path();
    refuse_file(out)?;
    let summary = output.working("merging", || merge_studies(out, &args.shards))?;
    if output.is_json() {
        return output.json(&MergeReport { summary: &summary, out });
    }
    let runs = summary.runs;
    output.story(format_args!(
        "{}: {} merged from {}, {} there before; {} of {} done, {} failed",
        summary.study,
        count(summary.added, "run"),
        count(summary.shards, "folder"),
        summary.known,
        runs.done,
        runs.total,
        runs.failed,
    ))?;
    if runs.left > 0 {
        output.warning(format_args!(
            "{} are left: is a shard missing? `{}` does what is left",
            count(runs.left, "run"),
            command_line(&[
                "intervalid",
                "study",
                "run",
                "SPEC",
                "--out",
                &out.display().to_string()
            ])
        ));
    }
    Ok(())
}

fn print_status(folder: &Path, output: &Output) -> Result<(), Failure> {
    let status = status(folder)?;
    if output.is_json() {
        return output.json(&status);
    }
    output.result(format_args!(
        "{}: {} of {} runs done, {} failed, {} left; {} of training",
        status.name,
        status.runs.done,
        status.runs.total,
        status.runs.failed,
        status.runs.left,
        HumanDuration(std::time::Duration::from_secs_f64(status.train_seconds)),
    ))?;
    let rows = status.groups.iter().map(|group| {
        let runs = group.runs;
        vec![
            group.dataset.clone(),
            group.model.to_string(),
            runs.total.to_string(),
            runs.done.to_string(),
            runs.failed.to_string(),
            runs.left.to_string(),
        ]
    });
    output.result(table(
        &["data", "model", "runs", "done", "failed", "left"],
        &[2, 3, 4, 5],
        rows,
    ))?;
    if let [_, _, ..] = status.versions.as_slice() {
        output.result(format_args!(
            "runs of several versions of the program: {}",
            status.versions.join(", ")
        ))?;
    }
    for failure in &status.failures {
        output.result(format_args!("failed: {}: {}", failure.run, failure.reason))?;
    }
    Ok(())
}

fn print_tables(args: &TableArgs, output: &Output) -> Result<(), Failure> {
    let tables: Vec<StudyTables> = args.folders.iter().map(study_tables).collect::<Result<_, _>>()?;
    let format = match args.format {
        _ if output.is_json() => TableFormat::Json,
        TableForm::Md => TableFormat::Markdown,
        TableForm::Csv => TableFormat::Csv,
        TableForm::Latex => TableFormat::Latex,
        TableForm::Json => TableFormat::Json,
    };
    let text = match tables.as_slice() {
        [one] => one.render(format),
        several => side_by_side(several, format),
    };
    Ok(output.content(text.trim_end())?)
}

/// The JSON object of `study figures`.
#[derive(Serialize)]
struct FiguresReport<'a> {
    figures: Vec<&'a str>,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
}

fn write_figures(args: &FiguresArgs, output: &Output) -> Result<(), Failure> {
    let store = Store::open(&args.folder)?;
    let folder = args.out.clone().unwrap_or_else(|| args.folder.join("figures"));
    let figures = output.working("drawing", || study_figures(&store))?;
    let out = OutFolder::open(&folder, &[])?;
    let mut files = Vec::new();
    for figure in &figures {
        files.extend(both_forms(&figure.name, &figure.figure)?);
    }
    out.write_all(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())))?;
    if output.is_json() {
        return output.json(&FiguresReport {
            figures: figures.iter().map(|figure| figure.name.as_str()).collect(),
            out: &folder,
        });
    }
    output.story(format_args!(
        "{} written to {}, each as .svg and .png",
        count(figures.len(), "figure"),
        folder.display()
    ))?;
    Ok(())
}
