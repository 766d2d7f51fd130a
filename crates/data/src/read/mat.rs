//! MATLAB `.mat` files of level 5 (what `save` writes with `-v6` or `-v7`): numeric arrays, compressed or not.
//!
//! Fields of structures that hold numbers are arrays of their own, `run.u` or `u` where no other is called so. Cells, text, sparse
//! arrays and arrays of structures are listed but cannot be channels. Every size in the file is a claim:
//! nothing is reserved beyond the bytes that are there.
//!
//! **Reference.** MathWorks, *MAT-File Format*, R2024a, chapter 1 (level 5).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::bufread::ZlibDecoder;

use crate::error::{ArrayExpectation, DataError, FileProblem};
use crate::read::arrays::{ArrayFile, ArrayInfo, Element, Kind, Layout, read_columns};

const HEADER_BYTES: u64 = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Longest name and dimension list that are believed, in bytes; MATLAB's names have at most 63.
const LONGEST_FIELD: u32 = 4096;
const COMPLEX_FLAG: u32 = 0x0800;

/// Where an array lies in the file.
#[derive(Clone, Copy)]
struct Entry {
    offset: u64,
    bytes: u64,
    compressed: bool,
    /// Which field of a structure it is.
    field: Option<usize>,
}

/// An open file with the list of its arrays.
pub(super) struct MatFile {
    file: String,
    reader: BufReader<File>,
    big_endian: bool,
    entries: Vec<Entry>,
    arrays: Vec<ArrayInfo>,
}

impl MatFile {
    pub(super) fn new(file: &str, handle: File) -> Result<Self, DataError> {
        let io = |source| FileProblem::Io { source }.of(file);
        let length = handle.metadata().map_err(io)?.len();
        let mut reader = BufReader::new(handle);
        let mut header = [0_u8; HEADER_BYTES as usize];
        reader
            .read_exact(&mut header)
            .map_err(|_| malformed(file, "shorter than the 128 bytes of a header"))?;
        if header.starts_with(b"\x89HDF") || header.starts_with(b"MATLAB 7.3") {
            return Err(FileProblem::MatVersion.of(file));
        }
        let big_endian = match &header[126..128] {
            b"IM" => false,
            b"MI" => true,
            _ => return Err(malformed(file, "no level 5 header; files of level 4 are not read")),
        };
        let mut mat = Self {
            file: file.to_owned(),
            reader,
            big_endian,
            entries: Vec::new(),
            arrays: Vec::new(),
        };
        mat.scan(length)?;
        Ok(mat)
    }

    /// Lists the arrays without reading their numbers.
    fn scan(&mut self, length: u64) -> Result<(), DataError> {
        let mut offset = HEADER_BYTES;
        // A few trailing bytes of padding are no element.
        while offset + 8 <= length {
            self.seek(offset)?;
            let tag = read_tag(&mut self.reader, self.big_endian).map_err(|error| self.damaged(&error))?;
            let (start, bytes) = (offset + 8, u64::from(tag.bytes));
            if bytes > length - start {
                return Err(malformed(
                    &self.file,
                    format!("the element at byte {offset} is longer than the file"),
                ));
            }
            if tag.kind == MATRIX || tag.kind == COMPRESSED {
                let entry = Entry {
                    offset: start,
                    bytes,
                    compressed: tag.kind == COMPRESSED,
                    field: None,
                };
                let big_endian = self.big_endian;
                let info = self.open(&entry).and_then(|mut body| {
                    let (info, is_structure) = read_array_header(&mut body, big_endian)?;
                    let fields = match is_structure {
                        true => read_fields(&mut body, big_endian)?,
                        false => Vec::new(),
                    };
                    Ok((info, fields))
                });
                let (info, fields) = info.map_err(|error| self.damaged(&error))?;
                for (index, field) in fields.into_iter().enumerate() {
                    self.arrays.push(field.inside(&info.name));
                    self.entries.push(Entry {
                        field: Some(index),
                        ..entry
                    });
                }
                self.arrays.push(info);
                self.entries.push(entry);
            }
            // Only compressed elements are not padded to eight bytes.
            offset = start
                + if tag.kind == COMPRESSED {
                    bytes
                } else {
                    bytes.next_multiple_of(8)
                };
        }
        Ok(())
    }

