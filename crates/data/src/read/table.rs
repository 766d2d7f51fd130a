//! From chosen columns to experiments: the same for every format.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::{DataError, FileProblem};
use crate::experiment::Experiment;
use crate::prepare::{Clipping, Filled, fill_gaps};
use crate::read::options::{MissingPolicy, Position, ReadOptions};
use crate::read::resample::{longest_bridge, resample};
use crate::read::sampling::{Even, GAP, Stretch, TimeColumn, even_stretches};
use crate::spot::{Mark, SpotKind};
use crate::time::Moment;
use crate::warning::Warning;

/// The chosen columns of one file, inputs before outputs. A missing sample is NaN.
pub(super) struct Table {
    pub(super) columns: Vec<Vec<f64>>,
    /// First row and label of each experiment; empty where no experiment column was asked for.
    pub(super) labels: Labels,
    /// When the rows were taken, where a column says so.
    pub(super) time: Option<TimeColumn>,
    /// Where the first row is in a user's file.
    pub(super) first_row: Option<Position>,
    /// Columns of the file, for messages.
    pub(super) available: Vec<String>,
    /// What the reader noticed.
    pub(super) warnings: Vec<Warning>,
    /// Gaps that were filled.
    pub(super) filled: Vec<Filled>,
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

/// A table in memory whose rows have times.
#[derive(Clone, Debug)]
pub struct TimedTable {
    /// Name of the experiment.
    pub name: String,
    /// Inputs, then outputs.
    pub columns: Vec<Vec<f64>>,
    /// Times of the rows in nanoseconds since the start of 1970.
    pub nanoseconds: Vec<i64>,
    /// Whether these are of universal time; otherwise of some wall clock.
    pub universal: bool,
}

/// The experiments of a table in memory, and what is worth telling about it.
pub(crate) fn timed_experiments(
    table: TimedTable,
    source: &str,
    inputs: usize,
    (options, clipping): (&ReadOptions, Option<&mut Clipping>),
    step: &mut KnownStep,
) -> Result<(Vec<Experiment>, Vec<Warning>), DataError> {
    for column in &table.columns {
        for (row, value) in column.iter().enumerate() {
            check_value(
                *value,
                options.while_reading(),
                source,
                &table.name,
                Position::Row(row as u64 + 1),
            )?;
        }
    }
    let mut time = TimeColumn::new("index");
    for nanoseconds in &table.nanoseconds {
        time.push(Moment::from_nanoseconds(i128::from(*nanoseconds), table.universal));
    }
    let mut rows = Table {
        columns: table.columns,
        labels: Labels::default(),
        time: Some(time),
        first_row: Some(Position::Row(1)),
        available: Vec::new(),
        warnings: Vec::new(),
        filled: Vec::new(),
    };
    let names = vec![table.name.as_str(); rows.columns.len()];
    rows.fill(source, &names, options)?;
    let pieces = rows.into_experiments(source, &table.name, inputs, (options, clipping))?;
    pieces.agree(source, "index", step)?;
    Ok((pieces.experiments, pieces.warnings))
}

/// Sample times that differ by less than this share are the same.
pub const SAME_STEP: f64 = 0.01;

/// What is known of the time between the samples of a record while its files are read.
pub(crate) struct KnownStep {
    seconds: Option<f64>,
    /// The file that told; none if it was given.
    told_by: Option<String>,
}

impl KnownStep {
    pub(crate) fn given(seconds: Option<f64>) -> Self {
        Self { seconds, told_by: None }
    }

