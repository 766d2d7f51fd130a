//! What a page must hold before it is shown: every length and index, with the path of what is wrong.

use crate::analysis::AnalysisContent;
use crate::chart::{Axis, BandChart, Chart};
use crate::column::Column;
use crate::compare::CompareContent;
use crate::error::{ReportError, Result};
use crate::fit::FitContent;
use crate::monitor::MonitorContent;
use crate::study::StudyContent;
use crate::table::{Heading, MetricRow};

impl FitContent {
    pub(crate) fn check(&self) -> Result<()> {
        share("coverage", self.coverage)?;
        rows("metrics", &self.metrics, &self.headings)?;
        if let Some(baseline) = &self.baseline {
            rows("baseline.rows", &baseline.rows, &self.headings)?;
        }
        for (part_index, part) in self.parts.iter().enumerate() {
            for (run_index, run) in part.runs.iter().enumerate() {
                let at = format!("parts[{part_index}].runs[{run_index}]");
                charts(&format!("{at}.charts"), &run.charts)?;
                charts(&format!("{at}.inputs"), &run.inputs)?;
            }
        }
        for (index, view) in self.residuals.iter().enumerate() {
            chart(&format!("residuals[{index}].autocorrelation"), &view.autocorrelation)?;
            charts(&format!("residuals[{index}].cross"), &view.cross)?;
        }
        for (index, view) in self.coverage_charts.iter().enumerate() {
            let at = format!("coverage_charts[{index}]");
            let named = [("rolling", &view.rolling), ("horizon", &view.horizon)];
            for (name, optional) in named {
                if let Some(found) = optional {
                    chart(&format!("{at}.{name}"), found)?;
                }
            }
            chart(&format!("{at}.scatter"), &view.scatter)?;
        }
        charts("history", &self.history)?;
        if let Some(elasticity) = &self.elasticity {
            if let Some(channels) = &elasticity.channels {
                chart("elasticity.channels", channels)?;
            }
            charts("elasticity.layers", &elasticity.layers)?;
        }
        Ok(())
    }
}

impl AnalysisContent {
    pub(crate) fn check(&self) -> Result<()> {
        for (index, section) in self.sections.iter().enumerate() {
            let at = format!("sections[{index}]");
            charts(&format!("{at}.charts"), &section.charts)?;
            for (table_index, table) in section.tables.iter().enumerate() {
                for (row_index, row) in table.rows.iter().enumerate() {
                    let at = format!("{at}.tables[{table_index}].rows[{row_index}]");
                    equal(&at, row.len(), table.headings.len(), "cells", "one per heading")?;
                }
            }
        }
        Ok(())
    }
}

impl CompareContent {
    pub(crate) fn check(&self) -> Result<()> {
        for (index, row) in self.rows.iter().enumerate() {
            share(&format!("rows[{index}].coverage"), row.coverage)?;
            cells(&format!("rows[{index}]"), &row.cells, &self.headings)?;
        }
        charts("charts", &self.charts)?;
        charts("overlays", &self.overlays)?;
        for (index, run) in self.runs.iter().enumerate() {
            charts(&format!("runs[{index}].charts"), &run.charts)?;
        }
        Ok(())
    }
}

impl MonitorContent {
    pub(crate) fn check(&self) -> Result<()> {
        for (index, output) in self.outputs.iter().enumerate() {
            charts(&format!("outputs[{index}].charts"), &output.charts)?;
        }
        for (index, row) in self.tests.iter().enumerate() {
            let at = format!("tests[{index}].cells");
            equal(&at, row.cells.len(), self.headings.len(), "cells", "one per heading")?;
        }
        Ok(())
    }
}

impl StudyContent {
    pub(crate) fn check(&self) -> Result<()> {
        for (index, table) in self.tables.iter().enumerate() {
            for (row_index, row) in table.rows.iter().enumerate() {
                let at = format!("tables[{index}].rows[{row_index}].cells");
                equal(&at, row.cells.len(), table.columns.len(), "cells", "one per column")?;
            }
        }
        for (index, view) in self.boxes.iter().enumerate() {
            charts(&format!("boxes[{index}].charts"), &view.charts)?;
        }
        for (index, group) in self.groups.iter().enumerate() {
            for (run_index, run) in group.runs.iter().enumerate() {
                let at = format!("groups[{index}].runs[{run_index}]");
                if let Some(row) = &run.metrics {
                    cells(&format!("{at}.metrics"), &row.cells, &group.headings)?;
                    for (index, row) in run.outputs.iter().enumerate() {
                        cells(&format!("{at}.outputs[{index}]"), &row.cells, &group.headings)?;
                    }
                    if run.train_seconds.is_none() {
                        let reason = "missing, expected the time of a finished run";
                        return Err(ReportError::field(format!("{at}.train_seconds"), reason));
                    }
                }
            }
            if let Some(found) = &group.chart {
                chart(&format!("groups[{index}].chart"), found)?;
            }
        }
        Ok(())
    }
}

fn share(at: &str, value: f64) -> Result<()> {
    match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(ReportError::field(
            at,
            format!("{value}, expected a share between 0 and 1"),
        )),
    }
}

fn equal(at: &str, found: usize, expected: usize, what: &str, why: &str) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(ReportError::field(
            at,
            format!("{found} {what}, expected {expected}{}{why}", separator(why)),
        )),
    }
}

/// `as in …` follows a number, other reasons follow a comma.
fn separator(why: &str) -> &'static str {
    if why.starts_with("as ") { " " } else { ", " }
}

