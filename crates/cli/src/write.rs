//! Result files: written beside their final place and renamed, so that a reader never sees half of one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_files::{
    FolderError, MANIFEST, Manifest, OwnedFolder, make_folder, replace_file, settle, sweep, temporary_file,
};
use intervalid_study::DATABASE;

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
        let tried = make_folder(folder).and_then(|()| temporary_file(folder));
        sweep(folder);
        tried
            .with_context(|| format!("--out {}: cannot write into this folder", folder.display()))
            .map_err(|error| Failure::input(error).with_hint("name a folder that you may write with --out DIR"))?;
        Ok(Self {
            path: folder.to_owned(),
            made,
        })
    }

    /// Refuses to replace tables that are not such as are to be written there, by their first lines: they are somebody else's.
    pub(crate) fn refuse_other_tables(&self, tables: &[(&str, &[u8])]) -> Result<(), Failure> {
        let heading = |content: &[u8]| content.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
        for (name, content) in tables {
            let path = self.path.join(name);
            let mut found = Vec::new();
            let start = fs::File::open(&path).and_then(|file| file.take(content.len() as u64).read_to_end(&mut found));
            if start.is_ok() && heading(&found) != heading(content) {
                self.abandon();
                let found = anyhow!(
                    "--out {}: '{name}' in it is another table, and would be replaced",
                    self.path.display()
                );
                return Err(Failure::input(found).with_hint(ANOTHER_FOLDER));
            }
        }
        Ok(())
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
        finish_left(here(&self.path))?;
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
pub(crate) fn refuse_replacing(
    option: &str,
    target: &Path,
    sources: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), Failure> {
    let place = match target.canonicalize() {
        Ok(place) if place.is_file() => place,
        _ => return Ok(()),
    };
    for source in sources {
        let source = source.as_ref();
        if source.canonicalize().is_ok_and(|source| source == place) {
            let found = anyhow!(
                "{option} {}: would replace {}, which is being read",
                target.display(),
                source.display()
            );
            return Err(Failure::input(found).with_hint(format!("name another place with {option}")));
        }
    }
    Ok(())
}

/// Two options of one command must not name the same file: what is written last would be all that is left.
pub(crate) fn refuse_same(options: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    let named = options.iter().filter_map(|(option, path)| Some((option, (*path)?)));
    let mut places: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in named {
        // Devices may take as much as is written to them.
        if path.exists() && !path.is_file() {
            continue;
        }
        let place = place_of(path);
        if let Some((other, _)) = places.iter().find(|(_, earlier)| *earlier == place) {
            let found = anyhow!("{other} and {option} both name {}", path.display());
            return Err(Failure::input(found).with_hint(format!("name another place with {option}")));
        }
        places.push((option, place));
    }
    Ok(())
}

/// Where a file is or will be, whatever leads there.
fn place_of(path: &Path) -> PathBuf {
    let future = || {
        let folder = here(path.parent()?).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize()
        .ok()
        .or_else(future)
        .unwrap_or_else(|| path.to_owned())
}

/// Refuses a file that belongs together with others: one that a fit wrote, or the database of a study.
fn refuse_part_of_results(option: &str, path: &Path) -> Result<(), Failure> {
    let place = place_of(path);
    let (Some(name), Some(folder)) = (place.file_name().and_then(OsStr::to_str), place.parent()) else {
        return Ok(());
    };
    if !place.is_file() {
        return Ok(());
    }
    let owner = match name {
        DATABASE => "the database of a study",
        MANIFEST => "the list of the files of a fit",
        // A list that cannot be read protects nothing; whoever reads the folder says so.
        _ => match Manifest::read(folder) {
            Ok(Some(manifest)) if manifest.names().any(|listed| listed == name) => "one of the files of a fit",
            _ => return Ok(()),
        },
    };
    let found = anyhow!("{option} {}: would replace {owner}", path.display());
    Err(Failure::input(found).with_hint(format!("name another place with {option}")))
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
    /// Checks that the file can be written, and is none of the files of a fit or a study; `option` is what the user named it with.
    pub(crate) fn open(path: &Path, option: &str) -> Result<Self, Failure> {
        refuse_part_of_results(option, path)?;
        Self::open_own(path, option)
    }

    /// The same for a file that may be one of a fit, by a command that keeps its folder whole.
    pub(crate) fn open_own(path: &Path, option: &str) -> Result<Self, Failure> {
        let label = format!("{option} {}", path.display());
        if path.is_dir() {
            return Err(Failure::input(anyhow!("{label}: this is a folder, expected a file")));
        }
        if path.exists() && !path.is_file() {
            return Ok(Self::Stream(path.to_owned()));
        }
        if path.is_symlink() && !path.exists() {
            return Err(
                Failure::input(anyhow!("{label}: this link leads nowhere")).with_hint("remove it, or name a file")
            );
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
        && places.iter().all(|place| {
            // Of files that exist the folder is known by its full name, of others as the user named it.
            matches!(place, OutFile::File { folder: other, .. } if place_of(here(&other.path)) == place_of(here(&folder.path)))
        })
    {
        return folder.write_all(names.into_iter().zip(contents.iter().copied()));
    }
    for (place, content) in places.iter().zip(contents) {
        place.write(content)?;
    }
    Ok(())
}

/// Finishes the switch that a killed process has left in a folder, if there is one: a file that is written beside it would be replaced by an
/// older one when somebody else finishes it.
fn finish_left(folder: &Path) -> Result<(), Failure> {
    match settle(folder, &[]) {
        // The list of a fit is a matter of those who read its files.
        Err(FolderError::Damaged { .. }) => Ok(()),
        settled => Ok(settled?),
    }
}

/// The empty path that a bare name has for its folder, as one that can be opened.
pub(crate) fn here(folder: &Path) -> &Path {
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
