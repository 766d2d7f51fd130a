//! Taking the times of the rows of a file: one rule for every format.

use crate::error::{DataError, FileProblem};
use crate::read::columns::TimeChoice;
use crate::read::date_text::{DateOrder, DateText};
use crate::read::header::{Header, TimeUnit};
use crate::read::options::{MissingPolicy, Position, ReadOptions};
use crate::read::sampling::TimeColumn;
use crate::time::Moment;
use crate::warning::Warning;

/// What a cell of a column of times holds.
pub(super) enum TimeCell {
    /// Nothing, or NaN.
    Missing,
    /// A number in the unit of the column.
    Number(f64),
    /// A date, or a time of day.
    Date(DateText),
    /// Something else.
    Other,
}

/// Takes the times of rows one by one.
///
/// A cell that is no time is an error where the user named the column. A column that merely looks like times is not used then, and a
/// warning says so; nor is one without a single time. A time that is missing among others is a missing sample in either.
pub(super) struct Times<'a> {
    file: &'a str,
    options: &'a ReadOptions,
    choice: TimeChoice,
    name: String,
    /// The column in every way that it can be read: one, but for dates whose order nothing has told yet. Not empty while it is used.
    readings: Vec<Reading>,
    /// The first date that can be read in several ways.
    ambiguous: Option<String>,
    /// The first row without a time, while no row has one.
    missing: Option<Position>,
    unused: Option<Warning>,
}

/// A column of times as one order of its dates has it.
struct Reading {
    /// None of times that say all themselves.
    order: Option<DateOrder>,
    column: TimeColumn,
}

impl Reading {
    fn moment(&self, date: DateText) -> Option<Moment> {
        match (date, self.order) {
            (DateText::Certain(moment), _) => Some(moment),
            (DateText::Ordered(moments), Some(order)) => moments[order as usize],
            (DateText::Ordered(_), None) => None,
        }
    }
}

/// The reading in which times go back least often and the record is shortest, since a wrong order spreads its days over months. Where two are
/// alike in this, all times are of one day, and which one stays open. `found` is a date that can be read in several ways.
fn likeliest(readings: Vec<Reading>, file: &str, found: String) -> (Option<TimeColumn>, Option<Warning>) {
    let mut readings: Vec<((usize, f64), Reading)> = readings
        .into_iter()
        .map(|reading| (reading.column.oddity(), reading))
        .collect();
    readings.sort_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // By their bits: times that are missing are alike too.
    let bits = |reading: &Reading| -> Vec<u64> { reading.column.seconds.iter().map(|value| value.to_bits()).collect() };
    readings.dedup_by(|(_, a), (_, b)| a.column.start == b.column.start && bits(a) == bits(b));
    let mut readings = readings.into_iter();
    let Some((oddity, Reading { order, column })) = readings.next() else {
        return (None, None);
    };
    let (file, name) = (file.to_owned(), column.name.clone());
    match (readings.next(), order) {
        (Some((other, _)), Some(order)) if other != oddity => {
            let warning = Warning::DatesInGuessedOrder {
                file,
                column: name,
                found,
                order,
            };
            (Some(column), Some(warning))
        }
        (Some(_), _) => {
            let warning = Warning::DayUnknown {
                file,
                column: name,
                found,
            };
            (Some(column.without_day()), Some(warning))
        }
        (None, _) => (Some(column), None),
    }
}

impl<'a> Times<'a> {
    pub(super) fn new(file: &'a str, header: &Header, choice: TimeChoice, options: &'a ReadOptions) -> Self {
        Self {
            file,
            options,
            name: header.full[choice.column].clone(),
            readings: vec![Reading {
                order: None,
                column: TimeColumn::new(header.full[choice.column].clone()),
            }],
            ambiguous: None,
            choice,
            missing: None,
            unused: None,
        }
    }

