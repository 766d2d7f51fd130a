//! What a study compares: models that are trained as its settings say, and the search.

use std::fmt;
use std::str::FromStr;

use intervalid_model::{Method, ModelError, ModelKind};
use serde::de::{Expected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One of a study's `models`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyModel {
    /// A model of this kind, with the paper's settings and those of the study.
    One(ModelKind),
    /// Whatever a search finds within the budget that the study gives it.
    Auto,
}

const AUTO: &str = "auto";

impl StudyModel {
    /// `auto`, or the name of the model.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::One(kind) => kind.name(),
            Self::Auto => AUTO,
        }
    }

    /// The model, where the study says which.
    #[must_use]
    pub fn kind(self) -> Option<ModelKind> {
        match self {
            Self::One(kind) => Some(kind),
            Self::Auto => None,
        }
    }

    /// Whether it is trained by a strategy and has a margin function: an interval network that the study names.
    #[must_use]
    pub fn has_strategy(self) -> bool {
        self.kind().is_some_and(|kind| kind.method() == Method::Interval)
    }
}

impl From<ModelKind> for StudyModel {
    fn from(kind: ModelKind) -> Self {
        Self::One(kind)
    }
}

impl fmt::Display for StudyModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StudyModel {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        match text {
            AUTO => Ok(Self::Auto),
            name => name.parse().map(Self::One),
        }
    }
}

impl Serialize for StudyModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for StudyModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ByName)
    }
}

/// Refuses a name where it is read, so that a message can point at it.
struct ByName;

impl Visitor<'_> for ByName {
    type Value = StudyModel;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ModelKind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "one of {}, or {AUTO} for a search", names.join(", "))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<StudyModel, E> {
        let expected: &dyn Expected = &self;
        text.parse()
            .map_err(|_| E::custom(format!("unknown model '{text}': expected {expected}")))
    }
}
