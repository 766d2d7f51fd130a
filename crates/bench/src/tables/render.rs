//! Tables as text.

use std::fmt::Write as _;

use intervalid_data::quote_csv;

use super::{BenchTable, BenchTables, Mean, MeanScore, OurRow, PublishedRow};
use crate::error::Result;

/// Forms of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Markdown.
    Markdown,
    /// One row per method and target.
    Csv,
    /// All of [`BenchTables`].
    Json,
}

/// A cell without a number.
const NONE: &str = "–";

impl BenchTables {
    /// The tables as text.
    ///
    /// # Errors
    /// If a number has no form as JSON.
    pub fn render(&self, format: TableFormat) -> Result<String> {
        Ok(match format {
            TableFormat::Markdown => self.markdown(),
            TableFormat::Csv => self.csv(),
            TableFormat::Json => serde_json::to_string_pretty(self)?,
        })
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for table in &self.benchmarks {
            text += &table.markdown();
        }
        if self
            .benchmarks
            .iter()
            .flat_map(|table| &table.published)
            .any(|row| !row.checked)
        {
            text += "° taken over from a list of results, not compared with the source itself.\n";
        }
        text
    }

    fn csv(&self) -> String {
        let mut text =
            "benchmark,protocol,method,by,test,output,unit,seeds,rmse,rmse_std,fit_percent,picp,picp_online,width,\
                        interval_score,crps,nll,fit_seconds,step_microseconds,parameters,diverged,version,commit,coverage\n"
                .to_owned();
        for table in &self.benchmarks {
            for row in &table.ours {
                for score in &row.scores {
                    text += &table.our_line(row, score);
                }
            }
            for row in &table.published {
                for (target, rmse) in table.targets.iter().zip(&row.rmse) {
                    if let Some(rmse) = rmse {
                        let source = row.source.as_deref().unwrap_or_default();
                        let cells = [
                            table.benchmark.as_str(),
                            &table.protocol.to_string(),
                            &row.method,
                            source,
                            &target.test,
                            &target.output,
                            &table.unit,
                            "",
                            &rmse.to_string(),
                        ];
                        text += &line(cells.into_iter().chain([""; 15]));
                    }
                }
            }
        }
        text
    }
}

fn line<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quote_csv(cell).to_string()).collect();
    format!("{}\n", cells.join(","))
}

impl BenchTable {
    fn our_line(&self, row: &OurRow, score: &MeanScore) -> String {
        let number = |mean: Option<Mean>| mean.map_or_else(String::new, |mean| mean.mean.to_string());
        let deviation = score.rmse.and_then(|rmse| rmse.std);
        let cells = [
            self.benchmark.clone(),
            self.protocol.to_string(),
            row.label.clone(),
            "intervalid".to_owned(),
            score.target.test.clone(),
            score.target.output.clone(),
            self.unit.clone(),
            row.seeds.len().to_string(),
            number(score.rmse),
            deviation.map_or_else(String::new, |deviation| deviation.to_string()),
            number(score.fit_percent),
            number(score.picp),
            number(score.picp_online),
            number(score.width),
            number(score.interval_score),
            number(score.crps),
            number(score.nll),
            number(row.fit_seconds),
            number(row.step_microseconds),
            number(row.parameters),
            score.diverged.to_string(),
            row.version.clone(),
            row.commits.join(" "),
            row.coverage.to_string(),
        ];
        line(cells.iter().map(String::as_str))
    }

    fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title);
        let _ = match self.unscored {
            Some(unscored) => writeln!(
                text,
                "Protocol {}: the first {unscored} samples of a test may start a model and are not scored. Files: <{}>.\n",
                self.protocol, self.home
            ),
            None => writeln!(
                text,
                "**Protocol {} is not the one that this version knows**, so nothing published stands beside these figures.\n",
                self.protocol
            ),
        };
        text += &self.errors();
        if !self.ours.is_empty() {
            text += &self.bands();
            text += &self.effort();
        }
        text
    }

    /// What a row is called: its label, and the coverage where another row of that label was asked for another.
    fn name_of(&self, row: &OurRow) -> String {
        let is_other = |other: &OurRow| other.label == row.label && other.coverage.total_cmp(&row.coverage).is_ne();
        match self.ours.iter().any(is_other) {
            true => format!("{}, {} %", row.label, in_percent(row.coverage)),
            false => row.label.clone(),
        }
    }

    /// Simulation errors, ours and published.
    fn errors(&self) -> String {
        let mut text = format!(
            "| RMSE of the free run, {} | {} | by |\n|---|{}---|\n",
            self.unit,
            self.headings.join(" | "),
            "---:|".repeat(self.headings.len())
        );
        for row in &self.ours {
            let name = self.name_of(row);
            let cells: Vec<String> = row.scores.iter().map(error_cell).collect();
            let commits = match row.commits.as_slice() {
                [] => String::new(),
                commits => format!(", commit {}", commits.join(", ")),
            };
            let seeds: Vec<String> = row.seeds.iter().map(u64::to_string).collect();
            let plural = if seeds.len() == 1 { "" } else { "s" };
            let seeds = seeds.join(", ");
            let _ = writeln!(
                text,
                "| **{name}** | {} | intervalid {}{commits}, seed{plural} {seeds} |",
                cells.join(" | "),
                row.version
            );
        }
        for row in &self.published {
            let cells = row
                .rmse
                .iter()
                .map(|rmse| rmse.map_or_else(|| NONE.to_owned(), |rmse| rmse.to_string()));
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(text, "| {} | {} | {} |", row.method, cells.join(" | "), origin(row));
        }
        text.push('\n');
        text
    }

    fn bands(&self) -> String {
        let unit = &self.unit;
        let mut text = format!(
            "| bands | test | target % | inside % | online % | fit % | width, {unit} | interval score, {unit} | CRPS, {unit} | NLL |\n\
             |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        );
        for row in &self.ours {
            let name = self.name_of(row);
            // What was measured is told from what was asked: one decimal, or as many as that has.
            let asked = in_percent(row.coverage);
            let decimals = asked.split_once('.').map_or(1, |(_, decimals)| decimals.len());
            for (score, heading) in row.scores.iter().zip(&self.headings) {
                let percent = |mean: Option<Mean>| {
                    shown(mean.map(|mean| scaled(mean, 100.0)), |mean| {
                        format!("{mean:.decimals$}")
                    })
                };
                let plain = |mean: Option<Mean>| shown(mean, significant);
                let _ = writeln!(
                    text,
                    "| {name} | {heading} | {} | {} | {} | {} | {} | {} | {} | {} |",
                    asked,
                    percent(score.picp),
                    percent(score.picp_online),
                    shown(score.fit_percent, |mean| format!("{mean:.2}")),
                    plain(score.width),
                    plain(score.interval_score),
                    plain(score.crps),
                    plain(score.nll)
                );
            }
        }
        text.push('\n');
        text
    }

    fn effort(&self) -> String {
        let mut text = "| effort | fit, s | step, µs | parameters | model |\n|---|---:|---:|---:|---|\n".to_owned();
        for row in &self.ours {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                self.name_of(row),
                shown(row.fit_seconds, |mean| format!("{mean:.0}")),
                shown(row.step_microseconds, significant),
                shown(row.parameters, |mean| format!("{mean:.0}")),
                row.models.join("; ")
            );
        }
        text.push('\n');
        text
    }
}

fn origin(row: &PublishedRow) -> String {
    let mark = if row.checked { "" } else { "°" };
    match &row.source {
        Some(source) => format!("{source}{mark}"),
        None => format!("source not located{mark}"),
    }
}

fn error_cell(score: &MeanScore) -> String {
    match (score.rmse, score.diverged) {
        (_, 1..) => "diverged".to_owned(),
        (None, 0) => NONE.to_owned(),
        (Some(Mean { mean, std: Some(std) }), 0) => format!("{} ± {}", significant(mean), significant(std)),
        (Some(Mean { mean, std: None }), 0) => significant(mean),
    }
}

fn shown(mean: Option<Mean>, text: impl Fn(f64) -> String) -> String {
    mean.map_or_else(|| NONE.to_owned(), |mean| text(mean.mean))
}

fn scaled(mean: Mean, factor: f64) -> Mean {
    Mean {
        mean: factor * mean.mean,
        std: mean.std.map(|std| factor * std),
    }
}

/// A share that was asked, in per cent: 90, 99.5, with no digit that was not asked.
fn in_percent(coverage: f64) -> String {
    // Ten digits leave out what the multiplication adds.
    let text = format!("{:.10}", 100.0 * coverage);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Three significant digits, never in powers of ten.
fn significant(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size => (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverages_have_the_digits_that_were_asked() {
        let asked = [0.9, 0.995, 0.5, 0.925, 0.55, 0.0725, 0.99999].map(in_percent);
        assert_eq!(asked, ["90", "99.5", "50", "92.5", "55", "7.25", "99.999"]);
    }

    #[test]
    fn three_digits() {
        let cases = [
            (0.0, "0"),
            (0.012345, "0.0123"),
            (1.5, "1.50"),
            (43.44, "43.4"),
            (1234.5, "1234"),
            (-0.5, "-0.500"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value), expected);
        }
    }
}
