//! Result files: written beside their final place and renamed, so that a reader never sees half of one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_files::{OwnedFolder, replace_file, sweep, temporary_file};

use crate::error::{Failure, MAKE_ROOM};

pub(crate) const ANOTHER_FOLDER: &str = "name another folder with --out DIR";

/// A folder for results.
#[derive(Debug)]
pub(crate) struct OutFolder {
    path: PathBuf,
    /// Folders that were not there before, outermost first.
    made: Vec<PathBuf>,
}

impl OutFolder {
    /// Makes the folder if need be and checks that files of these names can be written into it, so that no work is lost
    /// on a folder that cannot be used. Nothing is left in it yet.
    pub(crate) fn open(folder: &Path, names: &[&str]) -> Result<Self, Failure> {
        let refused = |found| Failure::input(found).with_hint(ANOTHER_FOLDER);
        refuse_file(folder)?;
        if let Some(name) = names.iter().find(|name| folder.join(name).is_dir()) {
            let found = anyhow!(
                "--out {}: '{name}' in it is a folder, expected a file",
                folder.display()
            );
            return Err(refused(found));
        }
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|path| !path.exists())
            .map(Path::to_owned)
            .collect();
        made.retain(|path| !path.as_os_str().is_empty());
        made.reverse();
        let tried = fs::create_dir_all(folder).and_then(|()| temporary_file(folder));
        sweep(folder);
        tried
            .with_context(|| format!("--out {}: cannot write into this folder", folder.display()))
            .map_err(|error| Failure::input(error).with_hint("name a folder that you may write with --out DIR"))?;
        Ok(Self {
            path: folder.to_owned(),
            made,
        })
    }

    /// Takes a folder away that was made for results which never came.
    pub(crate) fn abandon(&self) {
        for folder in self.made.iter().rev() {
            // Fails where there is something in it, which then stays.
            let _ = fs::remove_dir(folder);
        }
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a whole file, then gives it its name, replacing an older one.
    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) -> Result<(), Failure> {
        let path = self.path.join(name.as_ref());
        replace_file(&path, content).map_err(|error| {
            self.abandon();
            not_written(&path, error)
        })
    }

    /// Writes files at once, so that none stands beside those of another call.
    pub(crate) fn write_all<'a>(&self, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<(), Failure> {
        let owned = OwnedFolder::take_in_turn(here(&self.path))?;
        let mut staged = owned.stage()?;
        for (name, content) in files {
            staged.write(name, content)?;
        }
        Ok(staged.switch_unlisted()?)
    }
}

/// Refuses a file where a folder for results is wanted.
pub(crate) fn refuse_file(folder: &Path) -> Result<(), Failure> {
    if folder.exists() && !folder.is_dir() {
        let found = anyhow!("--out {}: this is a file, expected a folder", folder.display());
        return Err(Failure::input(found).with_hint(ANOTHER_FOLDER));
    }
    Ok(())
}

/// Extensions of files that programs open as something else than text.
const NO_TEXT: [&str; 14] = [
    "xlsx", "xlsm", "xls", "ods", "mat", "parquet", "npz", "npy", "h5", "json", "html", "pdf", "png", "svg",
];

/// Refuses a name that says something else than the CSV text that is to be written there.
pub(crate) fn refuse_other_than_csv(option: &str, target: &Path) -> Result<(), Failure> {
    let extension = target.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match NO_TEXT.contains(&extension.as_str()) {
        false => Ok(()),
        true => {
            let found = anyhow!(
                "{option} {}: CSV is written, expected a file NAME.csv",
                target.display()
            );
            Err(Failure::input(found).with_hint("spreadsheets open CSV files"))
        }
    }
}

/// What results are made from must not be replaced by them; `option` is what the user named `target` with.
pub(crate) fn refuse_replacing<'a>(
    option: &str,
    target: &Path,
    sources: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let place = match target.canonicalize() {
        Ok(place) if place.is_file() => place,
        _ => return Ok(()),
    };
    let is_target = |source: &&Path| source.canonicalize().is_ok_and(|source| source == place);
    match sources.into_iter().find(is_target) {
        None => Ok(()),
        Some(source) => {
            let found = anyhow!(
                "{option} {}: would replace {}, which is being read",
                target.display(),
                source.display()
            );
            Err(Failure::input(found).with_hint(format!("name another place with {option}")))
        }
    }
}

/// One file that a user named.
#[derive(Debug)]
pub(crate) enum OutFile {
    /// A file, there or not: written beside its place and renamed.
    File { folder: OutFolder, name: OsString },
    /// A device or a pipe, such as `/dev/stdout`: renaming a file onto it would take it away.
    Stream(PathBuf),
}

impl OutFile {
    /// Checks that the file can be written; `option` is what the user named it with.
    pub(crate) fn open(path: &Path, option: &str) -> Result<Self, Failure> {
        let label = format!("{option} {}", path.display());
        if path.is_dir() {
            return Err(Failure::input(anyhow!("{label}: this is a folder, expected a file")));
        }
        if path.exists() && !path.is_file() {
            return Ok(Self::Stream(path.to_owned()));
        }
        // A link stays one: what it points at is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let Some(name) = path.file_name().map(OsStr::to_owned) else {
            return Err(Failure::input(anyhow!("{label}: expected the name of a file")));
        };
        let parent = path.parent().unwrap_or(Path::new(""));
        sweep(here(parent));
        temporary_file(parent)
            .with_context(|| format!("{label}: cannot write into its folder"))
            .map_err(|error| {
                Failure::input(error).with_hint("name a file in a folder that exists and you may write")
            })?;
        let folder = OutFolder {
            path: parent.to_owned(),
            made: Vec::new(),
        };
        Ok(Self::File { folder, name })
    }

    /// Its name in its folder, if it is text.
    fn text_name(&self) -> Option<&str> {
        match self {
            Self::File { name, .. } => name.to_str(),
            Self::Stream(_) => None,
        }
    }

    /// Writes the whole file, then gives it its name.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        match self {
            Self::File { folder, name } => folder.write(name, content),
            Self::Stream(path) => fs::OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|mut stream| stream.write_all(content))
                .map_err(|error| not_written(path, error)),
        }
    }
}

/// Writes files of one folder at once, so that a header never stands beside the source of another model. Places of other kinds
/// are written one after the other.
pub(crate) fn write_together(places: &[OutFile], contents: &[&[u8]]) -> Result<(), Failure> {
    let names: Option<Vec<&str>> = places.iter().map(OutFile::text_name).collect();
    if let (Some(names), [OutFile::File { folder, .. }, _, ..]) = (names, places)
        && places
            .iter()
            .all(|place| matches!(place, OutFile::File { folder: other, .. } if other.path == folder.path))
    {
        return folder.write_all(names.into_iter().zip(contents.iter().copied()));
    }
    for (place, content) in places.iter().zip(contents) {
        place.write(content)?;
    }
    Ok(())
}

/// The empty path that a bare name has for its folder, as one that can be opened.
fn here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

fn not_written(path: &Path, error: io::Error) -> Failure {
    let hint = out_of_space(&error);
    let failure = Failure::run(anyhow::Error::new(error).context(format!("{}: cannot be written", path.display())));
    match hint {
        true => failure.with_hint(MAKE_ROOM),
        false => failure,
    }
}

/// Whether a write failed for want of room: disk, quota, or a limit on the size of files.
pub(crate) fn out_of_space(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
