//! Tables as text, and their values as rows.

use std::fmt::Write;
use std::str::FromStr;

use intervalid_data::quote_csv;
use intervalid_model::{MarginActivation, Strategy};

use super::build::{Mark, StudyTables, Table, TableCell};
use crate::error::StudyError;

/// How tables are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableFormat {
    /// Markdown.
    #[default]
    Markdown,
    /// One row per cell with all its numbers.
    Csv,
    /// LaTeX with booktabs.
    Latex,
    /// One object.
    Json,
}

impl FromStr for TableFormat {
    type Err = StudyError;

    fn from_str(text: &str) -> Result<Self, StudyError> {
        match text {
            "md" | "markdown" => Ok(Self::Markdown),
            "csv" => Ok(Self::Csv),
            "latex" | "tex" => Ok(Self::Latex),
            "json" => Ok(Self::Json),
            _ => Err(StudyError::value("format", text, "md, csv, latex or json")),
        }
    }
}

impl StudyTables {
    /// The tables as text that ends with a line break.
    #[must_use]
    pub fn render(&self, format: TableFormat) -> String {
        match format {
            TableFormat::Markdown => self.markdown(),
            TableFormat::Csv => self.csv(),
            TableFormat::Latex => self.latex(),
            TableFormat::Json => serde_json::to_string_pretty(self).expect("tables are plain data") + "\n",
        }
    }

    /// That several versions of the program did its runs, if they did.
    pub(crate) fn mixture(&self) -> Option<String> {
        (self.versions.len() > 1).then(|| {
            format!(
                "Runs of several versions of the program ({}), which may have trained or evaluated differently.",
                self.versions.join(", ")
            )
        })
    }

    /// Long form: one row per cell.
    fn csv(&self) -> String {
        let mut text = String::from(
            "table,dataset,model,strategy,margin,coverage,metric,mean,std,seeds,published_mean,published_std,mark,missing,\
             failed,diverged,trained_for,chosen,quantity\n",
        );
        for table in &self.tables {
            for row in &table.rows {
                let trained_for = table.trained_for.iter().find(|entry| entry.dataset == row.dataset);
                for (index, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                    let trained_for = trained_for.and_then(|entry| entry.coverages.get(index).copied());
                    let fields = [
                        table.kind.id().to_owned(),
                        quote_csv(&row.dataset).into_owned(),
                        column.model.to_string(),
                        column.strategy.map_or("", Strategy::name).to_owned(),
                        column.margin.map_or("", MarginActivation::name).to_owned(),
                        table.coverage.to_string(),
                        row.metric.name().to_owned(),
                        optional(cell.ours.map(|ours| ours.mean)),
                        optional(cell.ours.and_then(|ours| ours.std)),
                        cell.ours.map_or(0, |ours| ours.n).to_string(),
                        optional(cell.published.map(|published| published.mean)),
                        optional(cell.published.map(|published| published.std)),
                        cell.mark.map_or("", Mark::name).to_owned(),
                        cell.missing.to_string(),
                        cell.failed.to_string(),
                        cell.diverged.to_string(),
                        optional(trained_for),
                        quote_csv(&table.chosen_on(&row.dataset).unwrap_or_default()).into_owned(),
                        row.quantity.to_owned(),
                    ];
                    writeln!(text, "{}", fields.join(",")).expect("writing to a string");
                }
            }
        }
        text
    }
}

impl super::build::TableKind {
    /// `cascade`, `joint`, `baselines` or `auto`.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Cascade => "cascade",
            Self::Joint => "joint",
            Self::Baselines => "baselines",
            Self::Auto => "auto",
        }
    }
}

impl Mark {
    /// ✓, ~, ✗ or the word `wide`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Better => "✓",
            Self::Within => "~",
            Self::Worse => "✗",
            Self::Wide => "wide",
        }
    }

    /// `better`, `within`, `worse` or `wide`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Within => "within",
            Self::Worse => "worse",
            Self::Wide => "wide",
        }
    }
}

