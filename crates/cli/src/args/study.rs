//! Arguments of `study`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use intervalid_study::Shard;

pub(super) const EXAMPLES: &str = "\
Examples:
  intervalid study run paper-quick --out quick
  intervalid study status quick
  intervalid study table quick
  intervalid study figures quick";

const STATUS_EXAMPLES: &str = "\
Examples:
  intervalid study status paper             also while the study runs
  intervalid study status paper --json";

const TABLE_EXAMPLES: &str = "\
Examples:
  intervalid study table paper > tables.md
  intervalid study table paper --format latex > tables.tex
  intervalid study table paper-faithful paper paper-auto      studies side by side
  intervalid study table paper --json";

const FIGURES_EXAMPLES: &str = "\
Examples:
  intervalid study figures paper            into paper/figures
  intervalid study figures paper --out figures";

const RUN_EXAMPLES: &str = "\
Examples:
  intervalid study run paper-quick --out quick          minutes, a first look
  intervalid study run paper --out paper --jobs 2       all tables and figures of the paper
  intervalid study run my-study.toml --out my-study
  intervalid study run paper --out paper-3 --shard 3/8  one eighth of it, see study merge
  intervalid study run paper --print > my-study.toml    a start for a study of your own

A study that was interrupted goes on when the same command is run again.
A Slurm array from 1 to 8 has --shard $SLURM_ARRAY_TASK_ID/8.
Kubernetes counts from 0 and has --shard $((JOB_COMPLETION_INDEX + 1))/8.";

const MERGE_EXAMPLES: &str = "\
Examples:
  intervalid study merge paper paper-1 paper-2 paper-3
  intervalid study merge paper paper-*
  intervalid study table paper

All runs are taken over or, if anything is wrong, none. Merging the same folder again changes nothing.";

/// The verbs of `study`.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Run a study, or go on with it
    Run(RunArgs),
    /// Put the shards of a study together
    Merge(MergeArgs),
    /// How far a study is
    Status(StatusArgs),
    /// Its tables, with the published values beside ours
    Table(TableArgs),
    /// Its box plots, snapshots and elasticity, as SVG and PNG
    Figures(FiguresArgs),
}

/// Arguments of `study run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// A study's .toml, or `paper`, `paper-faithful`, `paper-auto` or `paper-quick`
    #[arg(value_name = "SPEC")]
    pub(crate) spec: String,
    /// Folder of the study: what it holds already is not run again
    #[arg(long, value_name = "DIR", required_unless_present = "print")]
    pub(crate) out: Option<PathBuf>,
    /// Fits at once; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Only this share of the runs, counted from 1: 1/N to N/N
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Print the study's file and stop
    #[arg(long)]
    pub(crate) print: bool,
}

/// Arguments of `study merge`.
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArgs {
    /// Folder of the whole study; made if it does not exist
    #[arg(value_name = "OUT")]
    pub(crate) folder: PathBuf,
    /// Folders of the shards
    #[arg(value_name = "SHARD", required = true)]
    pub(crate) shards: Vec<PathBuf>,
}

/// Arguments of `study status`.
#[derive(Args, Debug)]
#[command(after_help = STATUS_EXAMPLES)]
pub(crate) struct StatusArgs {
    /// Folder of the study
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableForm {
    /// Markdown.
    Md,
    /// One row per cell.
    Csv,
    /// LaTeX with booktabs.
    Latex,
    /// JSON.
    Json,
}

/// Arguments of `study table`.
#[derive(Args, Debug)]
#[command(after_help = TABLE_EXAMPLES)]
pub(crate) struct TableArgs {
    /// Folder of the study; several are shown side by side
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Form of the tables
    #[arg(long, value_name = "FORMAT", default_value = "md", value_enum)]
    pub(crate) format: TableForm,
}

/// Arguments of `study figures`.
#[derive(Args, Debug)]
#[command(after_help = FIGURES_EXAMPLES)]
pub(crate) struct FiguresArgs {
    /// Folder of the study
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Folder for the pictures [default: DIR/figures]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
