//! Settings that may be given in part.

use intervalid_data::{Lags, WindowConfig};
use serde::{Deserialize, Deserializer};
use toml::Value;

use super::first_line;
use crate::error::{Result, WorkflowError};

/// Lags, all of them or some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagsSetting {
    nx: Option<usize>,
    nd: Option<usize>,
    ny: Option<usize>,
}

impl From<Lags> for LagsSetting {
    fn from(lags: Lags) -> Self {
        Self {
            nx: Some(lags.nx),
            nd: Some(lags.nd),
            ny: Some(lags.ny),
        }
    }
}

impl LagsSetting {
    pub(super) fn over(self, base: Lags) -> Lags {
        Lags {
            nx: self.nx.unwrap_or(base.nx),
            nd: self.nd.unwrap_or(base.nd),
            ny: self.ny.unwrap_or(base.ny),
        }
    }

    /// All three, for who has none to complete them with.
    pub(super) fn whole(self) -> Result<Lags> {
        let Self { nx, nd, ny } = self;
        match (nx, nd, ny) {
            (Some(nx), Some(nd), Some(ny)) => Ok(Lags { nx, nd, ny }),
            _ => Err(WorkflowError::Setting {
                key: "lags".to_owned(),
                found: "a part of them".to_owned(),
                reason: "a search takes all of nx, nd and ny, or none".to_owned(),
            }),
        }
    }
}

impl<'de> Deserialize<'de> for LagsSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Part {
            nx: Option<usize>,
            nd: Option<usize>,
            ny: Option<usize>,
        }
        let wrong = |error: String| serde::de::Error::custom(error);
        match Value::deserialize(deserializer)? {
            Value::String(text) => {
                let lags: Lags = text
                    .parse()
                    .map_err(|error: intervalid_data::DataError| wrong(error.to_string()))?;
                Ok(lags.into())
            }
            value => {
                let Part { nx, nd, ny } = value.try_into().map_err(|error| wrong(first_line(&error)))?;
                Ok(Self { nx, nd, ny })
            }
        }
    }
}

/// Training windows, both numbers or one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowSetting {
    length: Option<usize>,
    step: Option<usize>,
}

impl WindowSetting {
    pub(super) fn over(self, base: WindowConfig) -> WindowConfig {
        WindowConfig {
            length: self.length.unwrap_or(base.length),
            step: self.step.unwrap_or(base.step),
        }
    }
}
