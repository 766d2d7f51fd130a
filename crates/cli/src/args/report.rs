//! Arguments of `report`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  intervalid report dryer                          write dryer/report.html again
  intervalid report dryer --out dryer.html
  intervalid report paper --out paper.html         a study's tables, box plots and runs

A page is one file: it opens without a network, on phones too, and can be printed.";

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Folder of a fit or of a study
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The page [default: DIR/report.html]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
}
