//! Whether a study that was read makes sense: every value, and the configuration of every fit.

use std::collections::BTreeSet;

use super::{Override, Spec};
use crate::error::{Result, StudyError};
use crate::study_model::StudyModel;

/// Keys of a configuration that a study varies itself.
const AXES: [(&str, &str); 5] = [
    ("model", "models"),
    ("strategy", "strategies"),
    ("margin", "margins"),
    ("coverage", "coverages"),
    ("seed", "seeds"),
];

impl Spec {
    /// Checks every value, and the configuration of every fit.
    ///
    /// # Errors
    /// [`StudyError`] naming the first that is not allowed.
    pub fn check(&self) -> Result<()> {
        if self.name.trim().is_empty() {
            return Err(StudyError::value("name", "\"\"", "a title"));
        }
        let interval = self.models.iter().any(|model| model.has_strategy());
        check_list("datasets", &self.datasets, true)?;
        let known: Vec<String> = self.columns.keys().cloned().collect();
        check_filter("columns", &known, &self.datasets, String::clone)?;
        check_list("models", &self.models, true)?;
        check_list("strategies", self.strategies.iter().map(|&it| it.name()), interval)?;
        check_list("margins", self.margins.iter().map(|&it| it.name()), interval)?;
        check_list("coverages", &self.coverages, true)?;
        check_list("seeds", &self.seeds, true)?;
        check_axes("settings", &self.settings)?;
        check_axes("auto", &self.auto)?;
        self.check_auto()?;
        for (index, entry) in self.overrides.iter().enumerate() {
            let place = |key: &str| format!("override {}: {key}", index + 1);
            check_axes(&place("set"), &entry.set)?;
            check_filter(&place("dataset"), &entry.dataset, &self.datasets, |name| name.clone())?;
            check_filter(&place("model"), &entry.model, &self.models, |model| model.to_string())?;
            check_filter(&place("strategy"), &entry.strategy, &self.strategies, |&it| {
                it.name().into()
            })?;
            check_filter(&place("margin"), &entry.margin, &self.margins, |&it| it.name().into())?;
        }
        for cell in self.cells().filter(|cell| cell.seed == self.seeds[0]) {
            let config = self.config(&cell)?;
            config.check().map_err(|error| StudyError::Settings {
                place: cell.to_string(),
                source: Box::new(error.into()),
            })?;
        }
        Ok(())
    }

    /// Settings that nothing in the study would read are a slip of the pen.
    fn check_auto(&self) -> Result<()> {
        let has_auto = self.models.contains(&StudyModel::Auto);
        if !has_auto && !self.auto.is_empty() {
            let expected = "no such table unless `models` has \"auto\"";
            return Err(StudyError::value("auto", keys_of(&self.auto), expected));
        }
        let has_others = self.models.iter().any(|model| model.kind().is_some());
        if !has_others && !self.settings.is_empty() {
            let expected = "no such table: the study has auto alone, whose settings are in `[auto]`";
            return Err(StudyError::value("settings", keys_of(&self.settings), expected));
        }
        let is_of_auto = |entry: &Override| !has_others || entry.model.contains(&StudyModel::Auto);
        match self.overrides.iter().position(is_of_auto) {
            None => Ok(()),
            Some(index) => {
                let place = format!("override {}: model", index + 1);
                let expected = "a model that is trained as settings say: those of auto are in `[auto]`";
                Err(StudyError::value(place, StudyModel::Auto, expected))
            }
        }
    }
}

fn check_list<T: ToString>(key: &str, values: impl IntoIterator<Item = T>, needed: bool) -> Result<()> {
    let mut seen = BTreeSet::new();
    for value in values {
        let value = value.to_string();
        if seen.contains(&value) {
            return Err(StudyError::value(key, value, "every value once"));
        }
        seen.insert(value);
    }
    if needed && seen.is_empty() {
        return Err(StudyError::value(key, "[]", "at least one value"));
    }
    Ok(())
}

fn check_axes(place: &str, settings: &toml::Table) -> Result<()> {
    for (key, list) in AXES {
        if let Some(value) = settings.get(key) {
            let expected = format!("no such key here: a study has `{list}`");
            return Err(StudyError::value(format!("{place}.{key}"), value, expected));
        }
    }
    Ok(())
}

fn keys_of(table: &toml::Table) -> String {
    let keys: Vec<&str> = table.keys().map(String::as_str).collect();
    format!("{{ {} }}", keys.join(", "))
}

/// A filter that can never pass is a slip of the pen.
fn check_filter<T: PartialEq>(place: &str, filter: &[T], values: &[T], name: impl Fn(&T) -> String) -> Result<()> {
    match filter.iter().find(|value| !values.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let known: Vec<String> = values.iter().map(&name).collect();
            let expected = format!("one that the study has: {}", known.join(", "));
            Err(StudyError::value(place, name(value), expected))
        }
    }
}