    fn seek(&mut self, offset: u64) -> Result<(), DataError> {
        let found = self.reader.seek(SeekFrom::Start(offset));
        found
            .map(drop)
            .map_err(|source| FileProblem::Io { source }.of(&self.file))
    }

    /// The body of a matrix element, decompressed where needed.
    fn open(&mut self, entry: &Entry) -> io::Result<Box<dyn Read + '_>> {
        self.reader.seek(SeekFrom::Start(entry.offset))?;
        let stored = (&mut self.reader).take(entry.bytes);
        if !entry.compressed {
            return Ok(Box::new(stored));
        }
        let mut body = ZlibDecoder::new(stored);
        let tag = read_tag(&mut body, self.big_endian)?;
        if tag.kind != MATRIX {
            return Err(invalid("a compressed element that is no array"));
        }
        Ok(Box::new(body.take(u64::from(tag.bytes))))
    }

    /// All numbers of array `index` column by column, whichever way time runs.
    pub(super) fn read_all(&mut self, index: usize) -> Result<Vec<f64>, DataError> {
        let (rows, columns) = self.arrays[index].shape.unwrap_or_default();
        let one_column = (rows.saturating_mul(columns), 1);
        Ok(self.decode(index, one_column, &[0])?.pop().unwrap_or_default())
    }

    /// The columns `wanted` of array `index`, taken to have this shape.
    fn decode(
        &mut self,
        index: usize,
        (rows, columns): (u64, u64),
        wanted: &[usize],
    ) -> Result<Vec<Vec<f64>>, DataError> {
        let entry = self.entries[index];
        let bytes = entry.bytes;
        let big_endian = self.big_endian;
        let decoded = self.open(&entry).and_then(|mut body| {
            if let Some(field) = entry.field {
                read_array_header(&mut body, big_endian)?;
                read_field_names(&mut body, big_endian)?;
                for _ in 0..field {
                    let tag = read_tag(&mut body, big_endian)?;
                    skip(&mut body, u64::from(tag.bytes))?;
                }
                read_tag(&mut body, big_endian)?;
            }
            read_array_header(&mut body, big_endian)?;
            let tag = read_tag(&mut body, big_endian)?;
            let kind = number_kind(tag.kind).ok_or_else(|| invalid("numbers of unknown type"))?;
            let layout = Layout {
                element: Element { kind, big_endian },
                rows,
                columns,
                column_major: true,
                justified_bytes: bytes,
            };
            match tag.small {
                Some(data) => read_columns(&mut &data[..tag.bytes as usize], &layout, wanted),
                None => read_columns(&mut body.take(u64::from(tag.bytes)), &layout, wanted),
            }
        });
        decoded.map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &io::Error) -> DataError {
        malformed(&self.file, format!("the file ends early or is damaged ({error})"))
    }
}

impl ArrayFile for MatFile {
    fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    fn read(&mut self, index: usize, wanted: &[usize]) -> Result<Vec<Vec<f64>>, DataError> {
        let ArrayInfo { rows, columns, .. } = self.arrays[index];
        self.decode(index, (rows, columns), wanted)
    }
}

fn malformed(file: &str, problem: impl Into<String>) -> DataError {
    FileProblem::Malformed {
        format: "MATLAB",
        problem: problem.into(),
    }
    .of(file)
}

