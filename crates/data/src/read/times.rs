//! Taking the times of the rows of a file: one rule for every format.

use crate::error::{DataError, FileProblem};
use crate::read::columns::TimeChoice;
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
    Moment(Moment),
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
    column: TimeColumn,
    /// The first row without a time, while no row has one.
    missing: Option<Position>,
    unused: Option<Warning>,
}

impl<'a> Times<'a> {
    pub(super) fn new(file: &'a str, header: &Header, choice: TimeChoice, options: &'a ReadOptions) -> Self {
        Self {
            file,
            options,
            column: TimeColumn::new(header.full[choice.column].clone()),
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
        shown: impl FnOnce() -> String,
    ) -> Result<(), DataError> {
        if self.unused.is_some() {
            return Ok(());
        }
        let moment = match cell {
            TimeCell::Number(number) if !number.is_nan() => match &self.choice.unit {
                TimeUnit::Other(unit) => return self.refuse_unit(unit.clone(), position, &shown()),
                TimeUnit::Unsaid => {
                    self.column.is_bare = true;
                    Some(Moment::Seconds(number))
                }
                TimeUnit::Seconds(factor) => Some(Moment::Seconds(number * factor)),
            },
            TimeCell::Missing | TimeCell::Number(_) => return self.push_missing(position),
            TimeCell::Moment(moment) => Some(moment),
            TimeCell::Other => None,
        };
        match moment.filter(|moment| moment.is_finite()) {
            Some(moment) => {
                if let Some(position) = self.missing.take() {
                    self.check_missing(position)?;
                }
                match self.column.push(Some(moment)) {
                    true => Ok(()),
                    false => self.refuse(position, &shown()),
                }
            }
            None => self.refuse(position, &shown()),
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
        Ok(match self.unused {
            Some(warning) => (None, Some(warning)),
            None => (Some(self.column), None),
        })
    }

    fn push_missing(&mut self, position: Position) -> Result<(), DataError> {
        if self.column.start.is_some() {
            self.check_missing(position)?;
        } else {
            self.missing.get_or_insert(position);
        }
        self.column.push(None);
        Ok(())
    }

    fn check_missing(&self, position: Position) -> Result<(), DataError> {
        // Resampling passes over rows that lack something.
        if self.options.missing == MissingPolicy::Split || self.options.resample.is_some() {
            return Ok(());
        }
        let column = self.column.name.clone();
        Err(FileProblem::MissingSample { position, column }.of(self.file))
    }

    fn refuse(&mut self, position: Position, found: &str) -> Result<(), DataError> {
        let found: String = found.chars().take(40).collect();
        let column = self.column.name.clone();
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
            let column = self.column.name.clone();
            return Err(FileProblem::UnitOfTime { column, found: unit }.of(self.file));
        }
        self.refuse(position, &format!("{shown} {unit}"))
    }
}
