//! From a folder of a user's files to the records of a benchmark.

use std::fs;
use std::path::{Path, PathBuf};

use intervalid_data::{
    Channel, Dataset, Experiment, NumericArray, Part, ReadOptions, Segment, Split, SplitFractions, read,
    read_mat_arrays,
};

use crate::error::{BenchError, Result};
use crate::protocol::{Channels, Protocol, Record, Source};

/// Archives are unpacked into folders of folders; deeper than this nothing is looked for.
const DEEPEST: usize = 3;

/// Endings that are read, the first wins.
const ENDINGS: [&str; 2] = ["mat", "csv"];

/// The records of a benchmark: those for training first, then the tests, each an experiment of its own.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// The rules.
    pub protocol: Protocol,
    /// All records.
    pub dataset: Dataset,
    /// Training and validation by the usual shares of each other; the tests whole.
    pub split: Split,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

impl Benchmark {
    /// Whether all files are there, without reading them.
    ///
    /// # Errors
    /// [`BenchError::NoDataFolder`] or [`BenchError::MissingFile`].
    pub fn find(protocol: &Protocol, folder: Option<&Path>) -> Result<Vec<PathBuf>> {
        let found = listing(protocol, folder)?;
        let records = protocol.train.iter().chain(&protocol.test);
        let mut files: Vec<PathBuf> = records
            .map(|record| found.source_of(protocol, record).map(|(path, _)| path.to_owned()))
            .collect::<Result<_>>()?;
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Reads all records.
    ///
    /// # Errors
    /// If a file is missing, cannot be read, or is not what the protocol says it is.
    pub fn read(protocol: &Protocol, folder: Option<&Path>) -> Result<Self> {
        let found = listing(protocol, folder)?;
        let one = |record: &Record| {
            let (path, source) = found.source_of(protocol, record)?;
            experiment(protocol, record, path, source)
        };
        let train: Vec<Experiment> = protocol.train.iter().map(one).collect::<Result<_>>()?;
        let test: Vec<Experiment> = protocol.test.iter().map(one).collect::<Result<_>>()?;
        let dataset = |experiments: Vec<Experiment>| {
            let channels = |names: &[String]| names.iter().map(Channel::new).collect();
            let (inputs, outputs) = (channels(&protocol.inputs), channels(&protocol.outputs));
            Dataset::new(&protocol.name, inputs, outputs, Some(protocol.sample_time), experiments)
        };
        // As `fit --test` has it: the shares of training and validation of each other.
        let SplitFractions {
            train: share,
            validation,
            ..
        } = SplitFractions::default();
        let whole = share + validation;
        let fractions = SplitFractions::new(share / whole, validation / whole, 0.0)?;
        let split = Split::new(&dataset(train.clone())?, fractions)?;
        let tests = test.iter().enumerate().map(|(index, experiment)| Segment {
            experiment: train.len() + index,
            start: 0,
            end: experiment.len(),
        });
        let split = Split {
            test: Part::from_segments(tests.collect()),
            ..split
        };
        Ok(Self {
            protocol: protocol.clone(),
            dataset: dataset(train.into_iter().chain(test).collect())?,
            split,
            files: Self::find(protocol, folder)?,
        })
    }
}

/// Files of a folder that a protocol could mean.
struct Listing {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

fn listing(protocol: &Protocol, folder: Option<&Path>) -> Result<Listing> {
    let Some(folder) = folder else {
        return Err(BenchError::NoDataFolder {
            benchmark: protocol.name.clone(),
            home: protocol.home.clone(),
        });
    };
    let mut files = Vec::new();
    collect(folder, 0, &mut files).map_err(|source| BenchError::File {
        action: "read",
        path: folder.to_owned(),
        source,
    })?;
    Ok(Listing {
        folder: folder.to_owned(),
        files,
    })
}

/// Files of a folder, then those of its folders, each in order of their names.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    entries.sort();
    let (folders, own): (Vec<PathBuf>, Vec<PathBuf>) = entries.into_iter().partition(|path| path.is_dir());
    files.extend(own);
    if depth < DEEPEST {
        for inner in folders {
            // What may not be listed holds nothing for us.
            let _ = collect(&inner, depth + 1, files);
        }
    }
    Ok(())
}

impl Listing {
    /// The first source of a record whose file exists.
    fn source_of<'a>(&'a self, protocol: &Protocol, record: &'a Record) -> Result<(&'a Path, &'a Source)> {
        let existing = record
            .from
            .iter()
            .find_map(|source| Some((self.file(&source.file)?, source)));
        existing.ok_or_else(|| BenchError::MissingFile {
            benchmark: protocol.name.clone(),
            files: record.from.iter().map(|source| source.file.clone()).collect(),
            folder: self.folder.clone(),
            home: protocol.home.clone(),
        })
    }