fn rows(at: &str, rows: &[MetricRow], headings: &[Heading]) -> Result<()> {
    let mut indexed = rows.iter().enumerate();
    indexed.try_for_each(|(index, row)| cells(&format!("{at}[{index}]"), &row.cells, headings))
}

fn cells(at: &str, cells: &[String], headings: &[Heading]) -> Result<()> {
    equal(
        &format!("{at}.cells"),
        cells.len(),
        headings.len(),
        "cells",
        "one per heading",
    )
}

fn charts(at: &str, charts: &[Chart]) -> Result<()> {
    let mut indexed = charts.iter().enumerate();
    indexed.try_for_each(|(index, found)| chart(&format!("{at}[{index}]"), found))
}

fn chart(at: &str, chart: &Chart) -> Result<()> {
    match chart {
        Chart::Band(spec) => band(at, spec),
        Chart::Input(spec) => {
            axis(&format!("{at}.x"), &spec.x)?;
            column(&format!("{at}.values"), &spec.values).map(drop)
        }
        Chart::Overlay(spec) => {
            axis(&format!("{at}.x"), &spec.x)?;
            let n = column(&format!("{at}.measured"), &spec.measured)?;
            for (index, model) in spec.models.iter().enumerate() {
                let columns = [
                    ("prediction", &model.prediction),
                    ("lower", &model.lower),
                    ("upper", &model.upper),
                ];
                for (name, found) in columns {
                    same(&format!("{at}.models[{index}].{name}"), found, n, "as in `measured`")?;
                }
            }
            Ok(())
        }
        Chart::Lines(spec) => {
            for (index, series) in spec.series.iter().enumerate() {
                let at = format!("{at}.series[{index}].values");
                equal(&at, series.values.len(), spec.x.len(), "values", "as in `x`")?;
            }
            for (index, fill) in spec.fills.iter().enumerate() {
                let count = spec.series.len();
                if let Some(found) = fill.edges.iter().chain([&fill.of]).find(|found| **found >= count) {
                    let reason = format!("series {found}, but there are {count}, counted from 0");
                    return Err(ReportError::field(format!("{at}.fills[{index}]"), reason));
                }
            }
            range(at, spec.y_range)
        }
        Chart::Scatter(spec) => {
            let n = column(&format!("{at}.x"), &spec.x)?;
            same(&format!("{at}.y"), &spec.y, n, "as in `x`")
        }
        Chart::Bars(spec) => {
            let (found, expected) = (spec.values.len(), spec.categories.len());
            equal(&format!("{at}.values"), found, expected, "values", "as in `categories`")?;
            range(at, spec.y_range)
        }
        Chart::Heat(spec) => {
            let (found, expected) = (spec.values.len(), spec.rows.len());
            equal(&format!("{at}.values"), found, expected, "rows", "as in `rows`")?;
            let mut indexed = spec.values.iter().enumerate();
            indexed.try_for_each(|(index, row)| {
                let at = format!("{at}.values[{index}]");
                equal(&at, row.len(), spec.columns.len(), "values", "as in `columns`")
            })
        }
        Chart::Boxes(_) => Ok(()),
    }
}

fn band(at: &str, spec: &BandChart) -> Result<()> {
    axis(&format!("{at}.x"), &spec.x)?;
    let n = column(&format!("{at}.measured"), &spec.measured)?;
    let [online_lower, online_upper] = match &spec.online {
        Some([lower, upper]) => [Some(lower), Some(upper)],
        None => [None, None],
    };
    let others = [
        ("prediction", Some(&spec.prediction)),
        ("lower", Some(&spec.lower)),
        ("upper", Some(&spec.upper)),
        ("online[0]", online_lower),
        ("online[1]", online_upper),
    ];
    for (name, found) in others {
        if let Some(found) = found {
            same(&format!("{at}.{name}"), found, n, "as in `measured`")?;
        }
    }
    for (index, &sample) in spec.outside.iter().enumerate() {
        if sample >= n {
            let reason = format!("sample {sample}, but there are {n}, counted from 0");
            return Err(ReportError::field(format!("{at}.outside[{index}]"), reason));
        }
    }
    for (index, &[first, last]) in spec.extrapolated.iter().enumerate() {
        if first > last || last >= n {
            let reason = format!("from {first} to {last}, expected a stretch of samples from 0, fewer than {n}");
            return Err(ReportError::field(format!("{at}.extrapolated[{index}]"), reason));
        }
    }
    Ok(())
}

fn axis(at: &str, axis: &Axis) -> Result<()> {
    match axis.step > 0.0 {
        true => Ok(()),
        false => Err(ReportError::field(
            format!("{at}.step"),
            format!("{}, expected more than 0", axis.step),
        )),
    }
}

fn range(at: &str, range: Option<[f64; 2]>) -> Result<()> {
    match range {
        Some([low, high]) if low >= high => Err(ReportError::field(
            format!("{at}.y_range"),
            format!("from {low} to {high}, expected low before high"),
        )),
        _ => Ok(()),
    }
}

/// How many values a column holds.
fn column(at: &str, column: &Column) -> Result<usize> {
    if column.low() > column.high() {
        let reason = format!("from {} to {}, expected low before high", column.low(), column.high());
        return Err(ReportError::field(at, reason));
    }
    column
        .count()
        .map_err(|reason| ReportError::field(format!("{at}.data"), reason))
}

fn same(at: &str, found: &Column, expected: usize, why: &str) -> Result<()> {
    equal(at, column(at, found)?, expected, "values", why)
}
