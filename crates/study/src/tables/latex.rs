//! Tables in LaTeX; the document needs `booktabs`.

use super::build::{Mark, Row, StudyTables, Table, TableCell};
use super::format::{mean_std, own_unit};
use crate::published::{TableMetric, is_in_paper};

impl StudyTables {
    pub(crate) fn latex(&self) -> String {
        let mut text = format!(
            "% Study {}; needs \\usepackage{{booktabs}}\n",
            self.name.replace(['\n', '\r'], " ")
        );
        if let Some(mixture) = self.mixture() {
            text += &format!("% {}\n", mixture.replace(['\n', '\r'], " "));
        }
        if let Some(note) = self.of_several_outputs() {
            text += &format!("% {note}\n");
        }
        for table in &self.tables {
            text += &table.latex(self.seeds);
        }
        for board in &self.scoreboards {
            text += &format!("% {}\n", board.line());
        }
        text
    }
}

impl Table {
    fn latex(&self, seeds: usize) -> String {
        let caption = format!(
            "{}, $\\alpha = {}$, mean $\\pm$ standard deviation over {seeds} seeds.",
            self.kind.title(),
            self.coverage
        );
        let published = if self.has_published() {
            " In brackets: published. $^+$ at least as good, $^\\sim$ within one published standard deviation, $^-$ worse; PICP: $^+$ within two points, wide above."
        } else {
            " PICP: $^+$ within two points, wide above, $^-$ below."
        };
        let mut text = format!("\\begin{{table}}\n\\centering\n\\caption{{{caption}{published}}}\n");
        text += &format!(
            "\\begin{{tabular}}{{ll{}}}\n\\toprule\n",
            "r".repeat(self.columns.len())
        );
        let headings = self.columns.iter().map(|column| escaped(&column.label));
        text += &format!(
            "Data set & Metric & {} \\\\\n",
            headings.collect::<Vec<_>>().join(" & ")
        );
        for row in &self.rows {
            let first = row.metric == TableMetric::ALL[0];
            if first {
                text += "\\midrule\n";
            }
            let dataset = if first { escaped(&row.dataset) } else { String::new() };
            let cells: Vec<String> = row.cells.iter().map(TableCell::latex).collect();
            text += &format!("{dataset} & {} & {} \\\\\n", metric_label(row), cells.join(" & "));
        }
        text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    }
}

impl TableCell {
    fn latex(&self) -> String {
        let mut text = match self.ours {
            Some(ours) if self.has_own_unit => {
                let power = |power| format!(" \\cdot 10^{{{power}}}");
                format!("${}$", own_unit(ours.mean, ours.std, " \\pm ", power))
            }
            Some(ours) => format!("${}$", mean_std(ours.mean, ours.std, " \\pm ")),
            None => "--".to_owned(),
        };
        if let Some(mark) = self.mark {
            text += match mark {
                Mark::Better => "$^+$",
                Mark::Within => "$^\\sim$",
                Mark::Worse => "$^-$",
                Mark::Wide => " (wide)",
            };
        }
        if let Some(published) = self.published {
            text += &format!(" [${}$]", mean_std(published.mean, Some(published.std), " \\pm "));
        }
        let remarks = self.remarks();
        if !remarks.is_empty() {
            text += &format!(" ({remarks})");
        }
        text
    }
}

fn metric_label(row: &Row) -> &'static str {
    match (row.metric, row.several_outputs) {
        (TableMetric::Rmse, _) if !is_in_paper(&row.dataset) => "RMSE",
        (TableMetric::Rmse, _) => "$100\\cdot$RMSE",
        (TableMetric::Picp, false) => "PICP (\\%)",
        (TableMetric::Picp, true) => "PICP (\\%, worst output)",
        (TableMetric::Pinaw, false) => "$100\\cdot$PINAW",
        (TableMetric::Pinaw, true) => "$100\\cdot$PINAW (mean of outputs)",
        (TableMetric::Cwc, false) => "CWC",
        (TableMetric::Cwc, true) => "CWC (mean of outputs)",
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
    }
    escaped
}
