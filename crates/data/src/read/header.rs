//! Column names as files have them: with units in brackets, and one of them the time.

use std::collections::HashMap;

use crate::channel::Channel;

/// The columns of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// As in the file.
    pub(super) full: Vec<String>,
    /// Without a unit in brackets, where that leaves the name unique.
    bare: Vec<String>,
    units: Vec<Option<String>>,
}

impl Header {
    pub(super) fn new(full: Vec<String>) -> Self {
        let parts: Vec<(String, Option<String>)> = full
            .iter()
            .map(|name| split_unit(name))
            .map(|(bare, unit)| (bare.to_owned(), unit.map(str::to_owned)))
            .collect();
        Self::with_short_names(full, parts)
    }

    /// With short names and units that are found otherwise than in brackets.
    pub(super) fn with_short_names(full: Vec<String>, parts: Vec<(String, Option<String>)>) -> Self {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for (name, (bare, _)) in full.iter().zip(&parts) {
            *count.entry(bare).or_default() += 1;
            if name != bare {
                *count.entry(name).or_default() += 1;
            }
        }
        let is_unique: Vec<bool> = parts.iter().map(|(short, _)| count[short.as_str()] == 1).collect();
        let (mut bare, mut units) = (Vec::with_capacity(full.len()), Vec::with_capacity(full.len()));
        for ((name, (short, unit)), is_unique) in full.iter().zip(parts).zip(is_unique) {
            bare.push(if is_unique { short } else { name.clone() });
            units.push(unit);
        }
        Self { full, bare, units }
    }

    pub(super) fn len(&self) -> usize {
        self.full.len()
    }

    /// What the column is called in results.
    pub(super) fn name(&self, column: usize) -> &str {
        &self.bare[column]
    }

    /// Units from a row below the names; those in brackets stand nearer to the name and win.
    pub(super) fn add_units(&mut self, row: &[String]) {
        for (unit, cell) in self.units.iter_mut().zip(row) {
            let cell = without_brackets(cell);
            if unit.is_none() && !cell.is_empty() && !NO_UNIT.contains(&cell) {
                *unit = Some(cell.to_owned());
            }
        }
    }

    pub(super) fn channel(&self, column: usize) -> Channel {
        Channel {
            name: self.bare[column].clone(),
            unit: self.units[column].clone(),
        }
    }
}

/// What stands in a row of units where there is none.
pub(super) const NO_UNIT: [&str; 3] = ["-", "--", "---"];

/// `level` and `m` of `level [m]`; the name alone where there is nothing in front of the brackets or in them.
#[must_use]
pub fn split_unit(name: &str) -> (&str, Option<&str>) {
    let inside = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    match inside.map(|(name, unit)| (name.trim_end(), unit.trim())) {
        Some((bare, unit)) if !bare.is_empty() && !unit.is_empty() => (bare, Some(unit)),
        _ => (name, None),
    }
}

/// Names that a column of times has, in lower case and without a unit.
const TIME_NAMES: [&str; 14] = [
    "t",
    "time",
    "times",
    "timestamp",
    "time stamp",
    "datetime",
    "date time",
    "date",
    "seconds",
    "zeit",
    "zeitstempel",
    "temps",
    "horodatage",
    "tiempo",
];

/// Whether a column of this name may hold days, with their times in another one.
pub(super) fn names_day(full: &str) -> bool {
    ["date", "day", "datum", "tag", "fecha"].contains(&split_time_unit(full).0.as_str())
}

/// Whether a column of this name may hold times of day.
pub(super) fn names_clock(full: &str) -> bool {
    // Its last word is a unit of time by chance.
    if words(full) == "time of day" {
        return true;
    }
    ["time", "clock", "zeit", "uhrzeit", "heure", "temps", "hora", "tiempo"].contains(&split_time_unit(full).0.as_str())
}

/// Whether a column of this name should hold dates: a number there may be a year, or a day in digits.
pub(super) fn promises_dates(full: &str) -> bool {
    ["date", "datetime", "date time"].contains(&split_time_unit(full).0.as_str())
}

/// How the numbers of a column of times count.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TimeUnit {
    /// Nothing says so: seconds.
    Unsaid,
    /// So many seconds each.
    Seconds(f64),
    /// Something that is no unit of time. Dates in such a column have a meaning all the same, as in `Timestamp (UTC)`.
    Other(String),
}

impl TimeUnit {
    /// What a unit in brackets or in a row of units says.
    pub(super) fn new(unit: &str) -> Self {
        match (without_brackets(unit), seconds_per(unit)) {
            ("" | "-", _) => Self::Unsaid,
            (_, Some(seconds)) => Self::Seconds(seconds),
            (unit, None) => Self::Other(unit.to_owned()),
        }
    }
}

