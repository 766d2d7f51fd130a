//! The folder of a studio: the only way from a name in a request to a path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use intervalid_data::EXTENSIONS;
use intervalid_files::{LockedFile, make_folder};
use intervalid_report::folder::{METRICS, MODEL};

use crate::api_error::{ApiError, ApiResult};
use crate::error::{Result, StudioError};

/// What the studio keeps for itself.
const OWN: &str = ".intervalid-studio";
/// Longer names are refused.
const LONGEST_NAME: usize = 120;
/// More entries than this are not listed.
const MOST_LISTED: usize = 1000;

/// A folder that this process alone serves.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Absolute, without links.
    root: PathBuf,
    text: String,
    _lock: LockedFile,
}

impl Workspace {
    /// Makes the folder if need be and takes it.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let failed = |source: io::Error| StudioError::Folder {
            folder: folder.to_owned(),
            source,
        };
        if folder.is_file() {
            return Err(StudioError::NotAFolder {
                folder: folder.to_owned(),
            });
        }
        make_folder(folder).map_err(failed)?;
        let root = folder.canonicalize().map_err(failed)?;
        let text = root.to_str().map(str::to_owned).ok_or_else(|| StudioError::NotText {
            folder: folder.to_owned(),
        })?;
        let own = root.join(OWN);
        match fs::symlink_metadata(&own) {
            Ok(found) if !found.is_dir() => {
                return Err(StudioError::State {
                    file: own,
                    reason: "this is not a folder, and the studio needs one of that name".to_owned(),
                });
            }
            _ => make_folder(&own.join("bin")).map_err(failed)?,
        }
        let lock = LockedFile::take(own.join("lock")).map_err(failed)?;
        let lock = lock.ok_or_else(|| StudioError::Busy {
            folder: folder.to_owned(),
        })?;
        Ok(Self {
            root,
            text,
            _lock: lock,
        })
    }

    /// Where it is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The same as text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A file of the studio's own.
    pub(crate) fn own(&self, name: &str) -> PathBuf {
        self.root.join(OWN).join(name)
    }

    /// A recording in the folder.
    pub(crate) fn record(&self, name: &str) -> ApiResult<PathBuf> {
        let path = self.inside(name)?;
        match path.is_file() && is_record(name) {
            true => Ok(path),
            false => Err(ApiError::not_found(format!(
                "there is no recording '{name}' in the workspace"
            ))),
        }
    }

    /// The folder of a finished fit.
    pub(crate) fn fit(&self, name: &str) -> ApiResult<PathBuf> {
        let path = self.inside(name)?;
        match is_fit(&path) {
            true => Ok(path),
            false => Err(ApiError::not_found(format!(
                "there is no fit '{name}' in the workspace"
            ))),
        }
    }

    /// A file of a fit.
    pub(crate) fn fit_file(&self, name: &str, file: &str) -> ApiResult<PathBuf> {
        let path = self.fit(name)?.join(file);
        let found = path
            .canonicalize()
            .map_err(|_| ApiError::not_found(format!("the fit '{name}' has no {file}")))?;
        self.confined(&found, name)?;
        Ok(found)
    }

    /// A place where nothing is yet, for something of ours.
    pub(crate) fn new_place(&self, name: &str) -> ApiResult<PathBuf> {
        check_new_name(name)?;
        self.free_place(name)
    }

    /// A place where nothing is yet, for something that has been here before.
    pub(crate) fn free_place(&self, name: &str) -> ApiResult<PathBuf> {
        check_name(name)?;
        let path = self.root.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
            Err(error) => Err(ApiError::io(name, &error)),
            Ok(_) => Err(ApiError::conflict(format!(
                "there is something named '{name}' in the workspace already: choose another name"
            ))),
        }
    }

    /// A name that is free, made from `wish`.
    pub(crate) fn free_name(&self, wish: &str, is_taken: impl Fn(&str) -> bool) -> ApiResult<String> {
        let mut tried = wish.to_owned();
        for number in 2.. {
            check_new_name(&tried)?;
            if !is_taken(&tried) && self.new_place(&tried).is_ok() {
                break;
            }
            tried = format!("{wish}-{number}");
        }
        Ok(tried)
    }

    /// What is there under this name, wherever links lead, as long as it is inside.
    fn inside(&self, name: &str) -> ApiResult<PathBuf> {
        check_name(name)?;
        let found = self
            .root
            .join(name)
            .canonicalize()
            .map_err(|_| ApiError::not_found(format!("there is no '{name}' in the workspace")))?;
        self.confined(&found, name)?;
        Ok(found)
    }

    /// Refuses what lies elsewhere, or is the studio's own.
    fn confined(&self, found: &Path, name: &str) -> ApiResult<()> {
        match found.strip_prefix(&self.root) {
            Ok(inside) if !inside.starts_with(OWN) && inside != Path::new("") => Ok(()),
            _ => Err(ApiError::bad(format!("'{name}' leads out of the workspace"))),
        }
    }

    /// Names of recordings, sorted.
    pub(crate) fn records(&self) -> ApiResult<Vec<String>> {
        self.names(|name| self.record(name).is_ok())
    }

    /// Names of finished fits, sorted.
    pub(crate) fn fits(&self) -> ApiResult<Vec<String>> {
        self.names(|name| self.fit(name).is_ok())
    }

    fn names(&self, is_wanted: impl Fn(&str) -> bool) -> ApiResult<Vec<String>> {
        let entries =
            fs::read_dir(&self.root).map_err(|error| ApiError::io("the workspace cannot be listed", &error))?;
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_wanted(name)).take(MOST_LISTED).collect();
        names.sort_unstable();
        Ok(names)
    }
}

/// Whether a file of this name is read as a recording.
pub(crate) fn is_record(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_lowercase().as_str()))
}

fn is_fit(path: &Path) -> bool {
    path.is_dir() && path.join(METRICS).is_file() && path.join(MODEL).is_file()
}

/// A name is one step down from the folder, and not hidden.
pub(crate) fn check_name(name: &str) -> ApiResult<()> {
    let is_plain = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control);
    match is_plain {
        true => Ok(()),
        false => Err(ApiError::bad(format!(
            "{name:?} is not a name in the workspace: expected 1 to {LONGEST_NAME} bytes that start with no point and hold no slash, \
             backslash or colon"
        ))),
    }
}

/// What we make has a name that every system and shell can bear.
fn check_new_name(name: &str) -> ApiResult<()> {
    check_name(name)?;
    let is_tame = |character: char| character.is_alphanumeric() || " -_.+()".contains(character);
    match name.chars().all(is_tame) && !name.ends_with(['.', ' ']) && !name.starts_with([' ', '-']) {
        true => Ok(()),
        false => Err(ApiError::bad(format!(
            "'{name}' cannot be a new name: expected letters, digits, blanks and - _ . + ( ), a letter or digit first"
        ))),
    }
}