    /// A file of this name, whatever the case of its letters: archives have `DATAUNIF.MAT`.
    fn file(&self, name: &str) -> Option<&Path> {
        let is_called = |path: &&PathBuf, ending: &str| {
            let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().to_lowercase());
            part(path.file_stem()) == Some(name.to_lowercase()) && part(path.extension()).as_deref() == Some(ending)
        };
        let mut endings = ENDINGS.iter();
        endings
            .find_map(|ending| self.files.iter().find(|path| is_called(path, ending)))
            .map(PathBuf::as_path)
    }
}

fn experiment(protocol: &Protocol, record: &Record, path: &Path, source: &Source) -> Result<Experiment> {
    let inputs = source.inputs.as_ref().unwrap_or(&protocol.inputs);
    let outputs = source.outputs.as_ref().unwrap_or(&protocol.outputs);
    let names: Vec<&String> = inputs.iter().chain(outputs).collect();
    let is_matlab = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("mat"));
    let mut columns = match is_matlab {
        true => matlab_columns(path, source.channels, &names)?,
        false => text_columns(path, inputs, outputs)?,
    };
    let shortest = columns.iter().map(Vec::len).min().unwrap_or(0);
    let wrong_length = |expected: String| BenchError::Length {
        file: path.to_owned(),
        found: shortest,
        expected,
    };
    if columns.iter().any(|column| column.len() != shortest) {
        return Err(wrong_length("the same number in every channel".to_owned()));
    }
    if let Some(samples) = source.samples.filter(|samples| *samples != shortest) {
        return Err(wrong_length(samples.to_string()));
    }
    let end = source.end.unwrap_or(shortest);
    if end > shortest || source.start >= end {
        return Err(wrong_length(format!("at least {}", end.max(source.start + 1))));
    }
    for column in &mut columns {
        column.truncate(end);
        column.drain(..source.start);
    }
    let outputs = columns.split_off(inputs.len());
    Ok(Experiment::new(record.name.clone(), columns, outputs))
}

fn text_columns(path: &Path, inputs: &[String], outputs: &[String]) -> Result<Vec<Vec<f64>>> {
    let options = ReadOptions {
        inputs: Some(inputs.to_vec()),
        outputs: Some(outputs.to_vec()),
        // The protocol knows the step.
        time: Some(String::new()),
        ..ReadOptions::default()
    };
    let dataset = read(&[path], &options)?;
    // Nothing splits a file here, so that it is one experiment.
    let experiment = &dataset.experiments()[0];
    let inputs = (0..inputs.len()).map(|channel| experiment.input(channel).to_vec());
    let outputs = (0..outputs.len()).map(|channel| experiment.output(channel).to_vec());
    Ok(inputs.chain(outputs).collect())
}

fn matlab_columns(path: &Path, channels: Channels, names: &[&String]) -> Result<Vec<Vec<f64>>> {
    // `Acceleration2` is a row of `Acceleration` where channels are rows.
    let split = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let (array, number) = name.split_at(name.len() - digits);
        Some((array.to_owned(), number.parse::<usize>().ok()?.checked_sub(1)?))
    };
    let place = |name: &str| match channels {
        Channels::Vectors => (name.to_owned(), None),
        Channels::Rows => split(name).map_or_else(|| (name.to_owned(), None), |(array, row)| (array, Some(row))),
    };
    let places: Vec<(String, Option<usize>)> = names.iter().map(|name| place(name)).collect();
    let mut arrays: Vec<&str> = places.iter().map(|(array, _)| array.as_str()).collect();
    arrays.dedup();
    let arrays = read_mat_arrays(path, &arrays)?;
    let wrong = |array: &NumericArray, expected: &'static str| BenchError::Shape {
        file: path.to_owned(),
        array: array.name.clone(),
        rows: array.rows,
        columns: array.columns,
        expected,
    };
    let column = |(name, row): &(String, Option<usize>)| {
        let array = arrays.iter().find(|array| array.name == *name);
        // Every name was asked for.
        let Some(array) = array else { return Ok(Vec::new()) };
        match row {
            None => array
                .vector()
                .map(<[f64]>::to_vec)
                .ok_or_else(|| wrong(array, "one row or one column")),
            Some(row) if *row < array.rows && array.columns > array.rows => Ok(array.row(*row)),
            Some(_) => Err(wrong(array, "a channel per row, samples across")),
        }
    };
    let columns: Vec<Vec<f64>> = places.iter().map(column).collect::<Result<_>>()?;
    Ok(columns)
}