    /// Takes the next row; `shown` is its cell in messages.
    pub(super) fn push(
        &mut self,
        cell: TimeCell,
        position: Position,
        shown: impl Fn() -> String,
    ) -> Result<(), DataError> {
        if self.unused.is_some() {
            return Ok(());
        }
        let date = match cell {
            TimeCell::Number(number) if !number.is_nan() => match &self.choice.unit {
                TimeUnit::Other(unit) => return self.refuse_unit(unit.clone(), position, &shown()),
                TimeUnit::Unsaid => {
                    self.readings
                        .iter_mut()
                        .for_each(|reading| reading.column.is_bare = true);
                    Some(DateText::Certain(Moment::Seconds(number)))
                }
                TimeUnit::Seconds(factor) => Some(DateText::Certain(Moment::Seconds(number * factor))),
            },
            TimeCell::Missing | TimeCell::Number(_) => return self.push_missing(position),
            TimeCell::Date(date) => Some(date),
            TimeCell::Other => None,
        };
        let is_finite = |date: &DateText| !matches!(date, DateText::Certain(moment) if !moment.is_finite());
        let Some(date) = date.filter(is_finite) else {
            return self.refuse(position, &shown());
        };
        if let Some(position) = self.missing.take() {
            self.check_missing(position)?;
        }
        if matches!(date, DateText::Ordered(_)) {
            self.ambiguous.get_or_insert_with(&shown);
            self.try_all_orders();
        }
        self.readings.retain_mut(|reading| {
            let moment = reading.moment(date);
            moment.is_some() && reading.column.push(moment)
        });
        match self.readings.is_empty() {
            true => self.refuse(position, &shown()),
            false => Ok(()),
        }
    }

    /// Before the first time, any order of dates may be meant.
    fn try_all_orders(&mut self) {
        if let [Reading { order: None, column }] = self.readings.as_slice()
            && column.start.is_none()
        {
            let of = |order| Reading {
                order: Some(order),
                column: column.clone(),
            };
            self.readings = DateOrder::ALL.map(of).into();
        }
    }

    /// The times, or why they are not used.
    pub(super) fn finish(mut self) -> Result<(Option<TimeColumn>, Option<Warning>), DataError> {
        if let Some(position) = self.missing.take() {
            match self.choice.is_asked {
                true => self.check_missing(position)?,
                false => self.refuse(position, "")?,
            }
        }
        if self.unused.is_some() {
            return Ok((None, self.unused));
        }
        let found = self.ambiguous.unwrap_or_default();
        Ok(likeliest(self.readings, self.file, found))
    }

    fn push_missing(&mut self, position: Position) -> Result<(), DataError> {
        if self.readings.iter().any(|reading| reading.column.start.is_some()) {
            self.check_missing(position)?;
        } else {
            self.missing.get_or_insert(position);
        }
        self.readings.iter_mut().for_each(|reading| {
            reading.column.push(None);
        });
        Ok(())
    }

    fn check_missing(&self, position: Position) -> Result<(), DataError> {
        // Resampling passes over rows that lack something.
        if self.options.missing == MissingPolicy::Split || self.options.resample.is_some() {
            return Ok(());
        }
        let column = self.name.clone();
        Err(FileProblem::MissingSample { position, column }.of(self.file))
    }

    fn refuse(&mut self, position: Position, found: &str) -> Result<(), DataError> {
        let found: String = found.chars().take(40).collect();
        let column = self.name.clone();
        if self.choice.is_asked {
            return Err(FileProblem::NotATime {
                position,
                column,
                found,
            }
            .of(self.file));
        }
        self.unused = Some(Warning::TimeNotUsed {
            file: self.file.to_owned(),
            column,
            position: position.to_string(),
            found,
        });
        Ok(())
    }

    fn refuse_unit(&mut self, unit: String, position: Position, shown: &str) -> Result<(), DataError> {
        if self.choice.is_asked {
            let column = self.name.clone();
            return Err(FileProblem::UnitOfTime { column, found: unit }.of(self.file));
        }
        self.refuse(position, &format!("{shown} {unit}"))
    }
}
