//! Tables in Markdown.

use std::fmt::Write;

use super::build::{StudyTables, Table, TableCell};
use crate::published::TableMetric;

impl StudyTables {
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# Study {}\n\n", escaped(&self.name));
        let seeds = self.seeds;
        write!(
            text,
            "Mean ± sample standard deviation over {seeds} seed{}, test part.",
            if seeds == 1 { "" } else { "s" }
        )
        .expect("writing to a string");
        text += " CWC = PINAW·(1 + [PICP < α]·e^(-25(PICP-α))); for it, RMSE and PINAW lower is better.\n";
        text += match self.tables.iter().any(Table::has_published) {
            true => {
                "After the slash: the published value. ✓ at least as good as its mean, ~ within one published standard deviation \
                 of it, ✗ worse; PICP: ✓ within two points of the coverage, wide above that.\n"
            }
            false => "PICP: ✓ within two points of the coverage, wide above that, ✗ below.\n",
        };
        if let Some(note) = self.of_several_outputs() {
            text += &format!("{note}\n");
        }
        if let Some(mixture) = self.mixture() {
            text += &format!("{}\n", escaped(&mixture));
        }
        for table in &self.tables {
            text += &table.markdown();
        }
        if !self.scoreboards.is_empty() {
            text += "\n## Beside the paper\n\n";
            for board in &self.scoreboards {
                text += &format!("- {}\n", board.line());
            }
        }
        text
    }
}

impl Table {
    fn markdown(&self) -> String {
        let mut text = format!(
            "\n## {}, coverage {}\n\n| data set | metric |",
            self.kind.title(),
            self.coverage
        );
        for column in &self.columns {
            text += &format!(" {} |", column.label);
        }
        text += &format!("\n|---|---|{}\n", "---|".repeat(self.columns.len()));
        for row in &self.rows {
            if row.metric == TableMetric::ALL[0]
                && let Some(entry) = self.trained_for.iter().find(|entry| entry.dataset == row.dataset)
            {
                text += &format!("| {} | trained for % |", escaped(&row.dataset));
                for coverage in &entry.coverages {
                    text += &format!(" {} |", percent(*coverage));
                }
                text.push('\n');
            }
            if row.metric == TableMetric::ALL[0]
                && let Some(chosen) = self.chosen_on(&row.dataset)
            {
                text += &format!("| {} | chosen (seeds) | {chosen} |\n", escaped(&row.dataset));
            }
            text += &format!("| {} | {} |", escaped(&row.dataset), row.quantity);
            for cell in &row.cells {
                text += &format!(" {} |", cell.markdown());
            }
            text.push('\n');
        }
        text
    }
}

impl TableCell {
    fn markdown(&self) -> String {
        let mut text = self.ours_text();
        if let Some(mark) = self.mark {
            text += &format!(" {}", mark.symbol());
        }
        if let Some(published) = self.published_text() {
            text += &format!(" / {published}");
        }
        let remarks = self.remarks();
        if !remarks.is_empty() {
            text += &format!(" ({remarks})");
        }
        text
    }
}

/// A share in per cent, with one decimal where it needs one.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A path or a title may hold what Markdown takes for a column or an emphasis.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    ['\\', '|', '*', '_', '`', '<']
        .into_iter()
        .fold(text, |text, mark| text.replace(mark, &format!("\\{mark}")))
}
