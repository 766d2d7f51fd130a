//! A study as a file: parsed, then checked (`check`). What a fit in it is configured as is in [`Spec::config`].

mod check;
mod values;

use std::collections::BTreeMap;
use std::path::Path;

use intervalid_data::known_dataset;
use intervalid_model::{FitConfig, MarginActivation, ModelKind, Strategy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::values::{
    default_coverages, default_margins, default_seeds, default_strategies, one_or_more, seeds, some_names,
};
use crate::cell::Cell;
use crate::error::{Result, StudyError};
use crate::run_config::RunConfig;
use crate::settings::{apply, search_run};
use crate::study_model::StudyModel;

/// Name and text of the studies that are compiled in.
const BUILT_IN: [(&str, &str); 4] = [
    ("paper", include_str!("../../studies/paper.toml")),
    ("paper-faithful", include_str!("../../studies/paper-faithful.toml")),
    ("paper-auto", include_str!("../../studies/paper-auto.toml")),
    ("paper-quick", include_str!("../../studies/paper-quick.toml")),
];

/// A study: a grid of fits. `studies/paper.toml` explains every key.
///
/// ```
/// use intervalid_study::Spec;
///
/// let spec = Spec::parse("mine.toml", r#"
///     name = "mine"
///     datasets = ["hair-dryer"]
///     models = ["ilstm", "arx"]
///     seeds = "1..3"
///     settings = { epochs = 50 }
/// "#)?;
/// assert_eq!(spec.seeds, [1, 2, 3]);
/// # Ok::<(), intervalid_study::StudyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Title.
    pub name: String,
    /// Names or paths of data sets.
    pub datasets: Vec<String>,
    /// Input and output columns of data sets whose columns have other names than u… and y….
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Columns>,
    /// Models, and `auto` for a search.
    pub models: Vec<StudyModel>,
    /// Strategies of interval networks.
    #[serde(default = "default_strategies")]
    pub strategies: Vec<Strategy>,
    /// Margin functions of interval networks.
    #[serde(default = "default_margins")]
    pub margins: Vec<MarginActivation>,
    /// Coverages asked.
    #[serde(default = "default_coverages")]
    pub coverages: Vec<f64>,
    /// Seeds, in the order in which they are run.
    #[serde(default = "default_seeds", deserialize_with = "seeds")]
    pub seeds: Vec<u64>,
    /// Fitted models to keep.
    #[serde(default)]
    pub keep_models: KeepModels,
    /// Settings of the searches of `auto`, and their `budget`.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub auto: toml::Table,
    /// Keys of a configuration for all fits but searches.
    #[serde(default)]
    pub settings: toml::Table,
    /// Keys of a configuration for some fits, in order.
    #[serde(default, rename = "override")]
    pub overrides: Vec<Override>,
}

/// Keys of a study file: the fields of [`Spec`], as a test compares.
const KEYS: [&str; 12] = [
    "name",
    "datasets",
    "columns",
    "models",
    "strategies",
    "margins",
    "coverages",
    "seeds",
    "keep_models",
    "auto",
    "settings",
    "override",
];

/// Columns of a data set by name; those that are not given are found by their usual names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Input columns.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_names")]
    pub input: Option<Vec<String>>,
    /// Output columns.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_names")]
    pub output: Option<Vec<String>>,
}

/// Which fitted models are kept in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepModels {
    /// None.
    None,
    /// Those of the study's first seed.
    #[default]
    FirstSeed,
    /// All of them.
    All,
}

/// Settings for the fits that pass every filter; an empty filter passes all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Data sets.
    #[serde(default, deserialize_with = "one_or_more")]
    pub dataset: Vec<String>,
    /// Models that are trained as settings say; never a search.
    #[serde(default, deserialize_with = "one_or_more")]
    pub model: Vec<StudyModel>,
    /// Strategies; a model without one never passes.
    #[serde(default, deserialize_with = "one_or_more")]
    pub strategy: Vec<Strategy>,
    /// Margin functions; a model without one never passes.
    #[serde(default, deserialize_with = "one_or_more")]
    pub margin: Vec<MarginActivation>,
    /// Keys of a configuration.
    pub set: toml::Table,
}

impl Spec {
    /// A file, or a study that is compiled in.
    ///
    /// # Errors
    /// If there is no such file or study, or it does not pass [`Spec::parse`].
    pub fn load(name_or_path: &str) -> Result<Self> {
        Self::parse(name_or_path, &Self::text(name_or_path)?)
    }

    /// The text of a file or of a study that is compiled in.
    ///
    /// # Errors
    /// If there is no such file or study.
    pub fn text(name_or_path: &str) -> Result<String> {
        if let Some(text) = Self::builtin_text(name_or_path) {
            return Ok(text.to_owned());
        }
        let path = Path::new(name_or_path);
        let looks_like_file = path.extension().is_some() || name_or_path.contains(['/', std::path::MAIN_SEPARATOR]);
        if !looks_like_file && !path.is_file() {
            return Err(StudyError::UnknownStudy {
                name: name_or_path.to_owned(),
                known: BUILT_IN.map(|(name, _)| name).join(", "),
            });
        }
        std::fs::read_to_string(path).map_err(|source| StudyError::File {
            action: "read",
            path: path.to_owned(),
            source,
        })
    }

