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
    // Before anything is read: a fit that ends while the page is made would be left with the page of the one before it.
    let owned = match is_of_fit(folder, &out) {
        true => {
            // Says whether the folder can be written.
            OutFile::open_own(&out, "--out")?;
            Some(OwnedFolder::take(folder)?)
        }
        false => None,
    };
    let page = match (is_study, &owned) {
        (true, _) => output.working("reading the study", || study_page(folder))?,
        (false, None) => read_page(folder)?,
        (false, Some(owned)) => {
            owned.check(&READ)?;
            page_in(folder)?
        }
    };
    let html = page.to_html()?;
    match &owned {
        Some(owned) => {
            let mut staged = owned.stage()?;
            staged.write(REPORT, html.as_bytes())?;
            staged.switch(&[])?;
        }
        None => OutFile::open(&out, "--out")?.write(html.as_bytes())?,
    }
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

/// Whether this is the page in the folder of a fit: it becomes one of its files, so that the next fit there knows it for its own.
fn is_of_fit(folder: &Path, out: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    out.file_name() == Some(REPORT.as_ref())
        && out
            .parent()
            .map(here)
            .is_some_and(|parent| place(parent).is_some() && place(parent) == place(folder))
        && folder.join(MANIFEST).is_file()
        && !out.is_symlink()
}

/// The page that a fit kept the data of.
pub(super) fn read_page(folder: &Path) -> Result<Page, Failure> {
    settle(folder, &READ)?;
    page_in(folder)
}

/// The same in a folder whose files were found to belong together.
fn page_in(folder: &Path) -> Result<Page, Failure> {
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
