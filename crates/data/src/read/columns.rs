//! Choosing columns by name.

use crate::dataset::ChannelKind;
use crate::error::{DataError, FileProblem};
use crate::read::options::ReadOptions;

/// Indices of the chosen columns in a file's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    pub(super) experiment: Option<usize>,
}

impl Selection {
    /// Chooses by the options, or by the names u, u1, u2… and y, y1, y2… where they say nothing.
    pub(super) fn new(file: &str, available: &[String], options: &ReadOptions) -> Result<Self, DataError> {
        let experiment = options
            .experiment
            .as_ref()
            .map(|name| find(file, available, name))
            .transpose()?;
        let inputs = choose(file, available, options.inputs.as_deref(), ChannelKind::Input)?;
        let outputs = choose(file, available, options.outputs.as_deref(), ChannelKind::Output)?;
        let selection = Self {
            inputs,
            outputs,
            experiment,
        };
        let mut seen = Vec::new();
        for column in selection.channels() {
            if seen.contains(&column) {
                return Err(FileProblem::ColumnTwice {
                    column: available[column].clone(),
                }
                .of(file));
            }
            seen.push(column);
        }
        Ok(selection)
    }

    /// Inputs, then outputs.
    pub(super) fn channels(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().chain(&self.outputs).copied()
    }
}

fn choose(
    file: &str,
    available: &[String],
    asked: Option<&[String]>,
    kind: ChannelKind,
) -> Result<Vec<usize>, DataError> {
    if let Some(names) = asked {
        return names.iter().map(|name| find(file, available, name)).collect();
    }
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (index, name) in available.iter().enumerate() {
        if let Some(number) = default_number(name, kind.default_letter()) {
            // Also refuses a name that occurs twice.
            found.push((number, find(file, available, name)?));
            debug_assert_eq!(found.last().map(|entry| entry.1), Some(index));
        }
    }
    if found.is_empty() {
        return Err(FileProblem::NoDefaultColumns {
            kind,
            available: available.to_vec(),
        }
        .of(file));
    }
    // By number and not by place, so that files with other column orders agree.
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, index)| index).collect())
}

/// 0 for `u`, 12 for `u12`, none for other names.
fn default_number(name: &str, letter: char) -> Option<u32> {
    let digits = name.strip_prefix(letter)?;
    if digits.is_empty() {
        return Some(0);
    }
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten()
}

fn find(file: &str, available: &[String], name: &str) -> Result<usize, DataError> {
    let mut matches = available.iter().enumerate().filter(|(_, candidate)| *candidate == name);
    match (matches.next(), matches.next()) {
        (Some((index, _)), None) => Ok(index),
        (Some(_), Some(_)) => Err(FileProblem::DuplicateColumn {
            column: name.to_owned(),
        }
        .of(file)),
        (None, _) => Err(FileProblem::MissingColumn {
            column: name.to_owned(),
            available: available.to_vec(),
            closest: closest(name, available.iter().map(String::as_str)).map(str::to_owned),
        }
        .of(file)),
    }
}

/// The candidate that a slip of the keyboard or another spelling of `name` could mean.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let wanted = fold(name);
    let scored = candidates.map(|candidate| {
        let folded = fold(candidate);
        let contains = wanted.len() >= 3 && folded.contains(&wanted);
        (if contains { 1 } else { distance(&wanted, &folded) }, candidate)
    });
    let allowed = (wanted.chars().count() / 3).max(1);
    scored
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn default_names_are_ordered_by_number() {
        let selection = Selection::new(
            "f",
            &names(&["time", "u10", "y", "u2", "up", "u1"]),
            &ReadOptions::default(),
        )
        .expect("found");
        assert_eq!(
            selection,
            Selection {
                inputs: vec![5, 3, 1],
                outputs: vec![2],
                experiment: None
            }
        );
    }

    #[test]
    fn close_names_are_suggested() {
        let candidates = ["temperature", "flow", "y"];
        assert_eq!(closest("temprature", candidates.into_iter()), Some("temperature"));
        assert_eq!(closest("temp", candidates.into_iter()), Some("temperature"));
        assert_eq!(closest("pressure", candidates.into_iter()), None);
    }
}
