//! Which data to read, and how to split them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use intervalid_data::{
    DataError, Dataset, Experiment, KnownDataset, MissingPolicy, Part, Preparation, ReadOptions, Segment, Split,
    SplitFractions, known_dataset, load,
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
    /// Their shares become what they are of each other.
    #[must_use]
    pub fn with_test(self, test: Vec<String>) -> Self {
        let SplitFractions { train, validation, .. } = self.fractions;
        let fractions = match test.is_empty() || self.fractions.test <= 0.0 {
            true => self.fractions,
            false => SplitFractions {
                train: train / (train + validation),
                validation: validation / (train + validation),
                test: 0.0,
            },
        };
        Self {
            test,
            fractions,
            ..self
        }
    }

    /// The same request, with this done to the recordings first.
    #[must_use]
    pub fn with_preparation(mut self, prepare: Preparation) -> Self {
        self.options.prepare = prepare;
        self
    }

    /// The same request, with experiments told apart by this column in files that have it.
    #[must_use]
    pub fn with_experiments_by(mut self, column: String) -> Self {
        self.options.divide_by(column);
        self
    }

    /// The same request, of text files that may still be written: without a last line that has no end.
    #[must_use]
    pub fn with_whole_lines(mut self) -> Self {
        self.options.whole_lines = true;
        self
    }

    /// Files and names as given.
    #[must_use]
    pub fn data(&self) -> &[String] {
        &self.data
    }

    /// The folder in which names are looked up, if one was given.
    #[must_use]
    pub fn data_dir(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    /// How the files are read.
    #[must_use]
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Files that are the test part as a whole.
    #[must_use]
    pub fn test(&self) -> &[String] {
        &self.test
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
        let files = self.files(dataset)?;
        let own = files[..self.data.len()].last().map_or(0, |file| file.end);
        let experiments = dataset.experiments();
        let (learnt, tested) = experiments.split_at(own);
        refuse_settled(tested, learnt, dataset.unsettled())?;
        let for_training = Dataset::new(
            dataset.name(),
            dataset.inputs().to_vec(),
            dataset.outputs().to_vec(),
            dataset.sample_time(),
            learnt.to_vec(),
        )?;
        let whole = experiments.iter().enumerate().skip(own);
        let whole = whole.map(|(experiment, samples)| Segment {
            experiment,
            start: 0,
            end: samples.len(),
        });
        Ok(Split {
            test: Part::from_segments(whole.collect()),
            ..Split::new(&for_training, self.fractions)?
        })
    }

    /// Which experiments of `dataset`, as [`load`](Self::load) gave it, are of which file: in the order of the files, those for the
    /// test last.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), where files that hold several experiments are read once more to count them.
    pub fn files(&self, dataset: &Dataset) -> Result<Vec<Range<usize>>, DataError> {
        let files: Vec<&String> = self.data.iter().chain(&self.test).collect();
        let count = dataset.experiments().len();
        if let [_] = files.as_slice() {
            return Ok(std::iter::once(0..count).collect());
        }
        // Where nothing is split, a file is an experiment.
        if self.options.missing == MissingPolicy::Error && count == files.len() {
            return Ok((0..count).map(|file| file..file + 1).collect());
        }
        let mut start = 0;
        let mut found = Vec::new();
        for file in files {
            let alone = load(&[file], self.data_dir.as_deref(), &self.options)?;
            let end = (start + alone.experiments().len()).min(count);
            found.push(start..end);
            start = end;
        }
        Ok(found)
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

/// Refuses experiments to judge by that are learnt from under whatever name, be it as the beginning of a longer recording.
///
/// # Errors
/// [`DataError::TestIsLearnt`] names the first of them.
pub fn refuse_learnt(tested: &[Experiment], learnt: &[Experiment]) -> Result<(), DataError> {
    refuse_settled(tested, learnt, 0)
}

/// The same of a record that was prepared so that rows to come change the last `unsettled` samples of an experiment.
fn refuse_settled(tested: &[Experiment], learnt: &[Experiment], unsettled: usize) -> Result<(), DataError> {
    for test in tested {
        let is_test = |training: &&Experiment| training.has_settled_samples_of(test, unsettled);
        if let Some(training) = learnt.iter().find(is_test) {
            return Err(DataError::TestIsLearnt {
                test: test.name().to_owned(),
                training: training.name().to_owned(),
            });
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_for_the_test_leave_the_others_their_shares_of_each_other() {
        let request = |split: Option<&str>| {
            let split = split.map(|text| text.parse().expect("shares"));
            RecordRequest::new(vec!["hair-dryer".to_owned()], None, ReadOptions::default(), split)
        };
        let test = vec!["robot-arm".to_owned()];
        let first = request(Some("0.6,0.1,0.3")).with_test(test.clone());
        let SplitFractions { train, validation, .. } = first.fractions;
        assert!((train - 6.0 / 7.0).abs() < 1e-15 && (validation - 1.0 / 7.0).abs() < 1e-15);
        // What is written is what is read again, to the bit.
        let again = request(Some(&first.fractions.to_string())).with_test(test);
        assert_eq!(again.fractions, first.fractions);
        let alone = request(Some("0.6,0.1,0.3")).with_test(Vec::new());
        assert_eq!(alone.fractions, SplitFractions::default());
        let (dataset, split) = again.read().expect("both are built in");
        assert_eq!(again.files(&dataset).expect("counted"), [0..1, 1..2]);
        assert_eq!(split.train.samples() + split.validation.samples(), 1000);
        assert_eq!(split.test.samples(), dataset.samples() - 1000);
    }
}