fn invalid(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Type and size of an element; up to four bytes of data may sit in the tag itself.
struct Tag {
    kind: u32,
    bytes: u32,
    small: Option<[u8; 4]>,
}

fn read_tag(reader: &mut impl Read, big_endian: bool) -> io::Result<Tag> {
    let mut raw = [0_u8; 8];
    reader.read_exact(&mut raw)?;
    let [a, b, c, d, data @ ..] = raw;
    let first = word([a, b, c, d], big_endian);
    if first >> 16 == 0 {
        return Ok(Tag {
            kind: first,
            bytes: word(data, big_endian),
            small: None,
        });
    }
    let bytes = first >> 16;
    if bytes > 4 {
        return Err(invalid("a small element of more than four bytes"));
    }
    Ok(Tag {
        kind: first & 0xffff,
        bytes,
        small: Some(data),
    })
}

fn word(bytes: [u8; 4], big_endian: bool) -> u32 {
    if big_endian {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    }
}

/// A short element with its padding.
fn read_field(reader: &mut impl Read, big_endian: bool) -> io::Result<Vec<u8>> {
    let tag = read_tag(reader, big_endian)?;
    if let Some(data) = tag.small {
        return Ok(data[..tag.bytes as usize].to_vec());
    }
    if tag.bytes > LONGEST_FIELD {
        return Err(invalid("a name or dimension list that is too long"));
    }
    let mut data = vec![0; tag.bytes.next_multiple_of(8) as usize];
    reader.read_exact(&mut data)?;
    data.truncate(tag.bytes as usize);
    Ok(data)
}

/// Names of the fields of a structure; leaves the reader at the first of them.
fn read_field_names(reader: &mut impl Read, big_endian: bool) -> io::Result<Vec<String>> {
    let length = read_field(reader, big_endian)?;
    let &[a, b, c, d] = length.as_slice() else {
        return Err(invalid("field names without a length"));
    };
    let length = word([a, b, c, d], big_endian) as usize;
    let names = read_field(reader, big_endian)?;
    if length == 0 || names.len() % length != 0 {
        return Err(invalid("field names of another length than they say"));
    }
    let text = |name: &[u8]| {
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        String::from_utf8_lossy(&name[..end]).into_owned()
    };
    Ok(names.chunks_exact(length).map(text).collect())
}

/// The fields of a structure, without reading their numbers. What is nested deeper is listed as unusable.
fn read_fields(reader: &mut impl Read, big_endian: bool) -> io::Result<Vec<ArrayInfo>> {
    let names = read_field_names(reader, big_endian)?;
    let mut fields = Vec::new();
    for name in names {
        let tag = read_tag(reader, big_endian)?;
        if tag.kind != MATRIX {
            return Err(invalid("a field that is no array"));
        }
        let mut body = reader.take(u64::from(tag.bytes));
        let mut info = match tag.bytes {
            // An empty field is a tag alone.
            0 => unusable(String::new(), "empty"),
            _ => read_array_header(&mut body, big_endian)?.0,
        };
        info.name = name;
        fields.push(info);
        let rest = body.limit();
        skip(&mut body, rest)?;
    }
    Ok(fields)
}

fn skip(reader: &mut impl Read, bytes: u64) -> io::Result<()> {
    match io::copy(&mut reader.take(bytes), &mut io::sink())? == bytes {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Flags, dimensions and name, and whether it is a single structure; leaves the reader at the numbers or fields.
fn read_array_header(reader: &mut impl Read, big_endian: bool) -> io::Result<(ArrayInfo, bool)> {
    let flags = read_field(reader, big_endian)?;
    let &[a, b, c, d, ..] = flags.as_slice() else {
        return Err(invalid("array flags that are too short"));
    };
    let flags = word([a, b, c, d], big_endian);
    let class = flags & 0xff;
    // Opaque objects (class 17: tables, strings) have no dimensions and no plain name.
    if class == 17 {
        return Ok((unusable(String::new(), "an object"), false));
    }
    let dimensions = read_field(reader, big_endian)?;
    let shape: Vec<u64> = dimensions
        .chunks_exact(4)
        .map(|d| u64::from(word([d[0], d[1], d[2], d[3]], big_endian)))
        .collect();
    let name = String::from_utf8_lossy(&read_field(reader, big_endian)?).into_owned();
    let is_structure = class == 2 && shape.iter().all(|size| *size == 1);
    let info = match class {
        6..=15 if flags & COMPLEX_FLAG != 0 => unusable(name, "a complex array"),
        6..=15 => ArrayInfo::numeric(name, &shape),
        1 => unusable(name, "a cell array"),
        2 => unusable(name, "a structure"),
        4 => unusable(name, "text"),
        5 => unusable(name, "a sparse array"),
        _ => unusable(name, "an object"),
    };
    Ok((info, is_structure))
}

fn unusable(name: String, what: &str) -> ArrayInfo {
    ArrayInfo::unusable(name, what.to_owned(), ArrayExpectation::MatlabNumbers)
}

fn number_kind(kind: u32) -> Option<Kind> {
    Some(match kind {
        1 => Kind::Signed(1),
        2 => Kind::Unsigned(1),
        3 => Kind::Signed(2),
        4 => Kind::Unsigned(2),
        5 => Kind::Signed(4),
        6 => Kind::Unsigned(4),
        7 => Kind::Float(4),
        9 => Kind::Float(8),
        12 => Kind::Signed(8),
        13 => Kind::Unsigned(8),
        _ => return None,
    })
}
