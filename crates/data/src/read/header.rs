//! Column names as files have them: with units in brackets, and one of them the time.

use std::collections::HashMap;

use crate::dataset::Channel;

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

    pub(super) fn unit(&self, column: usize) -> Option<&str> {
        self.units[column].as_deref()
    }

    /// Units from a row below the names; those in brackets stand nearer to the name and win.
    pub(super) fn add_units(&mut self, row: &[String]) {
        for (unit, cell) in self.units.iter_mut().zip(row) {
            let cell = cell.trim_matches(['[', ']', '(', ')']).trim();
            if unit.is_none() && !cell.is_empty() && cell != "-" {
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

/// `level` and `m` of `level [m]`; the name alone where there is nothing in front of the brackets or in them.
pub(crate) fn split_unit(name: &str) -> (&str, Option<&str>) {
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

/// Seconds per unit of a column of times, if its name says that it is one.
pub(super) fn time_factor(full: &str) -> Option<f64> {
    let name = full.trim();
    // A capital T is a temperature.
    if name.starts_with('T') && !name[1..].starts_with(|next: char| next.is_ascii_alphabetic()) {
        return None;
    }
    let name = name.to_lowercase().replace(['_', '-'], " ");
    let (bare, unit) = match name
        .strip_suffix([']', ')'])
        .and_then(|name| name.rsplit_once(['[', '(']))
    {
        Some((bare, unit)) => (bare.trim(), Some(unit.trim())),
        None => (name.as_str(), None),
    };
    if TIME_NAMES.contains(&bare) {
        return unit.map_or(Some(1.0), seconds_per);
    }
    // `time_ms`, `t_s`
    let (bare, unit) = bare.rsplit_once(' ')?;
    seconds_per(unit).filter(|_| matches!(bare, "t" | "time" | "zeit"))
}

/// Seconds per unit of time.
pub(super) fn seconds_per(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "seconds" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        "min" | "minutes" => 60.0,
        "h" | "hours" => 3600.0,
        "d" | "days" => 86400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_brackets_leave_unique_names() {
        let names = ["level [m]", "T [K]", "T [°C]", "[x]", "a[2]", "flow", "flow [l/s]"];
        let header = Header::new(names.iter().map(|name| (*name).to_owned()).collect());
        let found: Vec<(&str, Option<&str>)> = (0..names.len()).map(|c| (header.name(c), header.unit(c))).collect();
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
        for (name, factor) in [
            ("t", Some(1.0)),
            ("Time (ms)", Some(1e-3)),
            ("time [min]", Some(60.0)),
            ("time_s", Some(1.0)),
            ("Timestamp", Some(1.0)),
            ("Date Time", Some(1.0)),
            ("temperature", None),
            ("runtime", None),
            ("T [K]", None),
            ("t [K]", None),
            ("TIME", Some(1.0)),
        ] {
            assert_eq!(time_factor(name), factor, "{name}");
        }
    }
}
