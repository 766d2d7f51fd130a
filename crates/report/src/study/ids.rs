//! What groups of runs are called in links.

use std::collections::{HashMap, HashSet};

use intervalid_study::figures::model_label;
use intervalid_study::{Cell, Spec};

/// A name for each group of a study: what differs by its seed alone. Names depend on the study alone, so that runs that come later
/// rename nothing.
pub(super) struct GroupIds {
    /// The first cell of each group, in the order of the study, and its name.
    groups: Vec<(Cell, String)>,
    /// Places in `groups`, by cells without their seed.
    places: HashMap<String, usize>,
}

impl GroupIds {
    pub(super) fn new(spec: &Spec) -> Self {
        let (mut groups, mut places): (Vec<(Cell, String)>, HashMap<String, usize>) = Default::default();
        let mut taken: HashSet<String> = HashSet::new();
        for cell in spec.cells() {
            let place = without_seed(&cell);
            if places.contains_key(&place) {
                continue;
            }
            let plain = plain_name(&cell);
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            // Names of data sets that differ in punctuation alone are written alike.
            let free = std::iter::once(plain.clone())
                .chain(numbered)
                .find(|name| !taken.contains(name));
            let free = free.expect("numbers do not end");
            taken.insert(free.clone());
            places.insert(place, groups.len());
            groups.push((cell, free));
        }
        Self { groups, places }
    }

    /// The first cell of each group, in the order of the study, and its name.
    pub(super) fn groups(&self) -> &[(Cell, String)] {
        &self.groups
    }

    /// The name of the group that a cell is of, whatever its seed; none if the study has no such cell.
    pub(super) fn of(&self, cell: &Cell) -> Option<&str> {
        let place = self.places.get(&without_seed(cell))?;
        Some(self.groups[*place].1.as_str())
    }
}

fn without_seed(cell: &Cell) -> String {
    Cell {
        seed: 0,
        ..cell.clone()
    }
    .to_string()
}

/// Letters, digits and dashes.
fn plain_name(cell: &Cell) -> String {
    let text = format!("{} {} {}", cell.dataset, model_label(cell), cell.coverage);
    let clean = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' => character.to_ascii_lowercase(),
        _ => '-',
    };
    text.chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_are_written_alike_have_names_of_their_own() {
        let text = "name = \"s\"\ndatasets = [\"run_1.csv\", \"run-1.csv\"]\nmodels = [\"arx\"]\nseeds = [1, 2]\n";
        let spec = Spec::parse("s", text).expect("a study");
        let ids = GroupIds::new(&spec);
        let names: Vec<&str> = ids.groups().iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["run-1-csv-arx-0-9", "run-1-csv-arx-0-9-2"]);
        let of_second: Vec<&str> = spec
            .cells()
            .filter(|cell| cell.dataset == "run-1.csv")
            .filter_map(|cell| ids.of(&cell))
            .collect();
        assert_eq!(of_second, [names[1]; 2], "one group, whatever the seed");
    }
}
