//! Numbers and tables as text.

use std::io::IsTerminal;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};
use intervalid_data::display_name;
pub(crate) use intervalid_report::{count, percent, significant};

/// Words are not wrapped to fewer characters than this.
const NARROWEST: u16 = 24;

/// Text that may hold names from files, as it may stand on a terminal; its lines stay lines.
pub(crate) fn shown(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(display_name).collect();
    lines.join("\n")
}

/// Seconds, or a word where they are not known.
pub(crate) fn seconds(sample_time: Option<f64>) -> String {
    sample_time.map_or_else(|| "unknown".to_owned(), |seconds| format!("{seconds} s"))
}

/// A table without rules; columns whose index is in `right` hold numbers.
///
/// On a terminal a last column of words is wrapped to fit, numbers never; files and pipes get whole lines.
pub(crate) fn table(header: &[&str], right: &[usize], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(header.to_vec());
    let shown = |row: Vec<String>| row.iter().map(|cell| shown(cell)).collect::<Vec<_>>();
    table.add_rows(rows.into_iter().map(shown));
    let last = header.len().saturating_sub(1);
    if std::io::stdout().is_terminal() && !right.contains(&last) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(column) = table.column_mut(last) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(NARROWEST)));
        }
    }
    for index in 0..last {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    for &index in right {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}
