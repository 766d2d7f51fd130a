//! The page of a study.

mod boxes;
mod groups;
mod tables;

use std::path::Path;

use intervalid_study::{Store, status, tables_of_records};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::page::{Content, Page};
use crate::text::count;

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StudyContent {
    pub(crate) title: String,
    pub(crate) lead: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) scoreboards: Vec<String>,
    /// Whether the paper printed values for any cell.
    pub(crate) has_published: bool,
    pub(crate) tables: Vec<tables::TableView>,
    pub(crate) boxes: Vec<boxes::BoxesView>,
    pub(crate) groups: Vec<groups::GroupView>,
    pub(crate) spec: String,
    pub(crate) commands: Vec<String>,
}

/// The page of the study in a folder, finished or not.
///
/// # Errors
/// If the folder holds no study, or its database is damaged.
pub fn study_page(folder: &Path) -> Result<Page> {
    let status = status(folder)?;
    let store = Store::open(folder)?;
    let (spec, runs) = (store.spec()?, store.runs()?);
    let tables = tables_of_records(&spec, &runs);
    let time = match status.train_seconds {
        seconds if seconds < 120.0 => count(seconds.round() as usize, "second"),
        seconds => count((seconds / 60.0).round() as usize, "minute"),
    };
    let lead = vec![
        format!(
            "{} of {} runs are done: {}, {}, {}, {}. Training took {time} in all, counted on one core.",
            status.runs.done,
            status.runs.total,
            count(spec.datasets.len(), "data set"),
            count(spec.models.len(), "model"),
            count(spec.coverages.len(), "coverage"),
            count(spec.seeds.len(), "seed"),
        ),
        "Numbers are of the test part, mean ± sample standard deviation over the seeds, those of the paper's data sets in its units. This \
         page shows what the study recorded; nothing was computed again."
            .to_owned(),
    ];
    let mut cautions = Vec::new();
    if status.runs.left > 0 {
        cautions.push(format!("{} are not done yet.", count(status.runs.left, "run")));
    }
    cautions.extend(
        status
            .failures
            .iter()
            .map(|failure| format!("{} failed: {}", failure.run, failure.reason)),
    );
    let groups = groups::views(&store, &spec, &runs)?;
    let shown = folder.display();
    let content = StudyContent {
        title: format!("Study {}", status.name),
        lead,
        cautions,
        scoreboards: tables.scoreboards.iter().map(|board| board.line()).collect(),
        has_published: tables
            .tables
            .iter()
            .flat_map(|table| &table.rows)
            .any(|row| row.cells.iter().any(|cell| cell.published.is_some())),
        tables: tables::views(&tables),
        boxes: boxes::views(&spec, &runs),
        groups,
        spec: store.meta("spec")?,
        commands: vec![
            format!("intervalid study table {shown}"),
            format!("intervalid study figures {shown}"),
            format!("intervalid report {shown}"),
        ],
    };
    Ok(Page::new(Content::Study(Box::new(content))))
}
