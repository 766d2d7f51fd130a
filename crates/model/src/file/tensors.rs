//! Named vectors in one file: the container of models and checkpoints (safetensors with one JSON string of metadata).
//!
//! A checksum tells damage from content: safetensors itself has none, and a flipped bit in a weight would otherwise be a
//! slightly different model. It is a field of the metadata and is computed over what they say, not how they are written, so
//! that it survives another JSON library; files of other programs may leave it out.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use intervalid_data::replace_file;
use intervalid_interval::Real;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{FileKind, ModelError, Result};
use crate::kind::Precision;

/// The metadata key under which everything that is not a tensor is kept.
const KEY: &str = "intervalid";

/// The field of the metadata that holds the [`checksum`].
const CHECKSUM: &str = "checksum";

/// What stands before and after the checksum at the end of the metadata that version 0.1 wrote, where it covers their text.
const CHECKSUM_0_1: (&str, &str) = (",\"checksum\":\"fnv1a64:", "\"}");

/// Bytes of the length in front of a safetensors header.
const PREFIX: usize = 8;

/// Vectors to be written.
#[derive(Default)]
pub(crate) struct TensorWriter {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl TensorWriter {
    pub(crate) fn push<T: Real>(&mut self, name: impl Into<String>, shape: Vec<usize>, values: &[T]) {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        for value in values {
            match dtype::<T>() {
                Dtype::F32 => bytes.extend((value.as_f64() as f32).to_le_bytes()),
                _ => bytes.extend(value.as_f64().to_le_bytes()),
            }
        }
        self.tensors.push((name.into(), dtype::<T>(), shape, bytes));
    }

    /// Writes to a temporary name beside `path`, syncs and renames: `path` is either the old file or the new one.
    pub(crate) fn write(&self, path: &Path, metadata: &str) -> Result<()> {
        let file_error = |source: std::io::Error| ModelError::File {
            action: "write",
            path: path.to_owned(),
            source,
        };
        let bytes = self.bytes(metadata).map_err(file_error)?;
        replace_file(path, &bytes).map_err(file_error)
    }

