//! Runs a study and prints its tables: `cargo run --release -p intervalid-study --example run -- paper-quick DIR [JOBS]`.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use intervalid_study::{RunOptions, Spec, StudyEvent, TableFormat, run_study, study_tables};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, study, folder, jobs @ ..] = arguments.as_slice() else {
        return Err("expected STUDY DIR [JOBS]".into());
    };
    let observer = |event: &StudyEvent<'_>| {
        let line = match event {
            StudyEvent::Finished {
                cell,
                seconds,
                progress,
                ..
            } => {
                let left = progress.seconds_left.unwrap_or(f64::NAN);
                format!(
                    "{}/{} {cell} {seconds:.2} s, {left:.0} s left",
                    progress.runs_done, progress.runs_total
                )
            }
            StudyEvent::Failed { cell, reason, .. } => format!("{cell} failed: {reason}"),
            StudyEvent::MissingDataset(missing) => format!("left out: {}", missing.reason),
            _ => return,
        };
        // A closed pipe is no reason to end a study.
        let _ = writeln!(std::io::stderr(), "{line}");
    };
    let options = RunOptions {
        jobs: jobs.first().map_or(Ok(2), |jobs| jobs.parse())?,
        data_dir: None,
        stop: &AtomicBool::new(false),
        observer: &observer,
    };
    let summary = run_study(&Spec::load(study)?, folder, &options)?;
    let tables = study_tables(folder)?.render(TableFormat::Markdown);
    writeln!(std::io::stdout(), "{tables}\n{summary:?}")?;
    Ok(())
}
