//! Rows of cells to columns of numbers: the same for text files and sheets.

use std::collections::HashSet;

use crate::error::{DataError, FileProblem, NotANumberCause};
use crate::read::columns::{Selection, TimeChoice};
use crate::read::date_text::DateText;
use crate::read::header::{Header, NO_UNIT, TimeUnit, names_clock, names_day};
use crate::read::options::{Decimal, MissingPolicy, Position, ReadOptions};
use crate::read::table::{Labels, Table, check_value, push};
use crate::read::times::{TimeCell, Times};
use crate::time::Moment;

/// What spreadsheets, programs and historians write where there is no number.
const MISSING: [&str; 40] = [
    "nan",
    "na",
    "n/a",
    "null",
    "none",
    "missing",
    "invalid",
    "error",
    "fault",
    "bad",
    "no data",
    "nodata",
    "---",
    "--",
    "?",
    "\\n",
    "(null)",
    "-nan",
    "nan(ind)",
    "-nan(ind)",
    "1.#qnan",
    "-1.#ind",
    "#n/a",
    "#nv",
    "#num!",
    "#value!",
    "#div/0!",
    "#ref!",
    "i/o timeout",
    "bad input",
    "comm fail",
    "pt created",
    "not connect",
    "calc failed",
    "intf shut",
    "scan off",
    "over range",
    "under range",
    "shutdown",
    "configure",
];
/// States of switches, which are no units: a row of them is a sample.
const STATES: [&str; 12] = [
    "on", "off", "true", "false", "yes", "no", "open", "closed", "auto", "manual", "good", "ok",
];
/// No unit is longer.
const LONGEST_UNIT: usize = 16;

/// Cells of one row without an allocation per row; quoted cells and those of sheets own their text.
pub(super) enum Cells<'a> {
    /// A line, and where in it each cell begins and ends.
    Plain {
        line: &'a str,
        places: &'a [(u32, u32)],
    },
    Owned(Vec<String>),
    Sheet(Vec<SheetCell>),
}

/// A cell of a spreadsheet.
pub(super) struct SheetCell {
    pub(super) text: String,
    /// What it is where the sheet says that it is a time of day or a duration.
    pub(super) clock: Option<Moment>,
}

