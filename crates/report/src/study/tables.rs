//! The tables, every cell a link to its runs.

use intervalid_study::{Cell, Mark, StudyTables};
use serde::{Deserialize, Serialize};

use super::ids::GroupIds;

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableView {
    pub(crate) title: String,
    /// What interval networks were trained for, where that is not what was asked.
    pub(crate) trained_for: Vec<String>,
    /// What searches chose, by data set.
    #[serde(default)]
    pub(crate) chosen: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<RowView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowView {
    pub(crate) dataset: String,
    /// Rows that the data set's name spans; 0 where an earlier row names it.
    pub(crate) span: usize,
    pub(crate) metric: String,
    pub(crate) cells: Vec<CellView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellView {
    pub(crate) ours: String,
    pub(crate) published: Option<String>,
    pub(crate) mark: String,
    pub(crate) symbol: String,
    pub(crate) remarks: String,
    pub(crate) group: String,
}

pub(super) fn views(tables: &StudyTables, ids: &GroupIds) -> Vec<TableView> {
    let view = |table: &intervalid_study::Table| {
        let rows = table.rows.iter().enumerate().map(|(index, row)| {
            let is_first = index == 0 || table.rows[index - 1].dataset != row.dataset;
            let same = table.rows[index..]
                .iter()
                .take_while(|other| other.dataset == row.dataset);
            let cells = table.columns.iter().zip(&row.cells).map(|(column, cell)| CellView {
                ours: cell.ours_text(),
                published: cell.published_text(),
                mark: cell.mark.map_or("", Mark::name).to_owned(),
                symbol: cell.mark.map_or("", Mark::symbol).to_owned(),
                remarks: cell.remarks(),
                group: ids
                    .of(&Cell {
                        dataset: row.dataset.clone(),
                        model: column.model,
                        strategy: column.strategy,
                        margin: column.margin,
                        coverage: table.coverage,
                        seed: 0,
                    })
                    .unwrap_or_default()
                    .to_owned(),
            });
            RowView {
                dataset: row.dataset.clone(),
                span: if is_first { same.count() } else { 0 },
                metric: row.quantity.to_owned(),
                cells: cells.collect(),
            }
        });
        TableView {
            title: format!("{}, coverage {}", table.kind.title(), table.coverage),
            trained_for: trained_for(table),
            chosen: table
                .chosen
                .iter()
                .map(|entry| format!("{}: {}", entry.dataset, entry.text()))
                .collect(),
            columns: table.columns.iter().map(|column| column.label.clone()).collect(),
            rows: rows.collect(),
        }
    };
    tables.tables.iter().map(view).collect()
}

/// One sentence per data set whose networks were trained for more than was asked.
fn trained_for(table: &intervalid_study::Table) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let one = |entry: &intervalid_study::TrainedFor| {
        let named = entry.coverages.iter().zip(&table.columns);
        let raised: Vec<String> = named
            .filter(|(coverage, _)| (*coverage - table.coverage).abs() > 1e-9)
            .map(|(coverage, column)| format!("{} for {}", column.label, percent(*coverage)))
            .collect();
        (!raised.is_empty()).then(|| format!("{}: {}", entry.dataset, raised.join(", ")))
    };
    table.trained_for.iter().filter_map(one).collect()
}
