//! Resolved arguments: which data to read, how to split them.

use std::path::{Path, PathBuf};

use intervalid_data::{DataError, Dataset, KnownDataset, ReadOptions, Split, SplitFractions, known_dataset, load};
use serde::Serialize;

use crate::args::{DataArgs, GlobalArgs};

/// Where the fractions of a split come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SplitSource {
    /// `--split`.
    Option,
    /// The paper's protocol for a known data set.
    Paper,
    /// Neither.
    Default,
}

impl SplitSource {
    /// In words, for tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Option => "as asked",
            Self::Paper => "as in the paper",
            Self::Default => "default",
        }
    }
}

/// The folder of further data sets, if one is set.
pub(crate) fn data_dir(global: &GlobalArgs) -> Option<PathBuf> {
    global
        .data_dir
        .as_ref()
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

/// Data to read, everything decided.
#[derive(Debug)]
pub(crate) struct DataRequest {
    data: Vec<String>,
    data_dir: Option<PathBuf>,
    options: ReadOptions,
    /// The catalogue's entry, where the data are one known data set.
    pub(crate) known: Option<&'static KnownDataset>,
    /// Shares of the parts.
    pub(crate) fractions: SplitFractions,
    /// Who chose them.
    pub(crate) split_source: SplitSource,
}

impl DataRequest {
    /// From the command line.
    pub(crate) fn new(args: &DataArgs, global: &GlobalArgs) -> Self {
        let columns = |names: &Option<Vec<String>>| {
            let names = names.as_ref()?.iter().map(|name| name.trim().to_owned());
            Some(names.filter(|name| !name.is_empty()).collect())
        };
        let options = ReadOptions {
            inputs: columns(&args.input),
            outputs: columns(&args.output),
            experiment: args.experiment.clone(),
            sample_time: args.sample_time,
            delimiter: args.delimiter,
            decimal: args.decimal,
            missing: args.missing,
            ..ReadOptions::default()
        };
        Self::resolve(args.data.clone(), data_dir(global), options, args.split)
    }

    /// A built-in data set with the paper's split.
    pub(crate) fn built_in(known: &KnownDataset) -> Self {
        Self::resolve(vec![known.name.to_owned()], None, ReadOptions::default(), None)
    }

    fn resolve(
        data: Vec<String>,
        data_dir: Option<PathBuf>,
        options: ReadOptions,
        split: Option<SplitFractions>,
    ) -> Self {
        let known = match data.as_slice() {
            [name] => known_dataset(name),
            _ => None,
        };
        let (fractions, split_source) = match (split, known) {
            (Some(fractions), _) => (fractions, SplitSource::Option),
            (None, Some(known)) => (known.split(), SplitSource::Paper),
            (None, None) => (SplitFractions::default(), SplitSource::Default),
        };
        Self {
            data,
            data_dir,
            options,
            known,
            fractions,
            split_source,
        }
    }

    /// Files and names as given, for messages.
    pub(crate) fn label(&self) -> String {
        self.data.join(", ")
    }

    /// Reads and checks the data.
    pub(crate) fn load(&self) -> Result<Dataset, DataError> {
        load(&self.data, self.data_dir.as_deref(), &self.options)
    }

    /// Cuts `dataset` into its parts.
    pub(crate) fn split(&self, dataset: &Dataset) -> Result<Split, DataError> {
        Split::new(dataset, self.fractions)
    }
}

/// As many threads as asked for, or one per core.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}

/// Refuses a data folder that does not exist.
pub(crate) fn check_data_dir(folder: Option<&Path>) -> Result<(), DataError> {
    match folder {
        Some(folder) if !folder.is_dir() => Err(DataError::NoDataDirectory {
            folder: folder.to_owned(),
        }),
        _ => Ok(()),
    }
}
