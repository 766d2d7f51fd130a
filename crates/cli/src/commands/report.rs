//! `intervalid report`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use intervalid_files::{MANIFEST, OwnedFolder, settle};
use intervalid_report::folder::{METRICS, READ, REPORT, REPORT_DATA};
use intervalid_report::{Page, ReportError, study_page};
use intervalid_study::DATABASE;
use serde::Serialize;

use crate::args::ReportArgs;
use crate::error::Failure;
use crate::output::Output;
use crate::path_text;
use crate::write::{OutFile, here};

/// The JSON object.
#[derive(Serialize)]
struct Written<'a> {
    /// `fit` or `study`.
    kind: &'a str,
    #[serde(serialize_with = "path_text::one")]
    out: &'a Path,
    bytes: usize,
}

/// Writes the page of what a fit or a study recorded; nothing is computed again.
pub(crate) fn run(args: &ReportArgs, output: &Output) -> Result<(), Failure> {
    let folder = &args.folder;
    let is_study = folder.join(DATABASE).is_file();
    let out: PathBuf = args.out.clone().unwrap_or_else(|| folder.join(REPORT));
    let page = match is_study {
        true => output.working("reading the study", || study_page(folder))?,
        false => read_page(folder)?,
    };
    let html = page.to_html()?;
    write_page(folder, &out, html.as_bytes())?;
    if output.is_json() {
        return output.json(&Written {
            kind: if is_study { "study" } else { "fit" },
            out: &out,
            bytes: html.len(),
        });
    }
    output.story(format_args!(
        "Written to {} ({:.1} MB): open it in a browser",
        out.display(),
        html.len() as f64 / 1e6
    ))?;
    Ok(())
}

/// The page in the folder of a fit becomes one of its files, so that the next fit there knows it for its own.
fn write_page(folder: &Path, out: &Path, html: &[u8]) -> Result<(), Failure> {
    let place = |path: &Path| path.canonicalize().ok();
    let is_in_fit = out.file_name() == Some(REPORT.as_ref())
        && out
            .parent()
            .map(here)
            .is_some_and(|parent| place(parent).is_some() && place(parent) == place(folder))
        && folder.join(MANIFEST).is_file()
        && !out.is_symlink();
    if !is_in_fit {
        return OutFile::open(out, "--out")?.write(html);
    }
    // Says whether the folder can be written.
    OutFile::open_own(out, "--out")?;
    let owned = OwnedFolder::take(folder)?;
    let mut staged = owned.stage()?;
    staged.write(REPORT, html)?;
    Ok(staged.switch(&[])?)
}

/// The page that a fit kept the data of.
pub(super) fn read_page(folder: &Path) -> Result<Page, Failure> {
    settle(folder, &READ)?;
    let path = folder.join(REPORT_DATA);
    if !path.is_file() {
        let (found, hint) = match (folder.exists(), folder.join(METRICS).is_file()) {
            (false, _) => (
                "no such folder".to_owned(),
                "name a folder that `intervalid fit` or `study run` wrote",
            ),
            (_, true) => (
                format!("this fit has no {REPORT_DATA}: it is of an earlier version"),
                "run the fit again to get a report",
            ),
            _ => (
                format!("neither a fit ({REPORT_DATA}) nor a study ({DATABASE}) is in it"),
                "name a folder that `intervalid fit` or `study run` wrote",
            ),
        };
        return Err(Failure::input(anyhow!("{}: {found}", folder.display())).with_hint(hint));
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{}: cannot be read", path.display()))
        .map_err(Failure::input)?;
    Page::from_json(&text).map_err(|error| {
        let (what, hint) = match error {
            ReportError::NewerFormat { .. } => (
                "is of a newer version",
                "use the version of intervalid that wrote it, or run the fit again",
            ),
            _ => ("is damaged", "run the fit again to get a report"),
        };
        let error = anyhow::Error::new(error).context(format!("{}: {what}", path.display()));
        Failure::input(error).with_hint(hint)
    })
}
