//! MATLAB `.mat` files of version 7.3, which are HDF5 files.
//!
//! Numeric variables are datasets, whose dimensions stand in the opposite order: column j in MATLAB is row j in the file. Structures of one
//! element are groups, and their fields are arrays as in [`super::mat`]. Cells, text, sparse arrays, tables and objects are listed but cannot be channels.
//! The decoder's limits keep a file from taking more memory than [`Limit`](super::limit::Limit) allows, and links to other files are not followed.
//!
//! **Reference.** MathWorks, *MAT-File Versions*; The HDF Group, *HDF5 File Format Specification* 3.0.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, Datatype, H5Type, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem};

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::arrays::{ArrayFile, ArrayInfo};
use crate::read::limit::MOST_VALUES;

/// Members of a group that are looked at; MATLAB allows 65 535 variables.
const MOST_MEMBERS: usize = 1 << 16;
/// Largest chunk that is decoded; MATLAB's have a few megabytes.
const MOST_CHUNK_BYTES: usize = 64 << 20;

/// Whether a file is of this version.
pub(super) fn is_hdf5(handle: &mut File) -> bool {
    let mut start = [0_u8; 10];
    let read = handle.read_exact(&mut start);
    // Whatever fails here fails again, with its reason, when the file is read.
    let _ = handle.seek(SeekFrom::Start(0));
    read.is_ok() && (start.starts_with(b"\x89HDF") || start == *b"MATLAB 7.3")
}

/// An open file with the list of its arrays.
pub(super) struct Hdf5MatFile {
    file: String,
    arrays: Vec<ArrayInfo>,
    /// The same, where there are numbers to read.
    datasets: Vec<Option<Dataset>>,
}