impl Table {
    /// What searches chose on a data set, such as `ISS 8, ARX 2`; none of other models.
    #[must_use]
    pub fn chosen_on(&self, dataset: &str) -> Option<String> {
        let entry = self.chosen.iter().find(|entry| entry.dataset == dataset)?;
        Some(entry.text())
    }

    /// Whether the paper has any of its cells.
    pub(crate) fn has_published(&self) -> bool {
        self.rows
            .iter()
            .flat_map(|row| &row.cells)
            .any(|cell| cell.published.is_some())
    }
}

impl TableCell {
    /// Ours as `mean ± std`; a dash if no run has a value.
    #[must_use]
    pub fn ours_text(&self) -> String {
        match self.ours {
            None => "–".to_owned(),
            Some(ours) if self.has_own_unit => own_unit(ours.mean, ours.std, " ± ", |power| format!("e{power}")),
            Some(ours) => mean_std(ours.mean, ours.std, " ± "),
        }
    }

    /// The paper's as `mean ± std`.
    #[must_use]
    pub fn published_text(&self) -> Option<String> {
        let published = self.published?;
        Some(mean_std(published.mean, Some(published.std), " ± "))
    }

    /// What is wrong with the runs of a cell, such as `2 missing, 1 failed`; empty if nothing.
    #[must_use]
    pub fn remarks(&self) -> String {
        let counts = [
            (self.missing, "missing"),
            (self.failed, "failed"),
            (self.diverged, "diverged"),
        ];
        let counts = counts.into_iter().filter(|&(count, _)| count > 0);
        counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// `mean ± std` with as many digits as the paper prints, or fewer for large numbers.
pub(crate) fn mean_std(mean: f64, std: Option<f64>, plus_minus: &str) -> String {
    let number = |value: f64| {
        if value.abs() < 1e5 {
            format!("{value:.2}")
        } else {
            format!("{value:.2e}")
        }
    };
    match std {
        Some(std) => format!("{}{plus_minus}{}", number(mean), number(std)),
        None => number(mean),
    }
}

/// `mean ± std` with four digits of the mean: one's own data may be in any unit. Below 10⁻⁹ zeros would hide them: both are then
/// multiples of a power of ten, which `times_ten_to` writes.
pub(crate) fn own_unit(mean: f64, std: Option<f64>, plus_minus: &str, times_ten_to: impl Fn(i32) -> String) -> String {
    let power = match mean.abs() {
        0.0 => 1,
        size => size.log10().floor() as i32,
    };
    if power < -9 {
        // In two steps: of the smallest numbers the power of ten itself is beyond double precision.
        let scaled = |value: f64| value * 1e100 * 10_f64.powi(-power - 100);
        return match std {
            Some(std) => format!(
                "({:.3}{plus_minus}{:.3}){}",
                scaled(mean),
                scaled(std),
                times_ten_to(power)
            ),
            None => format!("{:.3}{}", scaled(mean), times_ten_to(power)),
        };
    }
    let digits = (3 - power).max(0) as usize;
    match std {
        Some(std) => format!("{mean:.digits$}{plus_minus}{std:.digits$}"),
        None => format!("{mean:.digits$}"),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_errors_are_no_zeros() {
        let text = |mean, std| own_unit(mean, std, " ± ", |power| format!("e{power}"));
        assert_eq!(text(0.0, Some(0.0)), "0.00 ± 0.00");
        assert_eq!(text(123_456.0, None), "123456");
        assert_eq!(text(0.012_344, Some(0.001)), "0.01234 ± 0.00100");
        assert_eq!(text(1.5e-9, None), "0.000000001500");
        assert_eq!(text(7.0126e-15, Some(2e-16)), "(7.013 ± 0.200)e-15");
        assert_eq!(text(5e-324, None), "4.941e-324");
        let latex = own_unit(7e-15, None, " \\pm ", |power| format!(" \\cdot 10^{{{power}}}"));
        assert_eq!(latex, "7.000 \\cdot 10^{-15}");
    }
}
