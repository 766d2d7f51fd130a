//! Result files: written beside their final place and renamed, so that a reader never sees half of one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use tempfile::{Builder, NamedTempFile};

use crate::error::Failure;

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
        let refused = |found| Failure::input(found).with_hint("name another folder with --out DIR");
        if folder.exists() && !folder.is_dir() {
            let found = anyhow!("--out {}: this is a file, expected a folder", folder.display());
            return Err(refused(found));
        }
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
        let tried = fs::create_dir_all(folder).and_then(|()| temporary(folder));
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

    /// Takes an older file away, if there is one.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Failure> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::run(
                anyhow::Error::new(error).context(format!("{}: cannot be replaced", path.display())),
            )),
            _ => Ok(()),
        }
    }

    /// Where it is, as the user named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a whole file, then gives it its name, replacing an older one.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let path = self.path.join(name);
        let written = || -> io::Result<()> {
            let mut file = temporary(&self.path)?;
            file.write_all(content)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        written()
            .with_context(|| format!("{}: cannot be written", path.display()))
            .map_err(Failure::run)
    }
}

/// One file that a user named.
#[derive(Debug)]
pub(crate) struct OutFile {
    folder: OutFolder,
    name: String,
}

impl OutFile {
    /// Checks that the file can be written; `option` is what the user named it with.
    pub(crate) fn open(path: &Path, option: &str) -> Result<Self, Failure> {
        let label = format!("{option} {}", path.display());
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|_| !path.is_dir()) else {
            return Err(Failure::input(anyhow!("{label}: this is a folder, expected a file")));
        };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        temporary(parent)
            .with_context(|| format!("{label}: cannot write into {}", parent.display()))
            .map_err(Failure::input)?;
        let folder = OutFolder {
            path: parent.to_owned(),
            made: Vec::new(),
        };
        Ok(Self { folder, name })
    }

    /// Writes the whole file, then gives it its name.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Failure> {
        self.folder.write(&self.name, content)
    }
}

fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".intervalid-");
    // Temporary files are private by default; results follow the user's umask like any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
