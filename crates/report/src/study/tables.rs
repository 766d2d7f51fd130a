//! The tables, every cell a link to its runs.

use intervalid_study::{Cell, Mark, StudyTables};
use serde::Serialize;

use super::groups::group_id;

/// One table.
#[derive(Serialize)]
pub(super) struct TableView {
    title: String,
    columns: Vec<String>,
    rows: Vec<RowView>,
}

#[derive(Serialize)]
struct RowView {
    dataset: String,
    /// Rows that the data set's name spans; 0 where an earlier row names it.
    span: usize,
    metric: &'static str,
    cells: Vec<CellView>,
}

#[derive(Serialize)]
struct CellView {
    ours: String,
    published: Option<String>,
    mark: &'static str,
    symbol: &'static str,
    remarks: String,
    group: String,
}

pub(super) fn views(tables: &StudyTables) -> Vec<TableView> {
    let view = |table: &intervalid_study::Table| {
        let rows = table.rows.iter().enumerate().map(|(index, row)| {
            let is_first = index == 0 || table.rows[index - 1].dataset != row.dataset;
            let same = table.rows[index..]
                .iter()
                .take_while(|other| other.dataset == row.dataset);
            let cells = table.columns.iter().zip(&row.cells).map(|(column, cell)| CellView {
                ours: cell.ours_text(),
                published: cell.published_text(),
                mark: cell.mark.map_or("", Mark::name),
                symbol: cell.mark.map_or("", Mark::symbol),
                remarks: cell.remarks(),
                group: group_id(&Cell {
                    dataset: row.dataset.clone(),
                    model: column.model,
                    strategy: column.strategy,
                    margin: column.margin,
                    coverage: table.coverage,
                    seed: 0,
                }),
            });
            RowView {
                dataset: row.dataset.clone(),
                span: if is_first { same.count() } else { 0 },
                metric: row.metric.label(),
                cells: cells.collect(),
            }
        });
        TableView {
            title: format!("{}, coverage {}", table.kind.title(), table.coverage),
            columns: table.columns.iter().map(|column| column.label.clone()).collect(),
            rows: rows.collect(),
        }
    };
    tables.tables.iter().map(view).collect()
}
