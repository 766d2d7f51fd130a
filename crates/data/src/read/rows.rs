//! Rows of cells to columns of numbers: the same for text files and sheets.

use crate::describe::Warning;
use crate::error::{DataError, FileProblem, NotANumberCause};
use crate::read::columns::{Selection, TimeChoice};
use crate::read::header::{Header, seconds_per};
use crate::read::options::{Decimal, MissingPolicy, Position, ReadOptions};
use crate::read::sampling::TimeColumn;
use crate::read::table::{Labels, Table, check_value, push};
use crate::time::Moment;

/// What spreadsheets and historians write where there is no number.
const MISSING: [&str; 12] = [
    "nan", "na", "n/a", "null", "none", "#n/a", "#nv", "#value!", "#div/0!", "#ref!", "bad", "no data",
];
/// No unit is longer.
const LONGEST_UNIT: usize = 16;

/// Cells of one row without an allocation per cell; quoted cells and those of sheets own their text.
pub(super) enum Cells<'a> {
    Plain(Vec<&'a str>),
    Owned(Vec<String>),
}

impl Cells<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Plain(cells) => cells.len(),
            Self::Owned(cells) => cells.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> &str {
        match self {
            Self::Plain(cells) => cells[index],
            Self::Owned(cells) => &cells[index],
        }
    }

    /// Whether nothing is in the row: spreadsheets fill blank lines up with delimiters.
    pub(super) fn is_blank(&self) -> bool {
        (0..self.len()).all(|index| self.get(index).is_empty())
    }
}

