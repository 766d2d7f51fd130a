//! Paths in JSON. A name that is no valid UTF-8 has no exact form there; it is shown with replacement characters, since an error
//! would come after the work.

use std::path::{Path, PathBuf};

use serde::Serializer;

/// For `serialize_with`.
pub(crate) fn one<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// For `serialize_with`; serde hands over a reference to the field.
pub(crate) fn maybe<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => one(path, serializer),
        None => serializer.serialize_none(),
    }
}

/// For `serialize_with`.
pub(crate) fn several<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.display().to_string()))
}
