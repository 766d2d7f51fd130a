use std::ops::Deref;

use intervalid_data::Lags;

use super::FitConfig;
use crate::error::Result;
use crate::kind::Precision;

/// A [`FitConfig`] whose every number is in its range: what training takes.
///
/// Only [`FitConfig::checked`] and [`FitConfig::into_checked`] make one, and it cannot be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedConfig(FitConfig);

impl FitConfig {
    /// A copy that can train.
    ///
    /// # Errors
    /// Those of [`FitConfig::check`].
    pub fn checked(&self) -> Result<CheckedConfig> {
        self.clone().into_checked()
    }

    /// This configuration, if it can train.
    ///
    /// # Errors
    /// Those of [`FitConfig::check`].
    pub fn into_checked(self) -> Result<CheckedConfig> {
        self.check()?;
        Ok(CheckedConfig(self))
    }
}

impl CheckedConfig {
    /// The plain configuration, which may be changed again.
    #[must_use]
    pub fn into_inner(self) -> FitConfig {
        self.0
    }

    /// With other lags, whose ranges depend on the record and are checked with it.
    pub(crate) fn with_lags(self, lags: Lags) -> Self {
        Self(FitConfig { lags, ..self.0 })
    }

    /// In another precision, each of which is allowed.
    pub(crate) fn with_precision(self, precision: Precision) -> Self {
        Self(FitConfig { precision, ..self.0 })
    }
}

impl Deref for CheckedConfig {
    type Target = FitConfig;

    fn deref(&self) -> &FitConfig {
        &self.0
    }
}
