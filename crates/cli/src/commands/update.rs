//! `intervalid update`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use intervalid_data::Dataset;
use intervalid_files::OwnedFolder;
use intervalid_model::{Control, Evaluation, Model, ModelKind, Progress};
use intervalid_report::folder::MODEL;
use intervalid_report::{Comparison, FitReport, compare_page, fit_page};
use intervalid_workflow::{TrainOptions, update, update_split};
use serde::Serialize;

use super::load::{model, model_file, of_model};
use super::seen::{Seen, warn_of_split};
use crate::args::{DataArgs, GlobalArgs, UpdateArgs};
use crate::error::Failure;
use crate::format::{percent, significant};
use crate::interrupt;
use crate::output::Output;
use crate::path_text;
use crate::request::{files, threads};
use crate::write::{ANOTHER_FOLDER, OutFile, OutFolder, here, refuse_replacing};

/// Old and new model side by side.
const COMPARISON: &str = "comparison.html";
const FILES: [&str; 2] = [MODEL, COMPARISON];
const OWN_PARTS: &str = "of every new recording the first 60 % train, the next 10 % choose and the last 30 % judge";

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
        let data = args.data.data.iter().chain(&args.with);
        refuse_replacing("--out", &args.out.join(name), files(data, global).chain([file.clone()]))?;
    }
    refuse_files(&args.out)?;
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
    warn_of_split(&args.data.options, OWN_PARTS, output);
    let judged = update_split(&dataset, new_from).test;
    if let Some(learnt) = Seen::beside(&file)?.and_then(|seen| seen.within(&dataset, &judged).cloned()) {
        let found = anyhow!(
            "the end of '{}', which is to judge both models, has samples that the old one was fitted to",
            learnt.name()
        );
        return Err(
            Failure::input(found).with_hint("name recordings that are new, and with --with those it was fitted to")
        );
    }
    let folder = OutFolder::open(&args.out, &FILES)?;
    // Until the end: of two updates at once, the second would replace the model of the first.
    let done = match OwnedFolder::take(here(&args.out)) {
        Ok(owned) => carry_out((args, global), &model, (&dataset, new_from), &owned, output),
        Err(error) => Err(error.into()),
    };
    // Takes the folder away again if nothing came into it.
    folder.abandon();
    done
}

/// An update adds files and replaces none.
fn refuse_files(out: &Path) -> Result<(), Failure> {
    match FILES.iter().find(|name| out.join(name).exists()) {
        None => Ok(()),
        Some(name) => {
            let found = anyhow!("--out {}: there is a {name} in it", out.display());
            Err(Failure::input(found).with_hint(ANOTHER_FOLDER))
        }
    }
}

/// Writes the files at once, if there are still none of their names.
fn write(out: &Path, owned: &OwnedFolder, contents: [&[u8]; 2]) -> Result<(), Failure> {
    refuse_files(out)?;
    let mut staged = owned.stage()?;
    for (name, content) in FILES.into_iter().zip(contents) {
        // Whether it can be written, and is none of the files of a fit.
        OutFile::open(&out.join(name), "--out")?;
        staged.write(name, content)?;
    }
    Ok(staged.switch_unlisted()?)
}

fn carry_out(
    (args, global): (&UpdateArgs, &GlobalArgs),
    model: &Model,
    (dataset, new_from): (&Dataset, usize),
    owned: &OwnedFolder,
    output: &Output,
) -> Result<(), Failure> {
    // What a killed update had decided on is there by now.
    refuse_files(&args.out)?;
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
        let commands = [global.command()];
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
        write(&args.out, owned, [&model, comparison.as_bytes()])?;
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_model_that_appears_during_the_work_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let owned = OwnedFolder::take(folder.path()).expect("nobody else has it");
        fs::write(folder.path().join(MODEL), "of somebody else").expect("written");
        let failure = write(folder.path(), &owned, [b"ours", b"page"]).expect_err("there is a model");
        assert!(
            failure
                .lines()
                .join("\n")
                .contains("there is a model.safetensors in it")
        );
        let model = fs::read_to_string(folder.path().join(MODEL)).expect("there");
        assert_eq!(model, "of somebody else");
        assert!(!folder.path().join(COMPARISON).exists());
        fs::remove_file(folder.path().join(MODEL)).expect("there");
        write(folder.path(), &owned, [b"ours", b"page"]).expect("no model is there");
        assert_eq!(fs::read(folder.path().join(MODEL)).expect("there"), b"ours");
    }
}
