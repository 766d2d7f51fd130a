//! Dates and times of day as files write them.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::time::Moment;

/// In which order a date in numbers has its day, month and year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `30/03/2024`.
    DayFirst,
    /// `03/30/2024`.
    MonthFirst,
    /// `24/03/30`.
    YearFirst,
}

impl DateOrder {
    pub(super) const ALL: [Self; 3] = [Self::DayFirst, Self::MonthFirst, Self::YearFirst];

    /// Day, month and year of a date in this order.
    fn sorted<T: Copy>(self, [first, second, third]: [T; 3]) -> [T; 3] {
        match self {
            Self::DayFirst => [first, second, third],
            Self::MonthFirst => [second, first, third],
            Self::YearFirst => [third, second, first],
        }
    }
}

impl fmt::Display for DateOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DayFirst => "day",
            Self::MonthFirst => "month",
            Self::YearFirst => "year",
        })
    }
}

/// What a text says of a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DateText {
    /// One moment.
    Certain(Moment),
    /// A date in numbers that does not say in which order they stand: the moment in each of [`DateOrder::ALL`], where it is one.
    Ordered([Option<Moment>; 3]),
}

impl DateText {
    /// Reads `2024-03-01 10:00:00`, `2024-03-01T10:00:00.5+01:00`, `2024/3/1 10:00`, `01.03.2024 10:00`, `1-Mar-24 10:00`, `3/1/2024 10:00 PM` or a time
    /// of day, `10:00:00`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let universal = text.parse::<Timestamp>().ok();
        if let Some(timestamp) = universal.or_else(|| with_zone(text)?.parse().ok()) {
            return Moment::from_nanoseconds(timestamp.as_nanosecond(), true).map(Self::Certain);
        }
        if let Ok(date) = text.parse::<DateTime>() {
            return on_wall_clock(date).map(Self::Certain);
        }
        let (date, time) = match text.split_once(':') {
            // `1.3.2024 10`: hours alone.
            None => match text.split_once(' ') {
                Some((date, hour)) if number(hour).is_some() => (date, Some(hour)),
                _ => (text, None),
            },
            // The hour begins behind the last blank, or behind the T that ISO 8601 has there.
            Some((before, _)) => match before.rfind([' ', 'T']) {
                None => ("", Some(text)),
                Some(at) => (text[..at].trim_end(), Some(&text[at + 1..])),
            },
        };
        let time = match time {
            None => Time::midnight(),
            Some(time) => time_of_day(time)?,
        };
        if date.is_empty() {
            let seconds = time.duration_since(Time::midnight()).as_secs_f64();
            return Some(Self::Certain(Moment::TimeOfDay(seconds)));
        }
        Dates::read(date)?.at(time)
    }

    /// Whether it says of which day it is.
    pub(super) fn is_date(self) -> bool {
        match self {
            Self::Certain(moment) => moment.is_date(),
            Self::Ordered(_) => true,
        }
    }

    /// The same, so many seconds later.
    pub(super) fn after(self, seconds: f64) -> Self {
        match self {
            Self::Certain(moment) => Self::Certain(moment.after(seconds)),
            Self::Ordered(moments) => Self::Ordered(moments.map(|moment| Some(moment?.after(seconds)))),
        }
    }
}

/// `2024-03-01 10:00:00 +0100` and `2024-03-01 10:00:00 UTC` without the blank before the zone.
fn with_zone(text: &str) -> Option<String> {
    let (moment, zone) = text.rsplit_once(' ')?;
    match zone {
        "UTC" | "GMT" | "Z" => Some(format!("{moment}Z")),
        _ if zone.starts_with(['+', '-']) => Some(format!("{moment}{zone}")),
        _ => None,
    }
}

/// A time of day: hours may have one digit, fractions of seconds a comma as all numbers of comma countries do, and twelve hours their half of the day.
fn time_of_day(text: &str) -> Option<Time> {
    let text = text.trim();
    let half = text.trim_end_matches(|last: char| last.is_ascii_alphabetic() || last == '.' || last == ' ');
    let is_afternoon = match text[half.len()..].replace(['.', ' '], "").to_ascii_lowercase().as_str() {
        "" => None,
        "am" => Some(false),
        "pm" => Some(true),
        _ => return None,
    };
    let digits = if is_afternoon.is_some() { half } else { text };
    let has_one_digit = digits.find(':').unwrap_or(digits.len()) == 1;
    let padded = format!(
        "{}{}",
        if has_one_digit { "0" } else { "" },
        digits.replacen(',', ".", 1)
    );
    let time: Time = padded.parse().ok()?;
    let Some(is_afternoon) = is_afternoon else {
        return Some(time);
    };
    // Noon is 12 PM, midnight 12 AM.
    let hour = (1..=12).contains(&time.hour()).then_some(time.hour() % 12)?;
    let hours = SignedDuration::from_hours(i64::from(hour - time.hour()) + if is_afternoon { 12 } else { 0 });
    Some(time.wrapping_add(hours))
}

/// What a date may be.
enum Dates {
    Certain(Date),
    Ordered([Option<Date>; 3]),
}

