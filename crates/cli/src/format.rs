//! Numbers and tables as text.

use std::io::IsTerminal;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// Words are not wrapped to fewer characters than this.
const NARROWEST: u16 = 24;

/// `value` with `digits` significant digits, in scientific notation where it is very large or small.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    // Rounding comes first: 9.996 to three digits is 10.0.
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    if value != 0.0 && !(-4..7).contains(&exponent) {
        return scientific;
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// A fraction as a percentage with one decimal.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// A count with its noun: `1 sample`, `2 samples`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
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
    table.add_rows(rows);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        let cases = [
            (0.0, "0.000"),
            (9.9996, "10.00"),
            (-123.456, "-123.5"),
            (123_456.0, "123456"),
            (0.001_234_56, "0.001235"),
            (1.5e-7, "1.500e-7"),
            (-2.5e9, "-2.500e9"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value, 4), expected);
        }
    }
}
