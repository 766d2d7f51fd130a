//! Result files: written beside their final place and renamed, so that a reader never sees half of one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use tempfile::{Builder, NamedTempFile};

use crate::error::Failure;

/// A file that will appear in a folder once it is complete.
#[derive(Debug)]
pub(crate) struct OutFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl OutFile {
    /// Makes the folder if need be and checks that it can be written. Until [`OutFile::finish`], the file does not
    /// appear under its name, and a failed run removes it.
    pub(crate) fn create(folder: &Path, name: &str) -> Result<Self, Failure> {
        let path = folder.join(name);
        if folder.exists() && !folder.is_dir() {
            let found = anyhow!("--out {}: this is a file, expected a folder", folder.display());
            return Err(Failure::input(found).with_hint("name another folder with --out DIR"));
        }
        if path.is_dir() {
            let found = anyhow!(
                "--out {}: '{name}' in it is a folder, expected a file",
                folder.display()
            );
            return Err(Failure::input(found).with_hint("name another folder with --out DIR"));
        }
        let temporary = fs::create_dir_all(folder).and_then(|()| temporary(folder));
        let temporary = temporary
            .with_context(|| format!("--out {}: cannot write into this folder", folder.display()))
            .map_err(|error| Failure::input(error).with_hint("name a folder that you may write with --out DIR"))?;
        Ok(Self { temporary, path })
    }

    /// Writes the content, then gives the file its name, replacing an older one.
    pub(crate) fn finish(mut self, content: &[u8]) -> Result<PathBuf, Failure> {
        let failed = |error: io::Error| {
            let context = format!("{}: cannot be written", self.path.display());
            Failure::run(anyhow::Error::new(error).context(context))
        };
        self.temporary
            .write_all(content)
            .and_then(|()| self.temporary.as_file().sync_all())
            .map_err(failed)?;
        self.temporary
            .persist(&self.path)
            .map_err(|error| failed(error.error))?;
        Ok(self.path)
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