impl Hdf5MatFile {
    pub(super) fn new(file: &str, path: &Path, most_values: Option<u64>) -> Result<Self, DataError> {
        let most = most_values.unwrap_or(MOST_VALUES).saturating_mul(8);
        let options = OpenOptions::default()
            .with_max_chunk_bytes(MOST_CHUNK_BYTES)
            .with_max_read_bytes(usize::try_from(most).unwrap_or(usize::MAX));
        let mut found = Self {
            file: file.to_owned(),
            arrays: Vec::new(),
            datasets: Vec::new(),
        };
        let opened = Hdf5File::open_with_options(path, options).and_then(|file| file.root_group());
        let root = opened.map_err(|error| found.malformed(&error))?;
        let structures = found.list(&root, None)?;
        for name in structures {
            let group = root.group(&name).map_err(|error| found.malformed(&error))?;
            match group.attribute("MATLAB_sparse").is_ok() {
                true => found.push(unusable(name, "a sparse array"), None),
                false => {
                    for inner in found.list(&group, Some(&name))? {
                        found.push(unusable(inner, "a structure").inside(&name), None);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Lists the datasets of a group, and gives the names of its groups.
    fn list(&mut self, group: &Group, structure: Option<&str>) -> Result<Vec<String>, DataError> {
        let (groups, datasets) = group.member_names().map_err(|error| self.malformed(&error))?;
        if groups.len() + datasets.len() > MOST_MEMBERS {
            let problem = format!(
                "{} members in a group, expected at most {MOST_MEMBERS}",
                groups.len() + datasets.len()
            );
            return Err(self.malformed(&problem));
        }
        for name in datasets {
            let opened = group.dataset(&name);
            let (info, dataset) = match opened {
                Ok(dataset) => describe(name, dataset),
                Err(error) => (unusable(name, &error.to_string()), None),
            };
            let info = match structure {
                Some(structure) => info.inside(structure),
                None => info,
            };
            self.push(info, dataset);
        }
        // What MATLAB keeps there belongs to variables that refer to it.
        Ok(groups.into_iter().filter(|name| !name.starts_with('#')).collect())
    }

    fn push(&mut self, info: ArrayInfo, dataset: Option<Dataset>) {
        self.arrays.push(info);
        self.datasets.push(dataset);
    }

    fn malformed(&self, problem: &dyn std::fmt::Display) -> DataError {
        FileProblem::Malformed {
            format: "MATLAB v7.3",
            problem: problem.to_string(),
        }
        .of(&self.file)
    }
}

fn unusable(name: String, found: &str) -> ArrayInfo {
    ArrayInfo::unusable(name, found.to_owned(), ArrayExpectation::MatlabNumbers)
}

/// What can be said of a variable, and the variable itself where it is numbers.
fn describe(name: String, dataset: Dataset) -> (ArrayInfo, Option<Dataset>) {
    let class = dataset.attribute("MATLAB_class").and_then(|class| class.read_string());
    let class = class.unwrap_or_default();
    let is_text = matches!(
        class.trim_end_matches('\0'),
        "char" | "cell" | "function_handle" | "string" | "table"
    );
    let is_numeric = matches!(
        dataset.dtype(),
        Datatype::FloatingPoint { size: 4 | 8, .. }
            | Datatype::FixedPoint {
                size: 1 | 2 | 4 | 8,
                ..
            }
    );
    if dataset.attribute("MATLAB_empty").is_ok() {
        return (unusable(name, "an empty array"), None);
    }
    if is_text || !is_numeric {
        let found = match (class.as_str(), dataset.dtype()) {
            ("", Datatype::Compound { .. }) | (_, Datatype::Compound { .. }) => "complex numbers or records".to_owned(),
            ("", _) => "no numbers".to_owned(),
            (class, _) => format!("a {}", class.trim_end_matches('\0')),
        };
        return (unusable(name, &found), None);
    }
    let shape: Vec<u64> = dataset.shape().iter().rev().copied().collect();
    (ArrayInfo::numeric(name, &shape), Some(dataset))
}

impl ArrayFile for Hdf5MatFile {
    fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    fn read(&mut self, index: usize, wanted: &[usize]) -> Result<Vec<Vec<f64>>, DataError> {
        let Some(dataset) = &self.datasets[index] else {
            return Err(self.malformed(&"no numbers where there were some"));
        };
        let read = |column: &usize| column_of(dataset, *column as u64).map_err(|error| self.malformed(&error));
        wanted.iter().map(read).collect()
    }
}

/// A column in MATLAB's order as numbers.
fn column_of(dataset: &Dataset, column: u64) -> hdf5_reader::error::Result<Vec<f64>> {
    let all = |end: u64| SliceInfoElem::Slice { start: 0, end, step: 1 };
    let selections = match *dataset.shape() {
        [_, rows] => vec![SliceInfoElem::Index(column), all(rows)],
        [rows] => vec![all(rows)],
        _ => Vec::new(),
    };
    let selection = SliceInfo { selections };
    match dataset.dtype() {
        Datatype::FloatingPoint { size: 4, .. } => numbers::<f32>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 1, signed: true, ..
        } => numbers::<i8>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 1, signed: false, ..
        } => numbers::<u8>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 2, signed: true, ..
        } => numbers::<i16>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 2, signed: false, ..
        } => numbers::<u16>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 4, signed: true, ..
        } => numbers::<i32>(dataset, &selection, f64::from),
        Datatype::FixedPoint {
            size: 4, signed: false, ..
        } => numbers::<u32>(dataset, &selection, f64::from),
        Datatype::FixedPoint { signed: true, .. } => numbers::<i64>(dataset, &selection, |value| value as f64),
        Datatype::FixedPoint { signed: false, .. } => numbers::<u64>(dataset, &selection, |value| value as f64),
        _ => numbers::<f64>(dataset, &selection, |value| value),
    }
}

fn numbers<T: H5Type + Copy>(
    dataset: &Dataset,
    selection: &SliceInfo,
    number: impl Fn(T) -> f64,
) -> hdf5_reader::error::Result<Vec<f64>> {
    let values = dataset.read_slice::<T>(selection)?;
    Ok(values.iter().map(|value| number(*value)).collect())
}
