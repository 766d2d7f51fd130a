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
/// On a terminal its widest column of words is wrapped to fit, numbers never; files and pipes get whole lines.
pub(crate) fn table(header: &[&str], right: &[usize], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let terminal = std::io::stdout().is_terminal().then(|| Table::new().width()).flatten();
    lay_out(header, right, rows, terminal)
}

fn lay_out(
    header: &[&str],
    right: &[usize],
    rows: impl IntoIterator<Item = Vec<String>>,
    width: Option<u16>,
) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(header.to_vec());
    let shown = |row: Vec<String>| row.iter().map(|cell| shown(cell)).collect::<Vec<_>>();
    table.add_rows(rows.into_iter().map(shown));
    let widths = table.column_max_content_widths();
    let words = (0..widths.len()).filter(|index| !right.contains(index));
    let widest = words
        .max_by_key(|index| widths[*index])
        .filter(|index| widths[*index] > NARROWEST);
    if let Some(width) = width {
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_constraint(match Some(index) == widest && width.is_some() {
            true => ColumnConstraint::LowerBoundary(Width::Fixed(NARROWEST)),
            false => ColumnConstraint::ContentWidth,
        });
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_numbers_are_not() {
        let rows = || {
            [vec![
                "mean of one and another and a third and a fourth and a fifth".to_owned(),
                "0.123456".to_owned(),
            ]]
        };
        let header = ["candidate", "score"];
        let lines = |width| {
            lay_out(&header, &[1], rows(), width)
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(None).len(), 2);
        let narrow = lines(Some(40));
        assert!(
            narrow.len() > 2 && narrow.iter().all(|line| line.chars().count() <= 40),
            "{narrow:#?}"
        );
        assert!(narrow[1].ends_with("0.123456"), "{narrow:#?}");
        // On a terminal too narrow for anything, words keep the width that can be read.
        assert!(
            lines(Some(10)).iter().all(|line| line.chars().count() <= 24 + 10),
            "{:#?}",
            lines(Some(10))
        );
    }
}