    pub(crate) fn seconds(&self) -> Option<f64> {
        self.seconds
    }
}

impl Pieces {
    /// Checks the step against what is known of it, or makes it known.
    pub(super) fn agree(&self, file: &str, column: &str, known: &mut KnownStep) -> Result<(), DataError> {
        let Some(found) = self.step else {
            return Ok(());
        };
        let Some(expected) = known.seconds else {
            *known = KnownStep {
                seconds: Some(found),
                told_by: Some(file.to_owned()),
            };
            return Ok(());
        };
        if (found - expected).abs() <= SAME_STEP * expected {
            return Ok(());
        }
        let column = column.to_owned();
        let problem = match &known.told_by {
            None => FileProblem::SampleTimeConflict {
                column,
                found,
                expected,
            },
            Some(earlier) => FileProblem::SampleTimesDiffer {
                column,
                found,
                earlier: earlier.clone(),
                expected,
            },
        };
        Err(problem.of(file))
    }
}

/// The experiments of a file.
pub(super) struct Pieces {
    pub(super) experiments: Vec<Experiment>,
    pub(super) warnings: Vec<Warning>,
    /// Seconds between samples, where a time column says so.
    pub(super) step: Option<f64>,
}

impl Table {
    /// Cuts at label changes and gaps, and resamples where that is asked for, clipping spikes first. Columns move where nothing is cut; otherwise one
    /// column at a time is copied.
    pub(super) fn into_experiments(
        self,
        file: &str,
        stem: &str,
        inputs: usize,
        (options, clipping): (&ReadOptions, Option<&mut Clipping>),
    ) -> Result<Pieces, DataError> {
        if self.rows() == 0 {
            return Err(FileProblem::NoRows.of(file));
        }
        let runs = self.runs(stem);
        let mut pieces = match options.resample.zip(clipping) {
            Some((step, clipping)) => self.resampled(file, runs, inputs, (step, clipping, options)),
            None => self.cut(file, runs, inputs, options.missing),
        }?;
        // A file grows at its end.
        if let Some((_, earlier)) = pieces.experiments.split_last_mut() {
            earlier.iter_mut().for_each(Experiment::close);
        }
        Ok(pieces)
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Rows of one label, with the name of their experiment.
    fn runs(&self, stem: &str) -> Vec<(String, Range<usize>)> {
        let rows = self.rows();
        let mut borders = self.labels.runs.clone();
        if borders.is_empty() {
            borders.push((0, String::new()));
        }
        let runs = borders.iter().enumerate().map(|(index, (start, label))| {
            let end = borders.get(index + 1).map_or(rows, |next| next.0);
            let name = match label.is_empty() {
                true => stem.to_owned(),
                false => format!("{stem}:{label}"),
            };
            (name, *start..end)
        });
        runs.collect()
    }

    /// Fills short gaps where that is asked for, but draws no line over a gap in the times, and refuses what is missing then where
    /// that is no border. `names` are those of the columns.
    pub(super) fn fill(&mut self, file: &str, names: &[&str], options: &ReadOptions) -> Result<(), DataError> {
        let Some(most) = options.prepare.fill_gaps else {
            return Ok(());
        };
        options.prepare.check()?;
        let mut runs: Vec<Range<usize>> = self.runs("").into_iter().map(|(_, rows)| rows).collect();
        if let Some(time) = &self.time {
            runs = time.cut_at_gaps(runs, |rows, usual| match options.resample {
                Some(step) => longest_bridge(step, usual, Some(most)),
                None => (rows as f64 - 1.0 + GAP) * usual,
            });
        }
        let times = self.time.as_ref().map(|time| time.seconds.as_slice());
        self.filled = fill_gaps(&mut self.columns, &runs, times, most);
        let position = Self::position(self.first_row);
        if let Some(first) = self.filled.iter().map(|gap| gap.rows.start).min() {
            self.warnings.push(Warning::GapsFilled {
                file: file.to_owned(),
                gaps: self.filled.len(),
                samples: self.filled.iter().map(|gap| gap.rows.len()).sum(),
                longest: self.filled.iter().map(|gap| gap.rows.len()).max().unwrap_or(0),
                first: position(first).to_string(),
            });
        }
        if options.missing == MissingPolicy::Split {
            return Ok(());
        }
        let missing = |column: &Vec<f64>| column.iter().position(|value| value.is_nan());
        let first = self
            .columns
            .iter()
            .zip(names)
            .filter_map(|(column, name)| Some((missing(column)?, name)));
        match first.min_by_key(|(row, _)| *row) {
            Some((row, column)) => Err(FileProblem::GapNotFilled {
                position: position(row),
                column: (*column).to_owned(),
                most,
            }
            .of(file)),
            None => Ok(()),
        }
    }

    /// Where a row is, for messages.
    fn position(first: Option<Position>) -> impl Fn(usize) -> Position {
        move |row| first.unwrap_or(Position::Row(1)).plus(row as u64)
    }

    /// The samples as they are.
    fn cut(
        self,
        file: &str,
        runs: Vec<(String, Range<usize>)>,
        inputs: usize,
        policy: MissingPolicy,
    ) -> Result<Pieces, DataError> {
        let rows = self.rows();
        let mut warnings = self.warnings;
        let mut missing_rows = 0;
        let mut pieces: Vec<(Piece, Stretch)> = Vec::new();
        // One step for the whole file: all its labels together tell what is usual.
        let mut complete: Vec<(usize, usize)> = Vec::new();
        for (_, run) in &runs {
            let (stretches, missing) = complete_stretches(&self.columns, self.time.as_ref(), run.start, run.end);
            missing_rows += missing;
            complete.extend(stretches);
        }
        let even = match &self.time {
            Some(time) => even_stretches(file, time, &complete, Self::position(self.first_row), policy)?,
            None => Even::without_time(&complete),
        };
        let mut stretches = even.stretches.into_iter().peekable();
        for (name, run) in runs {
            let mut of_run = Vec::new();
            while let Some(stretch) = stretches.next_if(|stretch| stretch.start < run.end) {
                of_run.push(stretch);
            }
            pieces.extend(numbered(&name, of_run));
        }
        if missing_rows > 0 {
            warnings.push(Warning::SplitAtGaps {
                file: file.to_owned(),
                missing_rows,
                experiments: pieces.len(),
            });
        }
        warnings.extend(even.warnings);
        if pieces.is_empty() {
            return Err(FileProblem::NoRows.of(file));
        }
        let whole = matches!(pieces.as_slice(), [(_, Stretch { start: 0, end, .. })] if *end == rows);
        let mut per_piece: Vec<Vec<Vec<f64>>> = pieces.iter().map(|_| Vec::new()).collect();
        for mut column in self.columns {
            if whole {
                column.shrink_to_fit();
                per_piece[0].push(column);
            } else {
                for (columns, (_, stretch)) in per_piece.iter_mut().zip(&pieces) {
                    columns.push(column[stretch.start..stretch.end].to_vec());
                }
            }
        }
        let marks = marks(&pieces, &self.filled);
        let pieces = pieces.into_iter().zip(per_piece).zip(marks);
        let experiments = pieces.map(|(((piece, stretch), mut columns), marks)| {
            let outputs = columns.split_off(inputs);
            Experiment::new(piece.name, columns, outputs)
                .with_time(stretch.time)
                .with_first_row(self.first_row.map(|first| first.plus(stretch.start as u64)))
                .with_marks(marks)
        });
        Ok(Pieces {
            experiments: experiments.collect(),
            warnings,
            step: even.step,
        })
    }

    /// The samples on a new grid.
    fn resampled(
        self,
        file: &str,
        runs: Vec<(String, Range<usize>)>,
        inputs: usize,
        (step, clipping, options): (f64, &mut Clipping, &ReadOptions),
    ) -> Result<Pieces, DataError> {
        if !(step.is_finite() && step > 0.0) {
            return Err(DataError::ResampleStep { found: step });
        }
        let Some(time) = &self.time else {
            let available = self.available;
            return Err(FileProblem::ResampleWithoutTime { available }.of(file));
        };
        let position = Self::position(self.first_row);
        let (stretches, tally) = resample(file, time, &self.columns, &runs, position, (step, clipping, options))?;
        let mut experiments = Vec::new();
        for ((name, _), stretches) in runs.iter().zip(stretches) {
            for (piece, mut stretch) in numbered(name, stretches) {
                let outputs = stretch.columns.split_off(inputs);
                let experiment = Experiment::new(&*piece.name, stretch.columns, outputs).with_time(stretch.time);
                let marks = piece.gap().into_iter().chain(stretch.marks);
                experiments.push(experiment.with_marks(marks.collect()));
            }
        }
        if experiments.is_empty() {
            return Err(FileProblem::NoRows.of(file));
        }
        let mut warnings = self.warnings;
        warnings.extend(time.doubt(file, tally.usual()));
        warnings.push(tally.warning(file, &time.name, step));
        Ok(Pieces {
            experiments,
            warnings,
            step: Some(step),
        })
    }
}

/// A stretch of an experiment.
struct Piece {
    name: String,
    /// Whether samples are missing between it and the one before.
    follows_gap: bool,
}

impl Piece {
    /// The gap before it, as an experiment remembers it.
    fn gap(&self) -> Option<Mark> {
        self.follows_gap.then_some(Mark {
            kind: SpotKind::AfterGap,
            channel: None,
            start: 0,
            end: 1,
        })
    }
}

/// Stretches of one experiment with its name, numbered where there are several.
fn numbered<T>(name: &str, stretches: Vec<T>) -> Vec<(Piece, T)> {
    let several = stretches.len() > 1;
    let named = stretches.into_iter().enumerate().map(|(index, stretch)| {
        let piece = Piece {
            name: match several {
                true => format!("{name}#{}", index + 1),
                false => name.to_owned(),
            },
            follows_gap: index > 0,
        };
        (piece, stretch)
    });
    named.collect()
}

/// What each piece remembers: the gap before it, and those that were filled in it.
fn marks(pieces: &[(Piece, Stretch)], filled: &[Filled]) -> Vec<Vec<Mark>> {
    let mut marks: Vec<Vec<Mark>> = pieces
        .iter()
        .map(|(piece, _)| piece.gap().into_iter().collect())
        .collect();
    for gap in filled {
        let piece = pieces.partition_point(|(_, stretch)| stretch.end <= gap.rows.start);
        // A filled row may still lack a sample in another column, and is left out then.
        let Some((_, stretch)) = pieces.get(piece).filter(|(_, stretch)| stretch.start <= gap.rows.start) else {
            continue;
        };
        let in_piece = Filled {
            rows: gap.rows.start - stretch.start..gap.rows.end.min(stretch.end) - stretch.start,
            ..gap.clone()
        };
        marks[piece].push(in_piece.into_mark());
    }
    marks
}

/// Ranges of `start..end` in which neither a column nor the time is NaN, and the number of rows left out.
fn complete_stretches(
    columns: &[Vec<f64>],
    time: Option<&TimeColumn>,
    start: usize,
    end: usize,
) -> (Vec<(usize, usize)>, usize) {
    let mut stretches = Vec::new();
    let mut missing = 0;
    let mut begun = None;
    for row in start..end {
        if columns.iter().any(|column| column[row].is_nan()) || time.is_some_and(|time| time.seconds[row].is_nan()) {
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
