//! What a program asked of the file system, from the log of `strace`.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::disk::Disk;

const CALLS: &str = "trace=open,openat,creat,close,dup,dup2,dup3,fcntl,write,pwrite64,lseek,ftruncate,rename,renameat,renameat2,link,\
                     linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,execve,fork,vfork,clone,clone3";

/// Runs a program and gives what it asked, one call per line as it was answered; none where this machine does not let us watch.
pub(super) fn watched(program: &Command, log: &Path) -> Option<Vec<String>> {
    let mut command = Command::new("strace");
    // Strings in hexadecimal: no quotation mark or comma is part of one.
    command
        .args(["-f", "-xx", "-s", "100000000", "-e", CALLS, "-o"])
        .arg(log);
    command.arg("--").arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().expect("a folder to run in"));
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.expect("strace runs"),
    };
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("Operation not permitted") {
        return None;
    }
    assert!(matches!(output.status.code(), Some(0 | 3)), "{error}");
    Some(joined(&fs::read_to_string(log).expect("a log")))
}

/// Calls that others came between, in one line again, where they were answered.
fn joined(log: &str) -> Vec<String> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (process, call) = line.split_once(' ').expect("a process");
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, start);
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            let start = begun.remove(process).expect("a beginning");
            calls.push(format!("{start}{end}"));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// An open file or folder below the root: its path when it was opened, and where the next write goes.
#[derive(Clone)]
struct Opened {
    file: Option<usize>,
    path: PathBuf,
    place: usize,
    appends: bool,
}

/// Follows the calls of one process, whose threads share what is open.
pub(super) struct Follower<'a> {
    root: &'a Path,
    open: HashMap<String, Opened>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            open: HashMap::new(),
        }
    }

    /// Does to `disk` what a call did; whether it did anything there.
    pub(super) fn follow(&mut self, call: &str, disk: &mut Disk) -> bool {
        let Some((name, arguments, answer)) = parts(call) else {
            return false;
        };
        // A child would have its own table of what is open; none of ours has one that writes.
        if answer.starts_with('-') {
            return false;
        }
        let argument = |index: usize| arguments.get(index).copied().unwrap_or_default();
        let path = |index: usize| self.below(&text(argument(index)));
        match name {
            "open" | "creat" => self.opened(&path(0), argument(1), answer, disk),
            "openat" => self.opened(&path(1), argument(2), answer, disk),
            "close" => {
                self.open.remove(argument(0));
                false
            }
            "dup" | "dup2" | "dup3" => self.duplicated(argument(0), answer),
            "fcntl" if argument(1).starts_with("F_DUPFD") => self.duplicated(argument(0), answer),
            "write" => self.written(argument(0), &bytes(argument(1)), None, disk),
            "pwrite64" => self.written(argument(0), &bytes(argument(1)), argument(3).parse().ok(), disk),
            "lseek" => {
                if let (Some(opened), Ok(place)) = (self.open.get_mut(argument(0)), answer.parse()) {
                    opened.place = place;
                }
                false
            }
            "ftruncate" => match self.open.get(argument(0)).and_then(|opened| opened.file) {
                Some(file) => disk.resize(file, argument(1).parse().expect("a length")),
                None => false,
            },
            "rename" => disk.rename(path(0), path(1)),
            "renameat" | "renameat2" => disk.rename(path(1), path(3)),
            "unlink" | "rmdir" => disk.remove(path(0)),
            "unlinkat" => disk.remove(path(1)),
            "mkdir" => disk.make_folder(path(0)),
            "mkdirat" => disk.make_folder(path(1)),
            "fsync" | "fdatasync" => match self.open.get(argument(0)) {
                Some(Opened { file: Some(file), .. }) => disk.sync_file(*file),
                Some(Opened { path, .. }) => disk.sync_folder(path),
                None => false,
            },
            "link" | "linkat" => panic!("links are not followed: {call}"),
            _ => false,
        }
    }

    /// The place below the root; none of what lies elsewhere.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let whole = self.root.join(path);
        let mut plain = PathBuf::new();
        for part in whole.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        plain.strip_prefix(self.root).ok().map(Path::to_owned)
    }

    fn opened(&mut self, path: &Option<PathBuf>, flags: &str, answer: &str, disk: &mut Disk) -> bool {
        let number = answer.split_whitespace().next().expect("a number").to_owned();
        let Some(path) = path.clone() else {
            self.open.remove(&number);
            return false;
        };
        let before = disk.file_at(&path);
        let is_new = before.is_none() && flags.contains("O_CREAT");
        let file = match is_new {
            true => Some(disk.make_file(&path)),
            false => before,
        };
        let is_cut = flags.contains("O_TRUNC") && file.is_some_and(|file| disk.resize(file, 0));
        self.open.insert(
            number,
            Opened {
                file,
                path,
                place: 0,
                appends: flags.contains("O_APPEND"),
            },
        );
        is_new || is_cut
    }

    fn duplicated(&mut self, from: &str, to: &str) -> bool {
        if let Some(opened) = self.open.get(from).cloned() {
            self.open.insert(to.to_owned(), opened);
        }
        false
    }

    fn written(&mut self, number: &str, content: &[u8], at: Option<usize>, disk: &mut Disk) -> bool {
        let Some(opened) = self.open.get_mut(number) else {
            return false;
        };
        let Some(file) = opened.file else { return false };
        let place = match at {
            Some(place) => place,
            None if opened.appends => disk.length(file),
            None => opened.place,
        };
        disk.write(file, place, content);
        if at.is_none() {
            opened.place = place + content.len();
        }
        true
    }
}

/// Name, arguments and answer of a call.
fn parts(call: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (front, answer) = call.rsplit_once(" = ")?;
    let (name, arguments) = front.split_once('(')?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    Some((name, arguments.split(", ").collect(), answer))
}

/// A string of hexadecimal escapes, in quotation marks.
fn bytes(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('"').split("\\x").skip(1);
    digits
        .map(|digits| u8::from_str_radix(digits, 16).expect("a byte"))
        .collect()
}

fn text(argument: &str) -> PathBuf {
    PathBuf::from(String::from_utf8(bytes(argument)).expect("text"))
}
