//! Choosing columns by name.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use strsim::levenshtein;

use crate::channel::ChannelKind;
use crate::error::{DataError, FileError, FileProblem};
use crate::read::header::{Header, TimeUnit, guessed_time_unit, time_unit};
use crate::read::options::ReadOptions;

/// Indices of the chosen columns in a file's list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    pub(super) experiment: Option<usize>,
    pub(super) time: Option<TimeChoice>,
}

/// The column that says when samples were taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeChoice {
    pub(super) column: usize,
    /// How its numbers count.
    pub(super) unit: TimeUnit,
    /// Whether the user named it; otherwise its name did.
    pub(super) is_asked: bool,
}

impl Selection {
    /// Chooses by the options, or by the names u, u1, u2… and y, y1, y2… where they say nothing.
    pub(super) fn new(file: &str, header: &Header, options: &ReadOptions) -> Result<Self, DataError> {
        let columns = Columns::new(file, header);
        let experiment = match options.experiment.as_ref().map(|name| columns.find(name)) {
            Some(Err(DataError::File(FileError {
                problem: FileProblem::MissingColumn { .. },
                ..
            }))) if options.experiment_may_lack => None,
            found => found.transpose()?,
        };
        let inputs = columns.choose(options.inputs.as_deref(), ChannelKind::Input)?;
        let outputs = columns.choose(options.outputs.as_deref(), ChannelKind::Output)?;
        let mut selection = Self {
            inputs,
            outputs,
            experiment,
            time: None,
        };
        let mut seen = HashSet::new();
        for column in selection.channels() {
            if !seen.insert(column) {
                return Err(FileProblem::ColumnTwice {
                    column: header.full[column].clone(),
                }
                .of(file));
            }
        }
        selection.time = match options.time.as_deref() {
            Some("") => None,
            Some(name) => {
                let column = columns.find(name)?;
                if !seen.insert(column) {
                    return Err(FileProblem::ColumnTwice {
                        column: header.full[column].clone(),
                    }
                    .of(file));
                }
                Some(TimeChoice {
                    column,
                    unit: time_unit(&header.full[column]),
                    is_asked: true,
                })
            }
            None => (0..header.len())
                .filter(|column| !seen.contains(column) && Some(*column) != experiment)
                .find_map(|column| {
                    let unit = guessed_time_unit(&header.full[column])?;
                    Some(TimeChoice {
                        column,
                        unit,
                        is_asked: false,
                    })
                }),
        };
        Ok(selection)
    }

    /// Inputs, then outputs.
    pub(super) fn channels(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().chain(&self.outputs).copied()
    }
}

/// Where a name stands in a file's list.
#[derive(Clone, Copy)]
enum Place {
    Once(usize),
    Repeated,
}

/// A name as a key. Tests count the comparisons.
#[derive(Eq)]
struct Key<'a>(&'a str);

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        #[cfg(test)]
        tests::COMPARISONS.set(tests::COMPARISONS.get() + 1);
        self.0 == other.0
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A file's columns by name, so that choosing all of them takes one pass.
struct Columns<'a> {
    file: &'a str,
    header: &'a Header,
    places: HashMap<Key<'a>, Place>,
}

impl<'a> Columns<'a> {
    fn new(file: &'a str, header: &'a Header) -> Self {
        let mut places = HashMap::with_capacity(header.len());
        for (index, name) in header.full.iter().enumerate() {
            places
                .entry(Key(name))
                .and_modify(|place| *place = Place::Repeated)
                .or_insert(Place::Once(index));
        }
        // Short names stand for no other column: the header sees to that.
        for index in 0..header.len() {
            if header.name(index) != header.full[index] {
                places.insert(Key(header.name(index)), Place::Once(index));
            }
        }
        Self { file, header, places }
    }

    fn find(&self, name: &str) -> Result<usize, DataError> {
        let problem = match self.places.get(&Key(name)) {
            Some(Place::Once(index)) => return Ok(*index),
            Some(Place::Repeated) => FileProblem::DuplicateColumn {
                column: name.to_owned(),
            },
            None => FileProblem::MissingColumn {
                column: name.to_owned(),
                available: self.header.full.clone(),
                closest: closest(name, self.header.full.iter().map(String::as_str)).map(str::to_owned),
            },
        };
        Err(problem.of(self.file))
    }

    fn choose(&self, asked: Option<&[String]>, kind: ChannelKind) -> Result<Vec<usize>, DataError> {
        if let Some(names) = asked {
            return names.iter().map(|name| self.find(name)).collect();
        }
        let mut found: Vec<(u32, usize)> = Vec::new();
        for name in (0..self.header.len()).map(|column| self.header.name(column)) {
            if let Some(number) = default_number(name, kind.default_letter()) {
                found.push((number, self.find(name)?));
            }
        }
        if found.is_empty() {
            return Err(FileProblem::NoDefaultColumns {
                kind,
                available: self.header.full.clone(),
            }
            .of(self.file));
        }
        // By number and not by place, so that files with other column orders agree.
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, index)| index).collect())
    }
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

/// The candidate that a slip of the keyboard or another spelling of `name` could mean.
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let wanted = fold(name);
    let scored = candidates.map(|candidate| {
        let folded = fold(candidate);
        let contains = wanted.len() >= 3 && folded.contains(&wanted);
        (if contains { 1 } else { levenshtein(&wanted, &folded) }, candidate)
    });
    let allowed = (wanted.chars().count() / 3).max(1);
    scored
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        pub(super) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    fn names(list: &[&str]) -> Header {
        Header::new(list.iter().map(|name| (*name).to_owned()).collect())
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
                experiment: None,
                time: Some(TimeChoice {
                    column: 0,
                    unit: TimeUnit::Unsaid,
                    is_asked: false
                }),
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

    #[test]
    fn choosing_takes_a_few_comparisons_per_column() {
        const COLUMNS: usize = 200_000;
        let mut all: Vec<String> = (1..COLUMNS).map(|number| format!("u{number}")).collect();
        all.push("y".to_owned());
        COMPARISONS.set(0);
        let selection = Selection::new("f", &Header::new(all), &ReadOptions::default()).expect("found");
        assert_eq!((selection.inputs.len(), selection.outputs.len()), (COLUMNS - 1, 1));
        // One to find each column, and a few between names whose hashes are alike.
        let comparisons = COMPARISONS.get();
        assert!((COLUMNS..4 * COLUMNS).contains(&comparisons), "{comparisons}");
    }
}