    /// A study that is compiled in: `paper`, `paper-faithful`, `paper-auto` or `paper-quick`.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        let text = Self::builtin_text(name)?;
        Some(Self::parse(name, text).expect("built-in studies are valid: a test reads them"))
    }

    /// Its file, with comments.
    #[must_use]
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        BUILT_IN
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| text)
    }

    /// Names of the studies that are compiled in.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    /// Reads and checks a study file; `origin` is its name in messages.
    ///
    /// # Errors
    /// [`StudyError`] naming the key and what it may be. A data set that cannot be found is not an error here.
    pub fn parse(origin: &str, text: &str) -> Result<Self> {
        let spec: Self = toml::from_str(text).map_err(|error| {
            let origin = origin.to_owned();
            let table: toml::Table = toml::from_str(text).unwrap_or_default();
            match (table.keys().find(|key| !KEYS.contains(&key.as_str())), error.span()) {
                (Some(key), Some(place)) => StudyError::UnknownKey {
                    origin,
                    line: text[..place.start].matches('\n').count() + 1,
                    key: key.clone(),
                    known: &KEYS,
                },
                _ => StudyError::Parse {
                    origin,
                    reason: error.to_string().trim_end().to_owned(),
                },
            }
        })?;
        spec.check()?;
        Ok(spec)
    }

    /// All runs, the first seed's first.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        let mut cells = Vec::new();
        for &seed in &self.seeds {
            for dataset in &self.datasets {
                for &model in &self.models {
                    for (strategy, margin) in self.trainings(model) {
                        cells.extend(self.coverages.iter().map(|&coverage| Cell {
                            dataset: dataset.clone(),
                            model,
                            strategy,
                            margin,
                            coverage,
                            seed,
                        }));
                    }
                }
            }
        }
        cells.into_iter()
    }

    /// The columns of a data set.
    #[must_use]
    pub fn columns_of(&self, dataset: &str) -> Columns {
        self.columns.get(dataset).cloned().unwrap_or_default()
    }

    fn trainings(&self, model: StudyModel) -> Vec<(Option<Strategy>, Option<MarginActivation>)> {
        if !model.has_strategy() {
            return vec![(None, None)];
        }
        let strategies = self.strategies.iter();
        let pairs = strategies.flat_map(|&strategy| self.margins.iter().map(move |&margin| (strategy, margin)));
        pairs.map(|(strategy, margin)| (Some(strategy), Some(margin))).collect()
    }

    /// What a run is to do. One model has the paper's configuration, then the settings, then the overrides in order; a search its
    /// defaults, then the settings of `auto`.
    ///
    /// # Errors
    /// [`StudyError::Settings`] with the place of a key that a configuration does not have.
    pub fn config(&self, cell: &Cell) -> Result<RunConfig> {
        match cell.model {
            StudyModel::Auto => search_run(&self.auto, &self.coverages, cell).map(RunConfig::Search),
            StudyModel::One(model) => self
                .fit_config(cell, model)
                .map(|config| RunConfig::One(Box::new(config))),
        }
    }

    fn fit_config(&self, cell: &Cell, model: ModelKind) -> Result<FitConfig> {
        let dataset = known_dataset(&cell.dataset).map_or(cell.dataset.as_str(), |known| known.name);
        let mut config = FitConfig::paper(dataset, model, cell.strategy.unwrap_or_default());
        config.interval.margin = cell.margin.unwrap_or_default();
        config.coverage = cell.coverage;
        config.seed = cell.seed;
        let mut config = apply(config, &self.settings, "settings")?;
        for (index, entry) in self.overrides.iter().enumerate() {
            if entry.passes(cell) {
                config = apply(config, &entry.set, &format!("override {}: set", index + 1))?;
            }
        }
        Ok(config)
    }

    /// SHA-256 of everything but comments and layout, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).expect("a study is plain data");
        hex(Sha256::digest(text.as_bytes()).as_slice())
    }

    /// Whether `later` is this study with the same or more seeds, so that it may continue it.
    pub(crate) fn continues_as(&self, later: &Self) -> bool {
        let same = Self {
            seeds: self.seeds.clone(),
            ..later.clone()
        };
        same == *self && self.seeds.iter().all(|seed| later.seeds.contains(seed))
    }
}

impl Override {
    fn passes(&self, cell: &Cell) -> bool {
        fn pass<T: PartialEq>(filter: &[T], value: Option<&T>) -> bool {
            filter.is_empty() || value.is_some_and(|value| filter.contains(value))
        }
        pass(&self.dataset, Some(&cell.dataset))
            && pass(&self.model, Some(&cell.model))
            && pass(&self.strategy, cell.strategy.as_ref())
            && pass(&self.margin, cell.margin.as_ref())
    }
}

impl KeepModels {
    pub(crate) fn keeps(self, seed: u64, first: u64) -> bool {
        match self {
            Self::None => false,
            Self::FirstSeed => seed == first,
            Self::All => true,
        }
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_fields_of_a_study() {
        let mut spec = Spec::load("paper-quick").unwrap();
        spec.columns.insert(spec.datasets[0].clone(), Columns::default());
        spec.auto.insert("rounds".to_owned(), 3.into());
        let serde_json::Value::Object(fields) = serde_json::to_value(&spec).unwrap() else {
            panic!("a study is an object")
        };
        let mut keys = KEYS.to_vec();
        keys.sort_unstable();
        assert_eq!(fields.keys().collect::<Vec<_>>(), keys);
    }
}