/// Takes the rows of a file one by one.
pub(super) struct Rows<'a> {
    file: &'a str,
    decimal: Decimal,
    options: &'a ReadOptions,
    header: Header,
    selection: Selection,
    chosen: Vec<usize>,
    table: Table,
    count: usize,
    /// Where blank rows began that may be the last ones.
    blank: Option<(Position, usize)>,
    /// Whether the row of the column names was the last one.
    at_top: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        file: &'a str,
        names: Vec<String>,
        decimal: Decimal,
        options: &'a ReadOptions,
    ) -> Result<Self, DataError> {
        let header = Header::new(names);
        let selection = Selection::new(file, &header, options)?;
        let chosen: Vec<usize> = selection.channels().collect();
        let table = Table {
            columns: vec![Vec::new(); chosen.len()],
            labels: Labels::default(),
            time: None,
            first_row: None,
            available: header.full.clone(),
            warnings: Vec::new(),
        };
        Ok(Self {
            file,
            decimal,
            options,
            header,
            selection,
            chosen,
            table,
            count: 0,
            blank: None,
            at_top: true,
        })
    }

    /// Cells of a complete row.
    pub(super) fn width(&self) -> usize {
        self.header.len()
    }

    /// Notes a row without content. At the end of a file it means nothing, before another row it is a missing sample.
    pub(super) fn blank(&mut self, position: Position) {
        if self.count > 0 {
            self.blank.get_or_insert((position, 0)).1 += 1;
        }
    }

    /// Takes a row that is as wide as the header.
    pub(super) fn push(&mut self, cells: &Cells<'_>, position: Position) -> Result<(), DataError> {
        if std::mem::take(&mut self.at_top) && self.take_units(cells) {
            return Ok(());
        }
        if self.count == 0 {
            self.table.first_row = Some(position);
            self.start_time(cells);
        }
        if let Some((position, rows)) = self.blank.take() {
            if self.options.missing == MissingPolicy::Error {
                return Err(FileProblem::BlankLine {
                    line: position.number(),
                }
                .of(self.file));
            }
            for _ in 0..rows {
                self.table.columns.iter_mut().for_each(|column| push(column, f64::NAN));
                if let Some(time) = &mut self.table.time {
                    time.push(None);
                }
                self.count += 1;
            }
        }
        for (column, &index) in self.table.columns.iter_mut().zip(&self.chosen) {
            let name = &self.header.full[index];
            let value = parse(cells.get(index), self.decimal, self.file, name, position)?;
            push(
                column,
                check_value(value, self.options.missing, self.file, name, position)?,
            );
        }
        if let Some(index) = self.selection.experiment {
            self.table
                .labels
                .push(self.count, cells.get(index), self.file, position)?;
        }
        self.push_time(cells, position)?;
        self.count += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> (Header, Selection, Table) {
        (self.header, self.selection, self.table)
    }

    /// Whether the row below the names holds units. They stand in all chosen columns that have anything there.
    fn take_units(&mut self, cells: &Cells<'_>) -> bool {
        let mut found = false;
        for &index in &self.chosen {
            let cell = cells.get(index);
            if cell.is_empty() {
                continue;
            }
            let starts_a_number = cell.starts_with(|first: char| first.is_ascii_digit()) && !cell.starts_with("1/");
            let is_word = cell != "-" && MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word));
            let is_number = starts_a_number || cell.parse::<f64>().is_ok() || is_decimal_comma(cell);
            if is_word || is_number || cell.chars().count() > LONGEST_UNIT {
                return false;
            }
            found = true;
        }
        if found {
            let row: Vec<String> = (0..cells.len()).map(|index| cells.get(index).to_owned()).collect();
            if let Some(time) = &mut self.selection.time
                && self.header.unit(time.column).is_none()
                && let Some(factor) = seconds_per(row[time.column].trim_matches(['[', ']', '(', ')']))
            {
                time.factor = factor;
            }
            self.header.add_units(&row);
        }
        found
    }

    /// Starts the column of times. Where no name tells, the first column of dates that is not chosen is it.
    fn start_time(&mut self, cells: &Cells<'_>) {
        if self.selection.time.is_none() && self.options.time.is_none() {
            let is_free = |column: &usize| !self.chosen.contains(column) && self.selection.experiment != Some(*column);
            let is_date = |column: &usize| Moment::parse_date(cells.get(*column)).is_some_and(Moment::is_date);
            let column = (0..cells.len()).filter(is_free).find(is_date);
            self.selection.time = column.map(|column| TimeChoice {
                column,
                factor: 1.0,
                is_asked: false,
            });
        }
        if let Some(time) = self.selection.time {
            self.table.time = Some(TimeColumn::new(self.header.full[time.column].clone()));
        }
    }

    fn push_time(&mut self, cells: &Cells<'_>, position: Position) -> Result<(), DataError> {
        let (Some(choice), Some(time)) = (self.selection.time, &mut self.table.time) else {
            return Ok(());
        };
        let cell = cells.get(choice.column);
        let moment = match number(cell, self.decimal) {
            Some(value) if value.is_nan() => Ok(None),
            Some(value) if value.is_finite() => Ok(Some(Moment::Seconds(value * choice.factor))),
            _ => Moment::parse_date(cell).map(Some).ok_or(()),
        };
        let column = &self.header.full[choice.column];
        if moment == Ok(None) && self.options.missing == MissingPolicy::Error && self.options.resample.is_none() {
            let column = column.clone();
            return Err(FileProblem::MissingSample { position, column }.of(self.file));
        }
        if moment.is_ok_and(|moment| time.push(moment)) {
            return Ok(());
        }
        let found: String = cell.chars().take(40).collect();
        let column = column.clone();
        if choice.is_asked {
            return Err(FileProblem::NotATime {
                position,
                column,
                found,
            }
            .of(self.file));
        }
        self.table.warnings.push(Warning::TimeNotUsed {
            file: self.file.to_owned(),
            column,
            position: position.to_string(),
            found,
        });
        (self.selection.time, self.table.time) = (None, None);
        Ok(())
    }
}

/// The number in a cell, NaN where it says that there is none.
fn number(cell: &str, decimal: Decimal) -> Option<f64> {
    if cell.is_empty() || MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
        return Some(f64::NAN);
    }
    match decimal {
        Decimal::Point => cell.parse().ok(),
        // A point in such a file may group thousands: better refuse 1.234 than read it as a little more than one.
        Decimal::Comma if cell.contains('.') => None,
        Decimal::Comma if cell.contains(',') => cell.replacen(',', ".", 1).parse().ok(),
        Decimal::Comma => cell.parse().ok(),
    }
}

fn parse(cell: &str, decimal: Decimal, file: &str, column: &str, position: Position) -> Result<f64, DataError> {
    number(cell, decimal).ok_or_else(|| {
        FileProblem::NotANumber {
            position,
            column: column.to_owned(),
            found: cell.chars().take(40).collect(),
            cause: match decimal {
                Decimal::Point if is_decimal_comma(cell) => NotANumberCause::DecimalComma,
                Decimal::Comma if cell.contains('.') => NotANumberCause::DecimalPoint,
                _ => NotANumberCause::Unknown,
            },
        }
        .of(file)
    })
}

/// Whether the cell is a number once its only comma is a point.
pub(super) fn is_decimal_comma(cell: &str) -> bool {
    cell.contains(',') && !cell.contains('.') && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}
