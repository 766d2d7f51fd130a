//! Which data to read, and how to split them.

use std::path::{Path, PathBuf};

use intervalid_data::{DataError, Dataset, KnownDataset, ReadOptions, Split, SplitFractions, known_dataset, load};
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
            known,
            fractions,
            split_source,
        }
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
        load(&self.data, self.data_dir.as_deref(), &self.options)
    }

    /// Cuts `dataset` into its parts.
    ///
    /// # Errors
    /// If a part would be empty.
    pub fn split(&self, dataset: &Dataset) -> Result<Split, DataError> {
        Split::new(dataset, self.fractions)
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
