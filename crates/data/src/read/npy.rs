//! NumPy arrays: `.npy`, and `.npz`, which is a zip archive of them.
//!
//! **Reference.** NumPy enhancement proposal 1, "A simple file format for NumPy arrays".

use std::fs::File;
use std::io::{BufReader, Read};

use zip::ZipArchive;

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::arrays::{ArrayFile, ArrayInfo, Element, Kind, Layout, read_columns};

/// Name of the one array of a `.npy` file: its columns are `c1`, `c2`, ….
const NPY_NAME: &str = "c";

/// A real header is a few hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// A single array.
pub(super) struct NpyFile {
    file: String,
    reader: BufReader<File>,
    length: u64,
    arrays: Vec<ArrayInfo>,
    layout: Option<Layout>,
}

impl NpyFile {
    pub(super) fn new(file: &str, handle: File) -> Result<Self, DataError> {
        let length = handle
            .metadata()
            .map_err(|source| FileProblem::Io { source }.of(file))?
            .len();
        let mut reader = BufReader::new(handle);
        let (info, layout) = read_header(file, NPY_NAME.to_owned(), &mut reader)?;
        Ok(Self {
            file: file.to_owned(),
            reader,
            length,
            arrays: vec![info],
            layout,
        })
    }
}

impl ArrayFile for NpyFile {
    fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    fn read(&mut self, _index: usize, wanted: &[usize]) -> Result<Vec<Vec<f64>>, DataError> {
        let layout = self.layout.take().map(|layout| Layout {
            justified_bytes: self.length,
            ..layout
        });
        let layout = layout.ok_or_else(|| malformed(&self.file, "the array was read before"))?;
        read_columns(&mut self.reader, &layout, wanted).map_err(|error| truncated(&self.file, NPY_NAME, &error))
    }
}

/// An archive of arrays.
pub(super) struct NpzFile {
    file: String,
    archive: ZipArchive<BufReader<File>>,
    entries: Vec<usize>,
    arrays: Vec<ArrayInfo>,
}

impl NpzFile {
    pub(super) fn new(file: &str, handle: File) -> Result<Self, DataError> {
        let mut archive = ZipArchive::new(BufReader::new(handle)).map_err(|error| malformed(file, error))?;
        let (mut entries, mut arrays) = (Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(|error| malformed(file, error))?;
            let name = entry.name().map_err(|error| malformed(file, error))?;
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
                continue;
            };
            arrays.push(read_header(file, name, &mut entry)?.0);
            entries.push(index);
        }
        Ok(Self {
            file: file.to_owned(),
            archive,
            entries,
            arrays,
        })
    }
}

impl ArrayFile for NpzFile {
    fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    fn read(&mut self, index: usize, wanted: &[usize]) -> Result<Vec<Vec<f64>>, DataError> {
        let name = self.arrays[index].name.clone();
        let mut entry = self
            .archive
            .by_index(self.entries[index])
            .map_err(|error| malformed(&self.file, error))?;
        let justified_bytes = entry.compressed_size();
        let (_, layout) = read_header(&self.file, name.clone(), &mut entry)?;
        let layout = layout.ok_or_else(|| malformed(&self.file, "an array without numbers"))?;
        let layout = Layout {
            justified_bytes,
            ..layout
        };
        read_columns(&mut entry, &layout, wanted).map_err(|error| truncated(&self.file, &name, &error))
    }
}

fn malformed(file: &str, problem: impl ToString) -> DataError {
    FileProblem::Malformed {
        format: "NumPy",
        problem: problem.to_string(),
    }
    .of(file)
}

fn truncated(file: &str, array: &str, error: &std::io::Error) -> DataError {
    malformed(file, format!("array '{array}' ends early or is damaged ({error})"))
}

/// The array's description, and its layout if it can be a channel.
fn read_header(file: &str, name: String, reader: &mut impl Read) -> Result<(ArrayInfo, Option<Layout>), DataError> {
    let cut = |error: std::io::Error| truncated(file, &name, &error);
    let mut start = [0_u8; 8];
    reader.read_exact(&mut start).map_err(cut)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(malformed(
            file,
            format!("array '{name}' does not start with the NumPy interface"),
        ));
    }
    let mut length = [0_u8; 4];
    let width = if start[6] == 1 { 2 } else { 4 };
    reader.read_exact(&mut length[..width]).map_err(cut)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(malformed(
            file,
            format!("array '{name}' has a header of {length} bytes"),
        ));
    }
    let mut header = vec![0; length];
    reader.read_exact(&mut header).map_err(cut)?;
    let header = String::from_utf8_lossy(&header);
    let parsed = (|| {
        let order = value_of(&header, "'fortran_order':")?;
        let column_major = if order.starts_with("True") {
            Some(true)
        } else {
            order.starts_with("False").then_some(false)
        };
        Some((
            shape(value_of(&header, "'shape':")?)?,
            column_major?,
            value_of(&header, "'descr':")?,
        ))
    })();
    let Some((shape, column_major, description)) = parsed else {
        return Err(malformed(
            file,
            format!("array '{name}' has a header that cannot be understood"),
        ));
    };
    let Some(element) = element(description) else {
        let found = description
            .split('}')
            .next()
            .unwrap_or_default()
            .chars()
            .take(30)
            .collect();
        return Ok((
            ArrayInfo::unusable(
                name,
                format!("of type {}", type_name(found)),
                ArrayExpectation::NumpyNumbers,
            ),
            None,
        ));
    };
    let info = ArrayInfo::numeric(name, &shape);
    let (rows, columns) = (info.rows, info.columns);
    let layout = info.unusable.is_none().then_some(Layout {
        element,
        rows,
        columns,
        column_major,
        justified_bytes: 0,
    });
    Ok((info, layout))
}

fn type_name(description: String) -> String {
    match description.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) {
        Some(code) => code.to_owned(),
        None => "record".to_owned(),
    }
}

fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    header.split_once(key).map(|(_, value)| value.trim_start())
}

fn shape(text: &str) -> Option<Vec<u64>> {
    let inside = text.strip_prefix('(')?.split_once(')')?.0;
    inside
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().ok())
        .collect()
}

/// `'<f8'` and its like.
fn element(description: &str) -> Option<Element> {
    let code = description.strip_prefix('\'')?.split('\'').next()?;
    let mut characters = code.chars();
    let big_endian = match characters.next()? {
        '<' | '|' | '=' => false,
        '>' => true,
        _ => return None,
    };
    let kind = match characters.as_str() {
        "b1" | "u1" => Kind::Unsigned(1),
        "u2" => Kind::Unsigned(2),
        "u4" => Kind::Unsigned(4),
        "u8" => Kind::Unsigned(8),
        "i1" => Kind::Signed(1),
        "i2" => Kind::Signed(2),
        "i4" => Kind::Signed(4),
        "i8" => Kind::Signed(8),
        "f4" => Kind::Float(4),
        "f8" => Kind::Float(8),
        _ => return None,
    };
    Some(Element { kind, big_endian })
}
