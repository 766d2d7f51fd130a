//! Named vectors in one file: the container of models and checkpoints (safetensors with one JSON string of metadata).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use intervalid_interval::Real;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};

use crate::error::{ModelError, Result};

/// The metadata key under which everything that is not a tensor is kept.
const KEY: &str = "intervalid";

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
    pub(crate) fn write(self, path: &Path, metadata: String) -> Result<()> {
        let file_error = |source: std::io::Error| ModelError::File {
            action: "write",
            path: path.to_owned(),
            source,
        };
        let views = self
            .tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| Ok((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
        let bytes = views
            .and_then(|views| serialize(views, Some(HashMap::from([(KEY.to_owned(), metadata)]))))
            .map_err(|error| file_error(std::io::Error::other(error)))?;
        write_atomic(path, &bytes).map_err(file_error)
    }
}

/// Replaces a file in one step, durably.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = folder.join(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        // Best effort: the first error is the one worth reporting.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    // Some file systems cannot sync a folder; the rename has happened all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn dtype<T: Real>() -> Dtype {
    if T::NAME == "f32" { Dtype::F32 } else { Dtype::F64 }
}

/// A file read back.
pub(crate) struct TensorReader {
    bytes: Vec<u8>,
    path: PathBuf,
    what: &'static str,
}

impl TensorReader {
    pub(crate) fn open(path: &Path, what: &'static str) -> Result<(Self, String)> {
        let bytes = fs::read(path).map_err(|source| ModelError::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        let reader = Self {
            bytes,
            path: path.to_owned(),
            what,
        };
        let (_, metadata) =
            SafeTensors::read_metadata(&reader.bytes).map_err(|error| reader.damaged(error.to_string()))?;
        let Some(text) = metadata.metadata().as_ref().and_then(|map| map.get(KEY)) else {
            return Err(reader.damaged(format!(
                "it has no metadata `{KEY}`; was it written by another program?"
            )));
        };
        let text = text.clone();
        Ok((reader, text))
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

    /// `"f32"` or `"f64"`, from the first tensor.
    pub(crate) fn precision(&self) -> Result<&'static str> {
        let tensors = self.tensors()?;
        let first = tensors.iter().next().map(|(_, view)| view.dtype());
        match first {
            Some(Dtype::F32) => Ok(f32::NAME),
            Some(Dtype::F64) => Ok(f64::NAME),
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

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}
