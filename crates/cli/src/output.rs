//! Everything the program prints: results on standard output, the rest on standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use intervalid_data::Dataset;
use serde::Serialize;

use crate::args::GlobalArgs;
use crate::error::Failure;
use crate::format::shown;
use crate::progress::{Bars, StudyBars};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HEADING: Style = Style::new().bold();

/// Work that is done within this time needs no spinner.
const PATIENCE: Duration = Duration::from_millis(400);

/// Where and how much to print. Colours appear on terminals only.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    reader_left: AtomicBool,
}

impl Output {
    /// As the global options say.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            reader_left: AtomicBool::new(false),
        }
    }

    /// For a caller that prints for itself.
    pub(crate) fn silent() -> Self {
        Self {
            json: true,
            quiet: true,
            verbose: false,
            reader_left: AtomicBool::new(false),
        }
    }

    /// Whether results are wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether details are wanted.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Prints the one JSON object.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(self.content(&text)?)
    }

    /// What could as well be a file, byte by byte; on a terminal as it may stand there.
    pub(crate) fn content(&self, text: &str) -> io::Result<()> {
        match io::stdout().is_terminal() {
            true => self.result(text),
            false => self.printed(writeln!(io::stdout().lock(), "{text}")),
        }
    }

    /// A result in words: standard output, even with `--quiet`.
    pub(crate) fn result(&self, text: impl Display) -> io::Result<()> {
        self.printed(writeln!(anstream::stdout().lock(), "{}", shown(&text.to_string())))
    }

    /// A heading above results.
    pub(crate) fn heading(&self, text: impl Display) -> io::Result<()> {
        let text = shown(&text.to_string());
        self.printed(writeln!(anstream::stdout().lock(), "{HEADING}{text}{HEADING:#}"))
    }

    /// A reader who has seen enough, as with `intervalid data list | head -1`, ends the printing and nothing else: the work and the exit
    /// code are those of a command that is read to its end.
    fn printed(&self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_left.store(true, Ordering::Relaxed);
                Ok(())
            }
            other => other,
        }
    }

    /// Whether nobody reads standard output any more, as far as is known from printing.
    pub(crate) fn reader_left(&self) -> bool {
        self.reader_left.load(Ordering::Relaxed)
    }

    /// Words around the results: standard output, but neither with `--quiet` nor in front of JSON.
    pub(crate) fn story(&self, text: impl Display) -> io::Result<()> {
        if self.quiet || self.json {
            return Ok(());
        }
        self.result(text)
    }

    /// A warning about the data, on standard error.
    pub(crate) fn warning(&self, text: impl Display) {
        if !self.quiet {
            to_stderr(format_args!(
                "{WARNING}warning:{WARNING:#} {}",
                shown(&text.to_string())
            ));
        }
    }

    /// What the reader noticed about the data.
    pub(crate) fn warnings(&self, dataset: &Dataset) {
        for warning in dataset.warnings() {
            self.warning(warning);
        }
    }

    /// What is being done, with `--verbose`, on standard error.
    pub(crate) fn detail(&self, text: impl Display) {
        if self.verbose {
            to_stderr(shown(&text.to_string()));
        }
    }

    /// The one message of a failed command.
    pub(crate) fn failure(&self, failure: &Failure) {
        for (index, line) in failure.lines().iter().enumerate() {
            let line = shown(line);
            if index == 0 {
                to_stderr(format_args!("{ERROR}error:{ERROR:#} {line}"));
            } else {
                to_stderr(format_args!("  because: {line}"));
            }
        }
        if let Some(hint) = failure.hint() {
            to_stderr(format_args!("{HINT}hint:{HINT:#} {}", shown(hint)));
        }
    }

    /// Runs `work`; if it takes long, a spinner on standard error says so, on terminals only.
    pub(crate) fn working<T>(&self, message: &str, work: impl FnOnce() -> T) -> T {
        if self.quiet || !io::stderr().is_terminal() {
            return work();
        }
        thread::scope(|scope| {
            // Dropped when the work is done or panics; that ends the wait.
            let (_done, wait) = mpsc::channel::<()>();
            let started = Instant::now();
            scope.spawn(move || {
                if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    let spinner = spinner(message, started);
                    // Nothing is ever sent: this returns once the other end is gone.
                    let _ = wait.recv();
                    spinner.finish_and_clear();
                }
            });
            work()
        })
    }

    /// Progress bars of training; drawn on terminals only, and not with `--quiet`.
    pub(crate) fn bars(&self) -> Bars {
        Bars::new(!self.quiet)
    }

    /// Progress bars of a study, as [`Output::bars`].
    pub(crate) fn study_bars(&self) -> StudyBars {
        StudyBars::new(!self.quiet)
    }

    /// Hands everything over, so that a full disk behind standard output is noticed.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.printed(io::stdout().flush())
    }
}

/// If standard error is closed there is nobody left to tell.
fn to_stderr(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

fn spinner(message: &str, started: Instant) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    let spinner = ProgressBar::new_spinner()
        .with_message(message.to_owned())
        .with_elapsed(started.elapsed());
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}
