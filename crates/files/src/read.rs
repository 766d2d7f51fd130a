//! Files that somebody else may have put there: a pipe would keep its reader waiting for ever, a device would never end, and a link
//! may lead anywhere.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// What becomes of a link in place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// What it leads to is the file.
    Followed,
    /// It is refused: for files that nobody but us makes.
    Refused,
}

/// Opens a file to read it, and nothing else that may have its name.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::InvalidInput`] if it is no regular file, or a link that is refused.
pub fn open_file(path: &Path, links: Links) -> io::Result<File> {
    check(&found(path, links)?)?;
    let file = File::open(path)?;
    // Somebody may have put something else there in between.
    check(&file.metadata()?)?;
    Ok(file)
}

/// The content of a file of at most so many bytes.
///
/// ```
/// use intervalid_files::{Links, read_file};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes");
/// std::fs::write(&path, "four")?;
/// assert_eq!(read_file(&path, Links::Followed, 4)?, b"four");
/// assert!(read_file(&path, Links::Followed, 3).is_err());
/// assert!(read_file(folder.path(), Links::Followed, 4).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// As [`open_file`]; [`io::ErrorKind::InvalidData`] if it is longer.
pub fn read_file(path: &Path, links: Links, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path, links)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let what = format!("it is too long, expected at most {most_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// Opens a file of ours to write into it, and makes it if need be. What it holds stays, and a link is refused: it could name any file
/// of the user's.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::InvalidInput`] if it is a link, or no regular file.
pub fn open_own(path: &Path) -> io::Result<File> {
    match found(path, Links::Refused) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => check(&found?)?,
    }
    File::options().write(true).create(true).truncate(false).open(path)
}

fn found(path: &Path, links: Links) -> io::Result<Metadata> {
    match links {
        Links::Followed => fs::metadata(path),
        Links::Refused => fs::symlink_metadata(path),
    }
}

fn check(found: &Metadata) -> io::Result<()> {
    let kind = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_symlink() => "a link",
        kind if kind.is_dir() => "a folder",
        _ => "a pipe or a device",
    };
    let what = format!("it is {kind}, expected a regular file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn reason<T>(result: io::Result<T>) -> String {
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        error.to_string()
    }

    #[test]
    fn links_are_followed_where_they_may_be_and_lead_to_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, nowhere, device) = (
            folder.path().join("file"),
            folder.path().join("link"),
            folder.path().join("nowhere"),
            folder.path().join("device"),
        );
        fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        symlink(folder.path().join("outside"), &nowhere).unwrap();
        symlink("/dev/zero", &device).unwrap();
        assert_eq!(read_file(&link, Links::Followed, 9).unwrap(), b"text");
        assert!(reason(read_file(&link, Links::Refused, 9)).contains("a link"));
        assert!(reason(read_file(&device, Links::Followed, 9)).contains("a device"));
        assert!(reason(open_file(folder.path(), Links::Followed)).contains("a folder"));
        for link in [&link, &nowhere, &device] {
            assert!(reason(open_own(link)).contains("a link"));
        }
        assert!(!folder.path().join("outside").exists());
        assert_eq!(fs::read(&file).unwrap(), b"text");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no programs")]
    fn a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(reason(open_file(&pipe, Links::Followed)).contains("a pipe"));
        assert!(reason(open_own(&pipe)).contains("a pipe"));
    }
}
