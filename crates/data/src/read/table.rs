//! From chosen columns to experiments: the same for every format.

use std::collections::HashSet;

use crate::dataset::Experiment;
use crate::describe::Warning;
use crate::error::{DataError, FileProblem};
use crate::read::options::{MissingPolicy, Position};

/// The chosen columns of one file, inputs before outputs. A missing sample is NaN.
pub(super) struct Table {
    pub(super) columns: Vec<Vec<f64>>,
    /// First row and label of each experiment; empty where no experiment column was asked for.
    pub(super) labels: Labels,
}

/// Runs of equal labels in an experiment column.
#[derive(Default)]
pub(super) struct Labels {
    runs: Vec<(usize, String)>,
    seen: HashSet<String>,
}

impl Labels {
    /// Notes the label of `row`.
    pub(super) fn push(&mut self, row: usize, label: &str, file: &str, position: Position) -> Result<(), DataError> {
        if self.runs.last().is_some_and(|(_, current)| current == label) {
            return Ok(());
        }
        if label.is_empty() {
            return Err(FileProblem::NoExperimentLabel { position }.of(file));
        }
        if !self.seen.insert(label.to_owned()) {
            return Err(FileProblem::ExperimentReappears {
                position,
                label: label.to_owned(),
            }
            .of(file));
        }
        self.runs.push((row, label.to_owned()));
        Ok(())
    }
}

/// Appends with a growth of a quarter: doubling would briefly need three times the column.
pub(super) fn push(column: &mut Vec<f64>, value: f64) {
    if column.len() == column.capacity() {
        column.reserve_exact((column.len() / 4).max(1024));
    }
    column.push(value);
}

/// Refuses infinities, and NaN where the policy says so.
pub(super) fn check_value(
    value: f64,
    policy: MissingPolicy,
    file: &str,
    column: &str,
    position: Position,
) -> Result<f64, DataError> {
    if value.is_finite() || (value.is_nan() && policy == MissingPolicy::Split) {
        return Ok(value);
    }
    let column = column.to_owned();
    Err(if value.is_nan() {
        FileProblem::MissingSample { position, column }.of(file)
    } else {
        FileProblem::NonFiniteCell {
            position,
            column,
            found: value,
        }
        .of(file)
    })
}

impl Table {
    /// Cuts at label changes and gaps. Columns move where nothing is cut; otherwise one column at a time is copied.
    pub(super) fn into_experiments(
        self,
        file: &str,
        stem: &str,
        inputs: usize,
    ) -> Result<(Vec<Experiment>, Option<Warning>), DataError> {
        let rows = self.columns.first().map_or(0, Vec::len);
        if rows == 0 {
            return Err(FileProblem::NoRows.of(file));
        }
        let mut borders = self.labels.runs;
        if borders.is_empty() {
            borders.push((0, String::new()));
        }
        let mut pieces: Vec<(String, usize, usize)> = Vec::new();
        let mut missing_rows = 0;
        for (index, (start, label)) in borders.iter().enumerate() {
            let end = borders.get(index + 1).map_or(rows, |next| next.0);
            let name = if label.is_empty() {
                stem.to_owned()
            } else {
                format!("{stem}:{label}")
            };
            let (stretches, missing) = complete_stretches(&self.columns, *start, end);
            missing_rows += missing;
            let several = stretches.len() > 1;
            for (piece, (start, end)) in stretches.into_iter().enumerate() {
                let name = if several {
                    format!("{name}#{}", piece + 1)
                } else {
                    name.clone()
                };
                pieces.push((name, start, end));
            }
        }
        let warning = (missing_rows > 0).then(|| Warning::SplitAtGaps {
            file: file.to_owned(),
            missing_rows,
            experiments: pieces.len(),
        });
        if pieces.is_empty() {
            return Err(FileProblem::NoRows.of(file));
        }
        let whole = matches!(pieces.as_slice(), [(_, 0, end)] if *end == rows);
        let mut per_piece: Vec<Vec<Vec<f64>>> = pieces.iter().map(|_| Vec::new()).collect();
        for mut column in self.columns {
            if whole {
                column.shrink_to_fit();
                per_piece[0].push(column);
            } else {
                for (columns, (_, start, end)) in per_piece.iter_mut().zip(&pieces) {
                    columns.push(column[*start..*end].to_vec());
                }
            }
        }
        let experiments = pieces.into_iter().zip(per_piece).map(|((name, ..), mut columns)| {
            let outputs = columns.split_off(inputs);
            Experiment::new(name, columns, outputs)
        });
        Ok((experiments.collect(), warning))
    }
}

/// Ranges of `start..end` in which no column is NaN, and the number of rows left out.
fn complete_stretches(columns: &[Vec<f64>], start: usize, end: usize) -> (Vec<(usize, usize)>, usize) {
    let mut stretches = Vec::new();
    let mut missing = 0;
    let mut begun = None;
    for row in start..end {
        if columns.iter().any(|column| column[row].is_nan()) {
            missing += 1;
            if let Some(first) = begun.take() {
                stretches.push((first, row));
            }
        } else {
            begun.get_or_insert(row);
        }
    }
    if let Some(first) = begun {
        stretches.push((first, end));
    }
    (stretches, missing)
}
