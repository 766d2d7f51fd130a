//! The page of a study.

mod boxes;
mod command;
mod groups;
mod ids;
mod tables;

use std::path::Path;

use intervalid_study::{Store, status, tables_of_records};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::folder::command_line;
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
    let mut lead = vec![
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
    lead.extend(tables.of_several_outputs().map(str::to_owned));
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
    let ids = ids::GroupIds::new(&spec);
    let groups = groups::views(&store, &spec, &ids, &runs)?;
    let shown = folder.display().to_string();
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
        tables: tables::views(&tables, &ids),
        boxes: boxes::views(&spec, &runs),
        groups,
        spec: store.meta("spec")?,
        commands: vec![
            command_line(&["intervalid", "study", "table", &shown]),
            command_line(&["intervalid", "study", "figures", &shown]),
            command_line(&["intervalid", "report", &shown]),
        ],
    };
    Ok(Page::new(Content::Study(Box::new(content))))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use intervalid_study::{RunOptions, Spec, run_study};

    use super::*;

    /// The page of a study of linear models of these records, one seed each.
    fn page_of(records: &[(&str, &str)]) -> StudyContent {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in records {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let names: Vec<String> = records.iter().map(|(name, _)| path(name)).collect();
        let text = format!("name = \"s\"\ndatasets = {names:?}\nmodels = [\"arx\"]\n");
        let spec = Spec::parse("s", &text).expect("a study");
        let options = RunOptions {
            jobs: 1,
            data_dir: None,
            shard: None,
            stop: &AtomicBool::new(false),
            observer: &|_| {},
        };
        let out = folder.path().join("it's; out");
        let summary = run_study(&spec, &out, &options).expect("a run");
        assert_eq!((summary.done, summary.failed), (names.len(), 0));
        let page = study_page(&out).expect("a page");
        page.to_html().expect("every template has what it names");
        let line = shlex::split(&page_content(&page).commands[2]).expect("words of a shell");
        assert_eq!(line, ["intervalid", "report", &out.display().to_string()]);
        page_content(&page).clone()
    }

    fn page_content(page: &Page) -> &StudyContent {
        match page.content() {
            Content::Study(content) => content,
            _ => panic!("a study"),
        }
    }

    /// A first-order plant, and as many outputs as factors.
    fn record(factors: &[f64]) -> String {
        let mut level = 0.0;
        let mut text = "u".to_owned();
        (1..=factors.len()).for_each(|output| text += &format!(",y{output}"));
        text.push('\n');
        for k in 0..300_u32 {
            let u = f64::from(k * 37 % 11) - 5.0;
            text += &u.to_string();
            for factor in factors {
                text += &format!(",{}", factor * (level + f64::from(k * 53 % 17) / 20.0));
            }
            text.push('\n');
            level = 0.8 * level + u;
        }
        text
    }

    #[test]
    fn data_sets_whose_names_look_alike_have_runs_of_their_own() {
        let page = page_of(&[("run_1.csv", &record(&[1.0])), ("run-1.csv", &record(&[2.0]))]);
        let rows = &page.tables[0].rows;
        for (dataset, row) in [("run_1.csv", &rows[0]), ("run-1.csv", &rows[4])] {
            assert!(row.dataset.ends_with(dataset), "{}", row.dataset);
            let linked: Vec<&groups::GroupView> = page
                .groups
                .iter()
                .filter(|group| group.id == row.cells[0].group)
                .collect();
            let [group] = linked.as_slice() else {
                panic!("one group for {dataset}: {linked:?}");
            };
            assert!(group.name.starts_with(&row.dataset), "{}", group.name);
            assert_eq!(group.runs.len(), 1);
            let rmse = group.runs[0].metrics.as_ref().and_then(|row| row.numbers.rmse);
            let shown: f64 = row.cells[0].ours.parse().expect("a number");
            assert!(rmse.is_some_and(|rmse| (rmse / shown - 1.0).abs() < 1e-3), "{rmse:?}");
        }
    }

    #[test]
    fn several_outputs_have_rows_of_their_own_and_no_mean_error() {
        let page = page_of(&[("two.csv", &record(&[1.0, 100.0]))]);
        assert!(
            page.lead.iter().any(|words| words.starts_with("Of several outputs")),
            "{:?}",
            page.lead
        );
        let rows = &page.tables[0].rows;
        assert_eq!(rows[0].cells[0].ours, "–");
        assert_eq!(rows[1].metric, "PICP % (worst output)");
        let group = &page.groups[0];
        let run = &group.runs[0];
        let all = run.metrics.as_ref().expect("a finished run");
        assert_eq!((all.cells[1].as_str(), all.numbers.interval_score), ("–", None));
        let names: Vec<&str> = run.outputs.iter().map(|row| row.output.as_str()).collect();
        assert_eq!(names, ["y1", "y2"]);
        assert!(run.outputs.iter().all(|row| row.numbers.rmse.is_some()));
        let least = run.outputs.iter().filter_map(|row| row.numbers.picp);
        assert_eq!(all.numbers.picp, least.min_by(f64::total_cmp));
        assert!(
            group.chart.is_some() && group.note.contains("mean fit"),
            "{}",
            group.note
        );
    }
}
