//! Which data to read, and how to split them.

use std::path::{Path, PathBuf};

use intervalid_data::{
    DataError, Dataset, KnownDataset, Part, ReadOptions, Segment, Split, SplitFractions, known_dataset, load,
};
use serde::Serialize;

/// Where the fractions of a split come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitSource {
    /// The user.
    Option,
    /// The paper's protocol for a known data set.
    Paper,
    /// Neither.
    Default,
}

/// Data to read, everything decided.
///
/// ```
/// use intervalid_data::ReadOptions;
/// use intervalid_workflow::RecordRequest;
///
/// let request = RecordRequest::new(vec!["hair-dryer".to_owned()], None, ReadOptions::default(), None);
/// let (dataset, split) = request.read()?;
/// assert_eq!((dataset.samples(), split.test.samples()), (1000, 500));
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordRequest {
    data: Vec<String>,
    data_dir: Option<PathBuf>,
    options: ReadOptions,
    /// Files that are the test part as a whole.
    test: Vec<String>,
    /// The catalogue's entry, where the data are one known data set.
    pub known: Option<&'static KnownDataset>,
    /// Shares of the parts.
    pub fractions: SplitFractions,
    /// Who chose them.
    pub split_source: SplitSource,
}

impl RecordRequest {
    /// Files or names, the folder in which names are looked up, and how to read and split them.
    #[must_use]
    pub fn new(
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
            test: Vec::new(),
            known,
            fractions,
            split_source,
        }
    }

    /// The same request with files of their own for the test: the others are for training and validation alone.
    #[must_use]
    pub fn with_test(self, test: Vec<String>) -> Self {
        Self { test, ..self }
    }

    /// Name in the catalogue; empty for a user's own record.
    #[must_use]
    pub fn known_name(&self) -> &'static str {
        self.known.map_or("", |known| known.name)
    }

    /// Files and names as given, for messages.
    #[must_use]
    pub fn label(&self) -> String {
        self.data.join(", ")
    }

    /// Reads and checks the data.
    ///
    /// # Errors
    /// Those of [`load`].
    pub fn load(&self) -> Result<Dataset, DataError> {
        let all: Vec<&String> = self.data.iter().chain(&self.test).collect();
        load(&all, self.data_dir.as_deref(), &self.options)
    }

    /// Cuts `dataset` into its parts.
    ///
    /// # Errors
    /// If a part would be empty.
    pub fn split(&self, dataset: &Dataset) -> Result<Split, DataError> {
        if self.test.is_empty() {
            return Split::new(dataset, self.fractions);
        }
        // Files may hold several experiments; those for the test come last.
        let own = load(&self.data, self.data_dir.as_deref(), &self.options)?;
        let SplitFractions { train, validation, .. } = self.fractions;
        let fractions = SplitFractions {
            train: train / (train + validation),
            validation: validation / (train + validation),
            test: 0.0,
        };
        let experiments = dataset.experiments().iter().enumerate().skip(own.experiments().len());
        let whole = experiments.map(|(experiment, samples)| Segment {
            experiment,
            start: 0,
            end: samples.len(),
        });
        Ok(Split {
            test: Part::from_segments(whole.collect()),
            ..Split::new(&own, fractions)?
        })
    }

    /// Reads, checks and splits the data.
    ///
    /// # Errors
    /// Those of [`load`](Self::load) and [`split`](Self::split).
    pub fn read(&self) -> Result<(Dataset, Split), DataError> {
        let dataset = self.load()?;
        let split = self.split(&dataset)?;
        Ok((dataset, split))
    }
}

/// Refuses a data folder that does not exist.
///
/// # Errors
/// [`DataError::NoDataDirectory`]
pub fn check_data_dir(folder: Option<&Path>) -> Result<(), DataError> {
    match folder {
        Some(folder) if !folder.is_dir() => Err(DataError::NoDataDirectory {
            folder: folder.to_owned(),
        }),
        _ => Ok(()),
    }
}
