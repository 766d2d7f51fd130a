//! Arguments as typed turned into what the libraries work with.

use std::path::PathBuf;

use intervalid_data::{ReadOptions, file_of};
use intervalid_search::SearchConfig;
use intervalid_workflow::{OutputRanges, RecordRequest, Settings, SplitSource};

use crate::args::{DataArgs, FitArgs, GlobalArgs, column_names};

/// The folder of further data sets, if one is set.
pub(crate) fn data_dir(global: &GlobalArgs) -> Option<PathBuf> {
    global
        .data_dir
        .as_ref()
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

/// The files that arguments for data stand for, found by their names too.
pub(crate) fn files<'a>(
    data: impl IntoIterator<Item = &'a String>,
    global: &GlobalArgs,
) -> impl Iterator<Item = PathBuf> {
    let folder = data_dir(global);
    data.into_iter()
        .filter_map(move |data| file_of(data, folder.as_deref()))
}

/// The record that the command line names.
pub(crate) fn record(args: &DataArgs, global: &GlobalArgs) -> RecordRequest {
    let columns = |names: &Option<Vec<String>>| names.as_deref().map(column_names);
    let asked = &args.options;
    let options = ReadOptions {
        inputs: columns(&asked.input),
        outputs: columns(&asked.output),
        experiment: asked.experiment.clone().filter(|column| !column.is_empty()),
        time: asked.time.clone(),
        resample: asked.resample,
        sample_time: asked.sample_time,
        skip_rows: asked.skip_rows,
        units: asked.unit.clone(),
        delimiter: asked.delimiter,
        decimal: asked.decimal,
        missing: asked.missing,
        max_samples: asked.max_samples,
        ..ReadOptions::default()
    };
    RecordRequest::new(args.data.clone(), data_dir(global), options, asked.split)
}

/// The settings among the flags of `fit`.
pub(crate) fn settings(args: &FitArgs) -> Settings {
    let preferred = SearchConfig::default().coverage;
    let coverages = args.coverage.as_ref().map(|coverages| coverages.main(preferred));
    let (coverage, levels) = coverages.unzip();
    Settings {
        preset: args.preset,
        calibrate: args.calibrate.then_some(true),
        model: args.model,
        strategy: args.strategy,
        margin: args.margin,
        coverage,
        levels,
        together: args.together.then_some(true),
        output_range: (!args.output_range.is_empty())
            .then(|| OutputRanges(args.output_range.iter().cloned().collect())),
        detrend: args.prepare.detrend.as_deref().map(column_names),
        lags: args.lags.map(Into::into),
        hidden: args.hidden.clone(),
        states: args.states,
        initial: args.initial,
        epochs: args.epochs,
        batch: args.batch,
        learning_rate: args.lr,
        seed: args.seed,
        precision: args.precision,
        ..Settings::default()
    }
}

/// Who chose a split, in words for tables.
pub(crate) fn split_label(source: SplitSource) -> &'static str {
    match source {
        SplitSource::Option => "as asked",
        SplitSource::Paper => "as in the paper",
        SplitSource::Default => "default",
    }
}

/// As many threads as asked for, or one per core.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}
