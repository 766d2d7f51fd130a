//! A file that grows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(500);
/// Looks without a change after which the user is told that the last line has no end.
const PATIENCE: u32 = 20;

/// Waits for a file to grow by whole lines.
pub(super) struct Growing {
    path: PathBuf,
    /// Length at the last look, and whether it has been read.
    length: u64,
    is_read: bool,
    unchanged: u32,
}

impl Growing {
    /// Refuses what cannot be followed: names of built-in data, and files that are no text.
    pub(super) fn new(data: &[String]) -> Result<Self, Failure> {
        let [name] = data else {
            return Err(Failure::input(anyhow!(
                "--follow: {} recordings are named, expected the one that grows",
                data.len()
            )));
        };
        let path = Path::new(name);
        let is_text = path.extension().is_some_and(|end| {
            ["csv", "tsv", "txt"]
                .iter()
                .any(|known| end.eq_ignore_ascii_case(known))
        });
        if !path.is_file() || !is_text {
            return Err(Failure::input(anyhow!(
                "--follow {name}: expected a .csv, .tsv or .txt file that is there"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            length: 0,
            is_read: false,
            unchanged: 0,
        })
    }

    /// Waits until there are new lines, the last one whole: half a number is a wrong one. False once the user wants to stop.
    pub(super) fn wait(&mut self, output: &Output) -> Result<bool, Failure> {
        loop {
            if interrupt::requested() {
                return Ok(false);
            }
            let (length, is_whole) = self.look()?;
            if length != self.length {
                (self.length, self.is_read, self.unchanged) = (length, false, 0);
            } else {
                self.unchanged = self.unchanged.saturating_add(1);
            }
            if !self.is_read && is_whole {
                return Ok(true);
            }
            if !self.is_read && self.unchanged == PATIENCE {
                output.warning(format_args!(
                    "{}: its last line has no end yet; waiting for it",
                    self.path.display()
                ));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether what was read since [`wait`](Self::wait) is still all there is: otherwise its last line may have been half a one.
    pub(super) fn is_settled(&mut self) -> Result<bool, Failure> {
        self.is_read = self.look()?.0 == self.length;
        Ok(self.is_read)
    }

    /// Length, and whether it ends with a whole line.
    fn look(&self) -> Result<(u64, bool), Failure> {
        let look = || -> io::Result<(u64, bool)> {
            let mut file = File::open(&self.path)?;
            let length = file.metadata()?.len();
            if length == 0 {
                return Ok((0, false));
            }
            file.seek(SeekFrom::Start(length - 1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            Ok((length, last[0] == b'\n'))
        };
        look()
            .with_context(|| format!("{}: cannot be followed", self.path.display()))
            .map_err(Failure::run)
    }
}
