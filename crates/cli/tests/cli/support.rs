//! A fresh folder to run the program in, and what came of it as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns where it is.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("folder for the file");
        }
        std::fs::write(&path, content).expect("file is written");
        path
    }

    /// The program in this folder, with nothing inherited that changes its output.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_intervalid"));
        command.current_dir(self.path()).args(arguments);
        for variable in ["INTERVALID_DATA", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Command line, exit code, and both streams.
    pub(crate) fn transcript(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let mut text = format!("$ intervalid {}\n", arguments.join(" "));
        let _ = writeln!(text, "exit code: {}", output.status.code().expect("an exit code"));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                let _ = write!(text, "--- {name}\n{}", String::from_utf8_lossy(bytes));
            }
        }
        text
    }

    /// What a run with `--json` printed; it must succeed and print nothing else.
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        assert_eq!(error, "", "nothing on standard error");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        assert!(value.is_object(), "{value}");
        value
    }
}

/// A first-order system with a little noise, answering a pseudo-random input: `samples` pairs.
pub(crate) fn record(samples: usize) -> Vec<(f64, f64)> {
    let (mut state, mut y) = (1_u32, 0.0);
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 20) / 4096.0
    };
    let step = |_| {
        let pair = (random(), y);
        y = 0.8 * y + pair.0 + 0.1 * random();
        pair
    };
    (0..samples).map(step).collect()
}

/// The record as CSV; `cell` may replace a cell, given row (from 1, header not counted), column and value.
pub(crate) fn csv(samples: usize, cell: impl Fn(usize, char, f64) -> String) -> String {
    let mut text = String::from("u,y\n");
    for (index, (u, y)) in record(samples).into_iter().enumerate() {
        let _ = writeln!(text, "{},{}", cell(index + 1, 'u', u), cell(index + 1, 'y', y));
    }
    text
}

/// Four decimals, the plain content of a cell.
pub(crate) fn plain(_row: usize, _column: char, value: f64) -> String {
    format!("{value:.4}")
}
