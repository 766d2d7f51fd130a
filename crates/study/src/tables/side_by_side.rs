//! Several studies beside each other: the same cells with other settings, such as `paper-faithful` and `paper`.

use std::fmt::Write as _;

use serde::Serialize;

use super::build::{StudyTables, Table, TableKind};
use super::format::TableFormat;
use super::markdown::{escaped, percent};
use crate::cell::same_coverage;
use crate::published::TableMetric;

/// All of them, for JSON.
#[derive(Serialize)]
struct Studies<'a> {
    studies: &'a [StudyTables],
}

/// The tables of several studies as text: in Markdown a column per study, in CSV a column that names the study, in JSON a list
/// `studies`, in LaTeX one after the other.
#[must_use]
pub fn side_by_side(studies: &[StudyTables], format: TableFormat) -> String {
    match format {
        TableFormat::Markdown => markdown(studies),
        TableFormat::Csv => csv(studies),
        TableFormat::Latex => studies.iter().map(|study| study.render(format)).collect(),
        TableFormat::Json => serde_json::to_string_pretty(&Studies { studies }).expect("tables are plain data") + "\n",
    }
}

fn csv(studies: &[StudyTables]) -> String {
    let mut text = String::new();
    for (index, study) in studies.iter().enumerate() {
        let name = intervalid_data::quote_csv(&study.name).into_owned();
        for (line, row) in study.render(TableFormat::Csv).lines().enumerate() {
            match (line, index) {
                (0, 0) => text += &format!("study,{row}\n"),
                (0, _) => {}
                _ => text += &format!("{name},{row}\n"),
            }
        }
    }
    text
}

fn markdown(studies: &[StudyTables]) -> String {
    let names: Vec<String> = studies.iter().map(|study| escaped(&study.name)).collect();
    let mut text = format!("# Studies {}\n\n", names.join(", "));
    text += "Mean ± sample standard deviation over the seeds, test part. ✓ at least as good as the published mean, ~ within one published \
             standard deviation of it, ✗ worse; PICP: ✓ within two points of the coverage, wide above that.\n";
    if let Some(note) = studies.iter().find_map(StudyTables::of_several_outputs) {
        let _ = writeln!(text, "{note}");
    }
    for (study, name) in studies.iter().zip(&names) {
        if let Some(mixture) = study.mixture() {
            let _ = writeln!(text, "{name}: {}", escaped(&mixture));
        }
    }
    let mut seen: Vec<(TableKind, f64)> = Vec::new();
    for table in studies.iter().flat_map(|study| &study.tables) {
        let key = (table.kind, table.coverage);
        if !seen
            .iter()
            .any(|(kind, coverage)| *kind == key.0 && same_coverage(*coverage, key.1))
        {
            seen.push(key);
        }
    }
    for (kind, coverage) in seen {
        // A study that has nothing here, such as one of searches alone among interval networks, gets no column.
        let is_it = |table: &&Table| table.kind == kind && same_coverage(table.coverage, coverage);
        let present = studies.iter().zip(&names);
        let present = present.filter_map(|(study, name)| Some((name.as_str(), study.tables.iter().find(is_it)?)));
        let (names, tables): (Vec<&str>, Vec<&Table>) = present.unzip();
        let _ = writeln!(
            text,
            "\n## {}, coverage {coverage}\n\n| data set | model | metric | {} | published |\n|---|---|---|{}---|",
            kind.title(),
            names.join(" | "),
            "---|".repeat(names.len())
        );
        text += &rows(&tables);
    }
    for study in studies {
        for board in &study.scoreboards {
            let _ = write!(text, "\n- {}: {}", escaped(&study.name), board.line());
        }
    }
    text + "\n"
}

/// Every cell that one of the tables has.
fn rows<'a>(tables: &[&'a Table]) -> String {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for table in tables {
        for row in &table.rows {
            for column in &table.columns {
                let place = (row.dataset.as_str(), column.label.as_str());
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
    }
    let mut text = String::new();
    for (dataset, label) in places {
        let column = |table: &Table| table.columns.iter().position(|column| column.label == label);
        let aims = tables.iter().map(|table| {
            let entry = table.trained_for.iter().find(|entry| entry.dataset == dataset)?;
            entry.coverages.get(column(table)?).copied()
        });
        let aims: Vec<Option<String>> = aims.map(|aim| aim.map(percent)).collect();
        let chosen = tables.iter().map(|table| table.chosen_on(dataset));
        for (what, cells) in [("trained for %", aims), ("chosen (seeds)", chosen.collect())] {
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let cells: Vec<String> = cells
                .into_iter()
                .map(|cell| cell.unwrap_or_else(|| "–".to_owned()))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {label} | {what} | {} | |",
                escaped(dataset),
                cells.join(" | ")
            );
        }
        for metric in TableMetric::ALL {
            let row_of = |table: &'_ &'a Table| {
                let mut rows = table.rows.iter();
                rows.find(|row| row.dataset == dataset && row.metric == metric)
            };
            let found = |table: &&'a Table| row_of(table)?.cells.get(column(table)?).copied();
            let cells: Vec<_> = tables.iter().map(found).collect();
            // A study without runs does not know how many outputs there are.
            let named = tables.iter().filter_map(row_of).max_by_key(|row| row.several_outputs);
            let shown = cells.iter().map(|cell| match cell {
                None => "–".to_owned(),
                Some(cell) => {
                    let mark = cell.mark.map_or_else(String::new, |mark| format!(" {}", mark.symbol()));
                    let remarks = match cell.remarks() {
                        remarks if remarks.is_empty() => remarks,
                        remarks => format!(" ({remarks})"),
                    };
                    format!("{}{mark}{remarks}", cell.ours_text())
                }
            });
            let shown: Vec<String> = shown.collect();
            let published = cells.iter().flatten().find_map(|cell| cell.published_text());
            let _ = writeln!(
                text,
                "| {} | {label} | {} | {} | {} |",
                escaped(dataset),
                named.map_or_else(|| metric.label(dataset), |row| row.quantity),
                shown.join(" | "),
                published.unwrap_or_else(|| "–".to_owned())
            );
        }
    }
    text
}