/// A name without its unit, in lower case and with blanks between words, and what the unit says.
fn split_time_unit(full: &str) -> (String, TimeUnit) {
    let name = full.trim();
    if let Some((bare, unit)) = name
        .strip_suffix([']', ')'])
        .and_then(|name| name.rsplit_once(['[', '(']))
    {
        return (words(bare), TimeUnit::new(unit));
    }
    // `time_ms`, `t_s`: a last word that is no unit of time belongs to the name.
    let name = words(name);
    match name.rsplit_once(' ').map(|(bare, unit)| (bare, seconds_per(unit))) {
        Some((bare, Some(seconds))) => (bare.trim().to_owned(), TimeUnit::Seconds(seconds)),
        _ => (name, TimeUnit::Unsaid),
    }
}

fn words(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', '-'], " ")
}

/// The unit that the name of a column gives to its times; the user says that it holds times.
pub(super) fn time_unit(full: &str) -> TimeUnit {
    split_time_unit(full).1
}

/// The unit of a column of times, if its name says that it is one.
pub(super) fn guessed_time_unit(full: &str) -> Option<TimeUnit> {
    let name = full.trim();
    // A capital T is a temperature.
    if name.starts_with('T') && !name[1..].starts_with(|next: char| next.is_ascii_alphabetic()) {
        return None;
    }
    let (bare, unit) = split_time_unit(name);
    (TIME_NAMES.contains(&bare.as_str()) && !matches!(unit, TimeUnit::Other(_))).then_some(unit)
}

/// Whether a column of this name is taken for the time of samples where nobody names one.
#[must_use]
pub fn is_time_name(column: &str) -> bool {
    guessed_time_unit(column).is_some()
}

/// Seconds per unit of time.
fn seconds_per(unit: &str) -> Option<f64> {
    Some(match without_brackets(unit).to_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" | "sek" | "sekunden" => 1.0,
        "ms" | "msec" | "millisecond" | "milliseconds" => 1e-3,
        "us" | "µs" | "μs" | "microsecond" | "microseconds" => 1e-6,
        "ns" | "nanosecond" | "nanoseconds" => 1e-9,
        "min" | "mins" | "minute" | "minutes" | "minuten" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "stunden" => 3600.0,
        "d" | "day" | "days" | "tage" => 86400.0,
        _ => return None,
    })
}

/// A unit as it stands in brackets or in a row of units.
fn without_brackets(unit: &str) -> &str {
    unit.trim().trim_matches(['[', ']', '(', ')']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_brackets_leave_unique_names() {
        let names = ["level [m]", "T [K]", "T [°C]", "[x]", "a[2]", "flow", "flow [l/s]"];
        let header = Header::new(names.iter().map(|name| (*name).to_owned()).collect());
        let found: Vec<(&str, Option<&str>)> = (0..names.len())
            .map(|c| (header.name(c), header.units[c].as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                ("level", Some("m")),
                ("T [K]", Some("K")),
                ("T [°C]", Some("°C")),
                ("[x]", None),
                ("a", Some("2")),
                ("flow", None),
                ("flow [l/s]", Some("l/s")),
            ]
        );
    }

    #[test]
    fn columns_of_times_are_known_by_name() {
        let seconds = |factor| Some(TimeUnit::Seconds(factor));
        for (name, unit) in [
            ("t", Some(TimeUnit::Unsaid)),
            ("Time (ms)", seconds(1e-3)),
            ("time [min]", seconds(60.0)),
            ("time [ MS ]", seconds(1e-3)),
            ("time_s", seconds(1.0)),
            ("Timestamp", Some(TimeUnit::Unsaid)),
            ("Date Time", Some(TimeUnit::Unsaid)),
            ("seconds", Some(TimeUnit::Unsaid)),
            ("temperature", None),
            ("elapsed_ms", None),
            ("runtime", None),
            ("T [K]", None),
            ("t [K]", None),
            ("TIME", Some(TimeUnit::Unsaid)),
        ] {
            assert_eq!(guessed_time_unit(name), unit, "{name}");
        }
    }

    #[test]
    fn any_name_may_give_the_unit_of_times() {
        for (name, unit) in [
            ("elapsed [ms]", TimeUnit::Seconds(1e-3)),
            ("elapsed ( Min )", TimeUnit::Seconds(60.0)),
            ("elapsed_ms", TimeUnit::Seconds(1e-3)),
            ("start_time", TimeUnit::Unsaid),
            ("elapsed [-]", TimeUnit::Unsaid),
            ("elapsed [K]", TimeUnit::Other("K".to_owned())),
        ] {
            assert_eq!(time_unit(name), unit, "{name}");
        }
    }
}