    /// The content of the file.
    pub(crate) fn bytes(&self, metadata: &str) -> std::io::Result<Vec<u8>> {
        let views = self
            .tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| Ok((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(std::io::Error::other)?;
        let mut fields: Map<String, Value> = serde_json::from_str(metadata)?;
        let sum = checksum(&Value::Object(fields.clone()), views.clone());
        fields.insert(CHECKSUM.to_owned(), Value::String(sum));
        let metadata = serde_json::to_string(&fields)?;
        serialize(views, Some(HashMap::from([(KEY.to_owned(), metadata)]))).map_err(std::io::Error::other)
    }
}

fn dtype<T: Real>() -> Dtype {
    if T::NAME == "f32" { Dtype::F32 } else { Dtype::F64 }
}

/// A file read back.
pub(crate) struct TensorReader {
    bytes: Vec<u8>,
    path: PathBuf,
    what: FileKind,
}

impl TensorReader {
    pub(crate) fn open(path: &Path, what: FileKind) -> Result<(Self, String)> {
        let file_error = |source| ModelError::File {
            action: "read",
            path: path.to_owned(),
            source,
        };
        // Devices and pipes may never end.
        let kind = fs::metadata(path).map_err(file_error)?;
        if !kind.is_file() {
            let found = if kind.is_dir() {
                "a folder"
            } else {
                "not a regular file"
            };
            let reason = format!("it is {found}, expected a safetensors file");
            return Err(ModelError::Format {
                what,
                path: path.to_owned(),
                reason,
            });
        }
        Self::new(path, what, fs::read(path).map_err(file_error)?)
    }

    /// Checks frame and checksum of a file's content and gives its metadata, without the checksum.
    pub(crate) fn new(path: &Path, what: FileKind, bytes: Vec<u8>) -> Result<(Self, String)> {
        let reader = Self {
            bytes,
            path: path.to_owned(),
            what,
        };
        check_frame(&reader.bytes).map_err(|reason| reader.damaged(reason))?;
        let (_, metadata) =
            SafeTensors::read_metadata(&reader.bytes).map_err(|error| reader.damaged(error.to_string()))?;
        let Some(text) = metadata.metadata().as_ref().and_then(|map| map.get(KEY)) else {
            return Err(reader.damaged(format!(
                "it has no metadata `{KEY}`; was it written by another program?"
            )));
        };
        let text = text.clone();
        let tensors = reader.tensors()?;
        let tensors = tensors.iter().collect();
        if let Some((fields, expected)) = text
            .strip_suffix(CHECKSUM_0_1.1)
            .and_then(|text| text.rsplit_once(CHECKSUM_0_1.0))
        {
            let text = format!("{fields}}}");
            let found = checksum_0_1(&text, tensors);
            reader.compare_checksums(&found, expected)?;
            return Ok((reader, text));
        }
        let mut metadata: Value = serde_json::from_str(&text)
            .map_err(|error| reader.damaged(format!("its metadata are not JSON: {error}")))?;
        let expected = metadata.as_object_mut().and_then(|fields| fields.remove(CHECKSUM));
        match expected {
            None => return Ok((reader, text)),
            Some(Value::String(expected)) => {
                let found = checksum(&metadata, tensors);
                reader.compare_checksums(&found, &expected)?;
            }
            Some(other) => return Err(reader.damaged(format!("its checksum is {other}, expected text"))),
        }
        let text = serde_json::to_string(&metadata).map_err(|error| reader.damaged(error.to_string()))?;
        Ok((reader, text))
    }

    fn compare_checksums(&self, found: &str, expected: &str) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(self.damaged(format!(
            "its checksum is {found}, expected {expected}: the file is damaged (a program that changes it on purpose must \
             drop the field `checksum`)"
        )))
    }

    pub(crate) fn damaged(&self, reason: impl Into<String>) -> ModelError {
        ModelError::Format {
            what: self.what,
            path: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// Checks the whole file (offsets, sizes) and gives access to its tensors.
    pub(crate) fn tensors(&self) -> Result<SafeTensors<'_>> {
        SafeTensors::deserialize(&self.bytes).map_err(|error| self.damaged(error.to_string()))
    }

    /// From the first tensor by name: their order in a map is another each time.
    pub(crate) fn precision(&self) -> Result<Precision> {
        let tensors = self.tensors()?;
        let first = tensors.iter().min_by(|a, b| a.0.cmp(b.0)).map(|(_, view)| view.dtype());
        match first {
            Some(Dtype::F32) => Ok(Precision::F32),
            Some(Dtype::F64) => Ok(Precision::F64),
            other => Err(self.damaged(format!("tensors are {other:?}, expected F32 or F64"))),
        }
    }

    /// The values of a tensor, which must have this shape and type and be finite.
    pub(crate) fn get<T: Real>(&self, tensors: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        let view = tensors
            .tensor(name)
            .map_err(|_| self.damaged(format!("tensor `{name}` is missing")))?;
        if view.dtype() != dtype::<T>() {
            return Err(self.damaged(format!("tensor `{name}` is {:?}, expected {}", view.dtype(), T::NAME)));
        }
        if view.shape() != shape {
            return Err(self.damaged(format!(
                "tensor `{name}` has shape {:?}, expected {shape:?}",
                view.shape()
            )));
        }
        let values: Vec<T> = match view.dtype() {
            Dtype::F32 => chunks::<4>(view.data())
                .map(|b| T::of(f64::from(f32::from_le_bytes(b))))
                .collect(),
            _ => chunks::<8>(view.data()).map(|b| T::of(f64::from_le_bytes(b))).collect(),
        };
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(self.damaged(format!("tensor `{name}` holds {} at position {index}", values[index]))),
            None => Ok(values),
        }
    }
}

/// FNV-1a (64 bits). Each step is one-to-one in the sum and in the byte, so no single damaged byte goes unnoticed.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Text with its length, so that two neighbours cannot be taken for two others.
    fn add_text(&mut self, text: &str) {
        self.add(&(text.len() as u64).to_le_bytes());
        self.add(text.as_bytes());
    }

