//! From paths to one data set.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use crate::dataset::{Channel, ChannelKind, Dataset};
use crate::error::{DataError, FileProblem};
use crate::read::arrays::read_table;
use crate::read::columns::Selection;
use crate::read::limit::Limit;
use crate::read::mat::MatFile;
use crate::read::npy::{NpyFile, NpzFile};
use crate::read::options::{Decimal, ReadOptions};
use crate::read::table::Table;
use crate::read::text;

/// Where one experiment (or several, by an experiment column) comes from.
pub(crate) enum Source {
    /// A file, its format told by the extension.
    File(PathBuf),
    /// A text table in memory: the data sets that are compiled in.
    Text { name: &'static str, content: &'static str },
}

/// Reads files as the experiments of one data set.
///
/// | extension | content |
/// |---|---|
/// | `.csv`, `.tsv` | text table with a header row |
/// | `.mat` | MATLAB level 5 (`-v6`, `-v7`): numeric arrays |
/// | `.npz` | NumPy archive: the arrays' names are the columns' names |
/// | `.npy` | one NumPy array: its columns are `c1`, `c2`, … (`c` if there is only one) |
/// | `.parquet` | flat numeric columns; needs the feature `parquet` (on by default) |
///
/// In array files a two-dimensional array `u` of m columns gives the columns `u1` … `um`. Readers stream: memory is the
/// chosen columns as f64, plus at most one more of them.
///
/// # Errors
/// Names the file, the line or row, and the column; see [`DataError`].
///
/// ```no_run
/// use intervalid_data::{ReadOptions, read};
///
/// let options = ReadOptions {
///     inputs: Some(vec!["flow".into()]),
///     outputs: Some(vec!["temperature".into()]),
///     ..ReadOptions::default()
/// };
/// let dataset = read(&["monday.csv", "tuesday.csv"], &options)?;
/// assert_eq!(dataset.experiments().len(), 2);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
pub fn read<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Dataset, DataError> {
    read_sources(
        paths
            .iter()
            .map(|path| Source::File(path.as_ref().to_owned()))
            .collect(),
        options,
    )
}

pub(crate) fn read_sources(sources: Vec<Source>, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut experiments = Vec::new();
    let mut warnings = Vec::new();
    let mut agreed: Option<(String, String, [Vec<String>; 2])> = None;
    for source in &sources {
        let (file, stem) = source.names();
        let (names, selection, table) = read_source(source, &file, options)?;
        let names_of = |indices: &[usize]| indices.iter().map(|index| names[*index].clone()).collect::<Vec<_>>();
        let channels = [names_of(&selection.inputs), names_of(&selection.outputs)];
        let (first, _, expected) = agreed.get_or_insert_with(|| (file.clone(), stem.clone(), channels.clone()));
        for (kind, found, expected) in [
            (ChannelKind::Input, &channels[0], &expected[0]),
            (ChannelKind::Output, &channels[1], &expected[1]),
        ] {
            if found != expected {
                return Err(FileProblem::UnequalFiles {
                    kind,
                    found: found.clone(),
                    expected: expected.clone(),
                    first: first.clone(),
                }
                .of(&file));
            }
        }
        let (pieces, warning) = table.into_experiments(&file, &stem, selection.inputs.len())?;
        experiments.extend(pieces);
        warnings.extend(warning);
    }
    let Some((_, stem, [inputs, outputs])) = agreed else {
        return Err(DataError::NoFiles);
    };
    let channels = |names: Vec<String>| names.into_iter().map(Channel::new).collect();
    let name = options.name.clone().unwrap_or(stem);
    let dataset = Dataset::new(
        name,
        channels(inputs),
        channels(outputs),
        options.sample_time,
        experiments,
    )?;
    Ok(dataset.with_warnings(warnings))
}

impl Source {
    /// The name in messages, and the stem that names experiments.
    fn names(&self) -> (String, String) {
        match self {
            Self::File(path) => {
                let stem = path
                    .file_stem()
                    .map_or_else(|| "data".into(), |stem| stem.to_string_lossy());
                (path.display().to_string(), stem.into_owned())
            }
            Self::Text { name, .. } => ((*name).to_owned(), (*name).to_owned()),
        }
    }
}

fn read_source(
    source: &Source,
    file: &str,
    options: &ReadOptions,
) -> Result<(Vec<String>, Selection, Table), DataError> {
    let path = match source {
        // Built-in records are written with points, whatever the options say about files.
        Source::Text { content, .. } => return text::read(file, content.as_bytes(), ',', Decimal::Point, options),
        Source::File(path) => path,
    };
    let handle = open(path, file)?;
    let file_bytes = handle.metadata().map_or(0, |metadata| metadata.len());
    let limit = Limit::new(file, file_bytes, options);
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match extension.as_str() {
        "csv" | "tsv" => {
            let usual = match (extension.as_str(), options.decimal) {
                ("tsv", _) => '\t',
                (_, Decimal::Comma) => ';',
                (_, Decimal::Point) => ',',
            };
            let delimiter = options.delimiter.unwrap_or(usual);
            text::read(file, text_reader(file, handle)?, delimiter, options.decimal, options)
        }
        "mat" => read_table(file, &mut MatFile::new(file, handle)?, &limit, options),
        "npz" => read_table(file, &mut NpzFile::new(file, handle)?, &limit, options),
        "npy" => read_table(file, &mut NpyFile::new(file, handle)?, &limit, options),
        #[cfg(feature = "parquet")]
        "parquet" => super::parquet::read(file, handle, &limit, options),
        #[cfg(not(feature = "parquet"))]
        "parquet" => Err(FileProblem::FeatureOff {
            format: "Parquet",
            feature: "parquet",
        }
        .of(file)),
        _ => Err(FileProblem::UnknownExtension { extension }.of(file)),
    }
}

fn open(path: &Path, file: &str) -> Result<File, DataError> {
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => FileProblem::FileNotFound.of(file),
        _ => FileProblem::Io { source }.of(file),
    };
    if path.metadata().map_err(failed)?.is_dir() {
        return Err(FileProblem::IsDirectory.of(file));
    }
    File::open(path).map_err(failed)
}

/// Spreadsheet programs write "Unicode text" as UTF-16, which would otherwise fail on line 1 without a clue.
fn text_reader(file: &str, handle: File) -> Result<impl BufRead + use<>, DataError> {
    let mut reader = BufReader::with_capacity(1 << 16, handle);
    let start = reader
        .fill_buf()
        .map_err(|source| FileProblem::Io { source }.of(file))?;
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err(FileProblem::NotUtf8 { line: 1 }.of(file));
    }
    Ok(reader)
}
