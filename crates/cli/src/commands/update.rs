//! `intervalid update`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_data::Dataset;
use intervalid_model::{Control, Evaluation, Model, ModelKind, Progress};
use intervalid_report::folder::MODEL;
use intervalid_report::{Comparison, FitReport, compare_page, fit_page};
use intervalid_workflow::{TrainOptions, update};
use serde::Serialize;

use super::load::{model, model_file, of_model};
use crate::args::{DataArgs, GlobalArgs, UpdateArgs};
use crate::error::Failure;
use crate::format::{percent, significant};
use crate::interrupt;
use crate::output::Output;
use crate::path_text;
use crate::request::threads;
use crate::write::{ANOTHER_FOLDER, OutFile, OutFolder, refuse_replacing, write_together};

/// Old and new model side by side.
const COMPARISON: &str = "comparison.html";
const FILES: [&str; 2] = [MODEL, COMPARISON];

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    /// On the end of the new recordings, which neither has seen.
    old: &'a Evaluation,
    new: &'a Evaluation,
    /// Interval score of the new model over that of the old one.
    score_ratio: f64,
    /// None where the new model is worse: then nothing is written.
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

/// Fits the model once more, from where it is, and keeps the result if it is no worse.
pub(crate) fn run(args: &UpdateArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = model_file(&args.model)?;
    for name in FILES {
        let data = args.data.data.iter().chain(&args.with).map(Path::new);
        refuse_replacing("--out", &args.out.join(name), data.chain([file.as_path()]))?;
    }
    if args.out.join(MODEL).exists() {
        let found = anyhow!("--out {}: there is a {MODEL} in it", args.out.display());
        return Err(Failure::input(found).with_hint(ANOTHER_FOLDER));
    }
    let model = model(&args.model, output)?;
    let mut data = DataArgs {
        data: args.with.iter().chain(&args.data.data).cloned().collect(),
        ..args.data.clone()
    };
    let request = of_model(&model, &mut data, global)?;
    let dataset = request.load()?;
    output.warnings(&dataset);
    let files = request.files(&dataset)?;
    let new_from = files.get(args.with.len()).map_or(0, |file| file.start);
    let folder = OutFolder::open(&args.out, &FILES)?;
    let done = carry_out(args, &model, (&dataset, new_from), &folder, output);
    // Takes the folder away again if nothing came into it.
    folder.abandon();
    done
}

fn carry_out(
    args: &UpdateArgs,
    model: &Model,
    (dataset, new_from): (&Dataset, usize),
    folder: &OutFolder,
    output: &Output,
) -> Result<(), Failure> {
    interrupt::listen();
    let bars = output.bars();
    let bar = bars.add(model.kind().name());
    let observer = |progress: &Progress| bar.observe(progress);
    let options = TrainOptions {
        control: Control {
            observer: Some(&observer),
            cancel: Some(interrupt::flag()),
            deadline: None,
        },
        threads: threads(None),
        ..TrainOptions::default()
    };
    let found = update(model, dataset, new_from, options)?;
    drop(bars);
    if interrupt::requested() {
        return Err(Failure::run(anyhow!("interrupted: nothing was written")).with_hint("run the same command again"));
    }
    let is_kept = found.is_no_worse();
    let (score_ratio, old_test, new_test) = (found.score_ratio, found.old_test.clone(), found.new_test.clone());
    if is_kept {
        let split = found.split;
        let model = found.new.model.to_bytes()?;
        let old = found.old.evaluate(dataset, &split, threads(None))?;
        let new = found.new.evaluate(dataset, &split, threads(None))?;
        let command = format!(
            "intervalid update {} {} --with {} --out {}",
            args.model.display(),
            args.data.data.join(" "),
            args.with.join(" --with "),
            args.out.display()
        );
        let commands = [command];
        let page = |outcome| {
            fit_page(&FitReport {
                dataset,
                split: &split,
                outcome,
                config: "",
                commands: &commands,
            })
        };
        let pages = [page(&old)?, page(&new)?];
        let compared = [("old", &pages[0]), ("updated", &pages[1])].map(|(name, page)| Comparison { name, page });
        let comparison = compare_page(&compared, &commands[0])?.to_html()?;
        let places = FILES.map(|name| OutFile::open(&folder.path().join(name), "--out"));
        let places = places.into_iter().collect::<Result<Vec<_>, _>>()?;
        write_together(&places, &[&model, comparison.as_bytes()])?;
    }
    if output.is_json() {
        output.json(&Report {
            dataset: dataset.name(),
            model: model.kind(),
            coverage: model.config().coverage,
            old: &old_test,
            new: &new_test,
            score_ratio,
            out: is_kept.then(|| args.out.clone()),
        })?;
    } else {
        print(&old_test, &new_test, output)?;
    }
    match is_kept {
        true => Ok(output.story(format_args!("Written to {}", args.out.display()))?),
        false => Err(Failure::requirement(anyhow!(
            "the updated model is worse on new data that neither has seen: its interval score is {} times that of the old one; nothing was written",
            significant(score_ratio, 3)
        ))
        .with_hint("`intervalid recalibrate` scales the band of the old model; `intervalid fit` searches for another one")),
    }
}

fn print(old: &Evaluation, new: &Evaluation, output: &Output) -> Result<(), Failure> {
    output.story("On the end of the new recordings, which neither model has seen:")?;
    for ((name, before), (_, after)) in old.outputs.iter().zip(&new.outputs) {
        for (which, metrics) in [("old", before), ("updated", after)] {
            let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| significant(value, 3));
            output.result(format_args!(
                "{name} {which:<8} RMSE {}, {} inside, interval score {}",
                number(metrics.rmse),
                metrics.picp.map_or_else(|| "–".to_owned(), percent),
                number(metrics.interval_score)
            ))?;
        }
    }
    Ok(())
}
