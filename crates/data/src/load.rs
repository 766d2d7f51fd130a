//! What a user may write where data are asked for: a file or a name.

use std::env;
use std::path::{Path, PathBuf};

use crate::catalogue::{CATALOGUE, KnownDataset, known_dataset};
use crate::dataset::Dataset;
use crate::error::{DataError, FileError, FileProblem};
use crate::read::{ReadOptions, Source, closest, read_sources};

/// Environment variable that names the folder of further data sets.
pub const DATA_DIR_VARIABLE: &str = "INTERVALID_DATA";

/// Loads one or several files or names as the experiments of one data set.
///
/// An argument with an extension, a path separator, or that is an existing file is a file. Anything else is a name: a
/// data set that is compiled in (`hair-dryer`, `robot-arm`; such a name means the same everywhere), or `NAME.csv` (also
/// with `_` for `-`) in `data_dir` or, where that is not given, in the folder that the environment variable
/// `INTERVALID_DATA` names. Names of the catalogue bring their sample time and units along; `options` wins over them.
///
/// # Errors
/// As [`read`](crate::read()); an unknown name is answered with the known ones and the closest of them.
///
/// ```
/// let dataset = intervalid_data::load(&["hair-dryer"], None, &Default::default())?;
/// assert_eq!((dataset.samples(), dataset.sample_time()), (1000, Some(0.08)));
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
pub fn load<S: AsRef<str>>(data: &[S], data_dir: Option<&Path>, options: &ReadOptions) -> Result<Dataset, DataError> {
    let folder = data_dir.map(Path::to_owned).or_else(folder_from_environment);
    let mut sources = Vec::new();
    let mut known = None;
    for (index, argument) in data.iter().enumerate() {
        let (source, entry) = resolve(argument.as_ref(), folder.as_deref())?;
        sources.push(source);
        if index == 0 {
            known = entry;
        }
    }
    let Some(known) = known else {
        return read_sources(sources, options);
    };
    let mut options = options.clone();
    options.sample_time = options.sample_time.or(known.sample_time);
    options.name = options.name.or_else(|| Some(known.name.to_owned()));
    let dataset = read_sources(sources, &options)?;
    Ok(dataset.with_usual_units(&[("u", known.input.1), ("y", known.output.1)]))
}

/// A name that no column has: asking for it ends every reader right after the names of the columns.
const NO_COLUMN: &str = "\0";

/// Names of the columns of a file, or of a data set by its name, as the file has them. No sample is read.
///
/// # Errors
/// As [`load`]: of the file and its header.
///
/// ```
/// let names = intervalid_data::columns("hair-dryer", None, &Default::default())?;
/// assert_eq!(names, ["u", "y"]);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
pub fn columns(data: &str, data_dir: Option<&Path>, options: &ReadOptions) -> Result<Vec<String>, DataError> {
    let options = ReadOptions {
        inputs: Some(Vec::new()),
        outputs: Some(vec![NO_COLUMN.to_owned()]),
        experiment: None,
        time: Some(String::new()),
        ..options.clone()
    };
    match load(&[data], data_dir, &options) {
        Err(DataError::File(FileError {
            problem: FileProblem::MissingColumn { available, .. },
            ..
        })) => Ok(available),
        Err(error) => Err(error),
        Ok(_) => Ok(vec![NO_COLUMN.to_owned()]),
    }
}

/// Names that [`load`] accepts: those compiled in and the `.csv` files of the data folder, sorted, with `-` for `_`.
pub fn available_names(data_dir: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = CATALOGUE
        .iter()
        .filter(|known| known.is_built_in())
        .map(|known| known.name.to_owned())
        .collect();
    let folder = data_dir.map(Path::to_owned).or_else(folder_from_environment);
    // A folder that cannot be listed has no names; loading from it gives the error.
    let entries = folder
        .and_then(|folder| folder.read_dir().ok())
        .into_iter()
        .flatten()
        .flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "csv")
            && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
        {
            names.push(stem.replace('_', "-"));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// The file that [`load`] reads for an argument, there or not; none of a data set that is compiled in, and of a name that is unknown.
#[must_use]
pub fn file_of(data: &str, data_dir: Option<&Path>) -> Option<PathBuf> {
    let folder = data_dir.map(Path::to_owned).or_else(folder_from_environment);
    match resolve(data, folder.as_deref()) {
        Ok((Source::File(path), _)) => Some(path),
        Ok(_) | Err(_) => None,
    }
}

fn folder_from_environment() -> Option<PathBuf> {
    env::var_os(DATA_DIR_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn resolve(argument: &str, folder: Option<&Path>) -> Result<(Source, Option<&'static KnownDataset>), DataError> {
    let path = Path::new(argument);
    let looks_like_file = path.extension().is_some() || argument.contains(['/', std::path::MAIN_SEPARATOR]);
    if looks_like_file || path.is_file() {
        return Ok((Source::File(path.to_owned()), None));
    }
    let known = known_dataset(argument);
    if let Some(KnownDataset {
        name,
        content: Some(content),
        ..
    }) = known
    {
        return Ok((Source::Text { name, content }, known));
    }
    if let Some(folder) = folder {
        if !folder.is_dir() {
            return Err(DataError::NoDataDirectory {
                folder: folder.to_owned(),
            });
        }
        for stem in [
            argument.to_owned(),
            argument.replace('-', "_"),
            argument.replace('_', "-"),
        ] {
            let path = folder.join(stem + ".csv");
            if path.is_file() {
                return Ok((Source::File(path), known));
            }
        }
    }
    match known {
        Some(entry) => Err(DataError::NotShipped {
            name: entry.name.to_owned(),
            origin: entry.source,
            searched: folder.map(Path::to_owned),
        }),
        None if path.is_dir() => Err(FileProblem::IsDirectory.of(argument)),
        None => {
            let mut names = available_names(folder);
            names.extend(CATALOGUE.iter().map(|known| known.name.to_owned()));
            names.sort_unstable();
            names.dedup();
            let closest = closest(argument, names.iter().map(String::as_str)).map(str::to_owned);
            Err(DataError::UnknownName {
                name: argument.to_owned(),
                known: names,
                closest,
            })
        }
    }
}
