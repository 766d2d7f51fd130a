//! `intervalid recalibrate`.

use std::path::Path;

use anyhow::anyhow;
use intervalid_data::Dataset;
use intervalid_model::{BandQuality, ModelError, ModelKind, Recalibrated, Renewal};
use intervalid_report::asked;
use serde::Serialize;

use super::load::{FAR_INPUTS, model, model_file, recordings};
use super::seen::Seen;
use crate::args::{GlobalArgs, RecalibrateArgs};
use crate::error::Failure;
use crate::format::{count, percent, significant};
use crate::output::Output;
use crate::path_text;
use crate::request::files;
use crate::write::{OutFile, refuse_replacing};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'a str,
    model: ModelKind,
    coverage: f64,
    #[serde(flatten)]
    renewal: Renewal,
    before: BandQuality,
    after: BandQuality,
    /// Of the new model.
    model_hash: String,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
}

/// Scales the band by the errors on new recordings and writes the model with the new band.
pub(crate) fn run(args: &RecalibrateArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let file = model_file(&args.model)?;
    let sources = files(&args.data.data, global).chain([file.clone()]);
    refuse_replacing("--out", &args.out, sources)?;
    let model = model(&args.model, output)?;
    let out = OutFile::open(&args.out, "--out")?;
    let (dataset, part) = recordings(&model, &args.data, global, output)?;
    refuse_learnt(&file, &dataset)?;
    let found = output.working("recalibrating", || model.recalibrated(&dataset, &part, args.weight));
    let Recalibrated {
        model: renewed,
        renewal,
        before,
        after,
    } = found.map_err(|error| match error {
        ModelError::RunDiverged { .. } => Failure::run(error).with_hint(FAR_INPUTS),
        ModelError::TooFewSamples { .. } => {
            Failure::from(error).with_hint("add recordings; errors that follow one another count as one")
        }
        _ => error.into(),
    })?;
    out.write(&renewed.to_bytes()?)?;
    let coverage = model.config().coverage;
    warn_of_shortfall(&after, coverage, renewal.new_effective_samples, output);
    if output.is_json() {
        return output.json(&Report {
            dataset: dataset.name(),
            model: model.kind(),
            coverage,
            renewal,
            before,
            after,
            model_hash: renewed.fingerprint()?,
            out: &args.out,
        });
    }
    output.story(format_args!(
        "{} on {}: {} (worth about {:.0} independent ones), weight {} new, {} old",
        model.kind(),
        dataset.name(),
        count(renewal.new_samples, "scored sample"),
        renewal.new_effective_samples,
        renewal.new_weight,
        renewal.old_weight,
    ))?;
    let together = match model.interface().is_together() {
        true => " together",
        false => "",
    };
    for (name, quality) in [("before", before), ("after", after)] {
        output.result(format_args!(
            "{name:<7} {} inside{together} (promised {}), mean width {} standard deviations",
            percent(quality.coverage),
            asked(coverage),
            significant(quality.width, 3)
        ))?;
    }
    output.story("Each half of the recordings was judged with the band that the other half asks for.")?;
    output.story(format_args!("Written to {}", args.out.display()))?;
    Ok(())
}

/// Refuses recordings that the model was fitted to, as far as the folder of its fit tells: its errors there are smaller than elsewhere.
fn refuse_learnt(model: &Path, dataset: &Dataset) -> Result<(), Failure> {
    let seen = Seen::beside(model)?;
    match seen.as_ref().and_then(|seen| seen.of(dataset)) {
        None => Ok(()),
        Some(learnt) => Err(Failure::input(anyhow!(
            "'{}' holds samples that the model was fitted to: name another recording",
            learnt.name()
        ))
        .with_hint("errors on what a model has learnt are too small to scale its band by")),
    }
}

/// Beyond so many standard errors a share is not what was promised.
const FAR_BELOW: f64 = 3.0;

/// Says where the new band, each half of the recordings judged by the other, does not hold.
fn warn_of_shortfall(after: &BandQuality, coverage: f64, samples: f64, output: &Output) {
    let error = (coverage * (1.0 - coverage) / samples).sqrt();
    if after.coverage < coverage - FAR_BELOW * error {
        output.warning(format_args!(
            "{} of the samples lie inside the new band, promised are {}: on recordings like these it does not hold what it promises",
            percent(after.coverage),
            asked(coverage)
        ));
    }
}