impl Cells<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Plain { places, .. } => places.len(),
            Self::Owned(cells) => cells.len(),
            Self::Sheet(cells) => cells.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> &str {
        match self {
            Self::Plain { line, places } => {
                let (start, end) = places[index];
                &line[start as usize..end as usize]
            }
            Self::Owned(cells) => &cells[index],
            Self::Sheet(cells) => &cells[index].text,
        }
    }

    fn clock(&self, index: usize) -> Option<Moment> {
        match self {
            Self::Sheet(cells) => cells[index].clock,
            Self::Plain { .. } | Self::Owned(_) => None,
        }
    }

    /// Seconds since midnight of a time of day.
    fn seconds_of_day(&self, index: usize) -> Option<f64> {
        let found = self
            .clock(index)
            .map(DateText::Certain)
            .or_else(|| DateText::read(self.get(index)));
        match found {
            Some(DateText::Certain(Moment::TimeOfDay(seconds))) => Some(seconds),
            _ => None,
        }
    }

    /// Whether it is a day without a time.
    fn is_day(&self, index: usize) -> bool {
        let cell = self.get(index);
        let is_midnight = matches!(self, Self::Sheet(_)) && cell.ends_with("T00:00:00");
        self.clock(index).is_none()
            && (is_midnight || !cell.contains(':'))
            && DateText::read(cell).is_some_and(DateText::is_date)
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
    /// What the commas of each chosen column are.
    commas: Vec<Commas>,
    table: Table,
    times: Option<Times<'a>>,
    /// The column with the time of day, where that of times holds days.
    clock: Option<usize>,
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
            filled: Vec::new(),
        };
        Ok(Self {
            file,
            decimal,
            options,
            header,
            selection,
            commas: chosen.iter().map(|_| Commas::default()).collect(),
            chosen,
            table,
            times: None,
            clock: None,
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
            if self.options.while_reading() == MissingPolicy::Error {
                return Err(FileProblem::BlankLine {
                    line: position.number(),
                }
                .of(self.file));
            }
            for _ in 0..rows {
                self.table.columns.iter_mut().for_each(|column| push(column, f64::NAN));
                if let Some(times) = &mut self.times {
                    times.push(TimeCell::Missing, position, String::new)?;
                }
                self.count += 1;
            }
        }
        for ((column, commas), &index) in self.table.columns.iter_mut().zip(&mut self.commas).zip(&self.chosen) {
            let name = &self.header.full[index];
            let value = parse(cells.get(index), self.decimal, self.file, name, position)?;
            // Numbers of a spreadsheet are numbers already.
            if self.decimal == Decimal::Comma && !matches!(cells, Cells::Sheet(_)) {
                commas.push(cells.get(index), position);
            }
            push(
                column,
                check_value(value, self.options.while_reading(), self.file, name, position)?,
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

    pub(super) fn finish(mut self) -> Result<(Header, Selection, Table), DataError> {
        for (commas, &index) in self.commas.iter_mut().zip(&self.chosen) {
            if let Some((position, found, beside)) = commas.take_grouped() {
                let column = self.header.full[index].clone();
                return Err(FileProblem::GroupedThousands {
                    position,
                    column,
                    found,
                    beside,
                }
                .of(self.file));
            }
        }
        if let Some(times) = self.times {
            let (time, warning) = times.finish()?;
            self.table.time = time;
            self.table.warnings.extend(warning);
        }
        Ok((self.header, self.selection, self.table))
    }

    /// Whether the row below the names holds units. They stand in all chosen columns that have anything there, and beside no time: a
    /// row with one is a sample, whatever words a historian writes for its values.
    fn take_units(&mut self, cells: &Cells<'_>) -> bool {
        let has_date = (0..cells.len()).any(|index| DateText::read(cells.get(index)).is_some());
        let time = self.selection.time.as_ref().map(|time| cells.get(time.column));
        if has_date
            || time
                .and_then(|cell| number(cell, self.decimal))
                .is_some_and(f64::is_finite)
        {
            return false;
        }
        let mut found = false;
        for &index in &self.chosen {
            let cell = cells.get(index);
            // Dashes beside units mean that there is none; a row of nothing else is a sample that is missing.
            if cell.is_empty() || (cell != "-" && NO_UNIT.contains(&cell)) {
                continue;
            }
            let starts_a_number = cell.starts_with(|first: char| first.is_ascii_digit()) && !cell.starts_with("1/");
            let is_word = MISSING
                .iter()
                .chain(&STATES)
                .any(|word| cell.eq_ignore_ascii_case(word));
            let is_number = starts_a_number || cell.parse::<f64>().is_ok() || is_decimal_comma(cell);
            if is_word || is_number || cell.chars().count() > LONGEST_UNIT {
                return false;
            }
            found = true;
        }
        if found {
            let row: Vec<String> = (0..cells.len()).map(|index| cells.get(index).to_owned()).collect();
            if let Some(time) = &mut self.selection.time
                && time.unit == TimeUnit::Unsaid
            {
                time.unit = TimeUnit::new(&row[time.column]);
            }
            self.header.add_units(&row);
        }
        found
    }

    /// Starts the column of times. Where no name tells, the first column of dates that is not chosen is it. Loggers that write the day and the time of
    /// day into two columns have a name for each.
    fn start_time(&mut self, cells: &Cells<'_>) {
        let is_asked = self.options.time.is_some();
        // As a set: among many columns, looking each of them up in a list takes the square of their number.
        let taken: HashSet<usize> = self.chosen.iter().copied().chain(self.selection.experiment).collect();
        let free = || (0..cells.len()).filter(|column| !taken.contains(column));
        if self.selection.time.is_none() && !is_asked {
            let is_date = |column: &usize| DateText::read(cells.get(*column)).is_some_and(DateText::is_date);
            self.selection.time = free().find(is_date).map(|column| TimeChoice {
                column,
                unit: TimeUnit::Unsaid,
                is_asked: false,
            });
        }
        if let Some(choice) = &mut self.selection.time {
            let name = |column: usize| self.header.full[column].as_str();
            let is_day = |column: &usize| names_day(name(*column)) && cells.is_day(*column);
            let is_clock = |column: &usize| names_clock(name(*column)) && cells.seconds_of_day(*column).is_some();
            if is_day(&choice.column) {
                self.clock = free().find(is_clock);
            } else if !is_asked
                && is_clock(&choice.column)
                && let Some(day) = free().find(is_day)
            {
                self.clock = Some(std::mem::replace(&mut choice.column, day));
            }
        }
        let times = |choice| Times::new(self.file, &self.header, choice, self.options);
        self.times = self.selection.time.clone().map(times);
    }

    fn push_time(&mut self, cells: &Cells<'_>, position: Position) -> Result<(), DataError> {
        let (Some(choice), Some(times)) = (&self.selection.time, &mut self.times) else {
            return Ok(());
        };
        let cell = cells.get(choice.column);
        let date = || match cells.clock(choice.column) {
            Some(moment) => Some(DateText::Certain(moment)),
            None => DateText::read(cell),
        };
        if let Some(clock) = self.clock {
            // A day has a time of its own in one row as in all.
            let day = date().filter(|_| cells.is_day(choice.column));
            let on_day = match (day, cells.seconds_of_day(clock)) {
                (Some(day), Some(seconds)) => TimeCell::Date(day.after(seconds)),
                (None, None) if is_nothing(cell) && is_nothing(cells.get(clock)) => TimeCell::Missing,
                _ => TimeCell::Other,
            };
            return times.push(on_day, position, || format!("{cell} {}", cells.get(clock)));
        }
        // Digits alone are a number here, though they could be a day.
        let found = match (cells.clock(choice.column), number(cell, self.decimal)) {
            (None, Some(value)) => TimeCell::Number(value),
            _ => date().map_or(TimeCell::Other, TimeCell::Date),
        };
        times.push(found, position, || cell.to_owned())
    }
}

/// Whether a cell is empty or says that there is nothing.
fn is_nothing(cell: &str) -> bool {
    cell.is_empty() || MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// What the commas of a column are, where they are taken for decimal ones. Those of thousands stand before three digits, and beside cells that
/// are too small to have one: `1,710` and `999`. A program that writes three decimals writes them in every cell.
#[derive(Default)]
struct Commas {
    /// The first cell that could be grouped.
    grouped: Option<(Position, String)>,
    /// Whether one cannot.
    are_decimal: bool,
    /// A cell of three digits.
    hundreds: Option<String>,
}

impl Commas {
    fn push(&mut self, cell: &str, position: Position) {
        if self.are_decimal {
            return;
        }
        if cell.contains(',') {
            self.are_decimal = !is_grouped(cell, ',');
            self.grouped.get_or_insert_with(|| (position, cell.to_owned()));
        } else if self.hundreds.is_none() && is_digits(cell.trim_start_matches('-'), 3) {
            self.hundreds = Some(cell.to_owned());
        }
    }

    fn take_grouped(&mut self) -> Option<(Position, String, String)> {
        let (grouped, hundreds) = (self.grouped.take(), self.hundreds.take());
        grouped
            .zip(hundreds)
            .filter(|_| !self.are_decimal)
            .map(|((position, found), beside)| (position, found, beside))
    }
}

fn is_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a whole number has groups of three digits.
fn is_grouped(cell: &str, separator: char) -> bool {
    let mut groups = cell.trim_start_matches(['-', '+']).split(separator);
    let first = groups.next().unwrap_or_default();
    let begins = (1..=3).any(|count| is_digits(first, count)) && !first.starts_with('0');
    let rest: Vec<&str> = groups.collect();
    begins && !rest.is_empty() && rest.iter().all(|group| is_digits(group, 3))
}

/// Whether it can only be a number with grouped thousands: several groups, or a decimal character behind them.
fn has_thousands(cell: &str) -> bool {
    [(',', '.'), ('.', ',')]
        .into_iter()
        .any(|(separator, decimal)| match cell.split_once(decimal) {
            Some((whole, decimals)) => {
                is_grouped(whole, separator) && decimals.bytes().all(|byte| byte.is_ascii_digit())
            }
            None => cell.matches(separator).count() > 1 && is_grouped(cell, separator),
        })
}

/// The number in a cell, NaN where it says that there is none.
fn number(cell: &str, decimal: Decimal) -> Option<f64> {
    let found = match decimal {
        Decimal::Point => cell.parse().ok(),
        // A point in such a file may group thousands: better refuse 1.234 than read it as a little more than one.
        Decimal::Comma if cell.contains('.') => None,
        Decimal::Comma if cell.contains(',') => cell.replacen(',', ".", 1).parse().ok(),
        Decimal::Comma => cell.parse().ok(),
    };
    // Nearly all cells are numbers, so the words come last.
    found.or_else(|| {
        let is_missing = is_nothing(cell);
        is_missing.then_some(f64::NAN)
    })
}

fn parse(cell: &str, decimal: Decimal, file: &str, column: &str, position: Position) -> Result<f64, DataError> {
    number(cell, decimal).ok_or_else(|| {
        FileProblem::NotANumber {
            position,
            column: column.to_owned(),
            found: cell.chars().take(40).collect(),
            cause: match decimal {
                _ if has_thousands(cell) => NotANumberCause::Thousands,
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
