//! `intervalid studio`.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use intervalid_studio::{Studio, StudioConfig, StudioError};
use serde::Serialize;

use crate::args::{GlobalArgs, StudioArgs};
use crate::error::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::request::{data_dir, threads};

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The JSON object, printed when the server answers.
#[derive(Serialize)]
struct Started {
    /// The link that lets one browser in.
    url: String,
    address: String,
    port: u16,
    folder: String,
}

/// Serves the folder until Ctrl-C.
pub(crate) fn run(args: &StudioArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    interrupt::listen();
    let config = StudioConfig {
        listen: args.listen,
        port: args.port.unwrap_or(0),
        data_dir: data_dir(global),
        threads: threads(args.threads),
        on_link: Box::new(|link| {
            // A terminal that is gone needs no link.
            let _ = writeln!(
                std::io::stderr(),
                "The link was used. Another browser gets in with {link}"
            );
        }),
        ..StudioConfig::new(&args.folder)
    };
    let studio = Studio::start(config).map_err(failure)?;
    if !args.listen.is_loopback() {
        output.warning(format_args!(
            "--listen {}: others on the network reach this studio, and what is sent is not encrypted; only the link keeps them out",
            args.listen
        ));
    }
    let link = studio.link();
    if output.is_json() {
        output.json(&Started {
            url: link.clone(),
            address: studio.address().ip().to_string(),
            port: studio.address().port(),
            folder: studio.folder().display().to_string(),
        })?;
    } else {
        output.story(format_args!("Studio of {}. Ctrl-C ends it.", studio.folder().display()))?;
        output.result(&link)?;
    }
    output.flush()?;
    if !args.no_open && !open_browser(&link) {
        output.warning("no browser could be opened: open the link yourself");
    }
    while !interrupt::requested() {
        std::thread::sleep(LOOK);
    }
    if let Some(name) = studio.running() {
        output.warning(format_args!(
            "'{name}' was being fitted: the next studio in this folder shows it as interrupted and can run it again"
        ));
    }
    Ok(())
}

/// Asks the desktop to open a link; whether somebody took it.
fn open_browser(link: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let opener = Command::new(program)
        .args(before)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    opener.is_ok()
}

/// What to do about a studio that does not start.
fn failure(error: StudioError) -> Failure {
    let hint = match &error {
        StudioError::Busy { .. } => Some("use the one that is running, or end it first"),
        StudioError::Listen { .. } => Some("choose another --port, or leave it out"),
        StudioError::Folder { .. } | StudioError::NotAFolder { .. } | StudioError::NotText { .. } => {
            Some("name a folder that you may write")
        }
        _ => None,
    };
    let failure = match error.is_input() {
        true => Failure::input(error),
        false => Failure::run(error),
    };
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