    /// What a JSON value says: numbers by their value, fields in the order of their names.
    fn add_json(&mut self, value: &Value) {
        match value {
            Value::Null => self.add(b"n"),
            Value::Bool(is) => self.add(if *is { b"t" } else { b"f" }),
            Value::Number(number) => {
                self.add(b"#");
                self.add(&number.as_f64().unwrap_or(f64::NAN).to_bits().to_le_bytes());
            }
            Value::String(text) => {
                self.add(b"s");
                self.add_text(text);
            }
            Value::Array(values) => {
                self.add(b"[");
                values.iter().for_each(|value| self.add_json(value));
                self.add(b"]");
            }
            Value::Object(fields) => {
                self.add(b"{");
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(name, _)| *name);
                for (name, value) in fields {
                    self.add_text(name);
                    self.add_json(value);
                }
                self.add(b"}");
            }
        }
    }

    /// All tensors in the order of their names.
    fn add_tensors(&mut self, mut tensors: Vec<(&str, TensorView<'_>)>) {
        tensors.sort_unstable_by_key(|(name, _)| *name);
        for (name, view) in &tensors {
            self.add(format!("\n{name} {:?} {:?}\n", view.dtype(), view.shape()).as_bytes());
            self.add(view.data());
        }
    }
}

/// The checksum of a file.
fn checksum(metadata: &Value, tensors: Vec<(&str, TensorView<'_>)>) -> String {
    let mut sum = Fnv::new();
    sum.add_json(metadata);
    sum.add_tensors(tensors);
    format!("fnv1a64-json:{:016x}", sum.0)
}

/// The checksum as version 0.1 computed it, without its prefix.
fn checksum_0_1(metadata: &str, tensors: Vec<(&str, TensorView<'_>)>) -> String {
    let mut sum = Fnv::new();
    sum.add(metadata.as_bytes());
    sum.add_tensors(tensors);
    format!("{:016x}", sum.0)
}

/// Checks that the header lies in the file and every offset in it points into the file, so that the reader that follows
/// cannot overflow; says what is wrong in words that fit a file of another kind.
fn check_frame(bytes: &[u8]) -> Result<(), String> {
    let not_safetensors =
        |what: String| format!("{what}: expected a safetensors file; is it another kind, or cut short?");
    let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX>() else {
        return Err(not_safetensors(format!("it has only {} bytes", bytes.len())));
    };
    let length = u64::from_le_bytes(*prefix);
    let header = usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length));
    let Some((header, data)) = header else {
        let have = rest.len();
        return Err(not_safetensors(format!(
            "it announces a header of {length} bytes and has {have}"
        )));
    };
    let Ok(LargestOffset(needed)) = serde_json::from_slice(header) else {
        return Err(not_safetensors("its header is not a table of tensors".to_owned()));
    };
    if needed != data.len() as u64 {
        let have = data.len();
        return Err(format!(
            "it holds {have} bytes of tensors, its header describes {needed}: is it cut short?"
        ));
    }
    Ok(())
}

/// Where the last tensor of a safetensors header ends.
struct LargestOffset(u64);

impl<'de> Deserialize<'de> for LargestOffset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Entry {
            data_offsets: (u64, u64),
        }

        struct Largest;

        impl<'de> Visitor<'de> for Largest {
            type Value = LargestOffset;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LargestOffset, A::Error> {
                let mut largest = 0;
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        let (start, end) = map.next_value::<Entry>()?.data_offsets;
                        largest = largest.max(start).max(end);
                    }
                }
                Ok(LargestOffset(largest))
            }
        }

        deserializer.deserialize_map(Largest)
    }
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}