impl Dates {
    fn read(text: &str) -> Option<Self> {
        let separator = text.find(['-', '/', '.', ' ']).map(|at| &text[at..=at])?;
        let parts: Vec<&str> = text.split(separator).collect();
        let parts: [&str; 3] = parts.try_into().ok()?;
        let is_year_first = parts[0].len() == 4;
        if let Some(month) = month_of(parts[1]) {
            let order = if is_year_first {
                DateOrder::YearFirst
            } else {
                DateOrder::DayFirst
            };
            let [day, _, year] = order.sorted(parts);
            return date(number(day)?, month, year_of(year)?).map(Self::Certain);
        }
        if separator == " " || (is_year_first && parts[2].len() > 2) {
            return None;
        }
        let has_year_last = parts[2].len() == 4;
        let in_order = DateOrder::ALL.map(|order| {
            let fits = match order {
                DateOrder::YearFirst => !has_year_last,
                // Nobody writes the month first with points.
                DateOrder::MonthFirst => !is_year_first && separator != ".",
                DateOrder::DayFirst => !is_year_first,
            };
            let [day, month, year] = order.sorted(parts);
            fits.then(|| date(number(day)?, number(month)?, year_of(year)?))
                .flatten()
        });
        match in_order {
            [None, None, None] => None,
            [None, None, Some(date)] if is_year_first => Some(Self::Certain(date)),
            [Some(date), None, None] if has_year_last && separator == "." => Some(Self::Certain(date)),
            _ => Some(Self::Ordered(in_order)),
        }
    }

    fn at(&self, time: Time) -> Option<DateText> {
        let moment = |date: Date| on_wall_clock(date.to_datetime(time));
        match self {
            Self::Certain(date) => moment(*date).map(DateText::Certain),
            Self::Ordered(dates) => Some(DateText::Ordered(dates.map(|date| moment(date?)))),
        }
    }
}

fn on_wall_clock(date: DateTime) -> Option<Moment> {
    let since_1970 = date.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    Moment::from_nanoseconds(since_1970.as_nanos(), false)
}

fn date(day: i16, month: i16, year: i16) -> Option<Date> {
    Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// A day or a month in digits.
fn number(text: &str) -> Option<i16> {
    let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A year in four digits, or in two: none that is worth a recording lies before 1970.
fn year_of(text: &str) -> Option<i16> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year: i16 = text.parse().ok()?;
    match text.len() {
        4 => Some(year),
        2 => Some(if year < 70 { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

/// Twelve each: English and German names, and German short forms that do not begin them.
const MONTHS: &str = "january february march april may june july august september october november december \
    januar februar märz april mai juni juli august september oktober november dezember \
    jan feb mrz apr mai jun jul aug sep okt nov dez";

/// The month of a name or its first letters, in English or German.
fn month_of(text: &str) -> Option<i16> {
    let name = text.trim_end_matches('.').to_lowercase();
    if name.chars().count() < 3 || !name.chars().all(char::is_alphabetic) {
        return None;
    }
    let index = MONTHS
        .split_ascii_whitespace()
        .position(|month| month.starts_with(&name))?;
    i16::try_from(index % 12 + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let of = |order: DateOrder, moment: Option<Moment>| Some(format!("{order} first: {}", moment?));
        match DateText::read(text) {
            None => Vec::new(),
            Some(DateText::Certain(moment)) => vec![moment.to_string()],
            Some(DateText::Ordered(moments)) => {
                let both = DateOrder::ALL.into_iter().zip(moments);
                both.filter_map(|(order, moment)| of(order, moment)).collect()
            }
        }
    }

    #[test]
    fn dates_in_the_forms_that_files_have() {
        for (text, expected) in [
            ("2024-03-01", "2024-03-01T00:00:00"),
            ("2024-03-01 10:00", "2024-03-01T10:00:00"),
            ("2024-03-01 9:05:00", "2024-03-01T09:05:00"),
            ("2024-03-01T10:00:00.25", "2024-03-01T10:00:00.25"),
            ("2024-03-01T10:00:00+01:00", "2024-03-01T09:00:00Z"),
            ("2024-03-01T10:00:00Z", "2024-03-01T10:00:00Z"),
            ("2024-03-01 10:00:00 +0100", "2024-03-01T09:00:00Z"),
            ("2024-03-01 10:00:00 UTC", "2024-03-01T10:00:00Z"),
            ("1.3.2024 10:00:00,5", "2024-03-01T10:00:00.5"),
            ("2024.03.01 10:00", "2024-03-01T10:00:00"),
            ("2024/3/1 10:00:00", "2024-03-01T10:00:00"),
            ("30-Mar-24 10:00:00", "2024-03-30T10:00:00"),
            ("30 March 2024 1:05 pm", "2024-03-30T13:05:00"),
            ("5-Mrz-1998", "1998-03-05T00:00:00"),
            ("2024-Mai-5", "2024-05-05T00:00:00"),
            ("01:00:02.5", "01:00:02.5"),
            ("9:05", "09:05:00"),
            ("12:00:00 AM", "00:00:00"),
            ("12:30 p.m.", "12:30:00"),
            ("11:59:59 PM", "23:59:59"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
        for text in [
            "",
            "12",
            "3.5",
            "2024-13-01",
            "valve",
            "1.2.3",
            "1700-01",
            "192.168.0.1",
            "13:00 PM",
            "10:00 XM",
            "1.3.5000 10:00",
            "32/13/2024",
            "3-Foo-2024",
            "5-Ma-2024",
            "2024-03-2024",
            "10:00:00 UTC",
        ] {
            assert_eq!(shown(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn dates_in_numbers_have_an_order() {
        for (text, expected) in [
            (
                "03/04/2024 10:00",
                &["day first: 2024-04-03T10:00:00", "month first: 2024-03-04T10:00:00"][..],
            ),
            ("3-30-2024", &["month first: 2024-03-30T00:00:00"]),
            ("30/3/2024 2:05:00 PM", &["day first: 2024-03-30T14:05:00"]),
            (
                "30.03.24",
                &["day first: 2024-03-30T00:00:00", "year first: 2030-03-24T00:00:00"],
            ),
            (
                "10/11/12",
                &[
                    "day first: 2012-11-10T00:00:00",
                    "month first: 2012-10-11T00:00:00",
                    "year first: 2010-11-12T00:00:00",
                ],
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
