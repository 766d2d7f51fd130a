//! What a model has seen, as far as the folder of its fit tells.

use std::path::Path;

use intervalid_data::{Dataset, Experiment, Part};
use intervalid_report::folder::{CONFIG, METRICS, MODEL_ALL};
use intervalid_workflow::{RecordRequest, RecordStamp, SplitSource};

use super::compare::read;
use crate::args::DataOptions;
use crate::error::Failure;
use crate::output::Output;
use crate::write::here;

/// The record that a model is of, and how much of it.
pub(super) struct Seen {
    record: RecordStamp,
    /// A model of all parts has learnt from the test part, too.
    is_of_all: bool,
}

impl Seen {
    /// What the folder around a model file tells; nothing where there is none, or it is of an early version.
    pub(super) fn beside(model: &Path) -> Result<Option<Self>, Failure> {
        let folder = model.parent().map(here);
        let Some(folder) = folder.filter(|folder| folder.join(METRICS).is_file()) else {
            return Ok(None);
        };
        let (_, fit) = read(folder)?;
        Ok(fit.record.map(|record| Self {
            record,
            is_of_all: is_of_all(model),
        }))
    }

    /// The first experiment of `dataset` that the model was fitted to, be it in part.
    pub(super) fn of<'a>(&self, dataset: &'a Dataset) -> Option<&'a Experiment> {
        match self.is_of_all {
            true => self.record.held_of(dataset),
            false => self.record.learnt_of(dataset),
        }
    }

    /// The first experiment of which `part` has samples that the model was fitted to.
    pub(super) fn within<'a>(&self, dataset: &'a Dataset, part: &Part) -> Option<&'a Experiment> {
        let until = |experiment| match self.is_of_all {
            true => self.record.held_until(dataset, experiment),
            false => self.record.learnt_until(dataset, experiment),
        };
        let mut segments = part.segments().iter();
        let found = segments.find(|segment| until(segment.experiment).is_some_and(|until| segment.start < until))?;
        Some(&dataset.experiments()[found.experiment])
    }
}

fn is_of_all(model: &Path) -> bool {
    model.file_name().is_some_and(|name| name == MODEL_ALL)
}

/// Says where a part may hold what the model was fitted to.
pub(super) fn warn_of_part(model: &Path, request: &RecordRequest, output: &Output) {
    if is_of_all(model) {
        output.warning(format_args!(
            "{}: this model was fitted to all parts of its record: what it does on one of them says little about new data",
            model.display()
        ));
    }
    if request.split_source != SplitSource::Option {
        output.warning(format_args!(
            "{}: neither the model file nor a {CONFIG} beside it knows the split of the fit: the parts are those of {}, and may hold what the model \
             was fitted to (--split gives the right one)",
            model.display(),
            request.fractions
        ));
    }
}

/// Says where the test part has samples that the model was fitted to, as after another division of its record.
pub(super) fn warn_of_learnt_test(model: &Path, (dataset, test): (&Dataset, &Part), output: &Output) {
    // Of a model of all parts that was said. A folder that tells nothing, or is damaged, is no reason to judge nothing.
    let Some(seen) = Seen::beside(model).ok().flatten().filter(|seen| !seen.is_of_all) else {
        return;
    };
    if let Some(learnt) = seen.within(dataset, test) {
        output.warning(format_args!(
            "{}: the test part of '{}' has samples that the model was fitted to: it is not that of the fit, and the model looks better there than \
             on new data",
            model.display(),
            learnt.name()
        ));
    }
}

/// Commands that take no part of a record take all of it.
pub(super) const WHOLE: &str = "all samples are taken";
/// The same of commands that could take one.
pub(super) const ONE_PART: &str = "all samples are taken (--part test takes the test part)";

/// Says where a split was given to a command that divides nothing; `instead` is what would.
pub(super) fn warn_of_split(options: &DataOptions, instead: &str, output: &Output) {
    if let Some(split) = options.split {
        output.warning(format_args!("--split {split} does nothing here: {instead}"));
    }
}
