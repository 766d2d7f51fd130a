//! `intervalid man`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use serde::Serialize;

use crate::args::{Cli, ManArgs};
use crate::error::Failure;
use crate::format::count;
use crate::output::Output;
use crate::path_text;
use crate::write::OutFolder;

/// The JSON object: the pages that were asked for.
#[derive(Serialize)]
struct Report {
    pages: Vec<Page>,
    #[serde(serialize_with = "path_text::maybe")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Page {
    /// File name, such as `intervalid-fit.1`.
    name: String,
    roff: String,
}

/// Prints the main page, or writes the pages of all commands.
pub(crate) fn run(args: &ManArgs, output: &Output) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    // Passes global options on to the subcommands.
    command.build();
    let mut pages = Vec::new();
    match &args.out {
        None => pages.push(page(&command)?),
        Some(folder) => {
            collect(&command, &mut pages)?;
            let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
            let folder = OutFolder::open(folder, &names)?;
            for page in &pages {
                folder.write(&page.name, page.roff.as_bytes())?;
            }
        }
    }
    if output.is_json() {
        let out = args.out.clone();
        return output.json(&Report { pages, out });
    }
    if let Some(folder) = &args.out {
        let written = count(pages.len(), "page");
        output.story(format_args!("{written} written to {}", folder.display()))?;
        return Ok(());
    }
    for page in &pages {
        output.content(page.roff.trim_end())?;
    }
    Ok(())
}

fn collect(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    pages.push(page(command)?);
    for subcommand in command.get_subcommands() {
        collect(subcommand, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> io::Result<Page> {
    let man = Man::new(command.clone().after_help(Resettable::Reset))
        .source(concat!("intervalid ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut text = Vec::new();
    man.render(&mut text)?;
    examples(command, &mut text)?;
    Ok(Page {
        name: man.get_filename(),
        roff: String::from_utf8_lossy(&text).into_owned(),
    })
}

/// What follows the options in `--help`, line by line: the library would run the lines into paragraphs.
fn examples(command: &Command, text: &mut dyn Write) -> io::Result<()> {
    let Some(help) = command.get_after_help() else {
        return Ok(());
    };
    let help = help.to_string();
    let lines = help.strip_prefix("Examples:\n").unwrap_or(&help);
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    // Without the preamble, which the page has.
    text.write_all(roff.to_roff().as_bytes())
}
